"""`aix log`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from aix.cli.command import DATE, Command, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.config import load_config
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import TITLE_CHARACTERS, bounded_dollars, counted, grouped, local_time, one_line, short_turn
from aix.output.text import NULL
from aix.output.tree_drawing import compaction_note
from aix.reading.branches import find_tip, session_through, sessions_parting
from aix.reading.ledger import open_ledger
from aix.reading.search import names_to_type

if TYPE_CHECKING:
    from aix.query.dates import Span

_QUERY = "tree/log"
_COLUMNS = listing_columns(
    "turn",
    "when",
    ListingColumn("title", least=18),
    ListingColumn("cost", "BIGINT", tone="cost"),
    ListingColumn("branches", priority=2),
    ListingColumn("subagents", "BIGINT", priority=3),
    ListingColumn("calls", "BIGINT", priority=4),
)
COSTS = ("cost_usd", "cost_estimated_usd", "unpriced_requests", "subagents")
COSTS_OF_SUBAGENTS = ("subagents_cost_usd", "subagents_cost_estimated_usd", "subagents_unpriced_requests")

_Row = dict[str, Any]


def cost_cell(row: Mapping[str, Any]) -> str:
    """Write the cost of a row of the queries in `queries/tree/`."""
    return bounded_dollars(row["cost_usd"], row["cost_estimated_usd"], row["unpriced_requests"] or 0) or NULL


def subagents_cell(row: Mapping[str, Any]) -> str:
    """Write what the subagents of such a row cost; nothing where it has none."""
    if not row["subagents"]:
        return ""
    cost, estimated, unpriced = (row[name] for name in COSTS_OF_SUBAGENTS)
    return bounded_dollars(cost, estimated, unpriced or 0) or NULL


@click.command(cls=Command)
@click.argument("name", metavar="SESSION|TURN", shell_complete=complete_session)
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Only the N newest.")
@click.option("--since", type=DATE, metavar="DATE", help="Turns that began since DATE, such as 7d.")
@click.option("--until", type=DATE, metavar="DATE", help="Turns that began up to DATE; a day or month is included.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context, name: str, limit: int | None, since: "Span | None", until: "Span | None", ledger: Path
) -> Listing:
    """List the turns that lead to the head of a session, or to a turn, the newest first.

    A line is a turn: its prompt, the list price of its own requests, what its subagents cost, its calls of tools. ≡ is
    a compaction, with the tokens of the context before and after. The column branches names the other sessions that
    part from this one after that turn, or end there.

    ≥ marks a cost that is a lower bound: some logs omit final output counts, or some requests have no price.

    \b
      aix log 5b1f03ab
      aix log 5b1f03ab -n 10
      aix log 7F3KQ2MX
      aix log 5b1f03ab --since 2026-11-01 --json
    """
    zone = load_config(ctx.obj).timezone
    opened = open_ledger(ledger)
    tip = find_tip(opened, name)
    label = tip.label or session_through(opened, tip.turn_id)
    bounds = {"since": since and since.since_ms, "until": until and until.end_ms}
    found = opened.query(_QUERY, session=label, turn=None if tip.label else tip.turn_id, **bounds)
    shown = found if limit is None else found.part(0, limit)
    rows = shown.dicts()
    parting = sessions_parting(opened, label) if label else {}
    lines = _lines(rows, parting, names_to_type(opened), zone)
    return replace(
        shown.listing(),
        empty="no turn of that session began in that time",
        for_people=without_empty_columns(Listing(_COLUMNS, lines, notes=list(_notes(rows, label)))),
    )


def without_empty_columns(listing: Listing) -> Listing:
    """Leave out the columns in which no row has anything, so that others have the room."""
    rows = [tuple(row) for row in listing.rows]
    used = [index for index in range(len(listing.columns)) if not rows or any(row[index] != "" for row in rows)]
    columns = tuple(listing.columns[index] for index in used)
    return replace(listing, columns=columns, rows=[tuple(row[index] for index in used) for row in rows])


def _lines(
    rows: Sequence[_Row], parting: Mapping[str, list[str]], names: Mapping[str, str], zone: tzinfo
) -> Iterator[Sequence[object]]:
    for row in rows:
        others = [names.get(label, label) for label in parting.get(row["turn_id"], ())]
        yield (
            short_turn(row["turn_id"]),
            local_time(row["started_at"], zone),
            _title(row),
            cost_cell(row),
            ", ".join(others) if others else "",
            subagents_cell(row),
            row["tool_calls"],
        )


def _title(row: _Row) -> str | None:
    if row["turn_type"] == "compaction":
        return f"≡ {compaction_note(row['tokens_before'], row['tokens_after'], row['compaction_trigger'])}"
    mark = "" if row["status"] == "completed" else f"({row['status']}) "
    return f"{mark}{one_line(row['title'] or '', TITLE_CHARACTERS)}".strip() or None


def _notes(rows: Sequence[_Row], label: str | None) -> Iterator[str]:
    if not rows:
        return
    total = _total(rows)
    yield ", ".join(
        [
            counted(len(rows), "turn"),
            *([] if total["cost_usd"] is None else [cost_cell(total)]),
            *([f"{subagents_cell(total)} more for subagents"] if total["subagents_cost_usd"] is not None else []),
        ]
    )
    if elsewhere := sum(row["owner_label"] != label for row in rows):
        turns = "1 of these turns counts" if elsewhere == 1 else f"{grouped(elsewhere)} of these turns count"
        yield f"{turns} for another session"
    if is_screen():
        yield "next: `aix show TURN` shows a turn, `aix tree SESSION` draws the branches"


def _total(rows: Sequence[_Row]) -> _Row:
    total: _Row = {}
    for name in (*COSTS, *COSTS_OF_SUBAGENTS):
        known = [row[name] for row in rows if row[name] is not None]
        total[name] = sum(known, Decimal()) if known and name.endswith("_usd") else sum(known) if known else None
    return total
