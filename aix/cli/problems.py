"""`aix problems`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output
from aix.output import Listing
from aix.output.humanise import one_line
from aix.paths import absolute_path
from aix.query.packs import find_query
from aix.reading.ledger import open_ledger

if TYPE_CHECKING:
    from aix.reading.result import Result

_SAMPLE_CHARACTERS = 60
_IN_PLACE = "(path = $place or starts_with(path, rtrim($place, '/') || '/') or source = $place)"


@click.command(cls=Command)
@click.option("--source", type=click.Path(path_type=Path), metavar="PATH", help="Only of the file PATH, or below it.")
@click.option("--kind", metavar="KIND", help="Only problems of that kind.")
@click.option("--all-runs", is_flag=True, help="Those of all runs. Default: of the last run that read each source.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N.")
@ledger_option
@listing_output
def command(source: Path | None, kind: str | None, all_runs: bool, limit: int | None, ledger: Path) -> Listing:  # noqa: FBT001 - click's
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
    problems = find_query("overview/problems").sql
    sql = f"""
        select source, line, byte_offset, kind, reason, sample {", run_id, run_started_at" if all_runs else ""}
        from (
        {problems}
        ) where {" and ".join(conditions) or "true"} {"limit $limit" if limit is not None else ""}
    """  # noqa: S608 - made of the texts above
    found = open_ledger(ledger).sql(sql, parameters or None)
    listing = found.listing()
    return Listing(
        listing.columns,
        listing.rows,
        listing.arrow_reader,
        for_people=Listing(listing.columns, _with_short_samples(found)),
    )


def _with_short_samples(found: "Result") -> Iterator[tuple[object, ...]]:
    place = found.columns.index("sample")
    for row in found:
        sample = row[place] and one_line(row[place], _SAMPLE_CHARACTERS)
        yield (*row[:place], sample, *row[place + 1 :])
