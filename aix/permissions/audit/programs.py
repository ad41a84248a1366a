"""The programs that a call runs, its risks, and the deny rules that miss how a program is written."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from aix.permissions.contract import Call, Dialect, Judge, Rule
from aix.permissions.risks import Risks
from aix.permissions.shell import Command, Script, split
from aix.permissions.shell.indirect import commands_run
from aix.permissions.targets import parts_of

_NEEDS_QUOTES = re.compile(r"""[\s'"\\;&|<>()`]|\A\Z""")


class RuledCall(NamedTuple):
    """A call, with the rules that are in force for it."""

    call: Call
    dialect: Dialect
    judge: Judge


class Programs(NamedTuple):
    """Programs that a call runs, and its risks."""

    names: tuple[str, ...]
    """Programs behind wrappers, variables and texts, without their folder and quotes, each once."""
    are_plain: bool
    """Whether each command begins with its program as it is listed."""
    risks: tuple[dict[str, str], ...]
    """Risks with `class`, `severity` and `why`, each once."""
    missed: tuple[tuple[str, Rule], ...]
    """Programs with a deny rule that would match the plain name, and does not match this spelling."""

    def as_object(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "programs": list(self.names),
            "risks": list(self.risks),
            "missed_spellings": [
                {"program": program, "rule": rule.text, "file": rule.file, "why": missed_sentence(program, rule)}
                for program, rule in self.missed
            ],
        }


def programs_of(
    access_class: str | None, tool: str, target: str | None, cwd: str | None, risks: Risks, ruled: RuledCall | None
) -> Programs:
    """Return the programs and risks of a call, given what it asks for and to what."""
    script = split(target) if access_class == "exec" and target else None
    parts = parts_of(access_class, tool, target, cwd, cwd, script=script)
    meanings = {rule.id: rule.why for rule in risks.rules}
    found = {
        (risk.risk, risk.severity, meanings.get(risk.rule_id) or risks.names.get(risk.risk, "")): None
        for risk in risks.risks_of(parts, script, cwd)
    }
    commands = commands_run(script) if script else []
    return Programs(
        tuple(dict.fromkeys(command.program for command in commands)),
        script is None or _is_plain(script, commands),
        tuple({"class": risk, "severity": severity, "why": why} for risk, severity, why in found),
        tuple(_missed(ruled, commands)) if ruled else (),
    )


def missed_sentence(program: str, rule: Rule) -> str:
    """Say that a deny rule misses a program because of how it is written."""
    return f"the program is {program}: {rule.kind} {rule.text} does not match this spelling"


def _is_plain(script: Script, commands: Sequence[Command]) -> bool:
    written = [simple.source.partition(" ")[0] for simple in script.simple]
    return written == [command.program for command in commands]


def _missed(ruled: RuledCall, commands: Sequence[Command]) -> Iterator[tuple[str, Rule]]:
    call, dialect, judge = ruled
    seen = {rule for rule in judge.matching(call) if rule.kind == "deny"}
    for command in commands:
        plain = replace(call, input=dialect.input_of(call.tool, _plainly_written(command)))
        for rule in judge.matching(plain):
            if rule.kind == "deny" and rule not in seen:
                seen.add(rule)
                yield command.program, rule


def _plainly_written(command: Command) -> str:
    words = (shlex.quote(word) if _NEEDS_QUOTES.search(word) else word for word in command.words[1:])
    return " ".join((command.program, *words))
