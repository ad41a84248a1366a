"""Tables that a program makes of the ledger's calls: what they touched, their risks, and what rules say about them.

Each is declared by a file in `queries/views` that says `derived`: its columns are there. They are made at commit, like
kept views, group by group; where a ledger has none, whoever reads it makes them in memory.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aix.ledger.engine import duplicate
from aix.ledger.streaming import start_reader
from aix.library.views import library_views
from aix.permissions.remarks import remark_rows
from aix.permissions.risks import Risks
from aix.permissions.rule_book import RuleBook, in_force_rows, rule_book
from aix.permissions.rule_rows import RuleRows
from aix.permissions.target_rows import TargetRows
from aix.schema import TABLES
from aix.schema.sql import empty_select, quote_name

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Row = tuple[object, ...]
Answers = Mapping[str, Iterable[Row]]
"""Rows by the table that they are of, without the call."""

RULES = "permission_rules"
RISKS = "call_risks"
TARGET_TABLES = frozenset({"call_parts", RISKS})
CALL_RULE_TABLES = frozenset({"rule_matches", "rule_verdicts"})
REMARKS = "rule_remarks"
IN_FORCE = "rules_in_force"
RULE_TABLES = CALL_RULE_TABLES | {REMARKS, IN_FORCE}
"""Those that follow from all rules that are known."""

_ROWS_AT_ONCE = 5_000
# What its file no longer held when it was last read is in force no more. A reading that gave no rule at all leaves its
# trace only among the sources; one with problems may have missed some, and says nothing. One file can hold the rules of
# several, each under the path with a name after `#`.
RULES_IN_FORCE = """
with held as (
  select origin, scope, file, max(last_seen_at) as last_seen_at from permission_rules group by origin, scope, file
),
placed as (
  select *, file as path from held
  union all
  select *, regexp_replace(file, '#[^#]*$', '') from held where contains(file, '#')
),
emptied as (
  select p.origin, p.scope, p.file
  from placed p
  join import_sources s on s.path = p.path and s.mtime_ns // 1000000 > p.last_seen_at
  where not exists (
    select 1 from import_problems w where w.source_key = s.source_key and w.run_id = s.last_run_id
  )
)
select r.origin, r.scope, r.file, r.position, r.kind, r.rule
from permission_rules r
join held h on h.origin = r.origin and h.scope = r.scope and h.file = r.file and h.last_seen_at = r.last_seen_at
anti join emptied e on e.origin = r.origin and e.scope = r.scope and e.file = r.file
"""
"""The rules of a whole ledger that its latest readings of their files show."""
_KNOWN_RULES = "select origin, scope, file, kind, rule from permission_rules"
# Calls that are alike have the same answer, and most are like others: each kind is looked at once.
_TARGETS = """
select list(d.call_id) as calls, d.class, k.tool_name, d.raw_target, t.workspace_path
from permission_decisions d
join tool_calls k on k.id = d.call_id
left join turns t on t.id = d.turn_id
group by d.class, k.tool_name, d.raw_target, t.workspace_path
"""
_CALLS = """
select list(call_id) as calls, origin, tool_name, raw_target, workspace_path, params_json
from (
  select d.call_id, x.origin, k.tool_name, d.raw_target, t.workspace_path,
    case when k.tool_name in (select unnest($tools)) then k.params_json end as params_json
  from permission_decisions d
  join tool_calls k on k.id = d.call_id
  left join turns t on t.id = d.turn_id
  join turn_context x on x.turn_id = d.turn_id
)
group by origin, tool_name, raw_target, workspace_path, params_json
"""
SOURCES = (_TARGETS, _CALLS, _KNOWN_RULES)
"""The statements that derivation reads a group with."""

_FOR_CALLS = """
select unnest(f.calls), r.* exclude (place)
from derived_rows r
join derived_for f on f.place = r.place
"""


def read_rule_book(connection: "duckdb.DuckDBPyConnection") -> RuleBook:
    """Return the rules of the ledger that a connection has."""
    return rule_book(connection.execute(RULES_IN_FORCE).fetchall())


def made_with(names: Collection[str]) -> frozenset[str]:
    """Return these tables and those that come of the same pass over all calls."""
    wanted = frozenset(names)
    return wanted.union(*(tables for tables in (TARGET_TABLES, CALL_RULE_TABLES) if tables & wanted))


def derive(
    connection: "duckdb.DuckDBPyConnection",
    names: Collection[str],
    book: RuleBook,
    risks: Risks | None = None,
) -> None:
    """Make these tables on a connection to a database in memory that has the ledger's."""
    wanted = frozenset(names)
    for name in wanted:
        _create(connection, name)
    if not TARGET_TABLES.isdisjoint(wanted):
        _fill(connection, wanted, _TARGETS, {}, TargetRows(risks).about)
    if not CALL_RULE_TABLES.isdisjoint(wanted) and book.rules:
        _fill(connection, wanted, _CALLS, {"tools": sorted(book.whole_input_tools())}, RuleRows(book).about)
    if not wanted.isdisjoint({REMARKS, IN_FORCE}):
        keys = set(connection.execute(_KNOWN_RULES).fetchall())
        for name, rows_about in ((REMARKS, remark_rows), (IN_FORCE, in_force_rows)):
            if name in wanted:
                _insert(connection, name, list(rows_about(book, keys)))


def lay_rules(connection: "duckdb.DuckDBPyConnection", book: RuleBook) -> None:
    """Put the rules of a book in the place of the ledger's."""
    from aix.schema.checks import batch_from_columns

    table = TABLES[RULES]
    written_at = {file: _written_at(file) for file in {rule.file for rules in book.rules.values() for rule in rules}}
    rows = [
        (origin, rule.scope, rule.file, rule.position, rule.kind, rule.text, *[written_at[rule.file]] * 2)
        for origin, rules in book.rules.items()
        for rule in rules
    ]
    connection.execute(f"create table {table.name} as {empty_select(table)}")
    if rows:
        columns = dict(zip(table.column_names, zip(*rows, strict=True), strict=True))
        connection.register("laid_rules", batch_from_columns(table, columns))
        connection.execute(f"insert into {table.name} from laid_rules")
        connection.unregister("laid_rules")


def _written_at(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns // 10**6
    except OSError:
        return 0


def _create(connection: "duckdb.DuckDBPyConnection", name: str) -> None:
    columns = ", ".join(f"{quote_name(column)} {type_}" for column, type_ in _columns(name))
    connection.execute(f"create or replace table {quote_name(name)} ({columns})")


def _fill(
    connection: "duckdb.DuckDBPyConnection",
    names: Set[str],
    select: str,
    parameters: dict[str, object],
    about: Callable[[Row], Answers],
) -> None:
    # Another connection, because one can do nothing else while its rows are read.
    with closing(duplicate(connection)) as reading:
        for batch in start_reader(reading, select, _ROWS_AT_ONCE, parameters or None):
            calls, *asked = batch.columns
            made: dict[str, list[Row]] = {}
            for number, question in enumerate(zip(*(column.to_pylist() for column in asked), strict=True)):
                for name, rows in about(question).items():
                    made.setdefault(name, []).extend((number, *row) for row in rows)
            for name in made.keys() & names:
                _insert_for_calls(connection, name, made[name], calls)


def _insert_for_calls(
    connection: "duckdb.DuckDBPyConnection", name: str, rows: list[Row], calls: "pa.ListArray"
) -> None:
    """Add rows that begin with a place in the list of calls, for each of the calls there."""
    import pyarrow as pa

    if rows:
        _, *others = _columns(name)
        places = pa.array(range(len(calls)), pa.int64())
        with (
            _registered(connection, "derived_rows", _arrow([("place", "BIGINT"), *others], rows)),
            _registered(connection, "derived_for", pa.record_batch([places, calls], ["place", "calls"])),
        ):
            connection.execute(f"insert into {quote_name(name)} {_FOR_CALLS}")


def _insert(connection: "duckdb.DuckDBPyConnection", name: str, rows: list[Row]) -> None:
    if rows:
        with _registered(connection, "derived_rows", _arrow(_columns(name), rows)):
            connection.execute(f"insert into {quote_name(name)} from derived_rows")


@contextmanager
def _registered(connection: "duckdb.DuckDBPyConnection", name: str, rows: "pa.RecordBatch") -> Iterator[None]:
    connection.register(name, rows)
    yield
    connection.unregister(name)


def _columns(name: str) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in library_views()[name].columns]


def _arrow(columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> "pa.RecordBatch":
    import pyarrow as pa

    types = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_()}
    values = zip(*rows, strict=True)
    return pa.record_batch(
        [pa.array(each, types[type_]) for each, (_, type_) in zip(values, columns, strict=True)],
        names=[name for name, _ in columns],
    )
