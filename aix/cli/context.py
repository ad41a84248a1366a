"""`aix context`."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output
from aix.config import load_config
from aix.output import Listing, ListingColumn
from aix.output.humanise import bar, local_time, one_line, signed_count
from aix.reading.ledger import open_ledger

_TURN_CHARACTERS = 8
_TEXT_CHARACTERS = 60
_NOTHING = "–"
_UNLOGGED = "in no log: system prompt, tools, what estimates miss"
_COLUMNS = (
    ListingColumn("part"),
    ListingColumn("turn"),
    ListingColumn("when"),
    ListingColumn("text"),
    ListingColumn("calls", "BIGINT"),
    ListingColumn("tokens", "BIGINT"),
    ListingColumn("basis"),
    ListingColumn("total", "BIGINT"),
    ListingColumn(""),
)

Row = dict[str, Any]


@click.command(cls=Command)
@click.argument("name", metavar="TURN")
@ledger_option
@listing_output
@click.pass_context
def command(ctx: click.Context, name: str, ledger: Path) -> Listing:
    """Show what the model saw when a turn began, part by part, with the tokens of each.

    The parts come as the model saw them: the summary of the last compaction before the turn, the turns that it kept,
    the later turns, and this turn up to its first request; without a compaction, all turns from the first. Below them
    stands what no log shows, such as the system prompt and the definitions of tools: it is what the parts leave of the
    context that the turn's first request reports, so the total ends at that figure.

    The basis says how the tokens of a part are known. `measured` is by how much the reported context grew from the
    last request of the turn before to the last of this one, so the answer of a turn counts for the one after it; less
    than nothing where something was taken out meanwhile. The first turn is measured from its own first request on.
    `reported` is a figure of the log. `estimated` is the length of what was said, called and returned, 4 characters
    to a token. `computed` is what the others leave.

    TURN is named as for `aix show`; a session stands for its last turn, and a compaction for what it summarised. The
    table is written for people; all other formats have exact values.

    \b
      aix context 7F3KQ2MX
      aix context 5b1f03ab
      aix context 7F3KQ2MX --json
      aix context 7F3KQ2MX --format markdown -o context.md
    """
    found = open_ledger(ledger).context(name)
    rows = [dict(zip(found.columns, row, strict=True)) for row in found]
    listing = found.listing()
    return Listing(
        listing.columns,
        listing.rows,
        listing.arrow_reader,
        notes=list(_notes(rows)),
        for_people=Listing(_COLUMNS, _lines(rows, load_config(ctx.obj).timezone)),
    )


def _lines(rows: Sequence[Row], zone: tzinfo) -> Iterator[Sequence[object]]:
    largest = max((row["tokens"] or 0 for row in rows), default=0)
    for row in rows:
        text = _UNLOGGED if row["part"] == "unlogged" else row["beginning"]
        yield (
            row["part"],
            _NOTHING if row["turn_id"] is None else row["turn_id"][:_TURN_CHARACTERS],
            _NOTHING if row["started_at"] is None else local_time(row["started_at"], zone),
            one_line(text, _TEXT_CHARACTERS) if text else None,
            row["tool_calls"] or _NOTHING,
            None if row["tokens"] is None else signed_count(row["tokens"]),
            row["basis"],
            None if row["running_tokens"] is None else signed_count(row["running_tokens"]),
            bar(row["tokens"], largest),
        )


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    reported = next((row["context_tokens"] for row in rows if row["part"] == "this"), None)
    unlogged = next((row["tokens"] or 0 for row in rows if row["part"] == "unlogged"), 0)
    if reported is None:
        yield "no request of this turn reports its context, so nobody knows what else the model saw"
    elif unlogged < 0:
        yield (
            f"the context of this turn as reported: {reported:,} tokens; the parts come to {-unlogged:,} more:"
            " a compaction can keep less than a whole turn, and estimates err"
        )
    else:
        yield f"the context of this turn as reported: {reported:,} tokens; {unlogged:,} of them are in no log"
