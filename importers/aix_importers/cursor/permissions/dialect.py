"""The language of Cursor's permission rules; what judges them is loaded when there is something to judge."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from aix.permissions.contract import Call, Dialect, Judge, Rule
from aix_importers.cursor.paths import RULE_FILES
from aix_importers.cursor.permissions.approval import SEARCHES
from aix_importers.cursor.tools import access_of, class_of

_HEAD = 65_536
_TOOL_WIDE = re.compile(r"[A-Za-z]+\((\*+|:\*|\*:\*|[~/.]*/\*\*)\)|Mcp\([^:]+:\*\)")
_PARAMETERS = {
    "exec": "command",
    "read": "targetFile",
    "write": "relativeWorkspacePath",
    "net": "url",
    "mcp": "server",
    "spawn": "subagent_type",
}
_OTHER_PARAMETERS = SEARCHES | {
    "list_dir": "target_directory",
    "list_dir_v2": "target_directory",
    "LS": "target_directory",
    "web_search": "search_term",
    "WebSearch": "search_term",
}


class CursorRules(Dialect):
    """Rules of the command line, lists and switches of the editor."""

    origin: ClassVar[str] = "cursor"
    version: ClassVar[int] = 2
    own_files: ClassVar[tuple[str, ...]] = (".cursor/plans/*.plan.md",)

    def reads(self, path: str, content: bytes) -> bool:
        """Whether a settings file looks like one of Cursor's."""
        from aix_importers.cursor.settings import file_name, holds_rules

        return file_name(path) in RULE_FILES and holds_rules(content[:_HEAD])

    def read_settings(
        self, path: str, content: bytes, folder: str | None = None, report: Callable[[str], object] = lambda _: None
    ) -> list[Rule]:
        """Return the rules of a settings file.

        Raises:
            ValueError: The file holds no permissions.
        """
        from aix_importers.cursor.settings import rules_in, scope_of

        found = rules_in(content, report)
        if found is None:
            raise ValueError("The file holds no object of permissions.")
        scope = scope_of(path)
        folder = self.folder_of(scope, path) if folder is None else folder
        return [Rule(each.kind, each.rule, scope, path, each.position, folder) for each in found]

    def folder_of(self, scope: str, file: str) -> str:
        """Return the folder that holds the folder .cursor, for the rules of a project."""
        above, found, _ = file.replace("\\", "/").rpartition("/.cursor/")
        return above if scope == "project" and found else ""

    def is_tool_wide(self, rule: Rule) -> bool:
        """Whether a rule speaks of all that a tool or a server can do."""
        return _TOOL_WIDE.fullmatch(rule.text) is not None

    def input_of(self, tool: str, target: str) -> Mapping[str, object]:
        """Return the parameters of a call of which only the target is known."""
        name = _OTHER_PARAMETERS.get(tool) or _PARAMETERS.get(class_of(tool) or "")
        return {name: target} if name and target else {}

    def access_of(self, call: Call) -> tuple[str | None, str | None]:
        """Return the class and the target of a call."""
        return access_of(call.tool, None, json.dumps(call.input).encode())

    def judge(self, rules: Sequence[Rule], home: str | None = None) -> Judge:
        """Make rules ready to be held against calls."""
        from aix_importers.cursor.permissions.judge import CursorJudge

        return CursorJudge(rules, home)

    def patterns(self, call: Call) -> Sequence[Sequence[str]]:
        """Return for every part of a call the allow rules that would let it pass."""
        from aix_importers.cursor.permissions.approval import patterns_of

        return patterns_of(call)

    def write_settings(self, rules: Mapping[str, Sequence[str]]) -> str:
        """Return a file of permissions as the command line reads it."""
        return json.dumps({"permissions": {kind: list(rules.get(kind, ())) for kind in ("allow", "deny")}}, indent=2)
