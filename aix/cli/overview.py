"""`aix overview`."""

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output
from aix.config import load_config
from aix.formats import Listing, ListingColumn
from aix.formats.people import local_time, short_count

if TYPE_CHECKING:
    from aix.reading.result import Result

_PEOPLES_COLUMNS = tuple(
    ListingColumn(name, "BIGINT" if is_number else "VARCHAR")
    for name, is_number in (
        ("origin", False),
        ("sessions", True),
        ("turns", True),
        ("failed", True),
        ("messages", True),
        ("calls", True),
        ("input", True),
        ("output", True),
        ("cached", True),
        ("from", False),
        ("to", False),
    )
)
_NEXT = (
    ("aix sessions", "the sessions, the newest first"),
    ("aix show SESSION", "one of them, to read"),
    ("aix problems", "what imports could not take as it stood"),
    ('aix sql "from turns limit 5"', "any question in SQL; aix schema lists the tables"),
)


@click.command(cls=Command)
@ledger_option
@listing_output
@click.pass_context
def command(ctx: click.Context, ledger: Path) -> Listing:
    """Show what the ledger holds, by the tool it came from, and what to try next.

    The table is short, with times in the configured time zone; all other formats have every column of
    queries/overview/by_origin.sql, with exact values. What no log says is NULL.

    \b
      aix overview
      aix overview --json
    """
    import aix

    is_default = ledger == load_config(ctx.obj).ledger
    place = "" if is_default else f" --ledger {ledger}"
    opened = aix.open(ledger)
    found = opened.query("overview/by_origin")
    listing = found.listing()
    return Listing(
        listing.columns,
        listing.rows,
        listing.arrow_reader,
        notes=[f"try {words}{place}: {effect}" for words, effect in _NEXT],
        for_people=Listing(_PEOPLES_COLUMNS, _peoples_rows(found, load_config(ctx.obj).timezone)),
    )


def _peoples_rows(found: "Result", zone: tzinfo) -> Iterator[tuple[object, ...]]:
    for values in found:
        row = dict(zip(found.columns, values, strict=True))
        tokens = [row[name] for name in ("input_tokens", "output_tokens", "cache_read_tokens")]
        yield (
            *(row[name] for name in ("origin", "sessions", "turns", "failed_turns", "messages", "tool_calls")),
            *(None if count is None else short_count(count) for count in tokens),
            local_time(row["first_turn_at"], zone)[:10],
            local_time(row["last_turn_at"], zone)[:10],
        )
