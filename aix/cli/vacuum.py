"""`aix vacuum`."""

from pathlib import Path

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output
from aix.output import Listing, ListingColumn


@click.command(cls=Command)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Keep what was in use within the last HOURS: a version while a newer one is not older than that.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@ledger_option
@listing_output
def command(grace: float, dry_run: bool, ledger: Path) -> Listing:  # noqa: FBT001 - click's
    """Put small groups of files together, and remove rows and files that nobody needs any more.

    When a session grows, its rows are written to new files, and its old rows stay in the old files, marked as dead.
    `aix vacuum` writes these files again without them, so that every row of every file counts.

    Every import leaves the version before it in place, so that whoever reads it can go on. `aix vacuum` removes such
    versions once their grace period is over, together with what killed processes left behind, with cached rows of views
    and with copies of sources in a state that no version knows. The newest version is never touched.

    With --grace 0, a query that is running may find its files gone.

    \b
      aix vacuum --dry-run
      aix vacuum
      aix vacuum --grace 1
    """
    from aix.derived.view_cache import is_cache_of
    from aix.merge.compact_files import tidy_groups, untidy_groups
    from aix.store.garbage import collect, find_removals

    removals = find_removals(ledger, grace * 3600, is_cache_of)
    groups = untidy_groups(ledger) if dry_run else tidy_groups(ledger)
    if not dry_run:
        removals = collect(ledger, grace * 3600, is_cache_of)
    columns = (ListingColumn("what"), ListingColumn("path"), ListingColumn("bytes", "BIGINT"))
    rows = [
        *(("group written again", name, size) for name, size in groups.items()),
        *((removal.kind, removal.path.relative_to(ledger).as_posix(), removal.size_bytes) for removal in removals),
    ]
    return Listing(columns, rows)
