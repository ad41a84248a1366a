"""`aix compactions` and `aix context`: how contexts were compacted, and what the model saw when a turn began."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from aix.cli.command import Command, ledger_option, listing_output, parameter_options
from aix.cli.completion import complete_session
from aix.cli.diagnostics import head, is_screen
from aix.cli.freshness import import_first
from aix.cli.stdout import chosen_format, emit_lines, emit_paragraphs
from aix.config import load_config
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.charts import bar
from aix.output.humanise import (
    counted,
    in_words,
    local_time,
    one_line,
    per_cent,
    short_count,
    short_turn,
    signed_count,
    signed_dollars,
)
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
_TITLE_CHARACTERS = 40
_COLUMNS = listing_columns(
    "turn",
    "when",
    ListingColumn("session", priority=2),
    ListingColumn("paid back", "DECIMAL(38,12)", priority=2),
    ListingColumn("why", priority=3),
    ListingColumn("before", "BIGINT", priority=4),
    ListingColumn("after", "BIGINT", priority=4),
    ListingColumn("freed", "DOUBLE", priority=5),
    ListingColumn("requests after", "BIGINT", priority=6),
    ListingColumn("interrupted a task", priority=7),
    ListingColumn("turns summarised", "BIGINT", priority=8),
    ListingColumn("known by", priority=9),
    ListingColumn("", priority=10, tone="dim"),
)
_AUTO = "context_limit"
_TRIGGERS = (in_words(_AUTO), *TABLES["compactions"].column("trigger").words, "unknown")
_BREAK_EVEN = "compaction_impact/break_even"
_SHOWN_CHARACTERS = 20_000
_IN_DETAIL = ("table", "markdown", "json")
_TEXT_CHARACTERS = 60
_UNLOGGED = "system prompt, tool definitions, the rest"
_PARTS = {"later": "earlier turn", "kept": "kept turn", "this": "this turn", "unlogged": "not logged"}
_CONTEXT_COLUMNS = listing_columns(
    "part",
    ListingColumn("tokens", "BIGINT"),
    ListingColumn("begins with", priority=2, least=38),
    ListingColumn("turn", priority=2),
    ListingColumn("total", "BIGINT", priority=3),
    ListingColumn("when", priority=4),
    ListingColumn("calls", "BIGINT", priority=5),
    ListingColumn("known by", priority=6, tone="dim"),
    ListingColumn("", priority=7, tone="dim"),
)

_Row = dict[str, Any]


@click.command(cls=Command)
@click.argument("name", metavar="[SESSION|TURN]", required=False, shell_complete=complete_session)
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
    subagent), why (`auto`: the context was full), the tokens of the whole context before and after, the part freed,
    how many requests came after it until the next one, and whether it interrupted a task that then went on. It has paid
    back when the smaller context saved more than the summary and the new cache cost; the amount is what is left, and an
    estimate. SESSION lists only those of that session.

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
        if (chosen := chosen_format(_given_format(ctx), ctx.params["path"])) in _IN_DETAIL:
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
    found = opened.compactions(trigger=_AUTO if trigger == in_words(_AUTO) else trigger, **given)
    shown = found if limit is None else found.part(0, limit)
    rows = shown.dicts()
    is_narrowed = named is not None or bool(parameters.keys() - {TIMEZONE}) or trigger is not None
    if not rows:
        return replace(
            shown.listing(),
            notes=list(_notes_without_rows(opened, given, is_narrowed=is_narrowed)),
        )
    is_table = chosen_format(_given_format(ctx), ctx.params["path"]) == "table"
    balances = _read_balances(opened, given) if is_table else {}
    return replace(
        shown.listing(),
        notes=list(_compaction_notes(opened, rows, given, balances)),
        for_people=Listing(_COLUMNS, _lines(opened, rows, zone, balances)),
    )


def _given_format(ctx: click.Context) -> str | None:
    return "json" if ctx.params["as_json"] else ctx.params["output_format"]


def _read_balances(ledger: Ledger, parameters: dict[str, object]) -> dict[str, Decimal | None]:
    """Return by turn what each compaction saved until the next one, less what it cost; None where that is unknown."""
    found = ledger.query(_BREAK_EVEN, **parameters)
    turn, net = found.columns.index("turn_id"), found.columns.index("net_usd")
    return {row[turn]: row[net] for row in found}


def _show_in_detail(detail: Detail, view: View, chosen: str, path: Path | None) -> None:
    if chosen == "table":
        emit_paragraphs(detail_paragraphs(detail, view), path)
    else:
        emit_lines([detail_json(detail)] if chosen == "json" else detail_markdown(detail, view), path)


def _lines(
    ledger: Ledger, rows: Sequence[_Row], zone: tzinfo, balances: Mapping[str, Decimal | None]
) -> Iterator[Sequence[object]]:
    """Give the rows in short."""
    labels = sorted({row["session_label"] for row in rows if row["session_label"]})
    names = names_of_sessions(ledger, labels)
    for row in rows:
        before, after = row["tokens_before"], row["tokens_after"]
        freed = None if not before or after is None else (before - after) / before
        yield (
            short_turn(row["turn_id"]),
            local_time(row["compacted_at"], zone),
            ("↳ " if row["is_subagent"] else "")
            + one_line(names.get(row["session_label"], _NOTHING), _TITLE_CHARACTERS),
            _balance(balances.get(row["turn_id"])),
            in_words(row["trigger"] or "unknown"),
            None if before is None else short_count(before),
            None if after is None else short_count(after),
            None if freed is None else per_cent(freed),
            row["requests_after"],
            "yes" if row["is_mid_task"] else "no",
            row["turns_summarized"],
            in_words(row["evidence"]) + (", history missing" if row["is_unresolved"] else ""),
            bar(freed, 1),
        )


def _balance(net: Decimal | None) -> str | None:
    """Write whether a compaction paid back, and by how much."""
    return None if net is None else f"{'yes' if net >= 0 else 'no'} {signed_dollars(net)}"


def _notes_without_rows(ledger: Ledger, parameters: dict[str, object], *, is_narrowed: bool) -> Iterator[str]:
    yield "no compaction matches that" if is_narrowed else "no session was compacted"
    yield from _micro_notes(ledger, parameters)
    if is_screen():
        yield "next: `aix query context_peaks` shows how large contexts became"


def _compaction_notes(
    ledger: Ledger,
    rows: Sequence[_Row],
    parameters: dict[str, object],
    balances: Mapping[str, Decimal | None],
) -> Iterator[str]:
    """Say what the rows do not: the sum, how many are without their history, and what is no compaction of this kind."""
    known = [net for row in rows if (net := balances.get(row["turn_id"])) is not None]
    if known:
        paid = sum(net >= 0 for net in known)
        unjudged = len(rows) - len(known)
        unknown = f" ({unjudged} cannot be judged)" if unjudged else ""
        yield f"{paid} of {len(rows)} paid back{unknown}, {signed_dollars(sum(known))} in all (estimated)"
    unresolved = sum(row["is_unresolved"] for row in rows)
    if unresolved:
        yield f"{unresolved} with history missing: the turns that {_they(unresolved)} are in no imported log"
    last = sum(not row["requests_after"] for row in rows)
    if last:
        yield f"{last} without a request before the next one or the end: `after` comes from a later request or the log"
    yield from _micro_notes(ledger, parameters)
    if is_screen():
        yield f"next: `aix compactions {short_turn(rows[0]['turn_id'])}` shows one in detail"


def _micro_notes(ledger: Ledger, parameters: dict[str, object]) -> Iterator[str]:
    micro = count_microcompactions(ledger, parameters)
    if micro:
        yield (
            f"{counted(micro, 'micro-compaction')} not listed: old tool results were cleared without a summary"
            " (`aix query micro_compactions`)"
        )


def _they(count: int) -> str:
    return "it summarises" if count == 1 else "they summarise"


@click.command(cls=Command)
@click.argument("name", metavar="TURN", shell_complete=complete_session)
@ledger_option
@listing_output
@click.pass_context
def context(ctx: click.Context, name: str, ledger: Path) -> Listing:
    """Show what the model saw when a turn began, part by part, with the tokens of each.

    The parts come in the order in which the model saw them: the summary of the last compaction before the turn,
    the turns that it kept, the turns after it, and this turn up to its first request; without a compaction, all
    turns from the first. The last line is in no log: the system prompt and the definitions of tools. It is the
    context that the turn's first request reports, less all other parts, so that the total ends at the reported
    figure.

    `known by` says how the tokens of a part are known. `measured`: by how much the reported context grew from the
    last request of the turn before to the last of this one; the answer of a turn counts for the turn after it, and
    the figure is below zero where something was taken out. `reported`: a figure of the log. `estimated`: 4
    characters to a token. `computed`: the rest.

    TURN is named as for `aix show`; a session means its last turn, and a compaction the context that it
    summarised. The table is written for people; all other formats have exact values.

    \b
      aix context 7F3KQ2MX
      aix context 5b1f03ab
      aix context 7F3KQ2MX --json
      aix context 7F3KQ2MX --format markdown -o context.md
    """
    found = open_ledger(ledger).context(name)
    rows = found.dicts()
    if is_screen() and chosen_format(_given_format(ctx), ctx.params["path"]) == "table":
        head(_context_title(rows))
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
            _PARTS.get(row["part"], row["part"]),
            None if row["tokens"] is None else signed_count(row["tokens"]),
            one_line(text, _TEXT_CHARACTERS) if text else None,
            None if row["turn_id"] is None else short_turn(row["turn_id"]),
            None if row["running_tokens"] is None else signed_count(row["running_tokens"]),
            None if row["started_at"] is None else local_time(row["started_at"], zone),
            row["tool_calls"] or None,
            row["basis"],
            bar(row["tokens"], largest),
        )


def _context_title(rows: Sequence[_Row]) -> str:
    """Say of which turn the parts are, and how large its context was."""
    this = next((row for row in rows if row["part"] == "this"), None)
    if this is None:
        return "The context of the turn, in the order in which the model saw it"
    size = "" if this["context_tokens"] is None else f" ({this['context_tokens']:,} tokens)"
    return f"The context{size} with which turn {short_turn(this['turn_id'])} began, in the order the model saw it"


def _context_notes(rows: Sequence[_Row]) -> Iterator[str]:
    """Say how well the parts explain the context that the turn's first request reports."""
    reported = next((row["context_tokens"] for row in rows if row["part"] == "this"), None)
    unlogged = next((row["tokens"] or 0 for row in rows if row["part"] == "unlogged"), 0)
    if reported is None:
        yield "no request of this turn reports its context, so the rest of it is unknown"
    elif unlogged < 0:
        yield (
            f"the log reports a context of {reported:,} tokens, and the parts add up to {-unlogged:,} more:"
            " a compaction can keep less than a whole turn, and estimates err"
        )
    else:
        yield f"the log reports a context of {reported:,} tokens; {unlogged:,} of them are in no log"
    turn = next((row["turn_id"] for row in rows if row["part"] == "this"), None)
    if is_screen() and turn:
        yield f"next: `aix show {short_turn(turn)}` shows the turn"
