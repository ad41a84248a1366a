"""One call: what it touched, what became of it, the programs that it runs, and what the rules say about it."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from aix.errors import AmbiguousNameError, UnknownCallError
from aix.output.humanise import in_words, one_line
from aix.output.paragraphs import Paragraph
from aix.permissions.contract import Call, Decision, Dialect, Judge, Rule
from aix.permissions.risks import Risks
from aix.permissions.rule_rows import call_of
from aix.permissions.shell import Command, Script, split
from aix.permissions.shell.indirect import commands_run
from aix.permissions.targets import parts_of
from aix.reading.search import names_to_type, short_calls

_NEEDS_QUOTES = re.compile(r"""[\s'"\\;&|<>()`]|\A\Z""")
_LINE_CHARACTERS = 1000
_LABEL = re.compile(r" *(?:[a-z ]{1,20}: )?")
"""The beginning of a line for people, such as `  runs command: `; the rest is wrapped behind it."""
_VERBS = {"exec": "runs", "read": "reads", "write": "writes", "net": "reaches", "spawn": "starts"}
_BASES = {"field": "a field of the log", "text": "the log says", "inference": "inferred"}
_MOST_NAMED = 10
_LATEST = 3
_NAMED = "select id from tool_calls where starts_with(id, $name) order by id = $name desc, id limit $most"
_NEAR = "select id from tool_calls order by started_at desc limit $most"
_CALL = """
select any_value(coalesce(t.called_at, k.started_at)) as called_at, any_value(t.session_label) as session,
  any_value(k.turn_id) as turn, any_value(k.tool_name) as tool, any_value(t.class) as class, any_value(t.cwd) as cwd,
  any_value(t.mode) as mode, any_value(t.outcome) as outcome, any_value(t.evidence) as evidence,
  any_value(t.evidence_basis) as evidence_basis
from tool_calls k
left join call_targets t on t.call_id = k.id
where k.id = $call
"""
_ASKED = """
select any_value(d.class), any_value(k.tool_name), any_value(d.raw_target), any_value(t.workspace_path),
  any_value(k.params_json), any_value(x.origin)
from tool_calls k
left join permission_decisions d on d.call_id = k.id
left join turns t on t.id = k.turn_id
left join turn_context x on x.turn_id = k.turn_id
where k.id = $call
"""
_TARGETS = """
select t.number, t.kind, t.access, t.target, t.command, t.wrappers, t.is_outside,
  (select string_agg(distinct r.risk, ',' order by r.risk) from call_risks r
   where r.call_id = t.call_id and r.number = t.number) as risks
from call_targets t where t.call_id = $call and t.kind is not null order by t.number
"""
_VERDICT = "select decision, rule, kind, scope, file, reason, runs_by_itself from rule_verdicts where call_id = $call"
_PERSONA = "select persona_id, decision, kind, rule, reason from persona_verdicts where call_id = $call"
_MATCHING = """
select kind, rule, scope, file, bool_or(is_deciding) as is_deciding
from rule_matches where call_id = $call group by all order by is_deciding desc, kind, rule, file
"""


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


if TYPE_CHECKING:
    from aix.reading.ledger import Ledger


def explain(ledger: "Ledger", name: str) -> dict[str, object]:
    """Return all that is known about the permission of a call, which is named by its id or the beginning of it."""
    call = _find(ledger, name)
    [about] = ledger.sql(_CALL, {"call": call}).dicts()
    verdicts = ledger.sql(_VERDICT, {"call": call}).dicts()
    personas = ledger.sql(_PERSONA, {"call": call}).dicts()
    return {
        "call": call,
        **about,
        "targets": ledger.sql(_TARGETS, {"call": call}).dicts(),
        "verdict": verdicts[0] if verdicts else None,
        "matching": ledger.sql(_MATCHING, {"call": call}).dicts(),
        **_programs(ledger, call).as_object(),
        "persona": personas[0] if personas else None,
    }


def has_call(ledger: "Ledger", name: str) -> bool:
    """Whether the id of a call begins so."""
    return bool(ledger.sql(_NAMED, {"name": name, "most": 1}).rows())


def short_ids(ledger: "Ledger", explained: Mapping[str, object]) -> Mapping[str, object]:
    """Return the same with the shortest names by which commands find the call and its session."""
    session, call = explained["session"], str(explained["call"])
    names = {"call": short_calls(ledger, [call])[call], "session": names_to_type(ledger).get(str(session), session)}
    return {**explained, **names}


def explanation_paragraphs(explained: Mapping[str, object]) -> Iterator[Paragraph]:
    """Go through the same for people."""
    for line in _lines(explained):
        found = _LABEL.match(line)
        label = found[0] if found else ""
        yield Paragraph(one_line(line[len(label) :], _LINE_CHARACTERS), mark=label)


def _lines(explained: Mapping[str, object]) -> Iterator[str]:
    yield f"call {explained['call']} of {explained['tool']} in {explained['session'] or 'an unknown session'}"
    mode = f"permission mode {explained['mode'] or 'unknown'}"
    yield f"  in {explained['cwd'] or 'an unknown folder'}, {mode}"
    shown = f" ({_BASES.get(str(explained['evidence_basis']), 'the log')}: {explained['evidence']})"
    yield f"  outcome: {in_words(str(explained['outcome'] or 'unknown'))}{shown if explained['evidence'] else ''}"
    for target in _listed(explained["targets"]):
        wrapped = f" through {target['wrappers']}" if target["wrappers"] else ""
        outside = ", outside the workspace" if target["is_outside"] else ""
        risky = f", risk: {in_words(str(target['risks']))}" if target["risks"] else ""
        named = target["command"] or target["target"]
        yield f"  {_VERBS.get(str(target['access']), 'uses')} {target['kind']}: {named}{wrapped}{outside}{risky}"
    verdict = explained["verdict"]
    if isinstance(verdict, dict):
        yield f"rules: {verdict['decision']}. {verdict['reason']}"
        if verdict["decision"] == Decision.NONE:
            yield f"  by default the tool {'runs it by itself' if verdict['runs_by_itself'] else 'asks before it'}"
    else:
        yield "rules: none are known for this call"
    for rule in _listed(explained["matching"]):
        part = "decides" if rule["is_deciding"] else "matches"
        yield f"  {part}: {rule['kind']} {rule['rule']} ({rule['scope']}, {rule['file']})"
    for missed in _listed(explained["missed_spellings"]):
        yield f"  {missed['why']}"
    persona = explained["persona"]
    if isinstance(persona, dict):
        yield f"persona {persona['persona_id']}: {persona['decision']}. {persona['reason']}"
        if persona["rule"]:
            yield f"  decides: {persona['kind']} {persona['rule']}"


def _programs(ledger: "Ledger", call: str) -> Programs:
    [row] = ledger.sql(_ASKED, {"call": call}).rows()
    access_class, tool, target, cwd, parameters, origin = (value if isinstance(value, str) else None for value in row)
    about = partial(programs_of, access_class, tool or "", target, cwd, ledger.risks)
    rule_set = ledger.rule_book.in_force(origin, cwd)
    if rule_set is not None:
        with suppress(Exception):  # of another distribution: what it breaks must not hide the rest
            asked = call_of(rule_set.dialect, tool or "", target, cwd or "", parameters)
            return about(RuledCall(asked, rule_set.dialect, rule_set.judge))
    return about(None)


def _find(ledger: "Ledger", name: str) -> str:
    found = [str(call) for (call,) in ledger.sql(_NAMED, {"name": name, "most": _MOST_NAMED}).rows()]
    if not name or not found:
        known = ledger.sql(_NEAR, {"most": _LATEST}).rows()
        raise UnknownCallError(name, tuple(str(call) for (call,) in known))
    if len(found) > 1 and found[0] != name:
        raise AmbiguousNameError("call", name, tuple(found))
    return found[0]


def _listed(value: object) -> list[dict[str, object]]:
    return value if isinstance(value, list) else []
