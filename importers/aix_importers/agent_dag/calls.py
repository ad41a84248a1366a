"""Calls of tools: their ids, the access they ask for, and what became of them."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import msgspec

from aix.importing import Source
from aix_importers.agent_dag.records import text_of
from aix_importers.agent_dag.turns import APPROVAL_DENIED, Turn
from aix_importers.common.hosts import host_of
from aix_importers.common.json_text import compact_json

ERROR_CHARACTERS = 2_000
_GLOBAL_ID = re.compile(
    r"(?:srvtoolu_|toolu_|call_|fc_)[A-Za-z0-9]{16,}"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
)
_STOPPED = {"canceled", "interrupted"}
_CLASSES = {
    "exec": "bash exec execute run run_command run_shell shell terminal",
    "read": "cat glob grep list_dir list_directory list_files ls read read_file read_text_file search_files",
    "write": "apply_patch create_file delete_file edit edit_file move_file write write_file",
    "net": "browse fetch fetch_url http_get http_request web_fetch web_search",
    "spawn": "create_subagent delegate run_subagent spawn spawn_agent spawn_subagent subagent",
    "ask": "ask ask_human ask_user",
}
_CLASS_OF = {tool: access_class for access_class, tools in _CLASSES.items() for tool in tools.split()}
_TARGETS = {
    "exec": ("cmd", "command", "argv", "script"),
    "read": ("path", "file_path", "file", "pattern", "query"),
    "write": ("path", "file_path", "file", "source"),
    "net": ("url", "query"),
    "spawn": ("agent_type", "agent_id", "agent", "name"),
    "ask": (),
}


class Outcome(NamedTuple):
    """Outcome of a call as `permission_decisions` has it: the word, the evidence, and if it is concluded."""

    word: str
    evidence: str
    is_inferred: bool = False


@dataclass(slots=True, eq=False)
class Call:
    """A call of a tool, as far as it is known."""

    id: str
    """The id of its row."""
    call_id: str
    turn: Turn
    message_id: str | None
    source: Source
    sequence: int
    server: str | None
    tool: str
    params: object
    started_at: int
    is_start_inferred: bool
    event_id: str | None = None
    """The event that made it; NULL where only a part of a message shows it."""
    result: "Result | None" = None
    interruption: tuple[str, str] | None = None
    """The event that interrupted it, and the reason."""
    replaced_by: str | None = None

    @property
    def name(self) -> str:
        """Name of the tool, behind that of its server."""
        return f"{self.server}.{self.tool}" if self.server else self.tool

    @property
    def error(self) -> str | None:
        """The text of the error."""
        if self.replaced_by is not None:
            return f"substituted_by:{self.replaced_by}"
        if self.result is not None:
            return self.result.error
        return self.interruption[1] if self.interruption else None

    @property
    def status(self) -> str:
        """How far the call came."""
        if self.error is not None:
            return "failed"
        return "pending" if self.result is None else "completed"

    @property
    def outcome(self) -> Outcome:
        """The outcome that the graph shows."""
        if self.interruption is not None:
            event_id, reason = self.interruption
            evidence = f"interruption {event_id}: {reason}"
            if reason == APPROVAL_DENIED:
                return Outcome("denied_rule", evidence)
            if self.result is None:
                return Outcome("interrupted", evidence)
        if self.result is not None:
            return self.result.outcome
        if self.replaced_by is not None:
            return Outcome("unknown", f"substitution by {self.replaced_by}", is_inferred=True)
        return Outcome("pending", "no tool_result", is_inferred=True)


@dataclass(slots=True, eq=False)
class Result:
    """The result of a call, of an event or of a part of a message."""

    time: int
    value: object
    status: str | None
    error: str | None
    code: str | None = None
    is_time_inferred: bool = False

    @property
    def outcome(self) -> Outcome:
        """The outcome that the result shows."""
        if self.code == APPROVAL_DENIED:
            return Outcome("denied_rule", f"error.code: {self.code}")
        evidence = f"status: {self.status}" if self.status else "tool_result"
        if self.status in _STOPPED:
            return Outcome("interrupted", evidence)
        return Outcome("ran" if self.error is None else "failed", evidence)


def is_global_id(call_id: str) -> bool:
    """Whether the id of a call is unique everywhere by its form.

    >>> is_global_id("toolu_01A09q90qw90lq917835lq9"), is_global_id("exec-42"), is_global_id("call_1")
    (True, False, False)
    """
    return _GLOBAL_ID.fullmatch(call_id) is not None


def result_of_event(payload: Mapping[str, object], time: int, *, is_time_inferred: bool) -> Result:
    """Read a `tool_result`, which is an event or a node."""
    status, error = payload.get("status"), payload.get("error")
    word = status if isinstance(status, str) else None
    message = code = None
    if isinstance(error, dict):
        message, code = text_of(error.get("message")), text_of(error.get("code"))
        message = message or code or compact_json(error)
    elif error is not None:
        message = text_of(error) or compact_json(error)
    if word not in {None, "ok"} and message is None:
        message = word
    if word == "ok":
        message = None
    error_text = message[:ERROR_CHARACTERS] if message else None
    return Result(time, payload.get("result"), word, error_text, code, is_time_inferred)


def result_of_part(output: object, *, is_error: bool, time: int) -> Result:
    """Read a part `tool_result` of a message."""
    text = output if isinstance(output, str) else compact_json(output)
    return Result(time, output, None, (text or "error")[:ERROR_CHARACTERS] if is_error else None)


def access_of(server: str | None, tool: str, params: object) -> tuple[str | None, str | None]:
    """Return the class and the target of a call: by the tool where its name is common, else by its server.

    >>> access_of("runtime", "exec", {"cmd": ["make", "the test"]}), access_of("issues", "search", {"q": "x"})
    (('exec', "make 'the test'"), ('mcp', 'issues'))
    """
    if server is None and "." in tool:
        server, _, tool = tool.rpartition(".")
    access_class = _CLASS_OF.get(tool.lower())
    if access_class is None:
        return ("mcp", server) if server else (None, None)
    given = params if isinstance(params, dict) else {}
    for name in _TARGETS[access_class]:
        value = given.get(name)
        if access_class == "exec" and isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return access_class, shlex.join(value)
        if isinstance(value, str) and value:
            return access_class, host_of(value) if name == "url" else value
    return access_class, None


def params_hash(params: object) -> str | None:
    """Return the SHA-256 of parameters, which is the same however their keys are ordered."""
    try:
        return sha256(msgspec.json.encode(params, order="sorted")).hexdigest()
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return None
