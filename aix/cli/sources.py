"""`aix sources` and `aix problems`: the histories on this machine, and what was wrong with those that were imported."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from aix.cli.command import Command, importer_options, ledger_option, listing_output
from aix.config import load_config
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import human_bytes, local_time, one_line
from aix.paths import absolute_path
from aix.query.packs import find_query
from aix.reading.ledger import open_ledger

if TYPE_CHECKING:
    from aix.pipeline.registry import Options
    from aix.pipeline.run import Survey
    from aix.reading.result import Result

_COLUMNS = listing_columns("state", "importer", "source", ("size_bytes", "BIGINT"), ("modified_at", "BIGINT"), "reason")

_PEOPLES_COLUMNS = listing_columns(
    "state",
    "importer",
    "source",
    ListingColumn("size", "BIGINT", priority=2),
    ListingColumn("changed", priority=3),
    "reason",
)

Row = tuple[str, str | None, str, int | None, int | None, str | None]
_SAMPLE_CHARACTERS = 60
_KIND_COLUMNS = listing_columns(
    "kind",
    ("lines", "BIGINT"),
    "what to do",
    ListingColumn("example", priority=2, cut="start"),
)
_PROBLEM_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "source": {"cut": "start"},
    "line": {},
    "reason": {"least": 56},
    "kind": {"priority": 2},
    "sample": {"priority": 3},
    "byte_offset": {"priority": 4},
    "run_started_at": {"priority": 5},
    "run_id": {"priority": 6},
}
"""The columns of problems that are listed one by one, in the order in which people get them."""
_KINDS = """
    select
      importer,
      kind,
      count(*) as lines,
      min_by(source || coalesce(':' || line, ''), (source, line)) as example
    from (
    {every}
    ) where is_latest
    group by importer, kind
    order by lines desc, kind, importer
"""
_ADVICE = {"source_failed": "fix it, import again"}
"""By kind of problem, for those that AIX itself notes."""
_LOOK_AT_IT = "look at the example"
_IN_PLACE = "(path = $place or starts_with(path, rtrim($place, '/') || '/') or source = $place)"


@click.command(cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@click.option("--machine", metavar="NAME", help="Compare with histories that were imported with --machine NAME.")
@importer_options
@ledger_option
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    machine: str | None,
    importer: str | None,
    options: "Options",
    ledger: Path,
) -> Listing:
    """List the histories on this machine, and which of them changed since the last import.

    Without PATH, AIX looks where the tools keep their histories.

    \b
    The state of a source:
      new                      never imported
      changed                  changed since the last import
      unchanged                the next import skips it
      failed before            the last import could not read it
      read by another version  imported by another version of the importer, or with other options
      gone                     imported, and no longer there; its rows stay in the ledger
    Files that cannot be imported have a reason and one of these states:
      unreadable, unclaimed, conflict, crash, empty, unrecognised

    This command imports and changes nothing.

    \b
      aix sources
      aix sources ~/backup/histories --format csv
    """
    from aix.pipeline.run import Settings, survey

    surveyed = survey(ledger, paths or None, Settings(machine=machine, importer=importer, options=options))
    rows = [*_found(surveyed), *_refused(surveyed), *_gone(surveyed, ledger, paths, machine, importer)]
    place = "at these paths" if paths else "on this machine; name a folder with `aix sources FOLDER`"
    return Listing(
        _COLUMNS,
        rows,
        empty=f"no histories were found {place}",
        for_people=Listing(_PEOPLES_COLUMNS, _peoples_rows(rows, load_config(ctx.obj).timezone)),
    )


def _peoples_rows(rows: Iterable[Row], zone: tzinfo) -> Iterator[tuple[object, ...]]:
    for state, importer, source, size_bytes, modified_at, reason in rows:
        size = human_bytes(size_bytes) if size_bytes else None  # a conversation in a database has no size of its own
        yield state, importer, source, size, local_time(modified_at, zone), reason


def _found(surveyed: "Survey") -> Iterator[Row]:
    from aix.importing import readable

    for each in surveyed.plan:
        seen = surveyed.found.candidates.get(each.source.path)
        modified_at = seen.mtime_ns // 10**6 if seen else None
        entry = surveyed.known.get(each.id)
        reason = entry.failure if entry and entry.failure else None
        yield (
            str(each.state),
            each.claim.importer.name,
            readable(each.source.name),
            each.size_bytes,
            modified_at,
            reason,
        )


def _refused(surveyed: "Survey") -> Iterator[Row]:
    for refusal in surveyed.found.refusals:
        yield str(refusal.kind), None, refusal.path, None, None, refusal.reason


def _gone(
    surveyed: "Survey", ledger: Path, paths: tuple[Path, ...], machine: str | None, importer: str | None
) -> Iterator[Row]:
    """Go through what was imported and is not there any more; only the machine it was on can tell."""
    from aix.importing import readable
    from aix.pipeline.plan import State
    from aix.store.manifest import is_ledger, read_latest

    if not is_ledger(ledger) or "import_sources" not in read_latest(ledger).tables:
        return
    import aix

    prefix = f"{machine}:" if machine else ""
    seen = set(map(readable, surveyed.found.candidates))
    with aix.open(ledger) as opened:
        query = (
            "select distinct importer, path, size_bytes, mtime_ns // 1000000 from import_sources"
            " where starts_with(source_key, $1 || path) and ($2 is null or importer = $2) order by path"
        )
        for name, path, size, modified_at in opened.sql(query, [prefix, importer]).rows():
            is_asked_for = not paths or any(Path(path).is_relative_to(absolute_path(place)) for place in paths)
            if is_asked_for and path not in seen and not Path(path).exists():
                yield str(State.GONE), name, path, size, modified_at, "its rows stay in the ledger"


@click.command(cls=Command)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Only problems of the file PATH, or of files below the folder PATH.",
)
@click.option("--kind", metavar="KIND", help="Only problems of this kind, one by one.")
@click.option(
    "--all-runs", is_flag=True, help="Problems of all imports. Default: of the last import that read each source."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N, one by one.")
@ledger_option
@listing_output
def problems(source: Path | None, kind: str | None, all_runs: bool, limit: int | None, ledger: Path) -> Listing:
    """List lines that could not be fully read.

    The rest of each file was imported. Notes about lines that were fully read are listed too; `aix import` and
    `aix overview` count them apart. The table groups the problems by kind, each with their number, an example and
    what you can do about it. With --kind, --source, --limit or --all-runs it lists them one by one, with
    the place and the beginning of each line; so do all other formats, with every value whole. A file that was read
    again shows the problems that it has now.

    \b
      aix problems
      aix problems --kind truncated_line
      aix problems --source ~/logs
      aix problems --all-runs --format csv -o problems.csv
    """
    given = {"kind": kind, "place": None if source is None else str(absolute_path(source)), "limit": limit}
    parameters = {name: value for name, value in given.items() if value is not None}
    conditions = [
        *(["is_latest"] if not all_runs else []),
        *(["kind = $kind"] if kind is not None else []),
        *([_IN_PLACE] if source is not None else []),
    ]
    every = find_query("overview/problems").sql
    sql = f"""
        select source, line, byte_offset, kind, reason, sample {", run_id, run_started_at" if all_runs else ""}
        from (
        {every}
        ) where {" and ".join(conditions) or "true"} {"limit $limit" if limit is not None else ""}
    """  # noqa: S608 - made of the texts above
    opened = open_ledger(ledger)
    found = opened.sql(sql, parameters or None)
    listing = replace(found.listing(), empty="every line that was imported could be fully read")
    if given == dict.fromkeys(given) and not all_runs:
        kinds = list(opened.sql(_KINDS.format(every=every)))
        note = [f"`aix problems --kind {kinds[0][1]}` lists such lines, each with the reason"] if kinds else []
        return replace(listing, for_people=Listing(_KIND_COLUMNS, _with_advice(kinds), notes=note))
    return replace(listing, for_people=_one_by_one(found, has_kind=kind is None))


def _with_advice(kinds: "list[tuple[object, ...]]") -> Iterator[tuple[object, ...]]:
    """Go through the kinds of problems with what a user can do about each."""
    from aix.pipeline.registry import registrations

    advice = {each.name: each.kind.problem_advice for each in registrations() if each.kind}
    for importer, kind, count, example in kinds:
        known = advice.get(str(importer), {}).get(str(kind)) or _ADVICE.get(str(kind), _LOOK_AT_IT)
        yield kind, count, known, example


def _one_by_one(found: "Result", *, has_kind: bool) -> Listing:
    """Return problems for people, the reason before all that is not the place; in full, as far as a line has room."""
    listing = found.listing()
    names = [name for name in _PROBLEM_COLUMNS if name in found.columns and (has_kind or name != "kind")]
    places = [found.columns.index(name) for name in names]
    columns = tuple(
        replace(listing.columns[place], **_PROBLEM_COLUMNS[listing.columns[place].name]) for place in places
    )
    sample = found.columns.index("sample")
    short = (
        (*row[:sample], row[sample] and one_line(row[sample], _SAMPLE_CHARACTERS), *row[sample + 1 :]) for row in found
    )
    return Listing(columns, [[row[place] for place in places] for row in short])
