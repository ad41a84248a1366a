"""Risks of the parts of a call, each with the rule that names it."""

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from aix.permissions.command_risks import Commands, fits_command
from aix.permissions.programs import plain_name
from aix.permissions.risk_rules import (
    SEVERITIES,
    RiskRule,
    bundled_rules,
    joined_rules,
    parse_rules,
    read_own,
    verbs_of,
)
from aix.permissions.shell import Script
from aix.permissions.shell.indirect import CODE, MAX_DEPTH, NOTHING, Indirect
from aix.permissions.targets import CUT, Part, parts_of

_MOST_INNER = 200
"""How many indirect scripts of a call are judged."""
_MOST_KEPT_PATHS = 65536


class Risk(NamedTuple):
    """A risk of one part of a call."""

    number: int
    """The part's place, from 0; that of the last part for a command that was left out of the parts."""
    risk: str
    severity: str
    rule_id: str
    basis: str
    """`exact` when the words of the call say it, `inferred` when a name suggests it or the call was not wholly read."""


class Risks:
    """The rules in force, ready to be held against calls."""

    def __init__(self, rules: Sequence[RiskRule], names: dict[str, str]) -> None:
        self.rules = tuple(rules)
        self.names = names
        """The risks, each with what it means."""
        self._of_commands = tuple(rule for rule in rules if rule.kind == "command" and rule.unknown is None)
        self._of_unknown = tuple(rule for rule in rules if rule.unknown is not None)
        self._of_paths = {
            access: tuple(rule for rule in rules if rule.kind == "path" and rule.access in {None, access})
            for access in ("read", "write")
        }
        self._of_hosts = tuple(rule for rule in rules if rule.kind == "host")
        self._of_servers = tuple(rule for rule in rules if rule.kind == "server")
        self._by_program: dict[str, tuple[RiskRule, ...]] = {}
        self._path_rules = lru_cache(maxsize=_MOST_KEPT_PATHS)(self._fitting_path)

    def risks_of(self, parts: Sequence[Part], script: Script | None = None, workspace: str | None = None) -> list[Risk]:
        """Return the risks of a call's parts, in their order.

        `script` is the split command of a call that ran one. The risks of commands that it runs indirectly are those
        of the command that runs them; their paths are held against the workspace.
        """
        if script is not None:
            return self._merged(self._of_script(parts, script), self._of_indirect(parts, script, workspace))
        return [risk for number, part in enumerate(parts) for risk in _risks(number, self._fitting(part))]

    def _of_indirect(self, parts: Sequence[Part], script: Script, workspace: str | None) -> list[Risk]:
        """Return the risks of what commands run by other programs, texts and variables."""
        indirect = Indirect(script)
        answers = [
            (place, answer) for place in range(len(script.commands)) if (answer := indirect.of(place)) != NOTHING
        ]
        if not answers:
            return []
        numbers = [number for number, part in enumerate(parts) if part.kind == "command"]
        found: list[Risk] = []
        left = _MOST_INNER
        for first, answer in answers:
            number = numbers[first] if first < len(numbers) else len(parts) - 1
            asked = _Asked(script, indirect, first, workspace, "" if script.is_whole else "inferred", 0)
            waiting = [(asked, answer)]
            while waiting:
                asked, (inner, unknown) = waiting.pop()
                if inner and (asked.depth == MAX_DEPTH or len(inner) > left):
                    unknown |= {CODE}
                if unknown:
                    rules = self._fitting_unknown(unknown, Commands(asked.script, ()), asked.place)
                    found += _risks(number, rules, asked.basis)
                for each in inner[:left] if asked.depth < MAX_DEPTH else ():
                    left -= 1
                    basis = asked.basis or ("inferred" if each.is_inferred or not each.script.is_whole else "")
                    where = None if each.is_elsewhere else asked.workspace
                    pieces = parts_of("exec", "", " ", where, where, script=each.script)
                    found += [
                        risk._replace(number=number, basis=basis or risk.basis)
                        for risk in self._of_script(pieces, each.script)
                    ]
                    within = Indirect(each.script, asked.indirect, each.alias)
                    waiting += [
                        (_Asked(each.script, within, at, where, basis, asked.depth + 1), within.of(at))
                        for at in range(min(len(each.script.commands), left))
                    ]
        return found

    def _merged(self, found: list[Risk], added: list[Risk]) -> list[Risk]:
        """Return risks with those of indirect commands: of each part and risk the most severe."""
        if not added:
            return found
        strongest = {(risk.number, risk.risk): risk for risk in found}
        names = {risk.risk for risk in (*found, *added)}
        said = {rule.id for rule in self._of_unknown if not rule.unless_risk.isdisjoint(names)}
        for risk in added:
            if risk.rule_id in said:
                continue
            known = strongest.setdefault((risk.number, risk.risk), risk)
            if SEVERITIES.index(risk.severity) < SEVERITIES.index(known.severity):
                strongest[risk.number, risk.risk] = risk
        return sorted(strongest.values(), key=lambda risk: risk.number)

    def _fitting_unknown(self, unknown: frozenset[str], commands: Commands, place: int) -> list[RiskRule]:
        program = plain_name(commands.script.commands[place].program)
        return [
            rule
            for rule in self._of_unknown
            if rule.unknown is not None
            and not rule.unknown.isdisjoint(unknown)
            and (rule.program is None or rule.program.fit(program))
            and fits_command(rule, commands, place)
        ]

    def _of_script(self, parts: Sequence[Part], script: Script) -> list[Risk]:
        found: list[Risk] = []
        commands = Commands(script, parts)
        basis = None if script.is_whole else "inferred"
        place = -1
        known: set[str] = set()
        for number, part in enumerate(parts):
            if part.kind == "command":
                place += 1
                rules = self._fitting_command(commands, place)
                known = {rule.risk for rule in rules}
                found.extend(_risks(number, rules, basis))
            elif part.detail != CUT:
                # What a command is said to do need not be said again of the host that it does it to.
                rules = [rule for rule in self._fitting(part) if part.kind != "host" or rule.risk not in known]
                found.extend(_risks(number, rules, basis))
        left_out = [
            rule for left in range(place + 1, len(script.commands)) for rule in self._fitting_command(commands, left)
        ]
        return [*found, *_risks(len(parts) - 1, left_out, basis)]

    def _fitting_command(self, commands: Commands, place: int) -> list[RiskRule]:
        program = plain_name(commands.script.commands[place].program)
        rules = self._by_program.get(program)
        if rules is None:
            rules = tuple(rule for rule in self._of_commands if rule.program is None or rule.program.fit(program))
            if len(self._by_program) < _MOST_KEPT_PATHS:
                self._by_program[program] = rules
        return [rule for rule in rules if fits_command(rule, commands, place)]

    def _fitting(self, part: Part) -> Sequence[RiskRule]:
        if part.kind == "path":
            return self._path_rules(part.target, part.access, part.program, part.is_outside)
        if part.kind == "host":
            return [rule for rule in self._of_hosts if _fits_host(rule, part.target)]
        if part.kind == "server":
            return [rule for rule in self._of_servers if _fits_tool(rule, verbs_of(part.detail or ""))]
        return ()

    def _fitting_path(
        self,
        path: str,
        access: str,
        program: str | None,
        is_outside: bool | None,  # noqa: FBT001 - a key of the memo
    ) -> tuple[RiskRule, ...]:
        return tuple(
            rule
            for rule in self._of_paths.get(access, ())
            if (not rule.is_outside or is_outside is True)
            and program not in rule.unless_program
            and (rule.path is None or rule.path.fits(path) or rule.path.may_fit(path))
            and (rule.unless_path is None or not rule.unless_path.fits(path))
        )


class _Asked(NamedTuple):
    """A command whose indirect commands are asked for."""

    script: Script
    indirect: Indirect
    place: int
    workspace: str | None
    basis: str
    """`inferred` where what runs it is; empty where its rules say it."""
    depth: int


def _risks(number: int, rules: Sequence[RiskRule], basis: str | None = None) -> list[Risk]:
    """Return the risks that rules stand for: of the rules of one risk the first."""
    first: dict[str, RiskRule] = {}
    for rule in rules:
        first.setdefault(rule.risk, rule)
    return [Risk(number, rule.risk, rule.severity, rule.id, basis or rule.basis) for rule in first.values()]


def _fits_host(rule: RiskRule, host: str) -> bool:
    return (rule.host is None or rule.host.fit(host)) and (rule.unless_host is None or not rule.unless_host.fit(host))


def _fits_tool(rule: RiskRule, words: Sequence[str]) -> bool:
    return (rule.verb is None or not rule.verb.isdisjoint(words)) and (not words or words[0] not in rule.unless_first)


def load_risks(own: Path | None = None) -> Risks:
    """Return the rules that come with AIX and those of the user's own file.

    Raises:
        RiskFileError: The own file cannot be read, or says something that cannot be meant.
    """
    if own is None:
        return _bundled_risks()
    added = parse_rules(read_own(own), str(own), bundled_rules())
    return Risks(joined_rules(added), dict(added.risks))


@cache
def _bundled_risks() -> Risks:
    return Risks(joined_rules(None), dict(bundled_rules().risks))
