"""Tool calls: how far they came, who allowed them, and when they ran."""

from hashlib import sha256

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import decode, encode

from aix_importers.cursor.agent_state import times_of_call
from aix_importers.cursor.decisions import Outcome, outcome_of
from aix_importers.cursor.results import Params, Result, decode_result, read_params, read_result
from aix_importers.cursor.tool_data import ToolData
from aix_importers.cursor.tools import Access, access_of
from aix_importers.cursor.values import (
    ABSENT,
    base64_bytes,
    count,
    field,
    inner,
    is_filled,
    json_of,
    json_text,
    moment,
    text,
)


class Call(Struct, gc=False):
    """One use of a tool."""

    id: str | None
    name: str
    number: int | None
    params: str
    params_hash: str | None
    result: str | None
    error: str | None
    status: str
    outcome: Outcome
    access: Access
    started_at: int | None
    ended_at: int | None
    details: Params
    found: Result
    has_binary: bool = False
    """Whether it stands beside its bubble as the agent has it: its own state then knows no more of its times."""

    @property
    def is_completed(self) -> bool:
        """Whether it ended well."""
        return self.status == "completed"

    @property
    def is_cancelled(self) -> bool:
        """Whether it was broken off."""
        return self.outcome.word == "interrupted"


def read_call(data: ToolData) -> Call:
    """Return a call as the ledger sees it."""
    name = text(data.name) or ""
    number = count(data.tool)
    params, params_hash = _params(data)
    result_json, found = _result(data.result)
    status, error, outcome = outcome_of(data, found)
    if result_json is None and status == "completed":
        result_json = "null"
    binary = base64_bytes(text(data.tool_call_binary)) if data.tool_call_binary is not ABSENT else b""
    started_at, ended_at = times_of_call(binary) if binary else (None, None)
    return Call(
        text(data.tool_call_id) or None,
        name,
        number,
        params,
        params_hash,
        result_json,
        error,
        status,
        outcome,
        access_of(name, number, params.encode()),
        started_at or moment(field(data.additional_data, "startedAtMs")),
        ended_at,
        read_params(params.encode()),
        found,
        bool(binary),
    )


def _result(raw: Raw) -> tuple[str | None, Result]:
    """Return a result as JSON, and the fields of it that matter."""
    if not is_filled(raw):
        return None, Result()
    written = text(raw)
    if written is not None and written[:1] == "{" and "\\ud" not in written and "\\uD" not in written:
        found = decode_result(written)
        if found is not None:
            return written, found
    result = inner(raw)
    result_json = json_of(result)
    if result_json is None and is_filled(result):
        result_json = json_text(bytes(result).decode("utf-8", "replace"))
    return result_json, read_result(result)


def _params(data: ToolData) -> tuple[str, str | None]:
    """Return the parameters as a JSON object, and a hash that does not depend on the order of their keys."""
    for raw in (data.params, data.raw_args):
        given = inner(raw) if is_filled(raw) else ABSENT
        if not is_filled(given):
            continue
        written = json_of(given)
        if written is None:
            return json_text({"text": bytes(given).decode("utf-8", "replace")}), None
        return (written if written.lstrip()[:1] == "{" else f'{{"value":{written}}}'), canonical_hash(written)
    return "{}", canonical_hash("{}")


def canonical_hash(written: str) -> str | None:
    """Return the SHA-256 of JSON that is the same however its keys are ordered."""
    try:
        return sha256(encode(decode(written), order="sorted")).hexdigest()
    except (MsgspecError, ValueError, RecursionError):
        return None
