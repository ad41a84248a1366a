"""The rules of a persona, held against calls: deny before ask before allow."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from aix.permissions.contract import Call, Decision, Judge, Rule, Verdict
from aix_importers.common.globs import has_wildcards, name_glob
from aix_importers.session_log.personas import KINDS, NOTHING_ALLOWED
from aix_importers.session_log.specifiers import Parts, Specifier, read_parts

_RULE = re.compile(r"([^()]+)(?:\((.*)\))?", re.DOTALL)


class _Entry(NamedTuple):
    number: int
    specifier: Specifier | None


class _List:
    """The rules of one kind, by the tool that they name."""

    def __init__(self) -> None:
        self._fixed: dict[str, list[_Entry]] = {}
        self._globs: list[tuple[re.Pattern[str], _Entry]] = []

    def add(self, tool: str, entry: _Entry) -> None:
        """Add a rule."""
        if has_wildcards(tool):
            self._globs.append((name_glob(tool), entry))
        else:
            self._fixed.setdefault(tool, []).append(entry)

    def of_tool(self, tool: str) -> list[_Entry]:
        """Return the rules about a tool, in their order."""
        found = [*self._fixed.get(tool, ()), *(entry for glob, entry in self._globs if glob.match(tool))]
        return sorted(found, key=lambda entry: entry.number)


class PersonaJudge(Judge):
    """The rules of one persona."""

    def __init__(self, rules: Sequence[Rule], home: str | None) -> None:
        self._home = home
        self._rules = tuple(rules)
        self._remarks: list[tuple[Rule, str]] = []
        self._lists = {kind: _List() for kind in KINDS}
        self._empty = next((each for each in self._rules if (each.kind, each.text) == ("mode", NOTHING_ALLOWED)), None)
        self._is_whitelist = any(rule.kind == "allow" for rule in self._rules) or self._empty is not None
        specified = set()
        for number, rule in enumerate(self._rules):
            found = _RULE.fullmatch(rule.text.strip())
            if rule.kind not in KINDS:
                if rule is not self._empty:
                    self._remarks.append((rule, "Personas have no such setting."))
            elif found is None or not found[1].strip():
                self._remarks.append((rule, "It is no rule of the form Tool or Tool(specifier)."))
            else:
                tool, written = found[1].strip(), found[2]
                specifier = None if written is None else Specifier(written, covers_below=rule.kind != "allow")
                self._lists[rule.kind].add(tool, _Entry(number, specifier))
                if specifier:
                    specified.add(tool)
        self.whole_input_tools: Collection[str] = frozenset(specified)

    def judge(self, call: Call) -> Verdict:
        """Say what the rules decide about a call."""
        for kind, decision in (("deny", Decision.DENY), ("ask", Decision.ASK)):
            if found := self._matching(kind, call):
                return self._verdict(decision, found, f"A rule of the list {kind} matches the call or a part of it.")
        if not self._is_whitelist:
            reason = "The persona has no list of what is allowed, and does not deny it."
            return Verdict(Decision.ALLOW, None, (), reason)
        if found := self._allowing(call):
            return self._verdict(Decision.ALLOW, found, "The persona's list of what is allowed names it.")
        rules = (self._empty,) if self._empty else ()
        return Verdict(Decision.DENY, self._empty, rules, "The persona's list of what is allowed does not name it.")

    def matching(self, call: Call) -> Sequence[Rule]:
        """Return every rule that matches the call or a part of it, in their order."""
        found = {number for kind in KINDS for number in self._matching(kind, call)}
        return [self._rules[number] for number in sorted(found)]

    def remarks(self) -> Sequence[tuple[Rule, str]]:
        """Return the rules that can never decide anything, each with the reason."""
        return self._remarks

    def _verdict(self, decision: Decision, numbers: list[int], reason: str) -> Verdict:
        rules = tuple(self._rules[number] for number in numbers)
        return Verdict(decision, rules[0], rules, reason)

    def _matching(self, kind: str, call: Call) -> list[int]:
        entries = self._lists[kind].of_tool(call.tool)
        parts = read_parts(call, self._home) if any(entry.specifier for entry in entries) else Parts()
        return [entry.number for entry in entries if not entry.specifier or entry.specifier.matches_any(parts)]

    def _allowing(self, call: Call) -> list[int]:
        entries = self._lists["allow"].of_tool(call.tool)
        if whole := next((entry for entry in entries if not entry.specifier), None):
            return [whole.number]
        parts = read_parts(call, self._home) if entries else Parts()
        if not parts.script:
            return [entry.number for entry in entries if entry.specifier and entry.specifier.matches_any(parts)][:1]
        found: set[int] = set()
        for part in parts.script.simple if parts.script.is_whole else ():
            matching = (
                entry.number
                for entry in entries
                if entry.specifier and not part.env and entry.specifier.matches_command(part.words, part.source)
            )
            number = next(matching, None)
            if number is None:
                return []
            found.add(number)
        return sorted(found)
