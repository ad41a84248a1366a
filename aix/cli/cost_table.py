"""`aix cost` for people: one line for each thing, a bar for its share, a total."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aix.output import Listing, ListingColumn
from aix.output.humanise import bar, dollars, one_line, per_cent, short_count
from aix.reading.ledger import Ledger

if TYPE_CHECKING:
    from aix.reading.result import Result

CALENDAR = ("day", "week", "month")
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

Row = dict[str, Any]


def cost_table(ledger: Ledger, by: str, found: "Result", limit: int | None, models: Sequence[Row]) -> Listing:
    """Return the rows in short, those beyond the limit put together, and what all of them come to.

    What each model cost tells which columns there is something to say in.
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
    rest: list[Row] = []
    if limit is not None and len(rows) > limit:
        rest, rows = (rows[:-limit], rows[-limit:]) if by in CALENDAR else (rows[limit:], rows[:limit])
    everything = _together([*rows, *rest])
    total = everything["cost_usd"] or Decimal(0)
    largest = max((row["cost_usd"] or Decimal(0) for row in rows), default=Decimal(0))

    def line(names: Sequence[object], row: Row, drawn: str) -> Sequence[object]:
        share = [] if by == _OVERLAPPING else [_share(row["cost_usd"], total)]
        return (*names, *(_number(row, name) for name in numbers), *share, drawn)

    def summary(name: str, row: Row) -> Sequence[object]:
        names = (name, _NOTHING) if by == "session" else (name,)
        return line(names, row | {"turns": _NOTHING}, _NOTHING)

    others = f"{len(rest)} {'earlier' if by in CALENDAR else 'others'}"
    if rest and by in CALENDAR:
        yield summary(others, _together(rest))
    for names, row in zip(_names(ledger, by, rows), rows, strict=True):
        yield line(names, row, bar(row["cost_usd"], largest))
    if rest and by not in CALENDAR:
        yield summary(others, _together(rest))
    if by != _OVERLAPPING and len(rows) + len(rest) > 1:
        yield summary("total", everything)


def _names(ledger: Ledger, by: str, rows: list[Row]) -> Iterable[tuple[str | None, ...]]:
    key = next(iter(rows[0])) if rows else by
    values = [None if row[key] is None else str(row[key]) for row in rows]
    match by:
        case "session":
            from aix.reading.session_search import names_to_type

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


def _together(rows: list[Row]) -> Row:
    """Add rows up; what is known of none is not known of all."""
    columns = (
        "cost_usd",
        "cost_estimated_usd",
        "unpriced_requests",
        *(name for one in _TOKENS.values() for name in one),
    )
    known = {column: [row[column] for row in rows if row[column] is not None] for column in columns}
    return {column: sum(values) if values else None for column, values in known.items()}


def _number(row: Row, name: str) -> str | int | None:
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
