"""The permission rules of Claude Code's settings files; what judges them is loaded when there is something to judge."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix.permissions import Call, Dialect, Judge, Rule
from aix_importers.claude_code.calls import access_of, target_parameter
from aix_importers.claude_code.settings import read_rules, scope_of
from aix_importers.common.json_text import ABSENT, read

_BOM = b"\xef\xbb\xbf"
_SETTINGS_NAMES = ("settings.json", "settings.local.json", "managed-settings.json")
_OTHER_TOOLS_FILES = ("/cli.json", "/cli-config.json")
_TOOL_WIDE = re.compile(r"[A-Za-z*]+|mcp__[^_]+(_[^_]+)*(__\*)?|[^(]*\((\*+|:\*|\*:\*|domain:\*|[~/.]*/\*\*)\)")


class _Lists(Struct):
    allow: Raw = ABSENT
    ask: Raw = ABSENT
    deny: Raw = ABSENT

    def are_given(self) -> bool:
        return any(each is not ABSENT for each in (self.allow, self.ask, self.deny))


class _Settings(_Lists):
    permissions: Raw = ABSENT


_SETTINGS = Decoder(_Settings)
_LISTS = Decoder(_Lists)


class ClaudeCodeRules(Dialect):
    """Rules as code.claude.com/docs describes them."""

    origin: ClassVar[str] = "claude-code"
    version: ClassVar[int] = 4
    # What is known of a search may be the text that was searched for, and of a skill not what it was given.
    whole_input_tools: ClassVar[frozenset[str]] = frozenset(("Grep", "Glob", "LS", "Skill"))
    # Not its memory: what stands there is told to later sessions.
    own_files: ClassVar[tuple[str, ...]] = (".claude/plans/*.md",)

    def reads(self, path: str, content: bytes) -> bool:
        """Whether a file holds `permissions`, or the lists alone, in the words of Claude Code."""
        settings = read(_SETTINGS, content.removeprefix(_BOM))
        place = path.replace("\\", "/")
        if settings is None or "/.cursor/" in place or place.endswith(_OTHER_TOOLS_FILES):
            return False
        if settings.permissions is ABSENT and not settings.are_given():
            return scope_of_settings(path) != "command_line"
        return settings.permissions is ABSENT or read(_LISTS, settings.permissions) is not None

    def read_settings(
        self, path: str, content: bytes, folder: str | None = None, report: Callable[[str], object] = lambda _: None
    ) -> list[Rule]:
        """Return the rules of a settings file, or of one that holds nothing but the lists.

        Raises:
            ValueError: The file is no settings file.
        """
        content = content.removeprefix(_BOM)
        settings = read(_SETTINGS, content)
        if settings is not None and settings.permissions is ABSENT and settings.are_given():
            content = b'{"permissions":' + content + b"}"
        scope = scope_of_settings(path)
        start = self.folder_of(scope, path) if folder is None else folder
        return [
            Rule(rule.kind, rule.rule, scope, path, rule.position, start) for rule in read_rules(path, content, report)
        ]

    def folder_of(self, scope: str, file: str) -> str:
        """Return the project of its own or local settings, the folder of any other file that paths can start from."""
        folder = file.replace("\\", "/").rpartition("/")[0]
        if scope in ("project", "local"):
            return folder.removesuffix("/.claude")
        return folder if scope in ("user", "command_line") else ""

    def is_tool_wide(self, rule: Rule) -> bool:
        """Whether a rule speaks of all that a tool or a server can do."""
        return _TOOL_WIDE.fullmatch(rule.text) is not None

    def input_of(self, tool: str, target: str) -> Mapping[str, object]:
        """Return the parameters of a call of which only the target is known."""
        name = target_parameter(tool)
        return {} if name is None else {name: target}

    def access_of(self, call: Call) -> tuple[str | None, str | None]:
        """Return the class and the target of a call."""
        return access_of(call.tool, json.dumps(call.input).encode())

    def judge(self, rules: Sequence[Rule], home: str | None = None) -> Judge:
        """Make rules ready to be held against calls."""
        from aix_importers.claude_code.permissions.judge import RulesInForce

        return RulesInForce(rules, home)

    def patterns(self, call: Call) -> Sequence[Sequence[str]]:
        """Return for every part of a call the allow rules that would let it pass."""
        from aix_importers.claude_code.permissions.proposals import patterns_of

        return patterns_of(call)

    def examples(self, rule: Rule) -> Sequence[Call]:
        """Return calls that stand for all that a rule matches."""
        from aix_importers.claude_code.permissions.proposals import examples_of

        return examples_of(rule)

    def write_settings(self, rules: Mapping[str, Sequence[str]]) -> str:
        """Return a settings file with these rules."""
        return json.dumps({"permissions": {kind: list(texts) for kind, texts in rules.items() if texts}}, indent=2)


def scope_of_settings(path: str) -> str:
    """Return whose settings a file holds; one of any other name is given on the command line."""
    place = path.replace("\\", "/")
    is_settings = place.rpartition("/")[2] in _SETTINGS_NAMES or "/managed-settings.d/" in place
    return scope_of(path) if is_settings else "command_line"
