"""The rules of a persona, held against calls: deny before ask before allow."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from aix.permissions.contract import Call, Decision, Judge, Rule, Verdict
from aix.permissions.globs import command_glob, has_wildcards, name_glob
from aix.permissions.shell import Script, split
from aix_importers.common import remembered
from aix_importers.common.paths import CallPath, PathPattern
from aix_importers.session_log.persona_rules import KINDS, NOTHING_ALLOWED

_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "path", "target_file", "notebook_path")
_ADDRESSES = ("url",)
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}://)?(?:[^/?#@]*@)?([^/?#:@]+)", re.IGNORECASE)
_DOMAIN = "domain:"
_PREFIX_ENDS = (":*", " *")

_split = remembered(longest=500)(split)
_RULE = re.compile(r"([^()]+)(?:\((.*)\))?", re.DOTALL)


class Parts(NamedTuple):
    """Subject of a call: a command, a path or a host, or none of them."""

    script: Script | None = None
    place: CallPath | None = None
    host: str = ""

    @property
    def known(self) -> bool:
        """Whether a specifier can speak of the call."""
        return self != Parts()

    def texts(self) -> list[str]:
        """Return the specifiers that match each part and nothing else; an empty one where none does."""
        if self.script:
            return ["" if each.env else each.source for each in self.script.simple] if self.script.is_whole else [""]
        return [self.place.written if self.place else f"{_DOMAIN}{self.host}"]


def read_parts(call: Call, home: str | None) -> Parts:
    """Return what a call is about."""
    if command := _first(call, _COMMANDS):
        return Parts(script=_split(command))
    if path := _first(call, _PATHS):
        return Parts(place=CallPath.of(path, call.cwd, home))
    if found := _ADDRESS.match(_first(call, _ADDRESSES).strip()):
        return Parts(host=found[1].lower())
    return Parts()


def _first(call: Call, names: Sequence[str]) -> str:
    return next((found for name in names if isinstance(found := call.input.get(name), str) and found), "")


class Specifier:
    """Text in the brackets of a rule, compared with the parts of a call."""

    def __init__(self, written: str, *, covers_below: bool) -> None:
        self._text = written.strip()
        self._is_prefix = self._text.endswith(_PREFIX_ENDS)
        self._is_glob = has_wildcards(self._text)
        self._command = command_glob(self._text[:-2]) if self._is_prefix else name_glob(self._text)
        self._path = PathPattern(self._text, "", covers_below=covers_below)
        self._host = name_glob(self._text.removeprefix(_DOMAIN).lower())

    def matches_command(self, words: Sequence[str], source: str) -> bool:
        """Whether it speaks of a command, as it is written or by its words."""
        if not self._is_glob:
            return self._text in (source, " ".join(words))
        return self._command.match(source) is not None or self._command.match(" ".join(words)) is not None

    def matches_place(self, place: CallPath) -> bool:
        """Whether it speaks of a path."""
        return self._path.is_reachable and self._path.matches(place)

    def matches_host(self, host: str) -> bool:
        """Whether it speaks of a host."""
        return self._host.match(host) is not None

    def matches_any(self, parts: Parts) -> bool:
        """Whether it speaks of a call, of a part of it, or of what a part runs."""
        if parts.script:
            return any(self.matches_command(each.words, each.source) for each in parts.script.simple) or any(
                self.matches_command(each.words, each.source) for each in parts.script.commands
            )
        if parts.place:
            return self.matches_place(parts.place)
        return bool(parts.host) and self.matches_host(parts.host)


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
