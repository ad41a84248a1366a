"""`aix import`."""

from pathlib import Path

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output
from aix.formats import Listing, ListingColumn


@click.command(cls=Command)
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--keep-raw", is_flag=True, help="Keep the copies of sources that the other ledger holds as well.")
@ledger_option
@listing_output
def command(other: Path, keep_raw: bool, ledger: Path) -> Listing:  # noqa: FBT001 - click's
    """Join another ledger into this one, and show how many rows each table has now.

    OTHER is the folder of a ledger: of another machine, or a copy of an older time. Rows about the same thing become
    one, in whatever order ledgers are joined; joining one again changes nothing. The other ledger is only read. Its
    price table is left out: every ledger keeps its own.

    \b
      aix import /mnt/laptop/aix-ledger
      aix import backup --keep-raw
    """
    from aix.ledger.manifest import Manifest, is_ledger, read_latest
    from aix.ledger.merging import join_ledger

    def rows_of(version: Manifest | None, name: str) -> int:
        return sum(segment.rows for segment in version.tables.get(name, ())) if version else 0

    before = read_latest(ledger) if is_ledger(ledger) else None
    after = join_ledger(ledger, other, keep_raw=keep_raw)
    columns = (ListingColumn("table"), ListingColumn("rows", "BIGINT"), ListingColumn("new", "BIGINT"))
    return Listing(
        columns, [(name, rows_of(after, name), rows_of(after, name) - rows_of(before, name)) for name in after.tables]
    )
