"""The result of a query as a table for people: columns by importance, short names, words instead of codes.

Every other format has the columns of the header in their order, with exact values.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, tzinfo

from msgspec.structs import replace

from aix.output import Listing, ListingColumn
from aix.output.humanise import displayed, in_words
from aix.query.query_file import Query

_SHORTEST_ID = 8
_RANDOM = re.compile(r"(?<![^\W_])(?=[^\W_]*\d[^\W_]*\d)(?=[^\W_]*[A-Za-z])[^\W_]{12,}")
"""A part of an id that looks random, as in hashes, UUIDs and ULIDs: its beginning is enough, and a name stays whole."""
_IDLE_COLUMN = 1000
"""Added to the priority of a column that says little, so that a narrow terminal drops it before all others."""
_ID = re.compile(r"(?:.*_)?(?:id|hash)")
_SESSION = re.compile(r"(?:.*_)?(?:session_)?label")
_TITLES = {
    "compaction_turn_id": "compaction",
    "cost_estimated_usd": "estimated cost",
    "final_output_share": "exact output %",
    "final_share": "exact output %",
    "git_branch": "branch",
    "handled_share": "answered %",
    "is_mid_task": "interrupted a task",
    "message_share": "share of unmentioned",
    "period_end": "ends before",
    "period_start": "period",
    "routed_messages": "via triage",
    "spent_estimated_usd": "estimated",
    "tool_name": "tool",
}
_UNITS = re.compile(r"_(?:usd|at|ms|s|label|id)$")
_SHARE = re.compile(r"_(?:share|ratio)$")
_RELEASE = re.compile(r"-20\d{6}$")
_QUESTION = re.compile(r"^(?:is|has)_")
# Columns whose values are codes of the schema rather than text of a log.
_CODES = re.compile(
    r"(?:.*_)?(?:basis|cause|class|ended_by|evidence|group_name|kind|outcome|reason|risk|role|severity|status|trigger)"
    r"|compaction_type|\w+_status_\w+"
)
_CODE = re.compile(r"[a-z]+(?:[_-][a-z0-9]+)*")
"""A value that may be a code; event types and other identifiers that a log gives look otherwise."""
_CALLS = ("example", "target")
"""Columns that show a call: a command, a path, a host."""
_LEAST = dict.fromkeys(_CALLS, 20) | {"kind": 25}
"""Characters that columns keep on a narrow terminal, before others get room."""
_PATHS = ("project", "file_path", "path", "workspace_path", "source_file", "settings_file")

_Cells = list[Sequence[object]]


def result_table(
    query: Query,
    columns: Sequence[ListingColumn],
    rows: Iterable[Sequence[object]],
    zone: tzinfo,
    names: Callable[[], Mapping[str, str]],
) -> Listing:
    """Return a result as people read it; `names` gives the short name of each session, and is asked when needed.

    The same id in all rows, that of a run which a parameter can choose, says little: it leaves before all others.
    """
    listed = list(rows)
    is_same = [
        len(listed) > 1
        and query.parameter(column.name.removesuffix("_id")) is not None
        and len({row[index] for row in listed}) == 1
        for index, column in enumerate(columns)
    ]
    order = sorted(_order(query, [column.name for column in columns]), key=is_same.__getitem__)
    found: _Cells = [tuple(row[index] for index in order) for row in listed]
    chosen = [columns[index] for index in order]
    by_name = {column.name: [row[place] for row in found] for place, column in enumerate(chosen)}
    writers = [_writer(column, by_name, names) for column in chosen]
    values = [
        tuple(
            value if write is None or value is None else write(value) for value, write in zip(row, writers, strict=True)
        )
        for row in found
    ]
    if is_unknown_named([column.name for column in chosen], [column.type for column in chosen]):
        values = [("unknown" if row[0] is None else row[0], *row[1:]) for row in values]
    shown = displayed(tuple(chosen), values, zone)
    titles = _titles([column.name for column in chosen])
    idle = [is_same[index] or not any(row[place] is not None for row in found) for place, index in enumerate(order)]
    cost = next((column.name for column in chosen if column.name.endswith("_usd")), None)
    drawn = [
        replace(
            column,
            name=title,
            priority=1 + place + (_IDLE_COLUMN if is_idle and found else 0),
            cut="start" if original.name in _PATHS or _SESSION.fullmatch(original.name) else "end",
            least=_LEAST.get(original.name, 0),
            tone=_tone(original.name, cost),
        )
        for place, (column, original, title, is_idle) in enumerate(
            zip(shown.columns, chosen, titles, idle, strict=True)
        )
    ]
    return Listing(tuple(drawn), shown.rows)


def _order(query: Query, names: list[str]) -> list[int]:
    """Return the places of the columns in the order in which people get them: the important ones, then the others."""
    first = [names.index(name) for name in query.shown if name in names]
    return [*first, *(index for index in range(len(names)) if index not in first)]


def is_unknown_named(names: Sequence[str], types: Sequence[str]) -> bool:
    """Whether a missing value of the first column is `unknown`: one of several names of a row may just not be there."""
    if types[:1] != ["VARCHAR"] or names[0] == "severity":
        return False
    return types[1:2] != ["VARCHAR"] or _CODES.fullmatch(names[0]) is not None


def _tone(name: str, cost: str | None) -> str:
    if name == cost:
        return "cost"
    if name == "severity":
        return "severity"
    return "dim" if name.endswith("basis") else ""


def _titles(names: Sequence[str]) -> list[str]:
    """Return the headings of columns; a name whose short form another column has as well stays whole.

    A query that has no column of its own for subagents counts them among the sessions.

    >>> _titles(["session_label", "cost_usd", "is_paid_back", "peak_at", "peak_tokens", "cost_share"])
    ['session', 'cost', 'paid back', 'peak', 'peak tokens', 'cost %']
    """
    titles = [
        "sessions and subagents" if name == "sessions" and "subagents" not in names else _title(name) for name in names
    ]
    return [
        title if titles.count(title) == 1 else name.replace("_", " ") for name, title in zip(names, titles, strict=True)
    ]


def _title(name: str) -> str:
    if name in _TITLES:
        return _TITLES[name]
    short = _SHARE.sub(" %", _UNITS.sub("", _QUESTION.sub("", name)))
    return short.replace("likely", "estimated").replace("_", " ")


def _writer(
    column: ListingColumn, values: Mapping[str, Sequence[object]], names: Callable[[], Mapping[str, str]]
) -> Callable[[object], object] | None:
    """Return a function that writes the values of a column that are not numbers; None to leave them as they are."""
    if column.type == "BOOLEAN":
        return lambda value: "yes" if value else "no"
    if column.name == "month" or (column.name == "period_start" and _are_months(values)):
        return _month
    if column.type != "VARCHAR":
        return None
    if column.name.endswith("model") or column.name == "key":  # a key may be a model
        models = {str(value) for value in values[column.name] if value is not None}
        return _undated if len({_undated(model) for model in models}) == len(models) else None
    if _SESSION.fullmatch(column.name):
        known = names()
        return lambda value: known.get(str(value), value)
    if _ID.fullmatch(column.name):
        length = _distinct_length({str(value) for value in values[column.name] if value is not None})
        return lambda value: str(value)[:length] if _RANDOM.search(str(value)) else str(value)
    if _CODES.fullmatch(column.name):
        return lambda value: in_words(str(value)) if _CODE.fullmatch(str(value)) else value
    return None


def _month(value: object) -> str:
    """Write the month of a day.

    >>> _month("2026-02-01"), _month("2026-02")
    ('Feb 2026', 'Feb 2026')
    """
    year, month, *_ = str(value).split("-")
    return date(int(year), int(month), 1).strftime("%b %Y")


def _undated(model: object) -> str:
    """Write the name of a model without the date of its release.

    >>> _undated("large-4-5-20250929"), _undated("large-4-6")
    ('large-4-5', 'large-4-6')
    """
    return _RELEASE.sub("", str(model))


def _are_months(values: Mapping[str, Sequence[object]]) -> bool:
    """Whether every period of a result is a month."""
    days = [*values["period_start"], *values.get("period_end", ())]
    return len(days) > len(values["period_start"]) and all(str(day).endswith("-01") for day in days)


def _distinct_length(ids: set[str]) -> int:
    """Return how many characters of ids, eight or more, tell them apart.

    >>> _distinct_length({"7F3KQ2MX01", "7F3KQ2MX02"}), _distinct_length({"7F3KQ2MX01"})
    (10, 8)
    """
    length = _SHORTEST_ID
    while len({each[:length] for each in ids}) < len(ids):
        length += 1
    return length
