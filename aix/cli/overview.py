"""`aix overview`."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output
from aix.config import load_config
from aix.output import Listing, ListingColumn
from aix.output.humanise import local_time, short_count

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
        ("cache read", True),
        ("from", False),
        ("to", False),
    )
)
_NO_ORIGIN = "(no session)"
"""Requests that no session of the ledger made; their logs do not say which."""
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
    queries/overview/by_origin.sql, with exact values. What no log says is NULL. Tokens are those of `aix cost`: of all
    requests, also of those that belong to no turn or no session. – stands for the time of logs that have none.

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
    rows = [dict(zip(found.columns, values, strict=True)) for values in found]
    if len(rows) > 1:
        rows.append({"origin": "total", **{name: _summary(name, rows) for name in found.columns if name != "origin"}})
    for row in rows:
        tokens = [row[name] for name in ("input_tokens", "output_tokens", "cache_read_tokens")]
        yield (
            row["origin"] or _NO_ORIGIN,
            *(row[name] for name in ("sessions", "turns", "failed_turns", "messages", "tool_calls")),
            *(None if count is None else short_count(count) for count in tokens),
            local_time(row["first_turn_at"], zone)[:10],
            local_time(row["last_turn_at"], zone)[:10],
        )


def _summary(name: str, rows: Sequence[dict[str, Any]]) -> int | None:
    """Return what a column says about all rows: the range of times, and the sums of counts."""
    known = [row[name] for row in rows if row[name] is not None]
    if not known:
        return None
    return int({"first_turn_at": min, "last_turn_at": max}.get(name, sum)(known))
