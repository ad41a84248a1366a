"""`aix sources` and `aix problems`: the histories on this machine, and what was wrong with those that were imported."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from aix.cli.command import Command, importer_options, ledger_option, listing_output
from aix.output import Listing, listing_columns
from aix.output.humanise import one_line
from aix.paths import absolute_path
from aix.query.packs import find_query
from aix.reading.ledger import open_ledger

if TYPE_CHECKING:
    from aix.pipeline.registry import Options
    from aix.pipeline.run import Survey
    from aix.reading.result import Result

_COLUMNS = listing_columns("state", "importer", "source", ("size_bytes", "BIGINT"), ("modified_at", "BIGINT"), "reason")

Row = tuple[str, str | None, str, int | None, int | None, str | None]
_SAMPLE_CHARACTERS = 60
_IN_PLACE = "(path = $place or starts_with(path, rtrim($place, '/') || '/') or source = $place)"


@click.command(cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@click.option("--machine", metavar="NAME", help="Compare with what was imported as NAME's.")
@importer_options
@ledger_option
@listing_output
def command(
    paths: tuple[Path, ...], machine: str | None, importer: str | None, options: "Options", ledger: Path
) -> Listing:
    """List the histories that are on this machine, and how each stands to the ledger.

    Without a PATH, histories are looked for where the tools keep them.

    \b
    The state of a source:
      new                      it was never imported
      changed                  it has changed since it was imported
      unchanged                importing it again would skip it
      failed before            the last import could not read it
      read by another version  another version of the importer read it, or one with other options
      gone                     it was imported and is no longer there; its rows stay in the ledger
    And of what cannot be imported, with the reason:
      unreadable, unclaimed, conflict, crash, empty, unrecognised

    Nothing is imported, and nothing is changed.

    \b
      aix sources
      aix sources ~/backup/histories --format csv
    """
    from aix.pipeline.run import Settings, survey

    surveyed = survey(ledger, paths or None, Settings(machine=machine, importer=importer, options=options))
    rows = [*_found(surveyed), *_refused(surveyed), *_gone(surveyed, ledger, paths, machine, importer)]
    return Listing(_COLUMNS, rows)


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
@click.option("--source", type=click.Path(path_type=Path), metavar="PATH", help="Only of the file PATH, or below it.")
@click.option("--kind", metavar="KIND", help="Only problems of that kind.")
@click.option("--all-runs", is_flag=True, help="Those of all runs. Default: of the last run that read each source.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N.")
@ledger_option
@listing_output
def problems(source: Path | None, kind: str | None, all_runs: bool, limit: int | None, ledger: Path) -> Listing:
    """List what imports did not take as it stood: where it is, what is wrong with it, and how it begins.

    A problem is one piece of a source, such as a line that ends too early; the rest of the source was imported. A
    source that was read again later shows what is wrong with it now. The table shows the beginning of the sample; all
    other formats have all of it.

    \b
      aix problems
      aix problems --source ~/logs --kind truncated_line
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
    found = open_ledger(ledger).sql(sql, parameters or None)
    listing = found.listing()
    return replace(
        listing,
        for_people=Listing(listing.columns, _with_short_samples(found)),
    )


def _with_short_samples(found: "Result") -> Iterator[tuple[object, ...]]:
    place = found.columns.index("sample")
    for row in found:
        sample = row[place] and one_line(row[place], _SAMPLE_CHARACTERS)
        yield (*row[:place], sample, *row[place + 1 :])
