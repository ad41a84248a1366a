"""`aix cost`."""

from pathlib import Path

import click

from aix.cli.command import Command
from aix.cli.cost_notes import cost_notes
from aix.cli.cost_table import CALENDAR, cost_table
from aix.cli.options import ledger_option, listing_output, parameter_options
from aix.config import load_config
from aix.output import Listing
from aix.query.packs import find_query
from aix.query.values import TIMEZONE, takes_timezone
from aix.reading.ledger import open_ledger

BY = (
    "model",
    "project",
    "session",
    "branch",
    "day",
    "week",
    "month",
    "tool",
    "tag",
    "origin",
    "provider",
    "role",
    "turn",
)


@click.command(cls=Command)
@click.option("--by", type=click.Choice(BY), default="model", show_default=True, help="What each row is about.")
@parameter_options
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the N that cost most; of days, weeks and months the last N.",
)
@ledger_option
@listing_output
@click.pass_context
def command(ctx: click.Context, by: str, parameters: dict[str, object], limit: int | None, ledger: Path) -> Listing:
    """Show what was spent, by model, project, session, day and more.

    The cost is the list price of the tokens that the logs report, request by request, whatever you pay. Every turn
    counts once, however many sessions share it. `likely` is the same with the output estimated, where the logs do not
    say how much it was in the end. What no price is known for is counted as unpriced, never as 0. The lines below the
    table say how much of the figures is certain, and whose prices they are.

    The table is written for people; all other formats have every column of queries/token_economics/cost_by_NAME.sql,
    with exact values. Sessions are named as for `aix show`.

    \b
      aix cost
      aix cost --by day --since 2026-11-01 --timezone Europe/Berlin
      aix cost --by project --limit 10
      aix cost --by session --project website --format csv -o sessions.csv
      aix cost --by model --tag billing --json
    """
    query = find_query(f"token_economics/cost_by_{by}")
    zone = {TIMEZONE: load_config(ctx.obj).timezone.key} if takes_timezone(query) else {}
    given = zone | parameters
    opened = open_ledger(ledger)
    found = opened.query(query.name, **given)
    shown = found
    if limit is not None:
        first = max(0, sum(1 for _ in found) - limit) if by in CALENDAR else 0
        shown = found.part(first, limit)
    listing = shown.listing()
    by_model = opened.query("token_economics/cost_by_model", **given)
    models = [dict(zip(by_model.columns, row, strict=True)) for row in by_model]
    return Listing(
        listing.columns,
        listing.rows,
        listing.arrow_reader,
        notes=cost_notes(models),
        for_people=cost_table(opened, by, found, limit, models),
    )
