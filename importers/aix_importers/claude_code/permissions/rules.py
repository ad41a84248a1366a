"""Rules of settings files, taken apart and made ready: one goes by its number in the order of all rules."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aix.permissions import Rule
from aix.permissions.globs import GlobError
from aix_importers.claude_code.calls import is_known_tool
from aix_importers.claude_code.permissions.paths import (
    GitignoreRules,
    compile_path,
    literal_path,
)
from aix_importers.claude_code.permissions.patterns import (
    HostRules,
    PatternIndex,
    TextPattern,
    compile_pattern,
    spaced,
)
from aix_importers.claude_code.permissions.powershell import canonical_command

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
UNSTOPPABLE = "EndConversation"
_RULED_BY_OTHERS = {"Write": "Edit", "MultiEdit": "Edit", "NotebookEdit": "Edit", "Glob": "Read", "Grep": "Read"}
_TOOLS_KEPT = 1000
_OPERATORS = re.compile(r"[|&;<>\n`]|\$\(")


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
    return Parameter(name, TextPattern(value), _CONTENT_FIELDS.get(tool) == name)


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


class _IdleError(ValueError):
    """A rule can never decide; the message is a full sentence."""


class _Named(NamedTuple):
    number: int
    pattern: TextPattern


class RulesOfKind:
    """All rules of one kind: allow, ask or deny."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.is_allow = kind == "allow"
        self.remarks: list[tuple[Rule, str]] = []
        self.parameters: dict[str, list[tuple[int, Parameter]]] = {}
        self.reads = GitignoreRules()
        self.edits = GitignoreRules()
        self.agents: dict[str, list[int]] = {}
        self._skills: list[_Named] = []
        self._tools: dict[str, list[int]] = {}
        self._whole_tools: dict[str, tuple[int, ...]] = {}
        self._tool_globs: list[_Named] = []
        self._server_globs: dict[str, list[_Named]] = {}
        self._servers: dict[str, list[int]] = {}
        self.hosts = HostRules()
        self._commands: dict[str, list[tuple[int, TextPattern]]] = {"Bash": [], "PowerShell": []}
        self.commands = PatternIndex(())
        self.powershell = PatternIndex(())
        self.whole_commands = PatternIndex(())

    def add(self, number: int, rule: Rule) -> None:
        """Take a rule in, or keep the remark why it can never decide."""
        try:
            parsed = parse_rule(rule.text)
            if rule.file and "(" in rule.text and McpName.of(parsed.tool) is not None:
                self._require_parameter(parsed)
            if parsed.detail is None:
                self._add_tool(number, parsed.tool)
            else:
                self._add_detailed(number, rule, parsed, parsed.detail)
        except (MalformedRuleError, _IdleError) as error:
            self.remarks.append((rule, str(error)))
            return
        if not is_known_tool(parsed.tool) and not {"_", "*"} & set(parsed.tool):
            self.remarks.append((rule, f"No tool is known by the name {parsed.tool}."))

    def close(self) -> None:
        """Make ready what needs all rules."""
        self.commands = PatternIndex(self._commands["Bash"])
        self.powershell = PatternIndex(self._commands["PowerShell"])
        self.whole_commands = PatternIndex(
            (number, pattern)
            for number, pattern in self._commands["Bash"]
            if pattern.is_exact or (not self.is_allow and _OPERATORS.search(pattern.text))
        )

    def _add_tool(self, number: int, tool: str) -> None:
        server = McpName.of(tool)
        if not self.is_allow and tool == UNSTOPPABLE:
            raise _IdleError(f"No rule takes {UNSTOPPABLE} away or asks before it.")
        if "*" in tool:
            if not self.is_allow:
                self._tool_globs.append(_Named(number, TextPattern(tool)))
            elif server is not None and server.tool is not None and "*" not in server.server:
                self._server_globs.setdefault(server.server, []).append(_Named(number, TextPattern(server.tool)))
            else:
                raise _IdleError("An allow rule may have a star in a tool's name only after `mcp__SERVER__`.")
        elif server is not None and server.tool is None:
            self._servers.setdefault(server.server, []).append(number)
        else:
            self._tools.setdefault(tool, []).append(number)

    def _add_detailed(self, number: int, rule: Rule, parsed: RuleText, detail: str) -> None:
        tool = parsed.tool
        parameter = parse_parameter(tool, detail)
        if "*" in tool:
            raise _IdleError("A star in a tool's name and parentheses do not go together.")
        if parameter is not None and parameter.is_content:
            raise _IdleError(f"A rule cannot name `{parameter.name}`, on which {tool} works, as a parameter.")
        if parameter is not None and parameter.is_known and self.is_allow:
            raise _IdleError("Only rules that ask or deny can name a parameter.")
        is_parameter = parameter is not None and not self.is_allow
        if parameter is not None and is_parameter:
            self.parameters.setdefault(tool, []).append((number, parameter))
        if tool in ("Bash", "PowerShell"):
            text = canonical_command(detail) if tool == "PowerShell" else spaced(detail)
            self._commands[tool].append((number, compile_pattern(text)))
        elif tool in ("Read", "Edit"):
            self._add_path(number, rule, tool, detail)
        elif tool in _RULED_BY_OTHERS:
            if not is_parameter:
                instead = f"{_RULED_BY_OTHERS[tool]}({detail})"
                raise _IdleError(f"A path in a rule for {tool} is never looked at; {instead} would be.")
        elif tool == "WebFetch" and detail.lstrip().startswith("domain:"):
            self.hosts.add(number, detail.partition(":")[2])
        elif tool == "Agent":
            self.agents.setdefault(detail.strip(), []).append(number)
        elif tool in ("Skill", "SlashCommand"):
            self._skills.append(_Named(number, compile_pattern(spaced(detail.strip().removeprefix("/")))))
            if parameter is not None and parameter.name == "skill" and self.kind == "deny":
                self._skills.append(_Named(number, parameter.value))
        elif not is_parameter:
            raise _IdleError(_without_use(tool, is_named=parameter is not None))

    def _require_parameter(self, parsed: RuleText) -> None:
        """Refuse parentheses after a tool of MCP in a settings file, unless they name a parameter to ask or deny by."""
        name = McpName.of(parsed.tool)
        has_parameter = parsed.detail is not None and parse_parameter(parsed.tool, parsed.detail) is not None
        if self.is_allow or name is None or name.tool is None or not has_parameter:
            raise _IdleError(
                "In a settings file, a rule for a tool of MCP has parentheses only to ask or deny by a parameter, "
                "as in mcp__SERVER__TOOL(name:value)."
            )

    def _add_path(self, number: int, rule: Rule, tool: str, detail: str) -> None:
        detail = detail.strip()
        is_carving = detail.startswith("!")
        paths = self.reads if tool == "Read" else self.edits
        if is_carving and self.is_allow:
            raise _IdleError("An allow rule cannot take a path out of another with `!`.")
        try:
            pattern = compile_path(detail.removeprefix("!"), is_allow=self.is_allow)
        except GlobError:
            if self.is_allow:
                raise _IdleError("Its path is no pattern that could match.") from None
            pattern = literal_path(detail)
        if is_carving:
            pattern = pattern._replace(anchor="cwd")
        paths.add(number, pattern, rule.folder, f"{rule.file}\n{rule.scope}", is_carving=is_carving)

    def for_tool(self, tool: str) -> Sequence[int]:
        """Return the rules that mean every call of a tool."""
        found = self._whole_tools.get(tool)
        if found is None:
            found = tuple(self._meaning_all_of(tool))
            if len(self._whole_tools) < _TOOLS_KEPT:
                self._whole_tools[tool] = found
        return found

    def _meaning_all_of(self, tool: str) -> Iterator[int]:
        if tool == UNSTOPPABLE and not self.is_allow:
            return
        yield from self._tools.get(tool, ())
        for named in self._tool_globs:
            if named.pattern.matches(tool):
                yield named.number
        name = McpName.of(tool)
        if name is not None and name.tool is not None:
            yield from self._servers.get(name.server, ())
            for named in self._server_globs.get(name.server, ()):
                if named.pattern.matches(name.tool):
                    yield named.number

    def for_parameters(self, tool: str, parameters: Mapping[str, object]) -> Iterator[int]:
        """Yield the rules that a parameter's value fits."""
        for number, parameter in self.parameters.get(tool, ()):
            value = parameter_text(parameters.get(parameter.name))
            if value is not None and parameter.value.matches(value):
                yield number

    def for_skill(self, name: str, text: str) -> Iterator[int]:
        """Yield the rules that fit a skill, given its name and the name with its arguments."""
        for number, pattern in self._skills:
            if pattern.matches(text) or (pattern.is_exact and pattern.matches(name)):
                yield number

    def for_texts(self, texts: Iterable[str], *, needs_exact: bool = False) -> Iterator[int]:
        """Yield the rules that one of the texts of a shell command fits."""
        for text in texts:
            for number, pattern in self.commands.matching(text):
                if not needs_exact or pattern.is_spelled(text):
                    yield number

    def for_whole(self, text: str) -> Iterator[int]:
        """Yield the rules that mean a shell command as a whole, with its operators."""
        for number, _ in self.whole_commands.matching(text):
            yield number


def _without_use(tool: str, *, is_named: bool) -> str:
    if tool == "WebFetch":
        return "A rule for WebFetch names a host, as in WebFetch(domain:example.com)."
    if tool == "Cd":
        return "Rules for Cd are about where the user moves a session, not about calls."
    if not is_known_tool(tool):
        return f"No tool is known by the name {tool}."
    if is_named:
        return "Only rules that ask or deny can name a parameter."
    return f"A rule for {tool} has no parentheses."
