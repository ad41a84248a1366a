"""`aix import`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command
from aix.cli.options import importer_options, ledger_option, listing_output, prices_option
from aix.errors import NothingToImportError
from aix.output import Listing, ListingColumn
from aix.store.manifest import EMPTY, PRICE_TABLES, Manifest, count_rows, is_ledger

if TYPE_CHECKING:
    from aix.pipeline.registry import Options
    from aix.pipeline.report import Report

_FAILURES_SHOWN = 20


@click.command(cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and do nothing.")
@click.option(
    "--strict",
    is_flag=True,
    help="Import nothing of a source that has any problem, nor a ledger that contradicts this one.",
)
@click.option("--reparse", is_flag=True, help="Read everything again, and replace the rows it gave before.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="Worker processes. Default: one per processor, and none to read little.",
)
@click.option("--machine", metavar="NAME", help="Import histories that were copied from another machine as NAME's.")
@click.option(
    "--settings",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A settings file of a tool, for its permission rules; without PATH nothing else is imported. Repeatable.",
)
@click.option(
    "--keep-raw",
    is_flag=True,
    help="Keep a copy of every log, so that it can be read again later; none of settings.",
)
@importer_options
@prices_option
@ledger_option
@listing_output
def command(
    paths: tuple[Path, ...],
    dry_run: bool,  # noqa: FBT001 - click's
    strict: bool,  # noqa: FBT001
    reparse: bool,  # noqa: FBT001
    jobs: int | None,
    machine: str | None,
    settings: tuple[Path, ...],
    keep_raw: bool,  # noqa: FBT001
    importer: str | None,
    options: "Options",
    prices: Path | None,
    ledger: Path,
) -> Listing:
    """Import session histories into the ledger, and show what was done.

    PATH is a folder or a file with histories, or another ledger; without one, histories are looked for where the tools
    keep them. What has not changed since the last import is skipped, what has grown is read again; importing
    something twice, or in another order, changes nothing. The histories are only read.

    Every source is `imported`, `upserted` when it was there before and has changed, `skipped`, or `failed`. A source
    that fails does not stop the others; the exit code is then 1. Lines of a log that cannot be taken as they stand are
    noted: `aix problems` lists them.

    Another ledger is joined into this one: rows about the same thing become one, in whatever order ledgers are joined.
    Its price table is left out: every ledger keeps its own. Its rows become yours, and some may take the place of what
    you have: rows that contradict your own are counted, and shown before anything is joined. With --dry-run nothing is
    joined, with --strict no ledger that contradicts this one, and the exit code is then 1.

    \b
      aix import
      aix import ~/old-laptop/histories --machine old-laptop
      aix import log.jsonl --strict
      aix import histories --settings managed-settings.json
      aix import /mnt/laptop/aix-ledger
      aix import /mnt/colleague/aix-ledger --dry-run
    """
    if machine is not None and not machine.isprintable():
        raise click.UsageError("--machine must be a name that can be printed.")
    paths = (*paths, *settings)
    others = [path for path in paths if is_ledger(path)]
    if others and len(others) < len(paths):
        raise click.UsageError("Import ledgers and histories one after the other.")
    if others:
        given = {"--reparse": reparse, "--jobs": jobs, "--machine": machine}
        for name, value in {**given, "--importer": importer, "--option": options}.items():
            if value:
                raise click.UsageError(f"{name} is for histories, not for ledgers.")
        from aix.cli.joins import join_and_list
        from aix.pipeline.run import Settings

        wish = Settings(strict=strict, dry_run=dry_run, keep_raw=keep_raw, prices=prices)
        return join_and_list(ledger, others, wish)
    from aix.process import hold_little_memory

    hold_little_memory()
    from aix.cli.diagnostics import prints_beside
    from aix.cli.progress import import_progress
    from aix.importing import readable
    from aix.pipeline.run import Settings, import_histories

    manner = Settings(
        jobs=jobs,
        strict=strict,
        dry_run=dry_run,
        reparse=reparse,
        keep_raw=keep_raw,
        machine=machine,
        importer=importer,
        options=options,
        prices=prices,
        argv=[readable(word) for word in sys.argv[1:]],
    )
    with import_progress() as watcher, prints_beside():
        report = import_histories(ledger, paths or None, manner, watcher)
    if paths and not report.statuses and not report.refusals:
        raise NothingToImportError(paths[0])
    return _listing(report, is_by_default=not paths, dry_run=dry_run)


def _given(version: Manifest) -> list[str]:
    """Return the tables that sources give rows of."""
    return [name for name in version.tables if name not in PRICE_TABLES]


def _listing(report: "Report", *, is_by_default: bool, dry_run: bool) -> Listing:
    rows: list[tuple[str, str, int]] = [("sources", str(status), n) for status, n in sorted(report.statuses.items())]
    if report.after is not None and report.after != report.before:
        before = report.before or EMPTY
        new = {name: count_rows(report.after, name) - count_rows(before, name) for name in _given(report.after)}
        rows += [("new rows", name, number) for name, number in new.items() if number]
    if report.problems:
        rows.append(("problems", "found", report.problems))
    rows.append(("bytes", "read", report.bytes_read))
    rows.append(("time", "milliseconds", round(report.seconds * 1000)))
    if report.after is not None:
        rows.append(("version", "of the ledger", report.after.version))
    columns = (ListingColumn("what"), ListingColumn("name"), ListingColumn("count", "BIGINT"))
    notes = _notes(report, is_by_default=is_by_default, dry_run=dry_run)
    return Listing(columns, rows, has_findings=bool(report.failures), notes=notes)


def _notes(report: "Report", *, is_by_default: bool, dry_run: bool) -> list[str]:
    from aix.pipeline.discovery import Refused

    notes = [] if report.statuses or not is_by_default else ["no histories were found; name a PATH, or see aix sources"]
    if dry_run:
        notes.append("nothing was done; import without --dry-run to do it")
    if report.problems:
        pieces = (
            "piece of input was not taken as it" if report.problems == 1 else "pieces of input were not taken as they"
        )
        notes.append(f"{report.problems} {pieces} stood; aix problems lists what and why")
    if unknown := sum(refusal.kind is Refused.UNRECOGNISED for refusal in report.refusals):
        files = "file looks like a log that" if unknown == 1 else "files look like logs that"
        notes.append(f"{unknown} {files} no importer recognises; aix sources lists what was found")
    failures = report.failures
    for named in (report.unread, failures):
        notes += [f"{name}: {reason}" for name, reason in named[:_FAILURES_SHOWN]]
        if len(named) > _FAILURES_SHOWN:
            notes.append(f"… and {len(named) - _FAILURES_SHOWN} more")
    if failures:
        notes.append(f"{len(failures)} could not be imported; the rest was")
    return notes
