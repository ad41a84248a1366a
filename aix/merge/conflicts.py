"""Conflicts: the statement about a row that is kept, and what several that differ say together."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aix.merge.join import Statement, join, join_sets
from aix.merge.workspace import MergeWorkspace, StatementFile, repeated
from aix.schema import Column, Join, Table, Type
from aix.schema.arrow import arrow_schema
from aix.schema.sql import quote_name, quote_text
from aix.store.nodes import INFERRED_VALUES, is_taken_together, owner_column

_ROWS_AT_ONCE = 1_000

Marks = Mapping[tuple[str, str | None], Mapping[str, str | None]]
"""By key and source of a statement: its inferred columns, and how each was concluded."""


def resolve(workspace: MergeWorkspace, table: Table) -> list[dict[str, object]]:
    """Keep the rows of a table that one statement is about, and one of those that say the same about a row.

    Where statements differ, what they say together is written to a file of its own and added to the workspace; the
    marks of these rows are returned.
    """
    entries = workspace.entries(table)
    several = repeated(table, entries)
    if several is None:
        workspace.keep(table, entries)
        return []
    workspace.keep(table, entries.filter(pc.invert(several)))
    places = entries.filter(several).column("place")
    return (
        _resolve_sets(workspace, table, places) if is_taken_together(table) else _resolve_rows(workspace, table, places)
    )


def _resolve_rows(workspace: MergeWorkspace, table: Table, places: pa.ChunkedArray) -> list[dict[str, object]]:
    said = workspace.fetch(
        f"select _place as place, _node as node, hash(_key) as key, _hash from ({_said(workspace, table, places)})"
    )
    by_key = said.group_by("key").aggregate([("_hash", "count_distinct"), ("place", "min")]).sort_by("place_min")
    is_disputed = pc.greater(by_key.column("_hash_count_distinct"), 1)
    agreed = by_key.filter(pc.invert(is_disputed)).column("place_min")
    workspace.keep(table, said.filter(pc.is_in(said.column("place"), value_set=agreed.combine_chunks())))
    keys = by_key.filter(is_disputed).column("key").combine_chunks()
    return _join_conflicting_rows(workspace, table, said.select(["place", "key"]), keys) if len(keys) else []


def _resolve_sets(workspace: MergeWorkspace, table: Table, places: pa.ChunkedArray) -> list[dict[str, object]]:
    """Do the same where the rows that one source gives of a message are kept or dropped together."""
    name = table.name
    workspace.connection.execute(
        f"create temp table said_{name} as select _place, _source, _key, _node, _hash,"
        f" cast({quote_name(owner_column(table))} as varchar) as _owner from ({_said(workspace, table, places)})"
    )
    _choose_sides(workspace, table)
    _join_conflicting_sets(workspace, table)
    workspace.keep(table, workspace.fetch(f"select _place as place, _node as node from chosen_{name}"))
    return []


def _said(workspace: MergeWorkspace, table: Table, places: pa.ChunkedArray) -> str:
    """Return SQL for the rows at these places, each with a number for what it says, equal when two say the same."""
    stated = [_comparable(column) for column in table if column.join not in (Join.KEY, Join.DERIVED)]
    rows = workspace.rows_at(table, places)
    if not workspace.has(INFERRED_VALUES):
        return f"select s.*, hash({', '.join(['s._key', *stated])}) as _hash from ({rows}) s"
    marks = (
        "select row_key, _source,"
        " string_agg(column_name || '=' || coalesce(basis, ''), ',' order by column_name) as inferred"
        f" from ({workspace.added_rows(INFERRED_VALUES)}) where table_name = {quote_text(table.name)}"
        " group by row_key, _source"
    )
    return (
        f"select s.*, hash({', '.join(['s._key', 'm.inferred', *stated])}) as _hash from ({rows}) s"
        f" left join ({marks}) m on m.row_key = s._key and m._source is not distinct from s._source"
    )


def _comparable(column: Column) -> str:
    name = f"s.{quote_name(column.name)}"
    return f"cast({name} as varchar)" if column.type is Type.VECTOR else name  # 0.0 and -0.0 are two values


def resolve_marks(
    workspace: MergeWorkspace, tables: Iterable[Table], joined_marks: Sequence[Mapping[str, object]]
) -> None:
    """Keep the marks of the rows that are kept; what is NULL was not concluded."""
    marked: dict[str, list[str]] = {}
    if workspace.has(INFERRED_VALUES):
        stated = f"select distinct table_name, column_name from ({workspace.added_rows(INFERRED_VALUES)}) order by all"
        for name, column in workspace.connection.execute(stated).fetchall():
            marked.setdefault(name, []).append(column)
    parts = []
    for table in tables:
        if table.name in marked:
            is_known = " ".join(
                f"when {quote_text(name)} then s.{quote_name(name)} is not null" for name in marked[table.name]
            )
            parts.append(
                f"select i._place as place, i._node as node from ({workspace.added_rows(INFERRED_VALUES)}) i"
                f" join ({workspace.kept_rows(table)}) s"
                f" on s._key = i.row_key and s._source is not distinct from i._source"
                f" where i.table_name = {quote_text(table.name)} and case i.column_name {is_known} end"
                f" qualify row_number() over (partition by i._key order by i.basis desc nulls last, i._place) = 1"
            )
    if parts:
        workspace.keep(INFERRED_VALUES, workspace.fetch(" union all ".join(f"({part})" for part in parts)))
    add_joined(workspace, INFERRED_VALUES, iter(dict(mark) for mark in joined_marks))


def _choose_sides(workspace: MergeWorkspace, table: Table) -> None:
    """Take the rows of one of the sides that say the same; those that differ are left in `conflict_<table>`."""
    workspace.connection.execute(
        f"create temp table sides_{table.name} as with rows as"
        f" (select _owner, _source, _key, _hash, min(_place) as _place from said_{table.name} group by all)"
        f" select _owner, _source, min(_place) as _first, hash(list(_hash order by _hash)) as _hash,"
        f" count(*) > count(distinct _key) as _repeats_itself from rows group by _owner, _source;"
        f"create temp table conflict_{table.name} as select _owner, row_number() over (order by min(_first)) as _number"
        f" from sides_{table.name} group by _owner having count(distinct _hash) > 1 or bool_or(_repeats_itself);"
        f"create temp table chosen_{table.name} as"
        f" with firsts as (select _owner, min(_first) as _first from sides_{table.name}"
        f" anti join conflict_{table.name} using (_owner) group by _owner),"
        f" taken as (select s._owner, s._source from sides_{table.name} s semi join firsts f using (_owner, _first))"
        f" select min(c._place) as _place, any_value(c._node) as _node from said_{table.name} c"
        f" join taken t on t._owner = c._owner and t._source is not distinct from c._source"
        f" group by c._owner, c._hash"
    )


def _join_conflicting_rows(
    workspace: MergeWorkspace, table: Table, places: pa.Table, keys: pa.Array
) -> list[dict[str, object]]:
    joined_marks: list[dict[str, object]] = []
    unchanged: list[int] = []

    def joined() -> Iterator[dict[str, object]]:
        for start in range(0, len(keys), _ROWS_AT_ONCE):
            is_disputed = pc.is_in(places.column("key"), value_set=keys[start : start + _ROWS_AT_ONCE])
            candidates = workspace.rows_at(table, places.filter(is_disputed).column("place"))
            rows = _rows_with_values(workspace, table, f"select _place, _source, _key from ({candidates})")
            marks = _marks_of(workspace, table, rows)
            for key, statements in _grouped(rows, "_key").items():
                statements.sort(key=lambda row: not workspace.file_at(table, row["_place"]).is_earlier)
                said = [_statement(table, row, marks) for row in statements]
                together = reduce(partial(join, table), said)
                new_marks = {column: _basis(column, key, statements, marks) for column in sorted(together.inferred)}
                stored = next((number for number, row in enumerate(statements) if row["_source"] is None), None)
                is_kept = stored is not None and _is_same(together, join(table, said[stored], said[stored]))
                if stored is not None and is_kept and new_marks == marks.get((key, None), {}):
                    unchanged.append(statements[stored]["_place"])
                    continue
                joined_marks.extend(
                    {"table_name": table.name, "row_key": key, "column_name": column, "basis": basis}
                    for column, basis in new_marks.items()
                )
                yield {**together.values, **_no_derived_values(table)}

    add_joined(workspace, table, joined())
    _keep(workspace, table, unchanged)
    return joined_marks


def _join_conflicting_sets(workspace: MergeWorkspace, table: Table) -> None:
    unchanged: list[int] = []

    def joined() -> Iterator[dict[str, object]]:
        for start in range(0, workspace.count(f"conflict_{table.name}"), _ROWS_AT_ONCE):
            rows = _rows_with_values(
                workspace,
                table,
                f"select s._place, s._source, s._key, s._owner from said_{table.name} s"
                f" join conflict_{table.name} c on c._owner = s._owner"
                f" where c._number > {start} and c._number <= {start + _ROWS_AT_ONCE}",
            )
            for statements in _grouped(rows, "_owner").values():
                sides = [_one_per_key(table, side) for side in _grouped(statements, "_source").values()]
                said: list[Sequence[Statement]] = [[_statement(table, row, {}) for row in side] for side in sides]
                together = reduce(partial(join_sets, table), said)
                if sides[0][0]["_source"] is None and together == said[0]:
                    unchanged.extend(row["_place"] for row in sides[0])
                    continue
                yield from (dict(statement.values) for statement in together)

    add_joined(workspace, table, joined())
    _keep(workspace, table, unchanged)


def _rows_with_values(workspace: MergeWorkspace, table: Table, select: str) -> list[dict[str, Any]]:
    """Return rows that a SELECT gives the places of, with all that is stated in them."""
    places = workspace.fetch(f"{select} order by _place")
    rows = pa.concat_tables(workspace.copy(table, places.column("_place").combine_chunks(), _stated_names(table)))
    return [{**where, **row} for where, row in zip(places.to_pylist(), rows.to_pylist(), strict=True)]


def _keep(workspace: MergeWorkspace, table: Table, places: Sequence[int]) -> None:
    """Keep the rows at these places."""
    entries = workspace.entries(table)
    workspace.keep(table, entries.filter(pc.is_in(entries.column("place"), value_set=pa.array(places, pa.uint64()))))


def add_joined(workspace: MergeWorkspace, table: Table, rows: Iterator[dict[str, object]]) -> None:
    """Write rows to a file of their own, add it to the workspace, and keep them."""
    first = next(rows, None)
    if first is None:
        return
    schema = arrow_schema(table)

    def batches() -> Iterator[pa.RecordBatch]:
        held = [first]
        for row in rows:
            held.append(row)
            if len(held) == _ROWS_AT_ONCE:
                yield pa.RecordBatch.from_pylist(held, schema)
                held.clear()
        yield pa.RecordBatch.from_pylist(held, schema)

    workspace.add(table, StatementFile(workspace.write_scratch(table, batches(), schema), quote_text("joined")))
    workspace.keep(table, workspace.entries_of_last(table))


def _statement(table: Table, row: Mapping[str, Any], marks: Marks) -> Statement:
    inferred = marks.get((row["_key"], row["_source"]), {})
    return Statement({name: row[name] for name in _stated_names(table)}, frozenset(inferred))


def _is_same(one: Statement, other: Statement) -> bool:
    """Compare what was joined; to Python, 0.0 equals -0.0 and NaN not even itself."""
    return (repr(one.values), one.inferred) == (repr(other.values), other.inferred)


def _stated_names(table: Table) -> list[str]:
    return [column.name for column in table if column.join is not Join.DERIVED]


def _no_derived_values(table: Table) -> dict[str, object]:
    """Values for derived columns, which are computed before anybody sees them."""
    blank = {Type.VARCHAR: "", Type.BIGINT: 0}
    return {
        column.name: None if column.nullable else column.words[0] if column.words else blank[column.type]
        for column in table
        if column.join is Join.DERIVED
    }


def _marks_of(workspace: MergeWorkspace, table: Table, rows: Iterable[Mapping[str, Any]]) -> Marks:
    keys = pa.array({row["_key"] for row in rows}, pa.string())
    with workspace.temporary("row_key", keys) as wanted:
        found = workspace.fetch(
            f"select row_key, _source, column_name, basis from ({workspace.added_rows(INFERRED_VALUES)})"
            f" semi join {wanted} using (row_key) where table_name = {quote_text(table.name)}"
        )
    marks: dict[tuple[str, str | None], dict[str, str | None]] = defaultdict(dict)
    for mark in found.to_pylist():
        marks[mark["row_key"], mark["_source"]][mark["column_name"]] = mark["basis"]
    return marks


def _basis(column: str, key: str, said: Iterable[Mapping[str, Any]], marks: Marks) -> str | None:
    given = [marks.get((key, row["_source"]), {}) for row in said]
    return max((mark[column] or "" for mark in given if column in mark), default="") or None


def _grouped(rows: Iterable[dict[str, Any]], column: str) -> dict[Any, list[dict[str, Any]]]:
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def _one_per_key(table: Table, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of rows that a source gives twice with the same key, take the greater."""
    ordered = sorted(rows, key=lambda row: repr([row[name] for name in table.column_names]))
    return list({row["_key"]: row for row in ordered}.values())
