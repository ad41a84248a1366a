"""`aix compactions` and `aix context`: how contexts were compacted, and what the model saw when a turn began."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from aix.cli.command import Command, ledger_option, listing_output, parameter_options
from aix.cli.freshness import import_first
from aix.cli.stdout import chosen_format, emit_lines, emit_paragraphs
from aix.config import load_config
from aix.output import Listing, listing_columns
from aix.output.charts import bar
from aix.output.humanise import local_time, one_line, per_cent, short_count, signed_count
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
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.names import Kind
from aix.reading.search import count_microcompactions, names_of_sessions
from aix.schema import TABLES

_NOTHING = "–"
_TURN_CHARACTERS = 8
_TITLE_CHARACTERS = 40
_COLUMNS = listing_columns(
    "turn",
    "when",
    "session",
    "trigger",
    "evidence",
    ("before", "BIGINT"),
    ("after", "BIGINT"),
    ("freed", "DOUBLE"),
    "",
    ("turns", "BIGINT"),
    ("requests after", "BIGINT"),
    "cut",
)
_TRIGGERS = (*TABLES["compactions"].column("trigger").words, "unknown")
_SHOWN_CHARACTERS = 20_000
_IN_DETAIL = ("table", "markdown", "json")
_TEXT_CHARACTERS = 60
_UNLOGGED = "in no log: system prompt, tools, what estimates miss"
_CONTEXT_COLUMNS = listing_columns(
    "part", "turn", "when", "text", ("calls", "BIGINT"), ("tokens", "BIGINT"), "basis", ("total", "BIGINT"), ""
)

_Row = dict[str, Any]


@click.command(cls=Command)
@click.argument("name", metavar="[SESSION|TURN]", required=False)
@parameter_options
@click.option("--trigger", type=click.Choice(_TRIGGERS), help="Only those that happened for this reason.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the latest N.")
@click.option("--full", is_flag=True, help="Of one compaction: show the whole summary, and all turns and files.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    parameters: dict[str, object],
    trigger: str | None,
    limit: int | None,
    full: bool,
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
        given_format = "json" if ctx.params["as_json"] else ctx.params["output_format"]
        if (chosen := chosen_format(given_format, ctx.params["path"])) in _IN_DETAIL:
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
    return replace(
        shown.listing(),
        notes=list(_compaction_notes(opened, rows, given)),
        for_people=_compaction_table(opened, rows, zone),
    )


def _show_in_detail(detail: Detail, view: View, chosen: str, path: Path | None) -> None:
    if chosen == "table":
        emit_paragraphs(detail_paragraphs(detail, view), path)
    else:
        emit_lines([detail_json(detail)] if chosen == "json" else detail_markdown(detail, view), path)


def _compaction_table(ledger: Ledger, rows: Sequence[_Row], zone: tzinfo) -> Listing:
    """Return the rows in short."""
    return Listing(_COLUMNS, _lines(ledger, rows, zone))


def _lines(ledger: Ledger, rows: Sequence[_Row], zone: tzinfo) -> Iterator[Sequence[object]]:
    labels = sorted({row["session_label"] for row in rows if row["session_label"]})
    names = names_of_sessions(ledger, labels)
    for row in rows:
        before, after = row["tokens_before"], row["tokens_after"]
        freed = None if not before or after is None else (before - after) / before
        yield (
            row["turn_id"][:_TURN_CHARACTERS],
            local_time(row["compacted_at"], zone),
            ("↳ " if row["is_subagent"] else "")
            + one_line(names.get(row["session_label"], _NOTHING), _TITLE_CHARACTERS),
            row["trigger"] or "unknown",
            row["evidence"] + (", unresolved" if row["is_unresolved"] else ""),
            None if before is None else short_count(before),
            None if after is None else short_count(after),
            None if freed is None else per_cent(freed),
            bar(freed, 1),
            row["turns_summarized"],
            row["requests_after"],
            "mid-task" if row["is_mid_task"] else _NOTHING,
        )


def _compaction_notes(ledger: Ledger, rows: Sequence[_Row], parameters: dict[str, object]) -> Iterator[str]:
    """Say what the rows do not: how many are without their history, and what is no compaction of this kind."""
    if not rows:
        yield "no compaction in the ledger matches that"
    unresolved = sum(row["is_unresolved"] for row in rows)
    if unresolved:
        yield f"{unresolved} unresolved: the history that {_they(unresolved)} is in no log that was imported"
    last = sum(not row["requests_after"] for row in rows)
    if last:
        yield f"{last} with no request before the next one or the end: `after` is a later request's, stated, or unknown"
    micro = count_microcompactions(ledger, parameters)
    if micro:
        things = "micro-compaction" if micro == 1 else "micro-compactions"
        yield f"{micro} {things} apart: they took results of tools out of the context and summarised nothing"


def _they(count: int) -> str:
    return "it summarises" if count == 1 else "they summarise"


@click.command(cls=Command)
@click.argument("name", metavar="TURN")
@ledger_option
@listing_output
@click.pass_context
def context(ctx: click.Context, name: str, ledger: Path) -> Listing:
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
    return replace(
        found.listing(),
        notes=list(_context_notes(rows)),
        for_people=Listing(_CONTEXT_COLUMNS, _context_lines(rows, load_config(ctx.obj).timezone)),
    )


def _context_lines(rows: Sequence[_Row], zone: tzinfo) -> Iterator[Sequence[object]]:
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


def _context_notes(rows: Sequence[_Row]) -> Iterator[str]:
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
