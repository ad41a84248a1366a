"""Rules in force, held against calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from aix.permissions import Call, Decision, Judge, Rule, Verdict, home_of
from aix_importers.claude_code.calls import target_parameter
from aix_importers.claude_code.permissions.built_in_decisions import (
    DEFAULT_AGENT,
    SHELLS,
    SKILLS,
    WRITING,
    is_protected,
    needs_rule,
    other_skill_name,
    path_of,
    removes_critical,
    runs_by_itself,
    runs_in_argument,
    skill_of,
)
from aix_importers.claude_code.permissions.commands import UNGUARDED_READERS, FileUse, ShellCommand, take_apart
from aix_importers.claude_code.permissions.paths import CallSite, below
from aix_importers.claude_code.permissions.patterns import host_of
from aix_importers.claude_code.permissions.powershell import PowerShellRemoval, commands_of, powershell_removal
from aix_importers.claude_code.permissions.rules import RulesOfKind, canonical

_GUARDED_BY_READ = frozenset(("Edit", "MultiEdit", "Write"))
_ALSO_DENIED_WITH = {"mcp__workspace__bash": "Bash", "mcp__workspace__web_fetch": "WebFetch"}
_LONGEST_SHOWN = 80
_PLACES_KEPT = 10_000
_VERDICTS_KEPT = 20_000
_LONGEST_KEPT = 500


_Key = tuple[str, str, str]


class _Requirement(NamedTuple):
    """Something that an allow rule must let pass."""

    what: str
    numbers: frozenset[int]
    is_needed: bool = True
    """False for a part that passes without a rule of its own."""


class _HeldCall(msgspec.Struct, frozen=True, dict=True):
    """A call as the rules see it, and which of them it meets; each is looked for once."""

    kinds: Mapping[str, RulesOfKind]
    tool: str
    call: Call
    place: CallSite
    shell: ShellCommand | None
    commands: tuple[str, ...]
    """Commands of PowerShell."""
    path: str | None
    """The whole path that a file tool is given."""
    directories: dict[int, str]
    """Working directories besides the folder of the call, by the number of their rule."""

    @cached_property
    def denying(self) -> list[int]:
        """The rules that deny it, in their order."""
        return self._restricting(self.kinds["deny"])

    @cached_property
    def asking(self) -> list[int]:
        """The rules that ask before it, in their order."""
        return self._restricting(self.kinds["ask"])

    @cached_property
    def requirements(self) -> list[_Requirement]:
        """All that must be let pass, with the allow rules that do."""
        kind = self.kinds["allow"]
        everywhere = {*kind.for_tool(self.tool), *self._by_content(kind)}
        if self.shell is not None:
            if self.tool != "Bash":
                everywhere.update(kind.for_tool("Bash"))
            everywhere.update(kind.for_whole(self.shell.text))
            return list(_shell_requirements(kind, self, self.shell, everywhere))
        if self.commands:
            return [
                _Requirement(_shown(each), frozenset((*everywhere, *(n for n, _ in kind.powershell.matching(each)))))
                for each in self.commands
            ]
        if self.path is not None:
            everywhere.update(kind.edits.matching(self.path, self.place))
            if self.tool not in WRITING:
                everywhere.update(kind.reads.matching(self.path, self.place))
        return [_Requirement(f"this call of {self.tool}", frozenset(everywhere))]

    def writes_protected(self) -> bool:
        """Whether it writes to a path that no allow rule opens."""
        if self.path is not None:
            return self.tool in WRITING and is_protected(self.path)
        written = (use.path for use in self.shell.files if use.is_written) if self.shell is not None else ()
        return any(is_protected(path) for each in written if (path := self.place.resolve(each)) is not None)

    def _restricting(self, kind: RulesOfKind) -> list[int]:
        found = {*kind.for_tool(self.tool), *kind.for_tool(self.call.tool)}
        if self.tool in _ALSO_DENIED_WITH and kind.kind == "deny":
            found.update(kind.for_tool(_ALSO_DENIED_WITH[self.tool]))
        if kind.parameters:
            found.update(kind.for_parameters(self.tool, self.call.input))
        found.update(self._by_content(kind))
        if self.shell is not None:
            if self.tool != "Bash":
                found.update(kind.for_tool("Bash"))
            for part in self.shell.parts:
                found.update(kind.for_texts(part.restricting_texts))
            found.update(kind.for_whole(self.shell.text))
            if not self.shell.is_whole:
                found.update(kind.for_texts((self.shell.text,)))
            if kind.reads or kind.edits:
                for use in self.shell.files:
                    if use.by not in UNGUARDED_READERS:
                        found.update(_for_file(kind, use, self.place))
        for command in self.commands:
            found.update(number for number, _ in kind.powershell.matching(command))
        if self.path is not None:
            if self.tool in WRITING:
                found.update(kind.edits.matching(self.path, self.place))
            if self.tool not in WRITING or (kind.kind == "deny" and self.tool in _GUARDED_BY_READ):
                found.update(kind.reads.matching(self.path, self.place))
        return sorted(found)

    def _by_content(self, kind: RulesOfKind) -> Iterator[int]:
        given = self.call.input
        if self.tool == "WebFetch":
            host = host_of(given.get("url"))
            if host is not None:
                yield from kind.hosts.matching(host)
        elif self.tool == "Agent":
            name = given.get("subagent_type")
            yield from kind.agents.get(name if isinstance(name, str) and name else DEFAULT_AGENT, ())
        elif self.tool in SKILLS:
            name, text = skill_of(given)
            yield from kind.for_skill(name, text)
            other = other_skill_name(name) if kind.kind == "deny" else None
            if other is not None:
                yield from kind.for_skill(other, other + text[len(name) :])


class RulesInForce(Judge):
    """Rules of settings files, ready to be held against calls."""

    def __init__(self, rules: Sequence[Rule], home: str | None) -> None:
        self._rules = tuple(rules)
        self._numbers = {rule: number for number, rule in reversed(list(enumerate(self._rules)))}
        self._home = home
        self._kinds = {kind: RulesOfKind(kind) for kind in ("deny", "ask", "allow")}
        for number, rule in enumerate(self._rules):
            if rule.kind in self._kinds:
                self._kinds[rule.kind].add(number, rule)
        for kind in self._kinds.values():
            kind.close()
        self._places: dict[str, tuple[CallSite, dict[int, str]]] = {}
        self._verdicts: dict[_Key, Verdict] = {}
        self._latest: _HeldCall | None = None
        self.whole_input_tools = frozenset(self._tools_needing_all())

    def judge(self, call: Call) -> Verdict:
        """Say what the rules decide about a call."""
        key = self._key(call)
        verdict = self._verdicts.get(key) if key is not None else None
        if verdict is None:
            verdict = self._judged(self._held(call))
            if key is not None and len(self._verdicts) < _VERDICTS_KEPT:
                self._verdicts[key] = verdict
        return verdict

    def _key(self, call: Call) -> _Key | None:
        """Return all that the verdict on a call hangs on; none when that is more than its target."""
        name = target_parameter(call.tool)
        target = call.input.get(name) if name is not None else None
        if not isinstance(target, str) or call.tool in self.whole_input_tools or len(target) > _LONGEST_KEPT:
            return None
        return None if call.tool in SKILLS else (call.tool, target, call.cwd)

    def _judged(self, held: _HeldCall) -> Verdict:
        if held.denying:
            return self._restricted(Decision.DENY, held.denying)
        removal = powershell_removal(held.commands, held.place) if held.commands else PowerShellRemoval.NONE
        if removal is PowerShellRemoval.DENIED:
            return _built_in(Decision.DENY, "Removing a system path or everything in a folder is never let pass.")
        if held.asking:
            return self._restricted(Decision.ASK, held.asking)
        if held.shell is not None and removes_critical(held.shell.removals, held.place, held.directories.values()):
            return _built_in(Decision.ASK, "It removes a critical path, which no allow rule lets pass.")
        needed = [each for each in held.requirements if each.is_needed]
        missing = next((each.what for each in needed if not each.numbers), None)
        if missing is not None or not needed:
            return Verdict(Decision.NONE, None, (), f"No rule lets {missing or held.tool} pass, and none stops it.")
        if held.writes_protected():
            return _built_in(Decision.ASK, "It writes to a protected path, which no allow rule lets pass.")
        if removal is PowerShellRemoval.ASKED:
            return _built_in(Decision.ASK, "It removes the working directory, which no allow rule lets pass.")
        return self._allowed(each for each in held.requirements if each.numbers)

    def matching(self, call: Call) -> Sequence[Rule]:
        """Return every rule that matches the call or a part of it."""
        held = self._held(call)
        numbers = {*held.denying, *held.asking}
        for requirement in held.requirements:
            numbers |= requirement.numbers
        paths = _paths(held) if held.directories else ()
        numbers.update(
            number
            for number, folder in held.directories.items()
            if any(below(path, folder) is not None for path in paths)
        )
        return [self._rules[number] for number in sorted(numbers)]

    def matched_parts(self, call: Call, rule: Rule) -> Sequence[int] | None:
        """Return the parts of a call that an allow rule matches."""
        number = self._numbers[rule]
        requirements = self._held(call).requirements
        places = [place for place, each in enumerate(requirements) if each.is_needed and number in each.numbers]
        return places or None

    def remarks(self) -> Sequence[tuple[Rule, str]]:
        """Return the rules that can never decide."""
        return [remark for kind in self._kinds.values() for remark in kind.remarks]

    def runs_by_itself(self, call: Call) -> bool:
        """Whether the client runs a call about which no rule decides without asking."""
        place, directories = self._place(call.cwd)
        return runs_by_itself(call, place, tuple(directories.values()))

    def _tools_needing_all(self) -> Iterator[str]:
        for kind in self._kinds.values():
            for tool in kind.parameters:
                yield from ("Agent", "Task") if tool == "Agent" else (tool,)

    def _held(self, call: Call) -> _HeldCall:
        """Return a call as the rules see it; whoever asks about one mostly asks again."""
        if self._latest is None or self._latest.call is not call:
            place, directories = self._place(call.cwd)
            tool = canonical(call.tool)
            command = call.input.get("command")
            shell = take_apart(command) if tool in SHELLS and isinstance(command, str) else None
            commands = commands_of(command) if tool == "PowerShell" and isinstance(command, str) else ()
            path = path_of(tool, call.input)
            whole = None if path is None else place.resolve(path)
            self._latest = _HeldCall(self._kinds, tool, call, place, shell, commands, whole, directories)
        return self._latest

    def _place(self, cwd: str) -> tuple[CallSite, dict[int, str]]:
        found = self._places.get(cwd)
        if found is None:
            place = CallSite.of(cwd, self._home or home_of(cwd))
            listed = (
                (number, CallSite.of(rule.folder or cwd, place.home).resolve(rule.text))
                for number, rule in enumerate(self._rules)
                if rule.kind == "directory"
            )
            found = place, {number: path for number, path in listed if path is not None}
            if len(self._places) < _PLACES_KEPT:
                self._places[cwd] = found
        return found

    def _restricted(self, decision: Decision, numbers: Sequence[int]) -> Verdict:
        rules = tuple(self._rules[number] for number in numbers)
        verb = "denies" if decision is Decision.DENY else "asks before"
        return Verdict(decision, rules[0], rules, f"{rules[0].text} in {_origin(rules[0])} {verb} it.")

    def _allowed(self, requirements: Iterable[_Requirement]) -> Verdict:
        numbers = dict.fromkeys(min(each.numbers) for each in requirements)
        rules = tuple(self._rules[number] for number in numbers)
        reason = " and ".join(f"{rule.text} in {_origin(rule)}" for rule in rules)
        return Verdict(Decision.ALLOW, rules[0], rules, f"{reason} {'allows' if len(rules) == 1 else 'allow'} it.")


def _shell_requirements(
    kind: RulesOfKind, held: _HeldCall, shell: ShellCommand, everywhere: set[int]
) -> Iterator[_Requirement]:
    if not shell.is_whole or not shell.parts:
        yield _Requirement(_shown(shell.text), frozenset(everywhere))
        return
    passing: list[_Requirement] = []
    for part in shell.parts:
        numbers = kind.for_texts(part.allow_texts, needs_exact=part.needs_exact)
        required = _Requirement(_shown(part.text), frozenset((*everywhere, *numbers)))
        if runs_in_argument(part, held.place, held.directories.values()):
            passing.append(required._replace(is_needed=False))
        else:
            yield required
    for use in shell.files:
        is_needed = needs_rule(use, held.place, held.directories.values())
        if is_needed or use.by == ">":
            numbers = _letting_pass(kind, use, held.place)
            required = _Requirement(f"the file {_shown(use.path)}", frozenset((*everywhere, *numbers)), is_needed)
            if is_needed:
                yield required
            else:
                passing.append(required)
    yield from passing


def _letting_pass(kind: RulesOfKind, use: FileUse, place: CallSite) -> Iterator[int]:
    path = place.resolve(use.path) if use.is_certain else None
    if path is not None:
        yield from kind.edits.matching(path, place)
        if not use.is_written:
            yield from kind.reads.matching(path, place)


def _paths(held: _HeldCall) -> list[str]:
    """Return the whole paths of the files that a call is known to touch."""
    named = (held.place.resolve(use.path) for use in held.shell.files if use.is_certain) if held.shell else ()
    return [path for path in (held.path, *named) if path is not None]


def _for_file(kind: RulesOfKind, use: FileUse, place: CallSite) -> Iterator[int]:
    for named in (use.path, use.as_written):
        path = place.resolve(named) if named is not None else None
        if path is not None:
            yield from (kind.edits if use.is_written else kind.reads).matching(path, place)


def _built_in(decision: Decision, reason: str) -> Verdict:
    return Verdict(decision, None, (), reason)


def _origin(rule: Rule) -> str:
    return rule.file or "the command line"


def _shown(text: str) -> str:
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[: _LONGEST_SHOWN - 1]}…`"
