"""The permission rules of personas: lists of tools, each alone or with what it may be used for.

A list of what is allowed is a whitelist: what it does not name is denied. Without one everything is allowed that is
not denied. What judges them is loaded when there is something to judge.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from aix.permissions.contract import Call, Dialect, Judge, Rule
from aix_importers.common.json_text import DECODER, without_lone_surrogates

_PLAIN = re.compile(r"[^()*?\x00-\x1f\x7f]+")
_LONGEST_RULE = 200
_TOOL_WIDE = re.compile(r"[^()]+(\((\*+|:\*|[~/.]*/\*\*)\))?")


class PersonaRules(Dialect):
    """The lists `tools.allow`, `tools.ask` and `tools.deny` of a persona."""

    origin: ClassVar[str] = "session-log"
    version: ClassVar[int] = 1

    def reads(self, path: str, content: bytes) -> bool:
        """Whether a file looks like a persona."""
        return (
            path.endswith(".json")
            and b'"tools"' in content
            and any(name in content for name in (b'"allow"', b'"deny"'))
        )

    def read_settings(
        self, path: str, content: bytes, folder: str | None = None, report: Callable[[str], object] = lambda _: None
    ) -> list[Rule]:
        """Return the rules of a persona, or of its permissions alone.

        Raises:
            ValueError: The file is no persona.
        """
        from aix_importers.session_log.persona_rules import SCOPE, persona_rules

        try:
            whole = without_lone_surrogates(DECODER.decode(content.decode("utf-8-sig", "replace")))
        except RecursionError as error:
            raise ValueError("The file is nested too deeply to be read.") from error
        found = persona_rules(whole, report)
        if found is None:
            raise ValueError("The file holds no lists of tools.")
        return [Rule(each.kind, each.text, SCOPE, path, each.position, folder or "") for each in found]

    def folder_of(self, scope: str, file: str) -> str:  # noqa: ARG002 - the same everywhere
        """Return no folder: paths start where each call was made."""
        return ""

    def is_tool_wide(self, rule: Rule) -> bool:
        """Whether a rule speaks of all that a tool can do."""
        return _TOOL_WIDE.fullmatch(rule.text) is not None

    def input_of(self, tool: str, target: str) -> Mapping[str, object]:  # noqa: ARG002 - nothing is known
        """Return no parameters: tools are whatever a persona calls so."""
        return {}

    def judge(self, rules: Sequence[Rule], home: str | None = None) -> Judge:
        """Make rules ready to be held against calls."""
        from aix_importers.session_log.persona_judge import PersonaJudge

        return PersonaJudge(rules, home)

    def patterns(self, call: Call) -> Sequence[Sequence[str]]:
        """Return for every part of a call the allow rules that would let it pass."""
        from aix_importers.session_log.persona_judge import read_parts
        from aix_importers.session_log.references import referred_id

        if not _is_plain(call.tool) or referred_id(call.tool):
            return [[]]
        parts = read_parts(call, None)
        if not parts.known:
            return [[call.tool]]
        return [[f"{call.tool}({text})"] if _is_plain(text) else [] for text in parts.texts()] or [[]]

    def write_settings(self, rules: Mapping[str, Sequence[str]]) -> str:
        """Return the permissions of a persona."""
        return json.dumps({"permissions": {"tools": {kind: list(texts) for kind, texts in rules.items()}}}, indent=2)


def _is_plain(text: str) -> bool:
    return len(text) <= _LONGEST_RULE and _PLAIN.fullmatch(text) is not None and text == text.strip()
