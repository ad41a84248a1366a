"""Text of a rule, taken apart: its tool, and which calls of the tool are meant."""

import re
from typing import NamedTuple

from aix_importers.claude_code.permissions.texts import TextPattern, compile_glob

_ALIASES = {
    "Task": "Agent",
    "KillShell": "TaskStop",
    "KillBash": "TaskStop",
    "AgentOutputTool": "TaskOutput",
    "BashOutput": "TaskOutput",
    "BashOutputTool": "TaskOutput",
}
_PARAMETER = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]+)\s*:\s*(.*)", re.DOTALL | re.ASCII)
_MCP_PARAMETER = re.compile(r"\s*([^\s:]+)\s*:\s*(.*)", re.DOTALL)
"""The parameters of a server's tools have any name; those of the client's own are longer than the drive of a path."""
_CONTENT_FIELDS = {
    "Bash": "command",
    "PowerShell": "command",
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "Grep": "path",
    "Glob": "path",
    "NotebookEdit": "notebook_path",
    "WebFetch": "url",
}
_COMMAND_FLAGS = frozenset(("run_in_background", "dangerouslyDisableSandbox"))
_PARAMETERS = _COMMAND_FLAGS | {
    "model",
    "isolation",
    "mode",
    "name",
    "team_name",
    "description",
    "prompt",
    "subagent_type",
}
MCP = "mcp__"


class MalformedRuleError(ValueError):
    """A text is no rule; the message is a full sentence."""


class RuleText(NamedTuple):
    """A tool, and what of its calls is meant."""

    tool: str
    detail: str | None
    """Text in parentheses; None for every call of the tool."""


class Parameter(NamedTuple):
    """A parameter that must have a value."""

    name: str
    value: TextPattern
    is_content: bool
    """Whether it is the field that the tool works on, which no rule may name."""

    @property
    def is_known(self) -> bool:
        """Whether nothing but a parameter can be meant, and not, say, the agent of a plugin."""
        return self.name in _PARAMETERS


def canonical(tool: str) -> str:
    """Return the present name of a tool that was renamed."""
    return _ALIASES.get(tool, tool)


def parse_rule(text: str) -> RuleText:
    """Return what a rule says.

    >>> parse_rule("Bash(echo (1))"), parse_rule("Bash(*)")
    (RuleText(tool='Bash', detail='echo (1)'), RuleText(tool='Bash', detail=None))

    Raises:
        MalformedRuleError: It says nothing.
    """
    text = text.strip()
    tool, parenthesis, rest = text.partition("(")
    if not text:
        raise MalformedRuleError("The rule is empty.")
    if not tool:
        raise MalformedRuleError("The rule names no tool.")
    if not parenthesis:
        if ")" in text:
            raise MalformedRuleError("The rule has a closing parenthesis without an opening one.")
        return RuleText(canonical(tool), None)
    if not rest.endswith(")"):
        raise MalformedRuleError("The rule does not end with the parenthesis that it opens.")
    detail = rest[:-1]
    if not detail.strip():
        raise MalformedRuleError("There is nothing in the rule's parentheses; the tool's name alone means every call.")
    return RuleText(canonical(tool), None if detail.strip() == "*" else detail)


def parse_parameter(tool: str, detail: str) -> Parameter | None:
    """Return the parameter that a detail names, if it can be meant so."""
    found = (_MCP_PARAMETER if tool.startswith(MCP) else _PARAMETER).fullmatch(detail)
    if found is None:
        return None
    name, value = found[1], found[2].rstrip()
    if tool in ("Bash", "PowerShell") and value == "*" and name not in _COMMAND_FLAGS:
        return None
    if tool == "WebFetch" and (name == "domain" or value.startswith("//")):
        return None
    return Parameter(name, compile_glob(value), _CONTENT_FIELDS.get(tool) == name)


def parameter_text(value: object) -> str | None:
    """Return a parameter's value as rules compare it; none for one that has no simple value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int | float) else None


class McpName(NamedTuple):
    """A server and one of its tools."""

    server: str
    tool: str | None

    @classmethod
    def of(cls, name: str) -> "McpName | None":
        """Return the parts of a name; none when it is not one of MCP."""
        if not name.startswith(MCP):
            return None
        server, separator, tool = name[len(MCP) :].partition("__")
        return cls(server, tool if separator else None) if server else None
