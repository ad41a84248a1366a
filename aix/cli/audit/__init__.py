"""`aix audit` and the commands below it, each a module of its own that is imported when it runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from aix.cli.command import LazyGroup, chosen_parameter_options, ledger_option, output_option, risks_option
from aix.cli.diagnostics import say
from aix.cli.stdout import chosen_format, emit_lines, emit_paragraphs, is_terminal
from aix.permissions.audit import Severity

if TYPE_CHECKING:
    from aix.permissions.audit.report import Report

COMMANDS = {
    "propose": "Propose a settings file that allows what was used, and no more.",
    "replay": "Try settings on past calls: what would they have blocked?",
    "explain": "Explain a finding, or which rule decides about a call.",
    "split": "Split shell commands into the programs that they run.",
}
FORMATS = ("table", "json", "markdown", "html", "sarif")
_SUFFIXES = {".json": "json", ".md": "markdown", ".html": "html", ".sarif": "sarif"}
_NEXT = {
    "html": "open it in a browser",
    "json": "later runs compare with it: aix audit --baseline {}",
    "sarif": "code scanning and editors read it",
}
"""The use of a report that was written to a file."""
_WITH_INVENTORIES = ("json", "markdown", "html")
_FILTERS = ("project", "since", "until", "origin", "session", "tag", "timezone")


class _AuditCommands(LazyGroup):
    package = "aix.cli.audit"
    members = COMMANDS


@click.group(cls=_AuditCommands, invoke_without_command=True)
@chosen_parameter_options(*_FILTERS)
@click.option(
    "--settings",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Hold calls against the rules in FILE instead of those in force. Can be repeated.",
)
@risks_option
@click.option("--pack", default="permission_usage", show_default=True, metavar="NAME", help="The queries to run.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How to write it. Default: by the suffix of FILE (.json, .md, .html, .sarif), else table.",
)
@output_option
@click.option(
    "--severity",
    type=click.Choice([str(severity) for severity in Severity]),
    help="Show only findings that are at least that severe.",
)
@click.option("--expanded", is_flag=True, help="Show every finding with its evidence, as a pipe gets it.")
@click.option(
    "--fail-on",
    type=click.Choice([str(severity) for severity in Severity]),
    help="End with exit code 1 when a finding is at least that severe; with --baseline, only when it is new.",
)
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Compare with the JSON report of an earlier run: what is new, still open, resolved.",
)
@ledger_option
@click.pass_context
def command(
    ctx: click.Context,
    parameters: dict[str, object],
    settings: tuple[Path, ...],
    risks: Path | None,
    pack: str,
    form: str | None,
    path: Path | None,
    severity: str | None,
    expanded: bool,
    fail_on: str | None,
    baseline: Path | None,
    ledger: Path,
) -> bool:
    """Compare permissions with what agents actually did.

    Every query of the pack is run. A finding has a severity, a sentence that says what happened, its evidence (session,
    turn, call, log file and line), and an id that stays the same from run to run, however often the thing happens. A
    finding that rests on a conclusion says so. What could not be judged is skipped, with the reason.

    A terminal shows a summary, one line for each finding, alike ones together, and next steps; `aix audit explain ID`
    shows one finding whole. A pipe or --expanded gets all findings with their evidence. markdown, html and json also
    have inventories: what was used, without a judgement.

    With --baseline, findings of the earlier run are known: they are shown and do not fail. A finding is new when the
    earlier run lacks it or has it less severe. It is resolved when it is gone and this run looked at it; a run with
    other filters did not, and says so. The exit code is 0 unless --fail-on says otherwise.

    \b
      aix audit
      aix audit --project website --since 2026-11-01 --severity medium
      aix audit explain 3aba807
      aix audit -o audit.html
      aix audit --format json -o known.json
      aix audit --baseline known.json --fail-on medium
      aix audit --format sarif -o audit.sarif
    """
    if ctx.invoked_subcommand is not None:
        given = [
            name for name in ctx.params if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        ]
        if given:
            raise click.UsageError(f"Options of the audit do not go before a command such as {ctx.invoked_subcommand}.")
        return False
    from aix.config import load_config
    from aix.query.values import TIMEZONE, find_zone

    zone = find_zone(parameters.get(TIMEZONE, load_config(ctx.obj).timezone.key))
    chosen = chosen_format(form, path, _SUFFIXES)
    listed = chosen in _WITH_INVENTORIES
    report = make_report(ledger, pack, parameters, settings, risks, baseline, zone, with_inventories=listed)
    shown = report if severity is None else report.at_least(Severity(severity))
    write_report(shown, chosen, path, zone, expanded=expanded)
    if path is not None:
        from aix.output.humanise import counted

        step = _NEXT.get(chosen)
        say(f"wrote {path} ({counted(len(shown.findings), 'finding')})" + (f"; {step.format(path)}" if step else ""))
    return fail_on is not None and report.reaches(Severity(fail_on))


def make_report(
    ledger: Path,
    pack: str,
    parameters: Mapping[str, object],
    settings: tuple[Path, ...],
    risks: Path | None,
    baseline: Path | None,
    zone: ZoneInfo,
    *,
    with_inventories: bool = True,
) -> "Report":
    """Audit a ledger, and compare with an earlier report where there is one."""
    from aix.permissions.audit.report import compare
    from aix.permissions.audit.run import audit, open_for_audit
    from aix.query.values import TIMEZONE

    filters = {name: value for name, value in parameters.items() if name != TIMEZONE}
    origin = None if "origin" not in filters else str(filters["origin"])
    with open_for_audit(ledger, settings, risks, origin) as opened:
        report = audit(opened, pack, filters, zone.key, settings, risks, with_inventories=with_inventories)
    return report if baseline is None else compare(report, baseline)


def write_report(report: "Report", form: str, path: Path | None, zone: ZoneInfo, *, expanded: bool = False) -> None:
    """Write a report to the file, or to stdout when no file is given; in short to a terminal."""
    match form:
        case "json":
            from aix.permissions.audit.report_forms import json_lines

            emit_lines(json_lines(report), path)
        case "markdown":
            from aix.permissions.audit.report_forms import markdown_lines

            emit_lines(markdown_lines(report, zone), path)
        case "html":
            from aix.permissions.audit.report_html import html_lines

            emit_lines(html_lines(report, zone), path)
        case "sarif":
            from aix.permissions.audit.report_forms import sarif_lines

            emit_lines(sarif_lines(report), path)
        case _:
            from aix.permissions.audit.report_text import paragraphs, short_paragraphs

            is_short = path is None and not expanded and is_terminal()
            emit_paragraphs((short_paragraphs if is_short else paragraphs)(report, zone), path)
