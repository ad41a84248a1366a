"""Joining one ledger into another, and finding the rows in which the two contradict each other.

Two honest ledgers may differ: one has read a log that has grown since, the other concluded what the first has read.
A row contradicts another when both state a value that a log says once and for all, and the values are different.
"""

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import msgspec

from aix.derived.derived_data import DerivedData
from aix.merge.merge_rows import Addition
from aix.merge.workspace import StatementFile, write_rows
from aix.personas.persona_book import PersonaBook
from aix.prices.table import PriceTable
from aix.schema import TABLES, Column, Join, Table, Unit
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import changed_tables
from aix.schema.sql import quote_name, quote_text
from aix.store.commit import Change, commit
from aix.store.durable import new_file, part_file, place, writing_to
from aix.store.engine import engine, engine_errors_of
from aix.store.locks import staging_folder
from aix.store.manifest import PRICE_TABLES, Manifest, Segment, dead_in, groups_of, is_ledger, read_latest
from aix.store.nodes import INFERRED_VALUES, in_conversations, is_derived, is_taken_together, row_key
from aix.store.raw_copies import kept_digests, place_of_copy, raw_path
from aix.store.segments import checked_path, rows_of_segment
from aix.store.sources import Fingerprint, read_fingerprints, source_id
from aix.store.views import create_views, view_select

_RECORDED = {"dag_events", "program_events"}
"""Tables beside conversations whose rows are records: their ids follow from what they say."""
_MAY_DIFFER = {("session_context", "title"), ("session_context", "raw_path")}
"""Columns that change while a session goes on, or from machine to machine."""
_GROWING_UNITS = {Unit.TEXT, Unit.PATH, Unit.JSON, Unit.JSON_OBJECT, Unit.JSON_ARRAY}
_SHOWN_CHARACTERS = 200


def join_ledger(
    ledger: Path,
    other: Path,
    *,
    keep_raw: bool = False,
    prices: PriceTable | None = None,
    personas: PersonaBook | None = None,
) -> Manifest:
    """Join the newest version of another ledger into this one, and return the version that holds it.

    Each group of the other's files is joined in a commit of its own, so that memory stays bounded; joining again after
    an interruption does the rest. With `keep_raw`, the copies of sources that the other holds come along. Its prices
    and personas do not: to what is joined, those that are given apply, else those that the ledger has.
    """
    theirs = read_latest(other)
    version = None
    with engine_errors_of(other):
        fingerprints = _given_elsewhere(ledger, other, theirs)

    given = {name: segments for name, segments in theirs.tables.items() if name not in PRICE_TABLES}
    for files in groups_of(given).values():
        with staging_folder(ledger) as scratch, engine_errors_of(other):
            rows = Addition(list(_statements(other, theirs, files, scratch)))
            change = Change(adds=rows, fingerprints=fingerprints, derived=DerivedData(prices, personas))
            version = commit(ledger, change).version
        fingerprints = {}
    if keep_raw:
        _copy_raw(ledger, other)
    return version or read_latest(ledger)


def _given_elsewhere(ledger: Path, other: Path, theirs: Manifest) -> dict[str, Fingerprint]:
    """Return fingerprints of sources whose sessions another ledger gives too, from runs that this one does not know.

    A path is the name of a source, and there may be another log at the same path on another machine. Once its rows are
    here, what the log of this machine gives must not take their place.
    """
    ours = read_latest(ledger) if is_ledger(ledger) else None
    known = read_fingerprints(ledger, ours.fingerprints) if ours else {}
    if ours is None or not known:
        return {}
    with duckdb.connect() as connection:
        create_views(connection, ledger, ours, ["import_runs"])
        runs = [run for (run,) in connection.execute("select id from import_runs").fetchall()]
    with duckdb.connect() as connection:
        create_views(connection, other, theirs, ["import_log", "import_runs"])
        found = connection.execute(
            "select l.source_key, max(coalesce(r.started_at, 0)) from import_log l"
            " left join import_runs r on r.id = l.run_id"
            " where l.session_label is not null and l.run_id not in (select unnest($runs)) group by 1",
            {"runs": runs},
        ).fetchall()
    now = time.time_ns() // 10**6
    return {
        source: msgspec.structs.replace(known[source], since=max(now, latest + 1))
        for name, latest in found
        if (source := source_id(name)) in known
    }


def _statements(
    other: Path, theirs: Manifest, files: dict[str, list[Segment]], scratch: Path
) -> Iterator[tuple[Table, StatementFile]]:
    outdated = changed_tables(theirs.schema_version)
    for name, segments in files.items():
        table = TABLES[name]
        for number, segment in enumerate(segments):
            if name in outdated or dead_in(theirs, segment):
                rows = rows_of_segment(other, theirs, table, segment)
                path = write_rows(scratch / f"{name}-{number}.parquet", arrow_schema(table), rows)
            else:
                path = checked_path(other, table, segment, theirs.schema_version)
            yield table, StatementFile(path, quote_text("ledger"), is_earlier=True)


def _copy_raw(ledger: Path, other: Path) -> None:
    for digest in kept_digests(other):
        with writing_to(ledger):
            copy = place_of_copy(ledger, digest)
            if copy.exists():
                continue
            with part_file(copy.parent) as part:
                with raw_path(other, digest).open("rb") as content, new_file(part) as file:
                    shutil.copyfileobj(content, file)
                place(part, copy)


@dataclass(frozen=True)
class Version:
    """One version of a ledger."""

    ledger: Path
    manifest: Manifest


@dataclass(frozen=True)
class Contradiction:
    """The rows of one table that contradict those of one's own, with an example."""

    ledger: str
    """Where the other ledger lies."""
    table: str
    rows: int
    columns: dict[str, int]
    """By column, how many of the rows contradict in it."""
    row_key: str
    column: str
    own: str
    """The beginning of the value that one's own row has."""
    other: str


def compared_columns(table: Table) -> list[Column]:
    """Return the columns in which two honest ledgers never differ, once both have read the value.

    These are the columns by `known`, and times by `min`: a log states them once. Columns by `max`, `furthest`, `union`
    and the like grow with the log, `set` is replaced with its message, `latest` is bookkeeping, and what is derived
    follows from the rest. Ids say where a row belongs, which depends on the other logs that were read with its own.
    People, agents, programs and settings change, so their tables are left out.

    >>> [column.name for column in compared_columns(TABLES["messages"])]
    ['role', 'content', 'source', 'created_at', 'thinking']
    """
    is_recorded = in_conversations(table) or table.name in _RECORDED
    if not is_recorded or is_taken_together(table) or is_derived(table):
        return []
    return [
        column
        for column in table
        if (column.join is Join.KNOWN or (column.join is Join.MIN and column.unit is Unit.TIME))
        and column.unit is not Unit.ID
        and (table.name, column.name) not in _MAY_DIFFER
    ]


def find_contradictions(own: Sequence[Version], other: Version) -> list[Contradiction]:
    """Compare the rows of another ledger with those of the same keys in one's own, or in several."""
    ours = {name for version in own for name in version.manifest.tables}
    tables = [TABLES[name] for name in other.manifest.tables if name in ours]
    with engine_errors_of(other.ledger), engine(other.ledger, is_reader=True) as connection:
        found = (_compare(connection, table, own, other) for table in tables if compared_columns(table))
        return [contradiction for contradiction in found if contradiction is not None]


def count_new_rows(own: Sequence[Version], other: Version) -> dict[str, int]:
    """Return, by table, how many rows of another ledger have keys that one's own has not."""
    counts = {}
    with engine_errors_of(other.ledger), engine(other.ledger, is_reader=True) as connection:
        for name in other.manifest.tables:
            if name not in PRICE_TABLES:
                theirs, ours = _rows(TABLES[name], [other]), _rows(TABLES[name], own)
                counts[name] = _count(connection, f"({theirs}) anti join ({ours}) using (_key)")
    return counts


def _count(connection: duckdb.DuckDBPyConnection, relation: str) -> int:
    [(count,)] = connection.execute(f"select count(*) from {relation}").fetchall()
    return int(count)


def _compare(
    connection: duckdb.DuckDBPyConnection, table: Table, own: Sequence[Version], other: Version
) -> Contradiction | None:
    columns = compared_columns(table)
    # First by hashes alone, so that no text is held; then the few rows that differ, column by column.
    hashes = f"hash({', '.join(quote_name(column.name) for column in columns)}) as _hash"
    connection.execute(
        f"create or replace temp table differing as select _key from ({_rows(table, own, hashes)}) o"
        f" join ({_rows(table, [other], hashes)}) t using (_key) where o._hash <> t._hash group by _key"
    )
    if not _count(connection, "differing"):
        return None
    names = ", ".join(quote_name(column.name) for column in columns)
    tests = ", ".join(f"case when {_contradicts(column)} then {quote_text(column.name)} end" for column in columns)
    connection.execute(
        "create or replace temp table contradicting as select distinct _key, column_name from"
        f" (select _key, unnest([{tests}]) as column_name"
        f" from (select * from ({_rows(table, own, names)}) semi join differing using (_key)) o"
        f" join (select * from ({_rows(table, [other], names)}) semi join differing using (_key)) t using (_key))"
        " where column_name is not null;"
        f"delete from contradicting c using ({_marks(table, [*own, other])}) m"
        " where m.row_key = c._key and m.column_name = c.column_name"
    )
    counted = connection.execute(
        "select column_name, count(*), min(_key) from contradicting group by column_name order by 2 desc, 1"
    ).fetchall()
    if not counted:
        return None
    [(rows,)] = connection.execute("select count(distinct _key) from contradicting").fetchall()
    column, _, key = counted[0]
    values = [_value(connection, table, side, key, column) for side in (own, [other])]
    return Contradiction(str(other.ledger), table.name, rows, {name: n for name, n, _ in counted}, key, column, *values)


def _contradicts(column: Column) -> str:
    """Return SQL that says whether both values were stated, and neither can have become the other."""
    one, other = (f"{side}.{quote_name(column.name)}" for side in ("o", "t"))
    unstated = [quote_text(str(value)) for value in (column.placeholder, column.default) if value is not None]
    tests = [f"{one} <> {other}"]
    if unstated:
        tests += [f"cast({side} as varchar) not in ({', '.join(unstated)})" for side in (one, other)]
    if column.unit in _GROWING_UNITS:
        tests += [f"not {_continues(one, other)}", f"not {_continues(other, one)}"]
    return " and ".join(tests)


def _continues(text: str, start: str) -> str:
    """Return SQL that says whether a text, or the inside of a JSON object or array, goes on where another ends."""
    is_open = f"left({start}, 1) in ('{{', '[') and starts_with({text}, left({start}, length({start}) - 1))"
    return f"(starts_with({text}, {start}) or ({is_open}))"


def _rows(table: Table, versions: Iterable[Version], values: str = "null") -> str:
    rows = (
        f"select {row_key(table)} as _key, {values} from ({view_select(table, version.ledger, version.manifest)})"
        for version in versions
    )
    return " union all ".join(rows) or "select null as _key limit 0"


def _marks(table: Table, versions: Iterable[Version]) -> str:
    names = "row_key, column_name"
    return " union all ".join(
        f"select {names} from ({view_select(INFERRED_VALUES, version.ledger, version.manifest)})"
        f" where table_name = {quote_text(table.name)}"
        for version in versions
    )


def _value(
    connection: duckdb.DuckDBPyConnection, table: Table, versions: Iterable[Version], key: str, column: str
) -> str:
    value = f"left(cast({quote_name(column)} as varchar), {_SHOWN_CHARACTERS}) as _value"
    rows = f"select _value from ({_rows(table, versions, value)}) where _key = $1 and _value is not null limit 1"
    [(text,)] = connection.execute(rows, [key]).fetchall()
    return str(text)
