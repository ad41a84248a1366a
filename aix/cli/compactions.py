"""`aix compactions`."""

from pathlib import Path

import click

from aix.cli.command import Command
from aix.cli.compaction_table import compaction_notes, compaction_table
from aix.cli.options import ledger_option, listing_output, parameter_options
from aix.cli.stdout import emit_lines, emit_paragraphs
from aix.config import load_config
from aix.output import SUFFIXES, Listing
from aix.output.transcript.compaction import (
    Detail,
    detail_json,
    detail_markdown,
    detail_paragraphs,
    find_compaction,
    read_detail,
)
from aix.output.transcript.model import View
from aix.output.transcript.source import WHOLE
from aix.query.values import TIMEZONE, find_zone
from aix.reading.ledger import open_ledger
from aix.reading.names import Kind
from aix.schema import TABLES

_TRIGGERS = (*TABLES["compactions"].column("trigger").words, "unknown")
_SHOWN_CHARACTERS = 20_000
_IN_DETAIL = ("table", "markdown", "json")


@click.command(cls=Command)
@click.argument("name", metavar="[SESSION|TURN]", required=False)
@parameter_options
@click.option("--trigger", type=click.Choice(_TRIGGERS), help="Only those that happened for this reason.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the latest N.")
@click.option("--full", is_flag=True, help="Of one compaction: show the whole summary, and all turns and files.")
@ledger_option
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    parameters: dict[str, object],
    trigger: str | None,
    limit: int | None,
    full: bool,  # noqa: FBT001 - click's
    ledger: Path,
) -> Listing:
    """List the compactions of contexts, the latest first, or show one in detail.

    A compaction puts a summary in the place of earlier turns. The list says when and in which session (↳ marks a
    subagent), why, how the log shows it, the tokens of the whole context before and after, how much of it was freed,
    how many turns were summarised, how many requests came after it until the next one, and whether it cut a turn that
    then went on. SESSION lists only those of that session.

    TURN is a compaction, named as for `aix show`. It is shown with every fact and how that is known, the turns that
    the model saw before, the summary, what was kept, the first requests after it, and which files of the turns it
    summarised its summary names. `aix context TURN` says the same of any turn.

    The table is written for people; all other formats have every column of queries/views/v_counted_compactions.sql,
    with exact values. Of one compaction, table, markdown and json show the detail, the others its line of the list.

    \b
      aix compactions --limit 20
      aix compactions --trigger manual --since 2026-11-01
      aix compactions 5b1f03ab
      aix compactions 7F3KQ2MX
      aix compactions 7F3KQ2MX --full -o compaction.md
    """
    zone = find_zone(parameters.get(TIMEZONE, load_config(ctx.obj).timezone.key))
    opened = open_ledger(ledger)
    named = None if name is None else opened.find(name)
    if named is not None and named.kind is Kind.TURN:
        if parameters.keys() - {TIMEZONE} or trigger or limit:
            raise click.UsageError("One compaction is shown whole: there is nothing to choose.")
        found = find_compaction(opened, named.key)
        if (chosen := _chosen_format(ctx)) in _IN_DETAIL:
            detail = read_detail(opened, found, limit=WHOLE if full or chosen == "json" else _SHOWN_CHARACTERS)
            _show_in_detail(detail, View(zone, is_full=full), chosen, ctx.params["path"])
            ctx.exit()
        return found.listing()
    if full:
        raise click.UsageError("--full is for one compaction: name its turn.")
    given = {TIMEZONE: zone.key} | parameters
    if named is not None:
        if "session" in parameters:
            raise click.UsageError(f"The session is named twice: as {name} and with --session.")
        given["session"] = named.key
    found = opened.compactions(trigger=trigger, **given)
    shown = found if limit is None else found.part(0, limit)
    rows = [dict(zip(shown.columns, row, strict=True)) for row in shown]
    listing = shown.listing()
    return Listing(
        listing.columns,
        listing.rows,
        listing.arrow_reader,
        notes=list(compaction_notes(opened, rows, given)),
        for_people=compaction_table(opened, rows, zone),
    )


def _chosen_format(ctx: click.Context) -> str:
    path: Path | None = ctx.params["path"]
    by_suffix = SUFFIXES.get(path.suffix.lower(), "table") if path else "table"
    return "json" if ctx.params["as_json"] else ctx.params["output_format"] or by_suffix


def _show_in_detail(detail: Detail, view: View, chosen: str, path: Path | None) -> None:
    if chosen == "table":
        emit_paragraphs(detail_paragraphs(detail, view), path)
    else:
        emit_lines([detail_json(detail)] if chosen == "json" else detail_markdown(detail, view), path)
