"""Tool calls: asked for in an answer, with a result that comes later and shows what was permitted."""

import hashlib
import re
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from msgspec import Raw

from aix_importers.claude_code.extra_json import without_embedded_files
from aix_importers.claude_code.facts import OpenMessage
from aix_importers.claude_code.records import UNREADABLE, Block, Record, decode_blocks, text_of
from aix_importers.common.hosts import host_of
from aix_importers.common.json_text import fields, text, whole_characters

ERROR_CHARACTERS = 2_000
_PREFIX = re.compile(r"\s*(?:(?:Error|ERROR): |<tool_use_error>)*")
_TAG = "<tool_use_error>"
_MOST_EVIDENCE = 300
# In the words of the client, which stand at the start of an error; elsewhere they are only quoted.
_DENIALS = tuple(
    (outcome, re.compile(pattern, re.DOTALL))
    for outcome, pattern in (
        ("denied_user", r"The user doesn't want to (?:proceed with this tool use|take this action right now)"),
        ("denied_user", r"The user wants to clarify these questions"),
        ("interrupted", r"\[Request interrupted by user"),
        ("not_granted", r"This command requires approval"),
        ("not_granted", r"This Bash command contains multiple operations\. The following parts? requires? approval"),
        ("not_granted", r"Claude requested permissions to .+?, but you haven't granted it"),
        ("not_granted", r"Claude requested permissions to .+? which is a sensitive file"),
        ("not_granted", r"Permission to use \S+ has been auto-denied \(prompts unavailable\)"),
        ("denied_mode", r"Permission to use \S+ has been auto-denied in dontAsk mode"),
        ("denied_mode", r"Permission to use \S+ has been denied because Claude Code is running in don't ask mode"),
        ("denied_mode", r"Permission for this action has been denied\. Reason: "),
        ("not_granted", r"Permission to use \S+ has been denied\. IMPORTANT"),
        ("denied_rule", r"Permission to use \S+ (?:with command .+? )?has been denied\."),
        ("denied_rule", r"Permission for this tool use was denied\. The tool use was rejected"),
        ("denied_rule", r"Glob patterns are not allowed in write operations"),
        ("denied_directory", r"[A-Za-z][\w ]{0,60} '[^\n]*?' was blocked\. For security, Claude Code may only "),
        ("denied_hook", r"PreToolUse:\S+ hook error: \["),
        ("denied_hook", r"Hook PreToolUse:\S+ denied this tool"),
    )
)
_KINDS = {
    "user-rejected": "denied_user",
    "permission-rule": "denied_rule",
    "automode-blocked": "denied_mode",
    "automode-parsing-error": "denied_mode",
    "automode-unavailable": "denied_mode",
    "interrupted": "interrupted",
    "cancelled": "interrupted",
}
_MCP = "mcp__"
# Class of each tool, and the parameters of which the first that is given names the target.
_TOOLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Bash": ("exec", ("command",)),
    "PowerShell": ("exec", ("command",)),
    "Monitor": ("exec", ("command",)),
    "Read": ("read", ("file_path",)),
    "NotebookRead": ("read", ("notebook_path",)),
    "Glob": ("read", ("path", "pattern")),
    "Grep": ("read", ("path", "pattern")),
    "LS": ("read", ("path",)),
    "LSP": ("read", ("filePath",)),
    "Write": ("write", ("file_path",)),
    "Edit": ("write", ("file_path",)),
    "MultiEdit": ("write", ("file_path",)),
    "NotebookEdit": ("write", ("notebook_path",)),
    "WebFetch": ("net", ("url",)),
    "WebSearch": ("net", ("query",)),
    "ListMcpResourcesTool": ("mcp", ("server",)),
    "ReadMcpResourceTool": ("mcp", ("server",)),
    "Task": ("spawn", ("subagent_type",)),
    "Agent": ("spawn", ("subagent_type",)),
    "Skill": ("meta", ("skill", "command")),
    "SlashCommand": ("meta", ("command",)),
    "SendMessage": ("meta", ("to", "recipient")),
    "TeamCreate": ("meta", ("team_name",)),
    "EnterWorktree": ("meta", ("name",)),
}
_WITHOUT_TARGET = {
    "ask": "AskUserQuestion EnterPlanMode ExitPlanMode",
    "meta": """
        AgentOutputTool BashOutput Batch CronCreate CronDelete CronList ExitWorktree KillBash KillShell PushNotification
        RemoteTrigger ScheduleWakeup StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate
        TeamDelete TodoRead TodoWrite ToolSearch
    """,
}
_WITHOUT_CLASS = """
    Artifact Cd EndConversation ListAgents ReportFindings SendFeedback SendUserFile ShareOnboardingGuide
    SubagentHandback WaitForMcpServers Workflow
"""


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call whose result is not known yet."""

    id: str
    name: str
    params: Raw
    message: OpenMessage
    started_at: int
    sequence: int
    mode: str | None
    cwd: str | None


@dataclass(slots=True, eq=False)
class CallResult:
    """Result of a call."""

    content: Raw
    structured: Raw
    is_error: bool
    time: int
    denial_kind: str | None

    @property
    def text(self) -> str:
        """Text of the result."""
        plain = text_of(self.content) if self.content else ""
        if plain is not None:
            return plain
        return "\n".join(block.text for block in decode_blocks(self.content) if block.text is not None)

    @property
    def json(self) -> str:
        """The result as the log has it: what the model saw, and what the client kept."""
        content = without_embedded_files(bytes(self.content)) or b"null"
        structured = b',"structured":' + without_embedded_files(bytes(self.structured)) if self.structured else b""
        return (b'{"content":' + content + structured + b"}").decode()


def results_in(record: Record, blocks: list[Block], time: int) -> list[tuple[str, CallResult]]:
    """Return the results that a record holds, by call."""
    results = [block for block in blocks if block.type == "tool_result" and block.tool_use_id]
    structured = record.tool_use_result if len(results) == 1 else msgspec.Raw(b"")
    return [
        (
            block.tool_use_id or "",
            CallResult(block.content, structured, bool(block.is_error), time, record.tool_denial_kind),
        )
        for block in results
    ]


def canonical_hash(params: Raw) -> str | None:
    """Return the SHA-256 of JSON that is the same however its keys are ordered."""
    try:
        value = msgspec.json.decode(params)
    except UNREADABLE:
        return None
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


class Outcome(NamedTuple):
    """Outcome of a call, and the evidence for it."""

    word: str
    """As in the column `permission_decisions.outcome`."""
    evidence: str
    """The first line of the text that shows it, or the name of the field."""
    is_inferred: bool


_RAN = Outcome("ran", "tool_result", is_inferred=False)
_FAILED = Outcome("failed", "is_error", is_inferred=False)


def outcome_of_result(is_error: bool, text: str | None, denial_kind: str | None) -> Outcome:  # noqa: FBT001
    """Return what a result shows: a denial by its text, else by its kind of denial, else whether the call failed.

    >>> outcome_of_result(True, "Error: This command requires approval", None)
    Outcome(word='not_granted', evidence='This command requires approval', is_inferred=False)
    >>> outcome_of_result(True, "Exit code 1: This command requires approval", None).word
    'failed'
    """
    if is_error and text:
        shown = _shown_denial(text)
        if shown:
            return shown
    if denial_kind:
        word = _KINDS.get(denial_kind)
        evidence = whole_characters(f"toolDenialKind: {denial_kind}"[:_MOST_EVIDENCE])
        return Outcome(word or "not_granted", evidence, is_inferred=word is None)
    return _FAILED if is_error else _RAN


def _shown_denial(text: str) -> Outcome | None:
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    for word, pattern in _DENIALS:
        if pattern.match(text, start):
            return Outcome(word, _first_line(text, start), is_inferred=False)
    # Without the tag it is what a hook or a command wrote.
    if text.startswith("Blocked: ", start) and _TAG in text[:start]:
        return Outcome("denied_rule", _first_line(text, start), is_inferred=False)
    return None


def _first_line(text: str, start: int) -> str:
    line = text[start : start + _MOST_EVIDENCE].partition("\n")[0]
    return whole_characters(line.removesuffix("</tool_use_error>").rstrip())


class Access(NamedTuple):
    """Access that a call asks for."""

    access_class: str | None
    """One of read, write, exec, net, mcp, spawn, ask and meta; nothing for a tool that is not known."""
    target: str | None
    """Command, path, host, search, server, kind of agent, or name."""


_UNKNOWN = Access(None, None)

_NAMES = {name: Access(kind, None) for kind, names in _WITHOUT_TARGET.items() for name in names.split()}
_KNOWN = frozenset((*_TOOLS, *_NAMES, *_WITHOUT_CLASS.split()))


def is_known_tool(name: str) -> bool:
    """Whether Claude Code has, or had, a tool of its own by that name."""
    return name in _KNOWN


def target_parameter(tool_name: str) -> str | None:
    """Return the parameter that names the target of a tool's calls."""
    known = _TOOLS.get(tool_name)
    return known[1][0] if known else None


def access_of(tool_name: str, params: bytes) -> Access:
    """Return what a call asks for.

    >>> access_of("Bash", b'{"command":"make test"}'), access_of("mcp__issue_tracker__search", b"{}")
    (Access(access_class='exec', target='make test'), Access(access_class='mcp', target='issue_tracker'))
    """
    known = _TOOLS.get(tool_name)
    if known is None:
        if tool_name.startswith(_MCP):
            return Access("mcp", whole_characters(tool_name[len(_MCP) :].partition("__")[0]) or None)
        return _NAMES.get(tool_name, _UNKNOWN)
    access_class, names = known
    given = fields(params)
    for name in names:
        target = text(given.get(name))
        if target:
            return Access(access_class, host_of(target) if name == "url" else target)
    return Access(access_class, None)
