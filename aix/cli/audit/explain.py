"""`aix audit explain`."""

import json
import re
from pathlib import Path, PureWindowsPath
from shlex import quote
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command, ledger_option, output_option, risks_option
from aix.cli.diagnostics import say
from aix.cli.stdout import emit_lines, emit_paragraphs, is_terminal
from aix.output.humanise import one_line
from aix.output.text import escape_unsafe, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from zoneinfo import ZoneInfo

    from aix.permissions import Call, Dialect, Judge, Rule, Verdict
    from aix.permissions.audit.explanation import Programs, RuledCall
    from aix.permissions.audit.findings import Finding
    from aix.reading.ledger import Ledger

_LINE_CHARACTERS = 1000
_FINDING = re.compile("[0-9a-f]{4,16}")
_OF_PROGRAMS = ("program_id", "source_id", "agent_id", "human_id", "principal")
"""Columns of findings that may name a program, the one that a finding is most about first."""
_PROGRAMS = "select id from programs where id in (select unnest($names))"
_RUN = "select run_id from dag_events where event_id = $event and run_id is not null"


@click.command(cls=Command)
@click.argument("name", metavar="[FINDING|CALL]", required=False)
@click.option(
    "--settings",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A settings file whose rules hold. Can be repeated: all of them hold together.",
)
@click.option("--settings-dir", metavar="FOLDER", help="Folder that paths in the rules start from. Default: by FILE.")
@click.option("--home", metavar="FOLDER", help="Home folder that ~ stands for. Default: the one that --cwd lies in.")
@click.option("--tool", metavar="NAME", help="Name of the tool that is called.")
@click.option("--input", "given", metavar="JSON", help="Parameters of the call, as a JSON object.")
@click.option("--cwd", metavar="FOLDER", help="Folder that the call is made in. Default: the present one.")
@click.option("--origin", metavar="NAME", help="Whose rules FILE holds. Default: by what it looks like.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), help="How to write it. Default: text.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@risks_option
@output_option
@ledger_option
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    settings: tuple[Path, ...],
    settings_dir: str | None,
    home: str | None,
    tool: str | None,
    given: str | None,
    cwd: str | None,
    origin: str | None,
    form: str | None,
    as_json: bool,
    risks: Path | None,
    path: Path | None,
    ledger: Path,
) -> None:
    """Explain a finding, or which rule decides about a call.

    FINDING is the id of a finding of `aix audit`, of whatever pack, or its first four characters or more: what
    happened, its evidence, why it matters, what to do next, and the findings that are like it.

    CALL is a call of the ledger, by its id or the beginning of it: what it touched, its risks, what became of it, and
    what the rules that imports found, or those of --settings, decide about it.

    Without CALL, the call need not have happened: its tool, its parameters and its folder are given here, and the rules
    are those of the settings files; without any, only its programs and risks are known. The answer is what the rules
    decide by the documentation of their tool: allow, ask, deny, or none where its mode and what it does by itself
    decide. A call of several commands is allowed only when rules allow every one of them; all these rules are named.
    Where a deny rule names a program and does not match how the call writes it, as in /bin/rm or 'rm', that is said
    too.

    json is one object: decision, rule, rules, kind, scope, file, reason, matching (all rules that match the call or a
    part of it, whether they decide or not), never_decide (rules of the files that can match nothing, with the reason),
    programs (that the call runs, behind wrappers such as sudo), risks (class, severity, why), missed_spellings
    (program, rule, file, why). A call of the ledger has these three too.

    \b
      aix audit explain 3aba807
      aix audit explain toolu_01AbC
      aix audit explain toolu_01AbC --settings proposed.json
      aix audit explain --tool Bash --input '{"command": "sudo rm -rf /srv/x"}' --json
      aix audit explain --settings settings.json --cwd "$PWD" --tool Bash --input '{"command": "git push"}'
      aix audit explain --settings a.json --settings b.json --tool Read --input '{"file_path": ".env"}' --json
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other.")
    is_json = as_json or form == "json"
    if name is not None:
        if any(each is not None for each in (settings_dir, home, tool, given, cwd, origin)):
            raise click.UsageError(
                "Of a call of the ledger all is known: give nothing but --settings and --risks with it."
            )
        from aix.config import load_config
        from aix.permissions.audit.explanation import explain, explanation_paragraphs, has_call, short_ids
        from aix.reading.ledger import open_ledger

        with open_ledger(ledger) as opened, opened.under(*settings, risks=risks) as ruled:
            _say_problems(ruled.settings_problems)
            if _FINDING.fullmatch(name) and not has_call(ruled, name):
                _explain_finding(ruled, name, path, is_json=is_json, zone=load_config(ctx.obj).timezone)
                return
            explained = explain(ruled, name)
            shown = short_ids(ruled, explained) if path is None and is_terminal() else explained
        if is_json:
            emit_lines([to_json(explained)], path)
        else:
            emit_paragraphs(explanation_paragraphs(shown), path)
        return
    if tool is None or given is None:
        raise click.UsageError("Name a call of the ledger, or describe one with --tool NAME and --input JSON.")
    parameters = _parameters(given)
    from aix.permissions import Call
    from aix.permissions.audit.explanation import RuledCall, programs_of
    from aix.permissions.risks import load_risks

    asked = Call(tool, parameters, str(Path.cwd()) if cwd is None else _whole(cwd))
    home = home and _whole(home)
    if settings:
        dialect, judge = _rules(settings, settings_dir and _whole(settings_dir), home, origin)
    else:
        dialect = _dialect_of(asked, origin)
        judge = dialect.judge((), home)
    in_force = RuledCall(asked, dialect, judge)
    access_class, target = dialect.access_of(asked)
    programs = programs_of(access_class, tool, target, asked.cwd, load_risks(risks), in_force)
    verdict = judge.judge(asked)
    if is_json:
        emit_lines([to_json(_as_object(verdict, in_force, programs))], path)
    else:
        emit_lines(_lines(verdict, judge, programs), path)


def _explain_finding(ledger: "Ledger", name: str, path: Path | None, *, is_json: bool, zone: "ZoneInfo") -> None:
    """Write the finding whose id begins so."""
    from aix.errors import AmbiguousNameError, UnknownCallError
    from aix.permissions.audit.audited_packs import OWN_PACK, audits_with_rows
    from aix.permissions.audit.report_forms import finding_object
    from aix.permissions.audit.report_text import explained_finding, short_ids
    from aix.permissions.audit.run import audit

    known: tuple[str, ...] = ()
    for pack in (OWN_PACK, *(each for each in audits_with_rows(ledger) if each != OWN_PACK)):
        report = audit(ledger, pack, {}, zone.key, with_inventories=False)
        found = [finding for finding in report.findings if finding.id.startswith(name)]
        if found:
            break
        known += tuple(short_ids(report.findings).values())
    else:
        raise UnknownCallError(name, known)
    if len(found) > 1:
        raise AmbiguousNameError("finding", name, tuple(short_ids(found).values()))
    if is_json:
        emit_lines([to_json(finding_object(found[0]))], path)
        return
    emit_paragraphs(explained_finding(report, found[0], zone, [*_commands_about(ledger, found[0])]), path)


def _commands_about(ledger: "Ledger", finding: "Finding") -> "Iterator[tuple[str, str]]":
    """Go through the commands that show the program or the run that a finding is about."""
    named = [str(value) for name in _OF_PROGRAMS if (value := finding.details.get(name)) is not None]
    programs = {program for (program,) in ledger.sql(_PROGRAMS, {"names": named})} if named else set()
    for program in named:
        if program in programs:
            yield f"aix program show {quote(program)}", "the program"
            break
    if event := finding.details.get("event_id"):
        for (run,) in ledger.sql(_RUN, {"event": str(event)}):
            yield f"aix query run_history --param {quote(f'run={run}')}", "the run"


def _whole(folder: str) -> str:
    """Return a folder from the root on; one of another system, or of nowhere, is left as it is."""
    is_relative = folder and folder[0] not in "/\\~" and not PureWindowsPath(folder).drive
    return str(Path(folder).resolve()) if is_relative else folder


def _parameters(text: str) -> dict[str, object]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--input is no JSON: {error}.") from error
    if not isinstance(given, dict):
        raise click.UsageError("--input is no JSON object with the parameters of the call.")
    return given


def _rules(
    settings: tuple[Path, ...], folder: str | None, home: str | None, origin: str | None
) -> "tuple[Dialect, Judge]":
    from aix.permissions.contract import dialects
    from aix.permissions.rule_book import read_rule_files

    book = read_rule_files(settings, folder=folder, home=home, origin=origin)
    if len(book.rules) > 1:
        raise click.UsageError(f"The files are those of several tools ({', '.join(book.rules)}): name one by --origin.")
    _say_problems(book.problems)
    [(name, rules)] = book.rules.items()
    dialect = dialects()[name]
    return dialect, dialect.judge(rules, home)


def _dialect_of(call: "Call", origin: str | None) -> "Dialect":
    """Return the dialect that a call without rules is read by: the one named, or the first that knows its target."""
    from aix.permissions.contract import dialects

    known = dialects()
    for name, dialect in known.items():
        if origin == name or (origin is None and dialect.access_of(call)[1] is not None):
            return dialect
    if origin is None:
        raise click.UsageError("No tool is known that makes this call: name one by --origin, or rules by --settings.")
    raise click.UsageError(f"{origin} has no rules; --origin is one of {', '.join(known)}.")


def _say_problems(problems: "Iterable[str]") -> None:
    for problem in problems:
        say(_shown(problem))


def _as_object(verdict: "Verdict", ruled: "RuledCall", programs: "Programs") -> dict[str, object]:
    rule = verdict.rule
    matching = ruled.judge.matching(ruled.call)
    remarks = ruled.judge.remarks()
    return {
        "decision": str(verdict.decision),
        "rule": rule and rule.text,
        "rules": [each.text for each in verdict.rules],
        "kind": rule and rule.kind,
        "scope": rule and rule.scope,
        "file": rule and rule.file,
        "reason": verdict.reason,
        "matching": [{"kind": each.kind, "rule": each.text, "file": each.file} for each in matching],
        "never_decide": [{"kind": each.kind, "rule": each.text, "reason": remark} for each, remark in remarks],
        **programs.as_object(),
    }


def _lines(verdict: "Verdict", judge: "Judge", programs: "Programs") -> "Iterator[str]":
    from aix.permissions import Decision
    from aix.permissions.audit.explanation import missed_sentence

    by_default = " The mode decides, and what the tool does by itself." if verdict.decision is Decision.NONE else ""
    yield f"{verdict.decision}: {_shown(verdict.reason)}{by_default}"
    yield from (f"  {_named(rule)}" for rule in verdict.rules)
    yield from (f"  never decides: {_named(rule)}: {_shown(remark)}" for rule, remark in judge.remarks())
    yield from (f"  {_shown(missed_sentence(*each))}" for each in programs.missed)
    if not programs.are_plain:
        yield f"  programs: {_shown(', '.join(programs.names))}"
    for risk in programs.risks:
        yield "  " + _shown(f"risk: {risk['class']}, {risk['severity']}: {risk['why']}")


def _named(rule: "Rule") -> str:
    return _shown(f"{rule.kind} {rule.text} ({rule.scope}, {rule.file or 'command line'})")


def _shown(text: str) -> str:
    return escape_unsafe(one_line(text, _LINE_CHARACTERS))
