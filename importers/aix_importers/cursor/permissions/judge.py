"""Rules in force, held against calls: deny before ask before allow, and every part of a chain must be allowed."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from aix.permissions.contract import Call, Decision, Judge, Rule, Verdict
from aix_importers.common.paths import PathPattern, PathRules, Place
from aix_importers.cursor.permissions.asked import MCP_CALLS, SEARCHES, Asked, Kind, read_call
from aix_importers.cursor.permissions.commands import CommandRules, read_chain
from aix_importers.cursor.permissions.names import (
    HostRules,
    PairRules,
    change_of_mode,
    host_pattern,
    server_and_tool,
)
from aix_importers.cursor.permissions.switches import Switches
from aix_importers.cursor.settings import file_name

_RULE = re.compile(r"\s*(Shell|Read|Write|WebFetch|Mcp|SwitchMode)\((.*)\)\s*", re.DOTALL)
_LISTS_OF_THE_EDITOR = ("permissions.json", "state.vscdb")
_EFFECTS = ("allow", "ask", "deny")

Find = Callable[[Asked, Place | None], list[int]]


class CursorJudge(Judge):
    """A set of Cursor's rules and switches."""

    def __init__(self, rules: Sequence[Rule], home: str | None) -> None:
        self._rules = tuple(rules)
        self._home = home
        self._switches = Switches(self._rules)
        self._remarks: dict[int, str] = dict(self._switches.remarks)
        named = self._named()
        self._lists = {effect: _lists(named, self._rules, effect) for effect in _EFFECTS}
        self.whole_input_tools: Collection[str] = _tools_with_more_to_say({name for _, name, _ in named})

    def judge(self, call: Call) -> Verdict:
        """Say what the rules decide about a call."""
        asked, place = self._read(call)
        if denying := self._find("deny", asked, place):
            return self._verdict(Decision.DENY, denying, "A deny rule matches the call or a part of it.")
        if asking := self._find("ask", asked, place):
            return self._verdict(Decision.ASK, asking, "An ask rule matches the call or a part of it.")
        allowing, reason = self._allowing(asked, place)
        if allowing:
            if protecting := self._switches.protections(asked, place):
                return self._verdict(Decision.ASK, protecting, "It would be allowed, but a protection covers it.")
            return self._verdict(Decision.ALLOW, allowing, reason)
        if (switch := self._switches.asking(asked)) is not None:
            return self._verdict(Decision.ASK, [switch], "No rule allows it, and it does not run by itself.")
        return Verdict(Decision.NONE, None, (), "No rule decides about it.")

    def matching(self, call: Call) -> Sequence[Rule]:
        """Return every rule that matches the call or a part of it, in their order."""
        asked, place = self._read(call)
        found = {number for effect in _EFFECTS for number in self._find(effect, asked, place)}
        found.update(self._switches.protections(asked, place))
        switches = (self._switches.everything, self._switches.asking(asked), self._search(asked))
        found.update(number for number in switches if number is not None)
        return [self._rules[number] for number in sorted(found)]

    def remarks(self) -> Sequence[tuple[Rule, str]]:
        """Return the rules that can never decide anything, each with the reason."""
        return [(self._rules[number], self._remarks[number]) for number in sorted(self._remarks)]

    def _read(self, call: Call) -> tuple[Asked, Place | None]:
        asked = read_call(call)
        is_file = asked.kind in (Kind.READ, Kind.WRITE) and asked.target
        return asked, Place.of(asked.target, asked.cwd, self._home) if is_file else None

    def _verdict(self, decision: Decision, numbers: list[int], reason: str) -> Verdict:
        rules = tuple(self._rules[number] for number in numbers)
        return Verdict(decision, rules[0], rules, reason)

    def _find(self, effect: str, asked: Asked, place: Place | None) -> list[int]:
        find = self._lists[effect].get(asked.kind)
        return find(asked, place) if find else []

    def _search(self, asked: Asked) -> int | None:
        return self._switches.search if asked.kind is Kind.SEARCH else None

    def _allowing(self, asked: Asked, place: Place | None) -> tuple[list[int], str]:
        if (search := self._search(asked)) is not None:
            return [search], "Searches of the web are accepted."
        if asked.kind is Kind.SHELL:
            found = self._allowing_all_parts(asked.target)
            reason = "Every command of it is allowed by a rule."
        else:
            found, reason = self._find("allow", asked, place)[:1], "A rule allows it."
        if not found and self._switches.everything is not None:
            return [self._switches.everything], "Everything runs that nothing denies or protects."
        return found, reason

    def _allowing_all_parts(self, command: str) -> list[int]:
        rules = self._lists["allow"].get(Kind.SHELL)
        if not isinstance(rules, _WrittenCommands):
            return []
        chain = read_chain(command)
        found: set[int] = set()
        for part in chain.written if chain.script.is_whole else ():
            matching = rules.commands.find(part)
            if not matching:
                return []
            found.add(matching[0])
        return sorted(found)

    def _named(self) -> list[tuple[int, str, str]]:
        """Return number, name and specifier of each rule that can decide; the others get a remark."""
        found = []
        replaced = {
            matched[1]
            for rule in self._rules
            if rule.kind == "allow" and file_name(rule.file) == _LISTS_OF_THE_EDITOR[0]
            if (matched := _RULE.fullmatch(rule.text))
        }
        for number, rule in enumerate(self._rules):
            if rule.kind == "mode":
                continue
            matched = _RULE.fullmatch(rule.text)
            remark = (
                "It is no rule of Cursor's form, such as Shell(git) or Read(src/**)."
                if matched is None
                else _flaw(matched[1], matched[2], rule) or self._overruling(rule, matched[1], replaced)
            )
            if remark or matched is None:
                self._remarks[number] = remark
            else:
                found.append((number, matched[1], matched[2]))
        return found

    def _overruling(self, rule: Rule, name: str, replaced: Collection[str]) -> str:
        if rule.kind != "allow" or file_name(rule.file) not in _LISTS_OF_THE_EDITOR:
            return ""
        if file_name(rule.file) == _LISTS_OF_THE_EDITOR[1] and name in replaced:
            return "The list in permissions.json stands in place of the editor's own."
        if self._switches.off is not None and name != "SwitchMode":
            return "The editor asks every time, so that its lists of what may run are not used."
        return ""


class _WrittenCommands:
    """Allow rules for commands; whether they allow a whole chain is told elsewhere."""

    def __init__(self, rules: Iterable[tuple[int, str]]) -> None:
        self.commands = CommandRules(rules)

    def __call__(self, asked: Asked, _: Place | None) -> list[int]:
        parts = read_chain(asked.target).written
        return sorted({number for part in parts for number in self.commands.find(part)})


def _lists(named: Sequence[tuple[int, str, str]], rules: Sequence[Rule], effect: str) -> dict[Kind, Find]:
    own: dict[str, list[tuple[int, str]]] = {}
    for number, name, written in named:
        if rules[number].kind == effect:
            own.setdefault(name, []).append((number, written))
    is_allow = effect == "allow"
    found: dict[Kind, Find] = {}
    if "Shell" in own:
        found[Kind.SHELL] = _WrittenCommands(own["Shell"]) if is_allow else _reached(CommandRules(own["Shell"]))
    for name, kind in (("Read", Kind.READ), ("Write", Kind.WRITE)):
        if name in own:
            patterns = (
                (number, PathPattern(written, rules[number].folder, covers_below=not is_allow))
                for number, written in own[name]
            )
            found[kind] = _placed(PathRules(patterns))
    if "WebFetch" in own:
        found[Kind.FETCH] = _plain(HostRules((number, host_pattern(written)) for number, written in own["WebFetch"]))
    for name, kind, parse in (("Mcp", Kind.MCP, server_and_tool), ("SwitchMode", Kind.MODE, change_of_mode)):
        if name in own:
            pairs = [(number, pair) for number, written in own[name] if (pair := parse(written))]
            found[kind] = _plain(PairRules(pairs, are_unknown_matched=not is_allow))
    return found


def _reached(rules: CommandRules) -> Find:
    return lambda asked, _: sorted({number for part in read_chain(asked.target).reached for number in rules.find(part)})


def _placed(rules: PathRules) -> Find:
    return lambda _, place: rules.find(place) if place else []


def _plain(rules: HostRules | PairRules) -> Find:
    return lambda asked, _: rules.find(asked)


def _flaw(name: str, written: str, rule: Rule) -> str:
    """Return why a rule can match nothing."""
    match name:
        case "Shell":
            return "" if written.strip() else "It names no command."
        case "Read" | "Write":
            is_reachable = PathPattern(written, rule.folder, covers_below=False).is_reachable
            return "" if is_reachable else "It names no path that calls can be held against."
        case "WebFetch":
            return "" if host_pattern(written) else "It names no host."
        case "Mcp":
            return "" if server_and_tool(written) else "It does not name a server and a tool."
        case _:
            return "" if change_of_mode(written) else "It does not name the mode that is left and the one entered."


def _tools_with_more_to_say(names: Collection[str]) -> Collection[str]:
    """Return the tools whose target alone does not tell what the rules speak of."""
    found: set[str] = set()
    if "Mcp" in names:
        found.update(MCP_CALLS)
    if "SwitchMode" in names:
        found.update(("switch_mode", "SwitchMode"))
    if "Read" in names:
        found.update(SEARCHES)
    return frozenset(found)
