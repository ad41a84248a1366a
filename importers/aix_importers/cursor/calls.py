"""Tool calls: how far they came, who allowed them, and when they ran."""

from hashlib import sha256
from typing import NamedTuple

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import decode, encode

from aix_importers.cursor.agent_state import times_of_call
from aix_importers.cursor.records import Result, ToolData, decode_result
from aix_importers.cursor.tools import Access, Params, access_of
from aix_importers.cursor.values import (
    ABSENT,
    base64_bytes,
    count,
    field,
    fields,
    first_text,
    flag,
    inner,
    is_filled,
    json_of,
    json_text,
    moment,
    text,
)

MOST_ERROR = 2_000
_EVIDENCE_OF_ACCEPTANCE = "userDecision: accepted, which is also written when nobody was asked"
_WORDS = {
    "inBlocklist": "denied_rule",
    "hookBlocked": "denied_hook",
    "readonlyMode": "denied_mode",
    "smartMode": "denied_mode",
    "outOfWorkspace": "denied_directory",
}
"""Outcomes by the block reason that stops a call by itself; for the other reasons somebody is asked."""
_NEVER_ASKED = {"hookBlocked", "readonlyMode"}


class Outcome(NamedTuple):
    """Outcome of a call, and the evidence for it."""

    word: str
    evidence: str
    is_inferred: bool = False


def outcome_of(data: ToolData, found: Result) -> tuple[str, str | None, Outcome]:
    """Return status and error of a call, and what that says about its permission."""
    status, state = text(data.status), text(field(data.additional_data, "status"))
    decision, block = text(data.user_decision), text(field(data.additional_data, "blockReason"))
    reason = f", blockReason: {block}" if block else ""
    if evidence := _rejection(decision, state, found):
        word = "denied_user" if decision == "rejected" else _WORDS.get(block or "", "denied_user")
        said = "rejected by user" if word == "denied_user" else "blocked"
        return "failed", f"{said} ({block})" if block else said, Outcome(word, f"{evidence}{reason}")
    if state == "skipped" or (status == "error" and block in _NEVER_ASKED):
        evidence = "additionalData.status: skipped" if state == "skipped" else "status: error"
        outcome = Outcome(_WORDS.get(block or "", "not_granted"), f"{evidence}{reason}", is_inferred=not block)
        said = "skipped" if state == "skipped" else "blocked"
        return "failed", _error_text(data) or (f"{said} ({block})" if block else said), outcome
    if status == "completed":
        accepted = "userDecision: accepted" if block else _EVIDENCE_OF_ACCEPTANCE
        evidence = accepted if decision == "accepted" else "status: completed"
        return "completed", None, Outcome("ran", f"{evidence}{reason}")
    if status == "cancelled":
        return "failed", _error_text(data) or "cancelled", Outcome("interrupted", f"status: cancelled{reason}")
    if status == "error":
        return "failed", _error_text(data) or "error", Outcome("failed", f"status: error{reason}")
    waits = state == "pending"
    evidence = f"additionalData.status: {state}" if state else f"status: {status}"
    return ("pending" if waits else "running"), None, Outcome("pending", f"{evidence}{reason}", is_inferred=not waits)


def outcome_in_store(found: Raw, *, is_error: bool) -> Outcome:
    """Return what the result of a call in a session of the command line says about it: its output names what it is."""
    output = fields(field(found, "output"))
    if "rejected" in output:
        # By whom is not told: where nobody can be asked, nobody is.
        return Outcome("denied_user", "output.rejected", is_inferred=True)
    if "permissionDenied" in output:
        return Outcome("failed", "output.permissionDenied")
    return Outcome("failed", "isError") if is_error else Outcome("ran", "tool-result")


def _rejection(decision: str | None, state: str | None, found: Result) -> str | None:
    if decision == "rejected":
        return "userDecision: rejected"
    if state == "rejected":
        return "additionalData.status: rejected"
    return "result.rejected: true" if flag(found.rejected) else None


def _error_text(data: ToolData) -> str | None:
    error = inner(data.error)
    named = (field(error, name) for name in ("modelVisibleErrorMessage", "clientVisibleErrorMessage"))
    found = first_text(*named, data.error)
    return found[:MOST_ERROR] if found else None


class Call(Struct, gc=False):
    """One use of a tool."""

    name: str
    params: str
    params_hash: str | None
    result: str | None
    status: str
    outcome: Outcome
    access: Access
    details: Params
    found: Result
    error: str | None = None
    id: str | None = None
    number: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    has_binary: bool = False
    """Whether it stands beside its bubble as the agent has it: its own state then knows no more of its times."""


def make_call(name: str, params: str, result: str | None, status: str, outcome: Outcome) -> Call:
    """Return a call of a log that keeps no more than its parameters and its result."""
    written = params.encode()
    access, details = access_of(name, None, written), Params.read(written) or Params()
    return Call(name, params, canonical_hash(params), result, status, outcome, access, details, Result())


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
        name,
        params,
        params_hash,
        result_json,
        status,
        outcome,
        access_of(name, number, params.encode()),
        Params.read(params.encode()) or Params(),
        found,
        error,
        text(data.tool_call_id) or None,
        number,
        started_at or moment(field(data.additional_data, "startedAtMs")),
        ended_at,
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
    return result_json, Result.read(result) or Result()


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
