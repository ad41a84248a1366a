"""`aix import`: histories are imported and ledgers joined, with progress on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from aix.cli.command import Command, importer_options, ledger_option, listing_output, personas_option, prices_option
from aix.cli.diagnostics import console, say
from aix.errors import NothingToImportError
from aix.output import Listing, listing_columns
from aix.output.humanise import counted, human_bytes, short_duration
from aix.output.text import to_json
from aix.pipeline.report import Status, Watcher
from aix.process import load_arrow
from aix.store.manifest import EMPTY, PRICE_TABLES, count_rows, is_ledger

if TYPE_CHECKING:
    from rich.progress import Progress

    from aix.merge.ledger_merge import Contradiction
    from aix.pipeline.freshness import NearDeletion
    from aix.pipeline.registry import Options
    from aix.pipeline.report import Outcome, Report
    from aix.pipeline.run import Settings
    from aix.store.manifest import Manifest

_SHOWN_CHARACTERS = 60
_JOIN_COLUMNS = listing_columns("table", ("rows", "BIGINT"), ("new", "BIGINT"), ("contradictions", "BIGINT"))
_EXAMPLE = listing_columns("example_row", "example_column", "own_value", "other_value")
_FAILURES_SHOWN = 20
_BYTES_OF_SOURCE = 2_000
"""The progress that a source makes by itself: conversations in a database have no size."""


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
@click.option("--index", "with_index", is_flag=True, help="Update what `aix search` and `aix similar` look into.")
@click.option("--verbose", is_flag=True, help="Show the new rows of each table.")
@importer_options
@prices_option
@personas_option
@click.option("--no-personas", is_flag=True, help="Remove the personas that a file gave the ledger.")
@ledger_option
@listing_output
def command(
    paths: tuple[Path, ...],
    dry_run: bool,
    strict: bool,
    reparse: bool,
    jobs: int | None,
    machine: str | None,
    settings: tuple[Path, ...],
    keep_raw: bool,
    with_index: bool,
    verbose: bool,
    importer: str | None,
    options: "Options",
    prices: Path | None,
    personas: Path | None,
    no_personas: bool,
    ledger: Path,
) -> Listing:
    """Import session histories into the ledger.

    PATH is a folder or a file with histories, or another ledger. Without PATH, AIX looks where the tools keep their
    histories. Histories are only read, never changed. Sources that have not changed since the last import are skipped,
    so you can run it as often as you like.

    A source that cannot be imported does not stop the others; the exit code is then 1. Lines that could not be fully
    read are listed by `aix problems`. --verbose shows how many sources were `imported`, `upserted` (imported again
    after a change), `skipped` or `failed`, and the new rows of each table; so do the machine formats.

    Another ledger is joined into this one: rows about the same thing become one, in whatever order you join ledgers.
    Its prices and personas are left out. Rows that contradict yours are counted and shown before anything is joined,
    and may replace yours. With --dry-run nothing is joined; with --strict a ledger that contradicts this one is not
    joined, and the exit code is then 1.

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
    if no_personas and click.get_current_context().get_parameter_source("personas") is ParameterSource.COMMANDLINE:
        raise click.UsageError("Give --personas or --no-personas, not both.")
    personas = None if no_personas else personas
    paths = (*paths, *settings)
    others = [path for path in paths if is_ledger(path)]
    if others and len(others) < len(paths):
        raise click.UsageError("Import ledgers and histories one after the other.")
    if others:
        given = {"--reparse": reparse, "--jobs": jobs, "--machine": machine}
        for name, value in {**given, "--importer": importer, "--option": options}.items():
            if value:
                raise click.UsageError(f"{name} is for histories, not for ledgers.")
        from aix.pipeline.run import Settings

        run_settings = Settings(
            strict=strict,
            dry_run=dry_run,
            keep_raw=keep_raw,
            prices=prices,
            personas=personas,
            keeps_personas=not no_personas,
        )
        listing = _join_and_list(ledger, others, run_settings)
        if with_index and not dry_run:
            _update_index(ledger)
        return listing
    from aix.importing import readable
    from aix.pipeline.run import Settings

    run_settings = Settings(
        jobs=jobs,
        strict=strict,
        dry_run=dry_run,
        reparse=reparse,
        keep_raw=keep_raw,
        machine=machine,
        importer=importer,
        options=options,
        prices=prices,
        personas=personas,
        keeps_personas=not no_personas,
        argv=[readable(word) for word in sys.argv[1:]],
    )
    report = _run(ledger, paths, run_settings)
    if paths and not report.statuses and not report.refusals:
        raise NothingToImportError(paths[0])
    if with_index and not dry_run:
        _update_index(ledger)
    return _listing(ledger, report, is_by_default=not paths, dry_run=dry_run, verbose=verbose)


def _update_index(ledger: Path) -> None:
    from aix.cli.text_index import update_index, update_vectors
    from aix.store.manifest import read_latest

    if is_ledger(ledger):
        version = read_latest(ledger)
        update_index(ledger, version)
        update_vectors(ledger, version)


def _run(ledger: Path, paths: tuple[Path, ...], settings: "Settings") -> "Report":
    from aix.process import hold_little_memory

    hold_little_memory()
    from aix.cli.diagnostics import prints_beside
    from aix.pipeline.run import import_histories

    with _import_progress() as watcher, prints_beside():
        return import_histories(ledger, paths or None, settings, watcher)


def _listing(ledger: Path, report: "Report", *, is_by_default: bool, dry_run: bool, verbose: bool) -> Listing:
    rows: list[tuple[str, str, int]] = [("sources", str(status), n) for status, n in sorted(report.statuses.items())]
    if report.after is not None and report.after != report.before:
        before = report.before or EMPTY
        given = [name for name in report.after.tables if name not in PRICE_TABLES]  # sources give no prices
        new = {name: count_rows(report.after, name) - count_rows(before, name) for name in given}
        rows += [("new rows", name, number) for name, number in new.items() if number]
    if report.problems:
        rows.append(("problems", "found", report.problems))
    if report.notes:
        rows.append(("problems", "of them notes", report.notes))
    rows.append(("bytes", "read", report.bytes_read))
    rows.append(("time", "milliseconds", round(report.seconds * 1000)))
    if report.after is not None:
        rows.append(("version", "of the ledger", report.after.version))
    columns = listing_columns("what", "name", ("count", "BIGINT"))
    notes = _notes(report, dry_run=dry_run)
    result = _result(ledger, report, is_by_default=is_by_default, dry_run=dry_run)
    return Listing(
        columns,
        rows,
        has_findings=bool(report.failures),
        notes=[result, *notes] if verbose else notes,
        text=() if verbose else [result],
    )


def _nothing_found(report: "Report") -> str:
    """Say that there are no histories on this machine, and what became of a ledger that is here already."""
    if report.before is None:
        return "No histories were found on this machine. Next: `aix demo`, or `aix import FOLDER`"
    is_renewed = report.after is not None and report.after.version > report.before.version
    done = "The ledger was updated for this version of AIX and its prices" if is_renewed else "The ledger is up to date"
    return f"{done}; no histories were found on this machine. Next: `aix overview`, or `aix import FOLDER`"


def _result(ledger: Path, report: "Report", *, is_by_default: bool, dry_run: bool) -> str:
    """Say what was imported, how many lines could not be read, and what to do next."""
    if not report.statuses and is_by_default:
        return _nothing_found(report)
    read = [outcome for outcome in report.outcomes if outcome.status in (Status.IMPORTED, Status.UPSERTED)]
    size = [human_bytes(report.bytes_read)] if _is_size_known(read) else []
    if dry_run:
        return f"Would import {', '.join([counted(len(read), 'source'), *size])}. Nothing was imported (--dry-run)."
    duration = short_duration(round(report.seconds * 1000))
    if not read and (report.statuses[Status.FAILED] or not report.statuses):
        return f"Nothing was imported, {duration}. Next: `aix sources`"
    if not read and report.after is None:
        return f"Nothing to import in {counted(report.statuses[Status.SKIPPED], 'source')}, {duration}."
    if not read:
        return f"Nothing new in {counted(report.statuses[Status.SKIPPED], 'source')}, {duration}. Next: `aix overview`"
    sentences = [f"{', '.join([*_imported(ledger, report, read), *size, duration])}."]
    if report.problems:
        sentences.append(_troubles(report.problems - report.notes, report.notes))
    return " ".join([*sentences, "Next: `aix overview`"])


def _troubles(unread: int, notes: int) -> str:
    """Say how many lines are not wholly in the ledger, apart from notes about those that are.

    >>> _troubles(0, 3)
    '3 notes about the data; see `aix problems`.'
    """
    lines, about = counted(unread, "line"), f"{counted(notes, 'note')} about the data"
    if not unread:
        return f"{about}; see `aix problems`."
    return (f"{about}. " if notes else "") + f"{lines} could not be fully read; see `aix problems`."


def _imported(ledger: Path, report: "Report", read: "list[Outcome]") -> list[str]:
    """Return the new sessions and the sources that were read again, in words."""
    sessions, subagents = _count_sessions(ledger, report.after)
    earlier = _count_sessions(ledger, report.before)
    new = "new " if report.before else ""
    updated = sum(outcome.status is Status.UPSERTED for outcome in read)
    parts = [
        *([counted(sessions - earlier[0], f"{new}session")] if sessions > earlier[0] else []),
        *([counted(subagents - earlier[1], f"{new}subagent")] if subagents > earlier[1] else []),
        *([f"{counted(updated, 'source')} updated"] if updated else []),
    ]
    return parts or [f"{counted(len(read), 'source')} imported"]


def _count_sessions(ledger: Path, version: "Manifest | None") -> tuple[int, int]:
    """Return how many sessions a version has, and how many subagents."""
    if version is None or not count_rows(version, "sessions"):
        return 0, 0
    from aix.schema import TABLES
    from aix.store.engine import engine
    from aix.store.views import view_select

    with engine(ledger, is_reader=True) as connection:
        rows = f"select is_subagent from ({view_select(TABLES['sessions'], ledger, version)})"  # noqa: S608
        counts = f"select count(*) filter (not is_subagent), count(*) filter (is_subagent) from ({rows})"  # noqa: S608
        [(sessions, subagents)] = connection.execute(counts).fetchall()
    return int(sessions), int(subagents)


def _is_size_known(read: "list[Outcome]") -> bool:
    """Whether most sources are files of their own; conversations in a database have no size."""
    return 2 * sum(outcome.size_bytes > 0 for outcome in read) > len(read)


def _persona_notes(report: "Report") -> list[str]:
    """Return a note when the import changed the personas of the ledger."""
    if report.after is None or report.after.personas == (report.before or EMPTY).personas:
        return []
    has_any = report.after.personas is not None
    outcome = "the personas of the file are applied" if has_any else "the ledger has no personas of a file any more"
    return [f"{outcome}; `aix personas` lists all"]


def _notes(report: "Report", *, dry_run: bool) -> list[str]:
    from aix.pipeline.discovery import Refused

    notes = _persona_notes(report)
    if unknown := sum(refusal.kind is Refused.UNRECOGNISED for refusal in report.refusals):
        files = "1 file looks like a log" if unknown == 1 else f"{unknown:,} files look like logs"
        notes.append(f"{files} but no importer recognises {'it' if unknown == 1 else 'them'}; see `aix sources`")
    notes += deletion_notices(report.near_deletion, are_imported=not dry_run)
    failures = report.failures
    for named in (report.unread, failures):
        notes += [f"{name}: {reason}" for name, reason in named[:_FAILURES_SHOWN]]
        if len(named) > _FAILURES_SHOWN:
            notes.append(f"… and {len(named) - _FAILURES_SHOWN} more")
    if failures:
        others = "; all others were" if report.statuses.total() > report.statuses[Status.FAILED] else ""
        notes.append(f"{counted(len(failures), 'source')} could not be imported{others}")
    return notes


def deletion_notices(near: "list[NearDeletion]", *, are_imported: bool) -> list[str]:
    """Say which logs their tools delete soon, and how to keep them."""
    notices = []
    for each in near:
        retention = each.retention
        rule = f"{retention.tool} deletes logs after {counted(retention.days, 'day')} ({retention.setting})"
        if are_imported:
            age = counted(each.oldest_days, "day")
            notices.append(
                f"{rule}; the oldest that was imported now had not changed for {age}:"
                " import more often, as docs/recipes.md shows, or raise the setting"
            )
        else:
            logs = "1 log that is" if each.logs == 1 else f"{each.logs} logs that are"
            verb = "has" if each.logs == 1 else "have"
            notices.append(
                f"{rule}; {logs} not imported yet {verb} not changed for up to"
                f" {counted(each.oldest_days, 'day')}: run aix import"
            )
    return notices


@contextmanager
def _import_progress() -> Iterator[Watcher]:
    """Give a watcher of an import, which draws a bar when stderr is a terminal."""
    terminal = console()
    if terminal is None:
        yield ArrowLoader()
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=terminal,
        transient=True,
    ) as progress:
        yield ImportBar(progress)


class ArrowLoader(Watcher):
    """Loads Arrow when something has to be read, and draws nothing."""

    def begin(self, sources: int, size_bytes: int) -> None:  # noqa: ARG002 - it draws nothing
        """Load Arrow only now: a run that finds nothing to read needs none."""
        load_arrow()


class ImportBar(ArrowLoader):
    """Draws how many of the sources were read; its total stays the same from the beginning to the end.

    Sources that turn out to be connected are read once more, together: only the words change then.
    """

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._sources = 0
        self._read: set[str] = set()
        self._again = 0

    def begin(self, sources: int, size_bytes: int) -> None:
        """Start the bar with the total of everything that has to be read."""
        super().begin(sources, size_bytes)
        self._sources = sources
        self._task = self._progress.add_task(self._text(), total=size_bytes + (sources + 1) * _BYTES_OF_SOURCE)

    def more(self, sources: int, size_bytes: int) -> None:  # noqa: ARG002 - the total stays
        """Say that connected sources are read once more."""
        self._again += sources
        self._progress.update(self._task, description=self._text())

    def advance(self, outcome: "Outcome") -> None:
        """Move the bar by a source, when it is read for the first time."""
        is_first = outcome.name not in self._read
        self._read.add(outcome.name)
        done = outcome.size_bytes + _BYTES_OF_SOURCE if is_first else 0
        self._progress.update(self._task, advance=done, description=self._text())

    def _text(self) -> str:
        if self._again:
            return f"Reading {counted(self._again, 'connected source')} together"
        if len(self._read) >= self._sources:
            return f"Writing the ledger ({counted(self._sources, 'source')} read)"
        return f"Read {len(self._read):,} of {counted(self._sources, 'source')}"


def _join_and_list(ledger: Path, others: list[Path], settings: "Settings") -> Listing:
    """Join ledgers, and list by table how many rows there are, are new, and contradict others."""
    from aix.pipeline.ledger_join import join_ledgers

    report = join_ledgers(ledger, others, settings, _Speaker())
    rows = [*_join_rows(report)]
    return Listing(
        (*_JOIN_COLUMNS, *_EXAMPLE),
        rows,
        has_findings=bool(report.failures),
        notes=[*_persona_notes(report), *_join_notes(report, dry_run=settings.dry_run)],
        for_people=Listing(_JOIN_COLUMNS, [row[: len(_JOIN_COLUMNS)] for row in rows]),
    )


class _Speaker(Watcher):
    """Says what contradicts the ledger as soon as it is found."""

    def contradict(self, found: "Contradiction") -> None:
        columns = ", ".join(f"{name} ({count})" for name, count in found.columns.items())
        own, other = (to_json(_short(value)) for value in (found.own, found.other))
        verb = "contradicts" if found.rows == 1 else "contradict"
        say(
            f"{found.ledger}: {counted(found.rows, 'row')} of {found.table} {verb} this ledger, in {columns};"
            f" {found.column} of {found.row_key} is {own} here and {other} there"
        )


def _short(value: str) -> str:
    return value if len(value) <= _SHOWN_CHARACTERS else f"{value[: _SHOWN_CHARACTERS - 1]}…"


def _join_rows(report: "Report") -> list[tuple[object, ...]]:
    found: dict[str, list[Contradiction]] = {}
    for contradiction in report.contradictions:
        found.setdefault(contradiction.table, []).append(contradiction)
    rows: list[tuple[object, ...]] = []
    is_joined = report.after != report.before
    for name in dict.fromkeys([*report.new_rows, *found]):
        new = report.new_rows.get(name, 0)
        count = count_rows(report.after or EMPTY, name) + (0 if is_joined else new)
        of_table = found.get(name, [])
        first = of_table[0] if of_table else None
        example = (first.row_key, first.column, first.own, first.other) if first else (None, None, None, None)
        rows.append((name, count, new, sum(each.rows for each in of_table), *example))
    return rows


def _join_notes(report: "Report", *, dry_run: bool) -> list[str]:
    notes = [f"{name}: {reason}; nothing of it was joined" for name, reason in report.failures]
    rows = sum(contradiction.rows for contradiction in report.contradictions)
    if dry_run:
        notes.append("nothing was done; import without --dry-run to do it")
    elif rows and not report.failures:
        notes.append(f"contradicting rows, joined all the same: {rows}; --strict refuses such a ledger")
    return notes
