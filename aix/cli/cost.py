"""`aix cost`: the command, its table for people with a bar for each share, and notes on requests that are elsewhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem
from msgspec.structs import replace

from aix.cli.command import Command, ledger_option, listing_output, parameter_options
from aix.cli.freshness import import_first
from aix.config import load_config
from aix.output import Listing, ListingColumn
from aix.output.charts import bar
from aix.output.cost_notes import block_notes, certainty_notes, turn_notes
from aix.output.humanise import (
    TITLE_CHARACTERS,
    counted,
    dollars,
    grouped,
    in_words,
    local_time,
    one_line,
    per_cent,
    project_names,
    short_count,
)
from aix.output.tables import TOTAL
from aix.query.dates import last_day
from aix.query.values import TIMEZONE, find_zone
from aix.reading.costs import BY, IN_TIME, OF_PROGRAMS, find_costs, with_block_times
from aix.reading.ledger import Ledger, open_ledger
from aix.store.manifest import count_rows

_PLURALS = {f"{'branche' if name == 'branch' else name}s": name for name in BY}
_KEYS = {
    "session": "session_label",
    "branch": "git_branch",
    "block": "started_at",
    "tool": "tool_name",
    "turn": "turn_id",
    "persona": "persona_id",
}
"""The columns of queries that are not called like the thing they name."""
_OVERLAPPING = "tag"
"""Rows of tags may count the same request, so that they do not add up to the total."""
_WITHOUT = {"tool": "(no tool)", "tag": "(no tag)", "turn": "(no turn)"}
"""Names of the rows about requests that have none of a thing; other rows without a name are those of unknown ones."""
_UNKNOWN = "unknown"
_TITLED: Mapping[tuple[str, ...], str] = {
    ("session",): "title",
    ("turn",): "title",
    ("task",): "title",
    ("agent",): "name",
    ("human",): "name",
    ("persona",): "name",
}
"""Things whose rows have a title, with its heading."""
_NAME_CHARACTERS = 44
_TURN_CHARACTERS = 12
_TOKENS = {
    "input": ("input_tokens",),
    "output": ("output_tokens",),
    "cache read": ("cache_read_tokens",),
    "cache write": ("cache_write_5m_tokens", "cache_write_1h_tokens"),
}
_ALL_TOKENS = tuple(name for names in _TOKENS.values() for name in names)
_NUMBERS = {
    "cost": 1,
    "tokens": 1,
    "share": 2,
    "unpriced": 2,
    "projected": 2,
    "per hour": 3,
    "turns": 3,
    "output": 4,
    "cache read": 5,
    "input": 6,
    "cache write": 7,
    "estimated": 8,
    "exact output %": 9,
}
"""The columns of figures in their order, with their priority on a narrow terminal."""
_BAR_PRIORITY = 10
_LEAST_NAME = 26
"""Long enough for names of models, which differ at their ends."""
_OWNERS_NAMED = 2
_FILTERS = ("project", "origin", "model", "session", "tag")

_Row = dict[str, Any]


def _read_dimensions(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:  # noqa: ARG001
    names = tuple(_PLURALS.get(name, name) for name in (part.strip().lower() for part in value.split(",")))
    unknown = [name for name in names if name not in BY]
    if unknown:
        raise click.BadParameter(f"There is no {unknown[0]!r}; use {', '.join(BY)}, or two of them as day,model.")
    if len(set(names)) < len(names) or len(names) > 2:
        raise click.BadParameter(f"{value!r} must be one thing or two different ones, such as day,model.")
    return names


def _complete_dimensions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    first, comma, begun = incomplete.rpartition(",")
    return [CompletionItem(f"{first}{comma}{name}") for name in BY if name.startswith(begun) and name != first]


@click.command(cls=Command)
@click.option(
    "--by",
    "dimensions",
    default="model",
    show_default=True,
    metavar="NAME[,NAME]",
    callback=_read_dimensions,
    shell_complete=_complete_dimensions,
    help=f"Meaning of a row: {', '.join(BY)}; or two of them, such as day,model.",
)
@parameter_options
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the N rows that cost most; of days, weeks, months and blocks the last N.",
)
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context, dimensions: tuple[str, ...], parameters: dict[str, object], limit: int | None, ledger: Path
) -> Listing:
    """Show what was spent, by model, project, session, day and more.

    The cost is the list price of the tokens that the logs report, request by request, whatever you pay. Every turn
    counts once, however many sessions share it. `estimated` adds output that some logs leave out. Requests without a
    known price are counted as unpriced, never as 0. The lines below the table say how certain the figures are, and
    whose prices they are.

    A block is five hours from the full hour of its first request, the unit of some plans. The running block has its
    pace, and the cost that it leads to at its end.

    Tasks, agents, humans and situations are those of programs, as `aix program list` lists them; what belongs to none
    is `unknown`. Personas are those of `aix personas`.

    The table is written for people; all other formats have every column of the query behind it, with exact values:
    queries/token_economics/cost_by_NAME.sql, blocks.sql for blocks, cost_by_two.sql for two things. json is an object
    with `rows` and `totals`. Sessions are named as for `aix show`.

    \b
      aix cost
      aix cost --by day --since 7d
      aix cost --by day,model --since 2026-11 --timezone Europe/Berlin
      aix cost --by block --since today
      aix cost --by project --limit 10
      aix cost --by task
      aix cost --by session --project website --format csv -o sessions.csv
      aix cost --by model --tag billing --json
    """
    zone = find_zone(parameters.get(TIMEZONE, load_config(ctx.obj).timezone.key))
    given = {TIMEZONE: zone.key} | parameters
    opened = open_ledger(ledger)
    found = find_costs(opened, dimensions, given)
    is_in_time = dimensions[0] in IN_TIME
    shown = found
    if limit is not None:
        first = max(0, sum(1 for _ in found) - limit) if is_in_time else 0
        shown = found.part(first, limit)
    models = opened.query("token_economics/cost_by_model", **given).dicts()
    [totals] = opened.query("token_economics/cost_total", **given).dicts()
    listing = shown.listing()
    if len(dimensions) > 1:
        named = [
            replace(column, name=_KEYS.get(by, by), type="BIGINT" if by == "block" else column.type)
            for by, column in zip(dimensions, listing.columns, strict=False)
        ]
        columns = (*named, *listing.columns[len(named) :])
        listing = replace(listing, columns=columns, rows=with_block_times(dimensions, listing.rows), arrow_reader=None)
    rows = found.dicts()
    running = [row for row in rows if row.get("is_running")]
    if not models:
        return replace(listing, totals=totals, notes=[*_nothing_found(opened, parameters, zone)])
    return replace(
        listing,
        totals=totals,
        notes=[
            *block_notes(running, zone),
            *certainty_notes(models),
            *turn_notes(totals),
            *_elsewhere_notes(opened, dimensions, parameters, rows),
            *_program_notes(opened, dimensions, rows),
        ],
        for_people=_cost_table(opened, dimensions, zone, rows, totals, limit),
    )


def _cost_table(
    ledger: Ledger, dimensions: tuple[str, ...], zone: tzinfo, rows: list[_Row], totals: _Row, limit: int | None
) -> Listing:
    """Return the rows in short, those beyond the limit put together, and their total.

    A column that is empty for every row is left out.
    """
    overlaps = _OVERLAPPING in dimensions
    has_estimate = _shown(totals["cost_usd"]) != _shown(totals["cost_estimated_usd"])
    is_running = any(row.get("is_running") for row in rows)
    left_out = {
        "share": overlaps,
        "turns": dimensions == ("turn",),
        "unpriced": not totals["unpriced_requests"],
        "projected": not is_running,
        "per hour": not is_running,
        "estimated": not has_estimate,
        "exact output %": not has_estimate,
    }
    has_titles = dimensions in _TITLED
    if has_titles:  # the title needs the room more
        left_out |= dict.fromkeys(("cache read", "input", "cache write", "exact output %"), True)
    numbers = [name for name in _NUMBERS if not left_out.get(name)]
    names = [*dimensions, *([_TITLED[dimensions]] if has_titles else [])]
    columns = (
        *(ListingColumn(name, cut="start" if name == "project" else "end", least=_LEAST_NAME) for name in names),
        *(ListingColumn(name, "BIGINT", _NUMBERS[name], tone="cost" if name == "cost" else "") for name in numbers),
        ListingColumn("", priority=_BAR_PRIORITY),
    )
    return Listing(columns, _lines(ledger, dimensions, zone, rows, totals, limit, numbers))


def _lines(
    ledger: Ledger,
    dimensions: tuple[str, ...],
    zone: tzinfo,
    rows: list[_Row],
    totals: _Row,
    limit: int | None,
    numbers: list[str],
) -> Iterator[Sequence[object]]:
    is_in_time = dimensions[0] in IN_TIME
    rest: list[_Row] = []
    if limit is not None and len(rows) > limit:
        rest, rows = (rows[:-limit], rows[-limit:]) if is_in_time else (rows[limit:], rows[:limit])
    total = totals["cost_usd"] or Decimal(0)
    largest = max((row["cost_usd"] or Decimal(0) for row in rows), default=Decimal(0))

    def summary(name: str, row: _Row) -> Sequence[object]:
        others = 1 if dimensions in _TITLED else len(dimensions) - 1
        return (name, *[None] * others, *(_number(row, each, total) for each in numbers), None)

    if rest and is_in_time:
        yield summary(f"{len(rest):,} earlier", _together(rest))
    for names, row in zip(_names(ledger, dimensions, zone, rows), rows, strict=True):
        yield (*names, *(_number(row, each, total) for each in numbers), bar(row["cost_usd"], largest))
    if rest and not is_in_time:
        yield summary(f"{len(rest):,} others", _together(rest))
    if _OVERLAPPING not in dimensions and len(rows) + len(rest) > 1:
        yield summary(TOTAL, totals)


def _names(
    ledger: Ledger, dimensions: tuple[str, ...], zone: tzinfo, rows: list[_Row]
) -> Iterable[tuple[str | None, ...]]:
    """Return the texts that name each row."""
    keys = list(rows[0])[: len(dimensions)] if rows else []
    columns: list[list[str] | list[str | None]] = [
        _values(ledger, by, [row[key] for row in rows], zone) for by, key in zip(dimensions, keys, strict=False)
    ]
    if dimensions in _TITLED:
        columns.append([one_line(row["title"], TITLE_CHARACTERS) if row["title"] else None for row in rows])
    return zip(*columns, strict=True)


def _values(ledger: Ledger, by: str, found: Sequence[object], zone: tzinfo) -> list[str]:
    """Return the values of one dimension as people read them."""
    if None in found:
        known = iter(_values(ledger, by, [value for value in found if value is not None], zone))
        return [_WITHOUT.get(by, _UNKNOWN) if value is None else next(known) for value in found]
    values = [str(value) for value in found]
    match by:
        case "session":
            from aix.reading.search import names_to_type

            short = names_to_type(ledger)
            return [short.get(value, value) for value in values]
        case "project":
            names = project_names(values)
            return [names[value] for value in values]
        case "block":
            return [local_time(int(value), zone) for value in values]
        case "month":
            return [value[: len("2026-01")] for value in values]
        case "turn":
            return [value[:_TURN_CHARACTERS] for value in values]
        case "role":
            return [in_words(value) for value in values]
        case _:
            return [one_line(value, _NAME_CHARACTERS) for value in values]


def _together(rows: list[_Row]) -> _Row:
    """Add rows up; a figure that no row knows stays unknown, and so do those that cannot be added."""
    columns = ("cost_usd", "cost_estimated_usd", "unpriced_requests", *_ALL_TOKENS)
    known = {column: [row[column] for row in rows if row[column] is not None] for column in columns}
    return {column: sum(values) if values else None for column, values in known.items()}


def _number(row: _Row, name: str, total: Decimal) -> str | None:
    cost = row["cost_usd"]
    match name:
        case "cost":
            return _shown(cost)
        case "estimated":
            return _shown(row["cost_estimated_usd"])
        case "projected":
            return _shown(row.get("projected_usd"))
        case "per hour":
            return _shown(row.get("cost_per_hour_usd")) if row.get("is_running") else None
        case "share":
            return None if cost is None or not total else per_cent(cost / total)
        case "unpriced":
            return grouped(row["unpriced_requests"]) if row["unpriced_requests"] else None
        case "turns":
            return None if row.get("turns") is None else grouped(row["turns"])
        case "exact output %":
            return None if row.get("final_share") is None else per_cent(row["final_share"])
    counts = [row[column] for column in _TOKENS.get(name, _ALL_TOKENS) if row[column] is not None]
    return short_count(sum(counts)) if counts else None


def _shown(amount: Decimal | float | None) -> str | None:
    return None if amount is None else dollars(amount)


def _nothing_found(ledger: Ledger, parameters: Mapping[str, object], zone: tzinfo) -> Iterator[str]:
    """Say which requests there are none of, and from when to when there are some."""
    [everything] = ledger.query("token_economics/cost_total").dicts()
    if not everything["requests"]:
        yield _without_requests(sum(row["sessions"] for row in ledger.query("overview/by_origin").dicts()))
        return
    elsewhere = [*_elsewhere_notes(ledger, (), parameters, [])]
    yield from elsewhere
    if (
        elsewhere
        and not ledger.query("token_economics/cost_total", session=parameters["session"]).dicts()[0]["requests"]
    ):
        return
    filters = [f"{name} {parameters[name]!r}" for name in _FILTERS if name in parameters]
    asked = " ".join(["No requests", *_period(parameters), *(["with " + " and ".join(filters)] if filters else [])])
    if everything["first_at"] is None:
        yield asked
        return
    first, last = (local_time(everything[name], zone)[: len("2026-11-01")] for name in ("first_at", "last_at"))
    yield f"{asked}; the ledger covers {first} to {last}"


def _program_notes(ledger: Ledger, dimensions: Sequence[str], rows: Sequence[_Row]) -> Iterator[str]:
    """Say why no row has a name where the ledger has no programs, of which tasks, agents and humans are some."""
    if rows and not count_rows(ledger.manifest, "programs"):
        for by, key in zip(dimensions, rows[0], strict=False):
            if by in OF_PROGRAMS and all(row[key] is None for row in rows):
                yield f"No {by} is known: the ledger has no programs (docs/programs.md)"


def _without_requests(sessions: int) -> str:
    if not sessions:
        return "The ledger has no requests; run `aix import`"
    logs = "but its log has no token counts" if sessions == 1 else "but none of their logs has token counts"
    return f"{counted(sessions, 'session')}, {logs}, so there is no cost. Next: `aix sessions`"


def _period(parameters: Mapping[str, object]) -> Iterator[str]:
    since, until = parameters.get("since"), parameters.get("until")
    until = last_day(until) if isinstance(until, str) else until
    if since is not None and until is not None:
        yield f"between {since} and {until}" if since != until else f"on {since}"
    elif since is not None:
        yield f"since {since}"
    elif until is not None:
        yield f"up to {until}"


def _elsewhere_notes(
    ledger: Ledger, dimensions: tuple[str, ...], parameters: Mapping[str, object], rows: Sequence[_Row]
) -> Iterator[str]:
    """Say which turns of sessions are counted under other ones, as each is counted once."""
    from aix.reading.search import names_to_type, owners_of_turns, sessions_without_own_turns

    if "session" in parameters:
        label = ledger.find_session(str(parameters["session"]))
        owners = owners_of_turns(ledger, label)
        turns, names = sum(owners.values()), names_to_type(ledger)
        shared = turns - owners.pop(label, 0)
        if shared:
            all_turns = f"All {turns:,} turns" if turns > 1 else "The only turn"
            some = all_turns if shared == turns else f"{shared:,} of {turns:,} turns"
            verbs = "also belongs to {} and is" if shared == 1 else "also belong to {} and are"
            named = [names[owner] for owner in owners]
            others = " and ".join(named) if len(named) <= _OWNERS_NAMED else f"{len(named):,} other sessions"
            asked = " and ".join(f"`aix cost --session {name}`" for name in named[:_OWNERS_NAMED])
            yield f"{some} of {names[label]} {verbs.format(others)} counted there: {asked}"
    elif dimensions == ("session",):
        shown = {row["session_label"] for row in rows}
        count = sum(1 for owners in sessions_without_own_turns(ledger).values() if shown.intersection(owners))
        if count:
            verbs, whose = ("has", "its") if count == 1 else ("have", "their")
            yield (
                f"{counted(count, 'session')} {verbs} no turn of {whose} own:"
                f" {whose} turns are counted under another session"
            )
