"""Rules in force, held against calls: deny before ask before allow, and every part of a chain must be allowed."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from aix.permissions.contract import Call, Decision, Judge, Rule, Verdict
from aix.permissions.globs import has_wildcards, name_glob
from aix_importers.common.paths import CallPath, PathPattern, PathRules
from aix_importers.cursor.permissions.approval import MCP_CALLS, SEARCHES, Approval, Kind, host_of, read_call
from aix_importers.cursor.permissions.commands import CommandRules, read_chain
from aix_importers.cursor.settings import file_name

_RUNNING = ("agent.fullAutoRun", "agent.smartModeAutoRun", "agent.autoRun", "useYoloMode")
_EVERYTHING = ("agent.fullAutoRun", "yoloEnableRunEverything")
_DOT_FILES, _DELETION, _OUTSIDE = "yoloDotFilesDisabled", "yoloDeleteFileDisabled", "yoloOutsideWorkspaceDisabled"
_SERVERS, _BROWSER = "yoloMcpToolsDisabled", "playwrightProtection"
_PROTECTIONS = (_DOT_FILES, _DELETION, _OUTSIDE, _SERVERS, _BROWSER)
_SEARCH = "autoAcceptWebSearchTool"
_KNOWN = {*_RUNNING, *_EVERYTHING, *_PROTECTIONS, _SEARCH}
_ASKED_FOR = {Kind.SHELL, Kind.MCP, Kind.FETCH, Kind.SEARCH}
_SERVER_AND_TOOL = re.compile(r"\s*([^:,]*?)\s*[:,]\s*(.*?)\s*", re.DOTALL)
_CHANGE = re.compile(r"\s*(.*?)\s*->\s*(.*?)\s*", re.DOTALL)
_RULE = re.compile(r"\s*(Shell|Read|Write|WebFetch|Mcp|SwitchMode)\((.*)\)\s*", re.DOTALL)
_LISTS_OF_THE_EDITOR = ("permissions.json", "state.vscdb")
_EFFECTS = ("allow", "ask", "deny")
Find = Callable[[Approval, CallPath | None], list[int]]


class Switches:
    """How the switches stand; of two settings of one the stronger counts, which comes later."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.remarks: list[tuple[int, str]] = []
        self._on: dict[str, int] = {}
        self._off: dict[str, int] = {}
        for number, rule in enumerate(rules):
            if rule.kind == "mode":
                self._set(number, rule.text.strip())
        running = [self._on[name] for name in _RUNNING if name in self._on]
        stopped = [self._off[name] for name in _RUNNING if name in self._off]
        self.off = min(stopped) if stopped and not running else None
        """The switch that makes the editor ask every time."""
        everything = [self._on[name] for name in _EVERYTHING if name in self._on]
        self.everything = min(everything) if everything and self.off is None else None
        """The switch that makes the editor run everything."""
        self.search = self._on.get(_SEARCH)
        """The switch that lets searches of the web pass."""

    def _set(self, number: int, text: str) -> None:
        name, _, value = text.partition("=")
        if name not in _KNOWN:
            mode, dot, _ = name.partition(".")
            reason = (
                "It is about another mode than agent, and a call does not say its mode."
                if dot and mode != "agent"
                else "What this switch does to calls is not documented."
            )
            self.remarks.append((number, reason))
        elif value not in ("true", "false"):
            self.remarks.append((number, "It is neither true nor false."))
        else:
            here, there = (self._on, self._off) if value == "true" else (self._off, self._on)
            there.pop(name, None)
            here[name] = number
            if value == "false" and name in _PROTECTIONS:
                self.remarks.append((number, "The protection is switched off."))

    def asking(self, approval: Approval) -> int | None:
        """Return the switch for which a call is asked about that no rule allows."""
        if approval.kind is Kind.SEARCH and _SEARCH in self._off:
            return self._off[_SEARCH]
        return self.off if approval.kind in _ASKED_FOR or approval.is_deletion else None

    def protections(self, approval: Approval, place: CallPath | None) -> list[int]:
        """Return the protections that a call falls under."""
        if not self._on.keys() & set(_PROTECTIONS):
            return []
        return sorted(self._on[name] for name in _reasons(approval, place) if name in self._on)


def _reasons(approval: Approval, place: CallPath | None) -> list[str]:
    match approval.kind:
        case Kind.SHELL:
            return [_DELETION] if read_chain(approval.target).deletes else []
        case Kind.MCP:
            named = f"{approval.target} {approval.detail}".lower()
            return [_SERVERS, _BROWSER] if "playwright" in named or "browser" in named else [_SERVERS]
        case Kind.WRITE if place is not None:
            inside = place.below(place.cwd) if place.cwd else None
            names = (place.path if inside is None else inside).split("/")
            found = [_DELETION] if approval.is_deletion else []
            found += [_DOT_FILES] if any(name.startswith(".") and name != ".." for name in names) else []
            return [*found, _OUTSIDE] if (place.cwd and inside is None) or ".." in names else found
        case _:
            return []


class PairRules:
    """Rules that name two things, each with its number; `*` stands for any text in a name."""

    def __init__(self, pairs: Iterable[tuple[int, tuple[str, str]]], *, are_unknown_matched: bool) -> None:
        self._fixed: dict[tuple[str, str], list[int]] = {}
        self._by_first: dict[str, list[tuple[int, re.Pattern[str]]]] = {}
        self._globs: list[tuple[int, re.Pattern[str], re.Pattern[str]]] = []
        self._are_unknown_matched = are_unknown_matched
        for number, (first, second) in pairs:
            if not has_wildcards(first) and has_wildcards(second):
                self._by_first.setdefault(first, []).append((number, name_glob(second)))
            elif has_wildcards(first):
                self._globs.append((number, name_glob(first), name_glob(second)))
            else:
                self._fixed.setdefault((first, second), []).append(number)

    def find(self, approval: Approval) -> list[int]:
        """Return the rules that speak of a call; of one that does not say its names only where that is asked for."""
        first, second = approval.target, approval.detail
        if not first and not second:
            return []
        found = list(self._fixed.get((first, second), ()))
        found += [number for number, other in self._by_first.get(first, ()) if other.match(second)]
        found += [number for number, one, other in self._globs if one.match(first) and other.match(second)]
        if self._are_unknown_matched and not first:
            found += [number for (_, each), numbers in self._fixed.items() if each == second for number in numbers]
        return sorted(found)


class FetchRules:
    """Rules about hosts, each with its number; `*.` stands for all hosts below one."""

    def __init__(self, hosts: Iterable[tuple[int, str]]) -> None:
        self._fixed: dict[str, list[int]] = {}
        self._globs: list[tuple[int, re.Pattern[str]]] = []
        for number, host in hosts:
            if has_wildcards(host):
                self._globs.append((number, name_glob(host)))
            else:
                self._fixed.setdefault(host, []).append(number)

    def find(self, approval: Approval) -> list[int]:
        """Return the rules that speak of a host."""
        host = approval.target.lower()
        if not host:
            return []
        return sorted([*self._fixed.get(host, ()), *(number for number, glob in self._globs if glob.match(host))])


def server_and_tool(written: str) -> tuple[str, str] | None:
    """Return what a rule about a server's tools names.

    >>> server_and_tool("github:list_*"), server_and_tool("github"), server_and_tool("github, list")
    (('github', 'list_*'), None, ('github', 'list'))
    """
    found = _SERVER_AND_TOOL.fullmatch(written)
    return (found[1], found[2]) if found and found[1] and found[2] else None


def change_of_mode(written: str) -> tuple[str, str] | None:
    """Return the mode that is left and the one that is entered.

    >>> change_of_mode("agent->plan"), change_of_mode("plan")
    (('agent', 'plan'), None)
    """
    found = _CHANGE.fullmatch(written)
    return (found[1], found[2]) if found and found[1] and found[2] else None


def host_pattern(written: str) -> str:
    """Return the host that a rule names; empty where it names none.

    >>> host_pattern("*.Example.com"), host_pattern("https://example.com/docs"), host_pattern(" ")
    ('*.example.com', 'example.com', '')
    """
    written = written.strip().lower()
    if has_wildcards(written):
        return written.partition("://")[2].partition("/")[0] if "://" in written else written.partition("/")[0]
    return host_of(written)


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
        approval, place = self._read(call)
        if denying := self._find("deny", approval, place):
            return self._verdict(Decision.DENY, denying, "A deny rule matches the call or a part of it.")
        if asking := self._find("ask", approval, place):
            return self._verdict(Decision.ASK, asking, "An ask rule matches the call or a part of it.")
        allowing, reason = self._allowing(approval, place)
        if allowing:
            if protecting := self._switches.protections(approval, place):
                return self._verdict(Decision.ASK, protecting, "It would be allowed, but a protection covers it.")
            return self._verdict(Decision.ALLOW, allowing, reason)
        if (switch := self._switches.asking(approval)) is not None:
            return self._verdict(Decision.ASK, [switch], "No rule allows it, and it does not run by itself.")
        return Verdict(Decision.NONE, None, (), "No rule decides about it.")

    def matching(self, call: Call) -> Sequence[Rule]:
        """Return every rule that matches the call or a part of it, in their order."""
        approval, place = self._read(call)
        found = {number for effect in _EFFECTS for number in self._find(effect, approval, place)}
        found.update(self._switches.protections(approval, place))
        switches = (self._switches.everything, self._switches.asking(approval), self._search(approval))
        found.update(number for number in switches if number is not None)
        return [self._rules[number] for number in sorted(found)]

    def remarks(self) -> Sequence[tuple[Rule, str]]:
        """Return the rules that can never decide anything, each with the reason."""
        return [(self._rules[number], self._remarks[number]) for number in sorted(self._remarks)]

    def _read(self, call: Call) -> tuple[Approval, CallPath | None]:
        approval = read_call(call)
        is_file = approval.kind in (Kind.READ, Kind.WRITE) and approval.target
        return approval, CallPath.of(approval.target, approval.cwd, self._home) if is_file else None

    def _verdict(self, decision: Decision, numbers: list[int], reason: str) -> Verdict:
        rules = tuple(self._rules[number] for number in numbers)
        return Verdict(decision, rules[0], rules, reason)

    def _find(self, effect: str, approval: Approval, place: CallPath | None) -> list[int]:
        find = self._lists[effect].get(approval.kind)
        return find(approval, place) if find else []

    def _search(self, approval: Approval) -> int | None:
        return self._switches.search if approval.kind is Kind.SEARCH else None

    def _allowing(self, approval: Approval, place: CallPath | None) -> tuple[list[int], str]:
        if (search := self._search(approval)) is not None:
            return [search], "Searches of the web are accepted."
        if approval.kind is Kind.SHELL:
            found = self._allowing_all_parts(approval.target)
            reason = "Every command of it is allowed by a rule."
        else:
            found, reason = self._find("allow", approval, place)[:1], "A rule allows it."
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

    def __call__(self, approval: Approval, _: CallPath | None) -> list[int]:
        parts = read_chain(approval.target).written
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
        found[Kind.FETCH] = _plain(FetchRules((number, host_pattern(written)) for number, written in own["WebFetch"]))
    for name, kind, parse in (("Mcp", Kind.MCP, server_and_tool), ("SwitchMode", Kind.MODE, change_of_mode)):
        if name in own:
            pairs = [(number, pair) for number, written in own[name] if (pair := parse(written))]
            found[kind] = _plain(PairRules(pairs, are_unknown_matched=not is_allow))
    return found


def _reached(rules: CommandRules) -> Find:
    return lambda approval, _: sorted(
        {number for part in read_chain(approval.target).reached for number in rules.find(part)}
    )


def _placed(rules: PathRules) -> Find:
    return lambda _, place: rules.find(place) if place else []


def _plain(rules: FetchRules | PairRules) -> Find:
    return lambda approval, _: rules.find(approval)


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
