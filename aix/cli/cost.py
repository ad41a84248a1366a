"""`aix cost`: the command, its table for people with a bar for each share, and notes on how certain the figures are."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from aix.cli.command import Command, ledger_option, listing_output, parameter_options
from aix.cli.freshness import import_first
from aix.config import load_config
from aix.output import Listing, ListingColumn
from aix.output.charts import bar
from aix.output.humanise import counted, dollars, one_line, per_cent, short_count
from aix.query.packs import find_query
from aix.query.values import TIMEZONE, takes_timezone
from aix.reading.ledger import Ledger, open_ledger

if TYPE_CHECKING:
    from aix.reading.result import Result

_CALENDAR = ("day", "week", "month")
BY = ("model", "project", "session", "branch", *_CALENDAR, "tool", "tag", "origin", "provider", "role", "turn")
_OVERLAPPING = "tag"
"""Columns whose values may count for several rows: they have no total."""
_NOTHING = "–"
_NAME_CHARACTERS = 44
_TITLE_CHARACTERS = 40
_TURN_CHARACTERS = 12
_TOKENS = {
    "input": ("input_tokens",),
    "output": ("output_tokens",),
    "cache read": ("cache_read_tokens",),
    "cache write": ("cache_write_5m_tokens", "cache_write_1h_tokens"),
}
_MODELS_NAMED = 5
_MODEL_CHARACTERS = 48
_BASIS = re.compile(r"computed[^:]*: (?P<table>.+?) [^ ;]+(?:;.*)?(?: and others)?")

_Row = dict[str, Any]


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
@import_first
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
        first = max(0, sum(1 for _ in found) - limit) if by in _CALENDAR else 0
        shown = found.part(first, limit)
    by_model = opened.query("token_economics/cost_by_model", **given)
    models = [dict(zip(by_model.columns, row, strict=True)) for row in by_model]
    return replace(
        shown.listing(),
        notes=_cost_notes(models),
        for_people=_cost_table(opened, by, found, limit, models),
    )


def _cost_table(ledger: Ledger, by: str, found: "Result", limit: int | None, models: Sequence[_Row]) -> Listing:
    """Return the rows in short, those beyond the limit put together, and what all of them come to.

    A column that is empty for every model is left out.
    """
    has_likely = any(_shown(model["cost_usd"]) != _shown(model["cost_estimated_usd"]) for model in models)
    has_unpriced = any(model["unpriced_requests"] for model in models)
    numbers = ["turns", *_TOKENS, "cost", *["likely"] * has_likely, *["unpriced"] * has_unpriced]
    columns = (
        *map(ListingColumn, ["session", "title"] if by == "session" else [by]),
        *(ListingColumn(name, "BIGINT") for name in numbers),
        *([] if by == _OVERLAPPING else [ListingColumn("share", "DOUBLE")]),
        ListingColumn(""),
    )
    return Listing(columns, _lines(ledger, by, found, limit, numbers))


def _lines(
    ledger: Ledger, by: str, found: "Result", limit: int | None, numbers: list[str]
) -> Iterator[Sequence[object]]:
    rows = [dict(zip(found.columns, values, strict=True)) for values in found]
    rest: list[_Row] = []
    if limit is not None and len(rows) > limit:
        rest, rows = (rows[:-limit], rows[-limit:]) if by in _CALENDAR else (rows[limit:], rows[:limit])
    everything = _together([*rows, *rest])
    total = everything["cost_usd"] or Decimal(0)
    largest = max((row["cost_usd"] or Decimal(0) for row in rows), default=Decimal(0))

    def line(names: Sequence[object], row: _Row, drawn: str) -> Sequence[object]:
        share = [] if by == _OVERLAPPING else [_share(row["cost_usd"], total)]
        return (*names, *(_number(row, name) for name in numbers), *share, drawn)

    def summary(name: str, row: _Row) -> Sequence[object]:
        names = (name, _NOTHING) if by == "session" else (name,)
        return line(names, row | {"turns": _NOTHING}, _NOTHING)

    others = f"{len(rest)} {'earlier' if by in _CALENDAR else 'others'}"
    if rest and by in _CALENDAR:
        yield summary(others, _together(rest))
    for names, row in zip(_names(ledger, by, rows), rows, strict=True):
        yield line(names, row, bar(row["cost_usd"], largest))
    if rest and by not in _CALENDAR:
        yield summary(others, _together(rest))
    if by != _OVERLAPPING and len(rows) + len(rest) > 1:
        yield summary("total", everything)


def _names(ledger: Ledger, by: str, rows: list[_Row]) -> Iterable[tuple[str | None, ...]]:
    key = next(iter(rows[0])) if rows else by
    values = [None if row[key] is None else str(row[key]) for row in rows]
    match by:
        case "session":
            from aix.reading.search import names_to_type

            short = names_to_type(ledger)
            titles = [one_line(row["title"], _TITLE_CHARACTERS) if row["title"] else None for row in rows]
            return ((value and short.get(value, value), title) for value, title in zip(values, titles, strict=True))
        case "project":
            return ((value and one_line(value, _NAME_CHARACTERS),) for value in short_paths(values))
        case "month":
            return ((value and value[: len("2026-01")],) for value in values)
        case "turn":
            return ((value and value[:_TURN_CHARACTERS],) for value in values)
        case _:
            return ((value and one_line(value, _NAME_CHARACTERS),) for value in values)


def short_paths(paths: Sequence[str | None]) -> list[str | None]:
    """Return the end of each path, as long as it takes to tell it from the others.

    >>> short_paths(["/home/ada/site", "/home/ada/tool", "/srv/tool", None, "/"])
    ['site', 'ada/tool', 'srv/tool', None, '/']
    """
    parts = {path: [part for part in path.split("/") if part] for path in paths if path is not None}
    lengths = dict.fromkeys(parts, 1)
    while True:
        ends = {path: "/".join(found[-lengths[path] :]) or path for path, found in parts.items()}
        seen = Counter(ends.values())
        unclear = [path for path in parts if seen[ends[path]] > 1 and lengths[path] < len(parts[path])]
        if not unclear:
            return [None if path is None else ends[path] for path in paths]
        for path in unclear:
            lengths[path] += 1


def _together(rows: list[_Row]) -> _Row:
    """Add rows up; what is known of none is not known of all."""
    columns = (
        "cost_usd",
        "cost_estimated_usd",
        "unpriced_requests",
        *(name for one in _TOKENS.values() for name in one),
    )
    known = {column: [row[column] for row in rows if row[column] is not None] for column in columns}
    return {column: sum(values) if values else None for column, values in known.items()}


def _number(row: _Row, name: str) -> str | int | None:
    if name in _TOKENS:
        counts = [row[column] for column in _TOKENS[name] if row[column] is not None]
        return short_count(sum(counts)) if counts else None
    if name == "cost":
        return _shown(row["cost_usd"])
    if name == "likely":
        return _shown(row["cost_estimated_usd"])
    if name == "unpriced":
        return row["unpriced_requests"] or _NOTHING
    turns: str | int | None = row[name]
    return turns


def _shown(amount: Decimal | None) -> str | None:
    return None if amount is None else dollars(amount)


def _share(amount: Decimal | None, total: Decimal) -> str:
    return _NOTHING if amount is None or not total else per_cent(amount / total)


def _cost_notes(models: Sequence[_Row]) -> list[str]:
    """Say what is a lower bound, what has no price, and whose prices were taken, given what each model cost."""
    if not models:
        return ["no request in the ledger matches that"]
    return [*_lower_bound(models), *_unpriced(models), *_reported(models), *_price_tables(models)]


def _sum(models: Sequence[_Row], column: str) -> Decimal:
    return sum((amount for model in models if (amount := model[column]) is not None), Decimal(0))


def _lower_bound(models: Sequence[_Row]) -> Iterator[str]:
    cost, likely = _sum(models, "cost_usd"), _sum(models, "cost_estimated_usd")
    if likely > cost:
        more = f", {per_cent((likely - cost) / cost)} more" if cost else ""
        yield (
            f"{dollars(cost)} is a lower bound: not all logs say how much the models wrote in the end;"
            f" estimated from what they wrote, it is {dollars(likely)}{more}"
        )


def _unpriced(models: Sequence[_Row]) -> Iterator[str]:
    without = sorted(
        (model for model in models if model["unpriced_requests"]),
        key=lambda model: model["unpriced_tokens"],
        reverse=True,
    )
    if not without:
        return
    names = [one_line(model["model"] or "no model named", _MODEL_CHARACTERS) for model in without[:_MODELS_NAMED]]
    more = [f"{len(without) - _MODELS_NAMED} more"] if len(without) > _MODELS_NAMED else []
    requests, tokens = (int(_sum(without, name)) for name in ("unpriced_requests", "unpriced_tokens"))
    yield (
        f"unpriced, and in no cost: {counted(requests, 'request')} with {short_count(tokens)} tokens"
        f" ({', '.join([*names, *more])})"
    )


def _reported(models: Sequence[_Row]) -> Iterator[str]:
    reported = _sum(models, "reported_cost_usd")
    if reported:
        yield f"{dollars(reported)} is what sources themselves report; it is no part of the other figures"


def _price_tables(models: Sequence[_Row]) -> Iterator[str]:
    bases = [model["price_basis"] for model in models if model["price_basis"] and model["cost_usd"] is not None]
    tables = sorted({match["table"] if (match := _BASIS.fullmatch(basis)) else basis for basis in bases})
    if tables:
        yield f"computed at the list prices of {', '.join(tables)}; `aix prices` shows them"
