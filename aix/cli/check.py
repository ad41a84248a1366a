"""`aix check`."""

from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from aix.cli.command import Command, ledger_option, listing_output
from aix.cli.diagnostics import is_screen
from aix.health import Examination, Finding, OffendingRow, Severity, Status, check, check_names, examine, find_check
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import grouped, one_line
from aix.query.query_file import Query

_ID_CHARACTERS = 12


def _complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    return [CompletionItem(name, help=find_check(name).title) for name in check_names() if name.startswith(incomplete)]


@click.command(cls=Command)
@click.argument("name", required=False, shell_complete=_complete_name)
@ledger_option
@click.pass_context
@listing_output
def command(ctx: click.Context, name: str | None, ledger: Path) -> Listing:
    """Check the ledger for inconsistencies, or list all rows that fail the check NAME.

    Every check is a SQL file in queries/health. Its status is `ok`; `alarm` when rows fail it; `info` when rows fail
    a check that is only a warning; `skip` when there is nothing to compare with. The exit code is 1 when there is an
    alarm, and 0 when there are only warnings. The table leaves out checks that are ok, other formats have all.

    \b
      aix check
      aix check --json
      aix check ancestry
    """
    if name is None:
        return _all_checks(ledger)
    query = find_check(name)
    return _offending_rows(ctx.with_resource(examine(ledger)), query)


def _all_checks(ledger: Path) -> Listing:
    columns = listing_columns(
        "check", "invariant", "severity", "status", ("count", "BIGINT"), ("first_ids", "VARCHAR[]"), "reason"
    )
    findings = check(ledger)
    rows = [
        (
            finding.name,
            finding.invariant,
            str(finding.severity),
            str(finding.status),
            finding.count,
            list(finding.first_ids),
            finding.reason,
        )
        for finding in findings
    ]
    failed = _failed_checks(findings)
    return Listing(
        columns,
        rows,
        has_findings=any(finding.status is Status.ALARM for finding in findings),
        for_people=failed,
        empty=failed.empty,
    )


def _failed_checks(findings: Sequence[Finding]) -> Listing:
    """Return the checks that found or skipped something, with the number of those that did not."""
    columns = listing_columns(
        "check", "status", ListingColumn("rows", "BIGINT"), "reason", ListingColumn("first row", priority=2)
    )
    rows = [
        (
            finding.name,
            str(finding.status),
            grouped(finding.count),
            finding.reason,
            one_line(finding.first_ids[0], _ID_CHARACTERS) if finding.first_ids else None,
        )
        for finding in findings
        if finding.status is not Status.OK
    ]
    passed = f"{len(findings) - len(rows)} of {len(findings)} checks are ok"
    failed = next((finding.name for finding in findings if finding.count), None)
    notes = [passed, *([f"next: `aix check {failed}` lists its rows"] if failed and is_screen() else [])]
    return Listing(columns, rows, notes=notes if rows else (), empty=passed)


def _offending_rows(examination: Examination, query: Query) -> Listing:
    rows = examination.offending_rows(query)
    first = list(islice(rows, 1))
    columns = listing_columns(*OffendingRow._fields)
    is_hard = query.severity == Severity.HARD
    has_findings = bool(first) and is_hard
    return Listing(columns, chain(first, rows), has_findings=has_findings, empty="no row fails this check")
