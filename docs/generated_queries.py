"""Queries of `queries/health` that name every table of the schema: its keys, and how much of each column is known."""

import textwrap
from collections.abc import Iterable, Iterator

from aix.schema import TABLES, Column, Table, Type

_NOTICE = """
-- Made from aix/schema by docs/generated_queries.py. Do not edit: change those and run `make docs`.
"""

_UNIQUE_KEYS_HEADER = """\
-- title: No two rows of a table have the same key
-- question: Which keys stand in several rows?
-- why: Parquet has no keys; a row that is there twice is counted twice.
-- grain: table, columns and values that are not unique
-- invariant: U1
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Where the columns are not those of the key, `row_id` holds the values that are not unique.
"""

_UNIQUE_KEYS_RESULT = """\
)
select table_name, row_id, cast(copies as varchar) || ' rows have the same ' || column_names || '.' as reason
from repeated_key
order by table_name, row_id, reason
"""

_COVERAGE_HEADER = """\
-- title: How much of each column is known, by origin
-- question: For each tool, which columns do its logs fill, and for what share of the rows?
-- why: Figures of two tools can be compared only where both report them, and an importer must not lose what it had.
-- grain: origin, table and column
-- column origin: VARCHAR; the tool whose logs were imported; NULL for rows that belong to no turn and no session
-- column table_name: VARCHAR; the table: the canonical ones, and the extensions that importers fill
-- column column_name: VARCHAR; the column
-- column row_count: BIGINT; rows of that origin in the table
-- column known_count: BIGINT; rows in which the column is not NULL
-- column known_share: DOUBLE; the second by the first, from 0 to 1
-- caveat: An empty list, an empty text and 0 are known.
-- caveat: What cannot apply to a row, such as the error of a call that succeeded, is NULL there, so few shares are 1.
-- caveat: A table without rows of an origin has none here. Columns that AIX derives are known for every tool.
-- reads: text
"""

_COUNTED_COLUMN = """\
-- All columns, in the order of the schema. Each table is counted once, and its counts then become rows: an engine that
-- reads a CTE again wherever it is named would else count it once for every column.
counted_column as (
  select place, table_name, column_name from (values
"""

_COVERAGE_RESULT = """\
)
select origin, table_name, column_name, row_count, known_count,
  cast(known_count as double) / row_count as known_share
from known_values
order by origin nulls last, place
"""

_EXTENSIONS = (
    *("requests", "turn_context", "session_context", "tool_call_facts", "message_facts"),
    *("permission_decisions", "permission_rules"),
)
"""The extension tables that importers fill."""

_TEXTS = {
    "messages": (
        "v_turn_messages",
        {
            "content": "with_content",
            "thinking": "with_thinking",
            "context_json": "with_context",
            "metadata_json": "with_metadata",
        },
    ),
    "tool_calls": (
        "v_turn_calls",
        {"params_json": "with_params", "result_json": "with_result", "error": "with_error"},
    ),
}
"""By table, the view that counts its long texts for each turn, so that nobody reads them, and its columns."""

_ORIGINS = {
    "turns": ("c.origin", "their turn", ["turn_context c on c.turn_id = t.{}"]),
    "sessions": ("s.origin", "their session", ["sessions s on s.label = t.{}"]),
    "messages": (
        "c.origin",
        "their message",
        ["messages m on m.id = t.{}", "turn_context c on c.turn_id = m.turn_id"],
    ),
    "tool_calls": (
        "c.origin",
        "their call",
        ["tool_calls k on k.id = t.{}", "turn_context c on c.turn_id = k.turn_id"],
    ),
}
"""By the table that the rows of another name: where their origin stands, whose it is, and the joins that lead there."""

_RESERVED = {"class", "position", "trigger"}
"""Names of columns that some engines read as words of their own."""


def unique_keys() -> Iterator[str]:
    """Write the check that no two rows of a table have the same key."""
    yield from (_UNIQUE_KEYS_HEADER + _NOTICE).splitlines()
    yield "with repeated_key as ("
    aliases = [" as table_name", " as column_names", " as row_id", " as copies"]
    for table in TABLES.values():
        for columns in (table.key, *table.unique):
            names = ", ".join(columns)
            values = [f"'{table.name}'", f"'{names}'", _row_id(table, columns), "count(*)"]
            if aliases:
                values = [f"{value}{alias}" for value, alias in zip(values, aliases, strict=True)]
                aliases = []
            else:
                yield "  union all"
            if len(columns) == 1:
                yield f"  select {', '.join(values)}"
            else:
                yield f"  select {', '.join(values[:2])},"
                yield from _packed("    ", ", ", ", ".join(values[2:]).split(", "))
            is_optional = len(columns) == 1 and table.column(names).nullable
            condition = [f"where {names} is not null"] if is_optional else []
            grouping = [f"group by {names}", "having count(*) > 1"]
            yield from _packed("  ", " ", [f"from {table.name}", *condition, *grouping])
    yield from _UNIQUE_KEYS_RESULT.splitlines()


def _row_id(table: Table, columns: tuple[str, ...]) -> str:
    texts = [name if table.column(name).type is Type.VARCHAR else f"cast({name} as varchar)" for name in columns]
    return texts[0] if len(texts) == 1 else f"cast(to_json([{', '.join(texts)}]) as varchar)"


def coverage() -> Iterator[str]:
    """Write the query that counts, by origin, the rows in which each column is known."""
    tables = [*(table for table in TABLES.values() if table.canonical), *(TABLES[name] for name in _EXTENSIONS)]
    yield from (_COVERAGE_HEADER + _NOTICE).splitlines()
    for number, table in enumerate(tables):
        yield from _counted_table(table, "with " if not number else "")
    yield from _COUNTED_COLUMN.splitlines()
    columns = [(table, column) for table in tables for column in table]
    rows = [f"({place}, '{table.name}', '{column.name}')" for place, (table, column) in enumerate(columns, start=1)]
    yield from _packed("    ", ", ", rows)
    yield "  ) as listed(place, table_name, column_name)"
    yield from ("),", "-- A row for each origin, table and column.", "known_values as (")
    for number, table in enumerate(tables):
        if number:
            yield "  union all"
        yield "  select c.place, t.origin, c.table_name, c.column_name, t.row_count,"
        yield "    case c.column_name"
        yield from _packed("      ", " ", [f"when '{column.name}' then t.known_{column.name}" for column in table])
        yield "    end" if number else "    end as known_count"
        yield f"  from of_{table.name} t join counted_column c on c.table_name = '{table.name}'"
    yield from _COVERAGE_RESULT.splitlines()


def _counted_table(table: Table, start: str) -> Iterator[str]:
    """Write the CTE that counts a table, and for one with long texts those that count rows and texts."""
    origin, joins, whose = _origin(table)
    view, texts = _TEXTS.get(table.name, ("", {}))
    singular = table.name.removesuffix("s")
    counts = [f"count(t.{_quoted(column)}) as known_{column.name}" for column in table if column.name not in texts]
    yield f"-- Rows of {table.name} by the origin of {whose}{', without texts' if texts else ''}."
    yield f"{start}{singular}_row as (" if texts else f"{start}of_{table.name} as ("
    yield from _counts([f"{origin} as origin", "count(*) as row_count", *counts], table.name, joins, origin)
    if texts:
        sums = [f"cast(sum(t.{counted}) as bigint) as known_{name}" for name, counted in texts.items()]
        yield f"-- Their texts, which {view} has counted for each turn."
        yield f"{singular}_text as ("
        yield from _counts([f"{origin} as origin", *sums], view, joins, origin)
        yield "-- Both together."
        yield f"of_{table.name} as ("
        yield from _packed("  select ", ", ", ["r.*", *(f"t.known_{name}" for name in texts)])
        yield f"  from {singular}_row r"
        yield f"  join {singular}_text t on t.origin is not distinct from r.origin"
        yield "),"


def _counts(columns: list[str], table: str, joins: list[str], origin: str) -> Iterator[str]:
    yield from _packed("  select ", ", ", columns)
    yield f"  from {table} t"
    yield from (f"  left join {join}" for join in joins)
    yield f"  group by {origin}"
    yield "),"


def _origin(table: Table) -> tuple[str, list[str], str]:
    """Return where the origin of a row stands, the joins that lead there, and whose origin it is."""
    if "origin" in table.column_names:
        return "t.origin", [], "the row itself"
    if table.name == "turns":
        return "c.origin", ["turn_context c on c.turn_id = t.id"], "the turn"
    named: dict[str, str] = {}
    for column in table:
        named.setdefault((column.references or "").partition(".")[0], column.name)
    found = next(name for name in named if name in _ORIGINS)
    origin, whose, joins = _ORIGINS[found]
    joins = [join.format(named[found]) for join in joins]
    if table.name == "requests":  # a call on the side belongs to no turn
        of_session, session, more = _ORIGINS["sessions"]
        joins.extend(join.format(named["sessions"]) for join in more)
        return f"coalesce({origin}, {of_session})", joins, f"{whose}, else of {session}"
    return origin, joins, whose


def _quoted(column: Column) -> str:
    return f'"{column.name}"' if column.name in _RESERVED else column.name


def _packed(start: str, separator: str, items: Iterable[str]) -> Iterator[str]:
    """Yield lines with as many items as fit; no item is divided."""
    text = separator.join(item.replace(" ", "\xa0") for item in items)
    indent = " " * (4 if "select" in start else len(start))
    lines = textwrap.wrap(
        text, 118, initial_indent=start, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    yield from (line.replace("\xa0", " ") for line in lines)
