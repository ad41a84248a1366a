"""A ledger of any number of messages with texts of real sizes, made without importing them all.

    python -m benchmarks.generated_ledger LEDGER --messages 1000000 [--without-texts]

Generated logs are imported once, into a pattern; the ledger consists of copies of it, each with ids and times of its
own, in groups of files as large as those that imports leave. The pattern also gets what generated logs lack: several
branches, and sessions that were forked from others. Such a ledger is only to be read: the indexes by which later rows
would find the families they belong to are empty.
"""

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import msgspec
import pyarrow as pa

import aix
from aix.derived.derived_data import DerivedData
from aix.merge.groups import LARGEST_BYTES
from aix.prices.table import PriceTable
from aix.schema import TABLES, Column, Table, Type, Unit
from aix.schema.arrow import arrow_schema
from aix.schema.sql import quote_name
from aix.store.commit import Change, Stage, commit
from aix.store.index import COMPONENT_FIELD, Index
from aix.store.manifest import Manifest, Segment, read_latest
from aix.store.nodes import in_conversations, node_expressions
from aix.store.views import create_views
from benchmarks.generated_logs import write_logs

_MEGABYTES = 100
_BYTES_PER_MESSAGE = 7_200
"""Of generated logs."""
_LONGEST_RESULT = 15_000
"""Where results are cut so that a message has 3.3 KB of text on average, as in real logs."""
_LARGEST_CONTEXT = 72_000
"""Small, so that a million messages have 5,000 compactions."""
_MS_BETWEEN_COPIES = 7 * 86_400_000
_ONCE = ("import_runs", "import_sources", "import_log", "import_problems", "file_paths", "permission_rules")
"""Tables that do not grow with the conversations."""
_NOT_PER_COPY = ("persona_id", "routing_key", "principal", "on_behalf_of")
_TEXTS = {
    "messages": ("content", "thinking", "context_json", "metadata_json"),
    "tool_calls": ("params_json", "result_json", "error"),
    "compactions": ("summary", "metadata_json"),
    "message_codeblocks": ("content",),
}
_RULES = {
    "allow": [
        *("Bash(git diff:*)", "Bash(git *)", "Bash(pytest *)", "Bash(npm run test *)", "Bash(ls *)", "Bash(tail *)"),
        *("Edit(/src/**)", "Read(/src/**)", "Read(//var/log/**)", "WebSearch", "mcp__tracker", "mcp__ide__*"),
        *(f"Bash(tool-{number} *)" for number in range(30)),
    ],
    "ask": ["Bash(git push *)", "Bash(docker *)"],
    "deny": ["Bash(rm -rf *)", "Read(.env)", "WebFetch(domain:never.example)", "Bash(go *)"],
}
"""As many as a user has after some months."""
_BRANCHES = "['main', 'main', 'main', 'fix/timeouts', 'feature/export', 'release', 'try/cache']"
_VARIED = (
    f"update requests set git_branch = {_BRANCHES}[1 + cast(hash(turn_id) % 7 as int)] where git_branch is not null",
    f"update turn_context set git_branch = {_BRANCHES}[1 + cast(hash(turn_id) % 7 as int)]"
    " where git_branch is not null",
    f"update tool_calls set result_json = to_json(left(result_json, {_LONGEST_RESULT}))"
    f" where length(result_json) > {_LONGEST_RESULT}",
    "create temp table forked as select label from sessions where is_subagent = 0 and hash(label) % 20 = 0",
    "insert into session_turns select session_label || '-fork', turn_id from session_turns"
    " where session_label in (from forked)",
    "insert into session_history select cast(hash(id) >> 1 as bigint), session_label || '-fork', thread_id, changed_at"
    " from session_history where session_label in (from forked)",
    "insert into session_context select * replace (label || '-fork' as label) from session_context"
    " where label in (from forked)",
    "insert into sessions select * replace (label || '-fork' as label) from sessions where label in (from forked)",
)


def write_ledger(target: Path, messages: int, *, has_texts: bool = True) -> Manifest:
    """Write at least so many messages into a new ledger."""
    with TemporaryDirectory() as folder, duckdb.connect(config={"threads": 2, "memory_limit": "2GB"}) as pattern:
        size = min(_MEGABYTES, messages * _BYTES_PER_MESSAGE / 1e6)
        compressed = _make_pattern(pattern, Path(folder), size, has_texts=has_texts)
        per_copy = _count(pattern, "messages")
        copies = range(math.ceil(messages / per_copy))
        step = _Copies(pattern, copies, max(1, LARGEST_BYTES // compressed))
        return commit(target, Change(adds=step, derived=DerivedData(PriceTable()))).version


@dataclass(frozen=True)
class _Copies:
    """Copies of the rows of a database, in groups of some each."""

    pattern: duckdb.DuckDBPyConnection
    copies: range
    copies_per_group: int

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        """Return a version that has them, and nothing else."""
        written: dict[str, list[Segment]] = {}
        families: dict[str, dict[int, int]] = {}
        for table in TABLES.values():
            if not _count(self.pattern, table.name):
                continue
            of_table = range(1) if table.name in _ONCE else self.copies
            for first in range(0, len(of_table), self.copies_per_group):
                numbers = of_table[first : first + self.copies_per_group]
                batches = (batch for number in numbers for batch in _copy(self.pattern, table, number))
                group = "beside" if table.name in _ONCE else f"{first:032x}"
                written.setdefault(table.name, []).append(stage.write(table, batches, group))
                nodes = ((node, number) for number in numbers for node in _nodes(self.pattern, table, number))
                families.setdefault(group, {}).update((node, _component(table, number)) for node, number in nodes)
        version = msgspec.structs.replace(
            base,
            tables={name: tuple(segments) for name, segments in written.items()},
            indexes={group: stage.write_index(Index.of(each)) for group, each in families.items()},
            components=len(self.copies) + 1,
        )
        return version, None


def _make_pattern(pattern: duckdb.DuckDBPyConnection, folder: Path, megabytes: float, *, has_texts: bool) -> int:
    """Import generated logs, take the rows into the database, and return how many bytes their files have."""
    logs, ledger = folder / "logs", folder / "ledger"
    write_logs(logs, megabytes, largest_context=_LARGEST_CONTEXT)
    (logs / "managed-settings.json").write_text(json.dumps({"permissions": _RULES}), "utf-8")
    aix.import_histories([logs], ledger)
    manifest = read_latest(ledger)
    pattern.execute("create schema imported; set schema = 'imported'")
    create_views(pattern, ledger, manifest)
    pattern.execute("set schema = 'main'")
    names = [name for name in TABLES if in_conversations(TABLES[name]) or name in _ONCE]
    for name in TABLES:
        rows = f"select {_columns(TABLES[name], has_texts=has_texts)} from imported.{name}"
        pattern.execute(f"create table {name} as {rows}{'' if name in names else ' where false'}")
    for statement in _VARIED:
        pattern.execute(statement)
    kept = [name for name in names if has_texts or name not in _TEXTS]
    return sum(segment.size_bytes or 0 for name in kept for segment in manifest.tables.get(name, ()))


def _columns(table: Table, *, has_texts: bool) -> str:
    left_out = () if has_texts else _TEXTS.get(table.name, ())
    empty = {column.name: "null" if column.nullable else "'{}'" for column in table}
    return ", ".join(
        f"cast({empty[column.name]} as varchar) as {quote_name(column.name)}"
        if column.name in left_out
        else quote_name(column.name)
        for column in table
    )


def _copy(pattern: duckdb.DuckDBPyConnection, table: Table, number: int) -> Iterator[pa.RecordBatch]:
    """Go through the rows of a table with the ids and times of one copy."""
    columns = ", ".join(_in_copy(table, column, number) for column in table)
    rows = pattern.cursor().sql(f"select {columns} from {table.name} order by rowid").to_arrow_table()
    components = pa.repeat(pa.scalar(_component(table, number), pa.int64()), len(rows))
    yield from rows.cast(arrow_schema(table)).append_column(COMPONENT_FIELD, components).to_batches()


def _component(table: Table, number: int) -> int:
    """A copy is one family; what there is once is another."""
    return 1 if table.name in _ONCE else number + 2


def _nodes(pattern: duckdb.DuckDBPyConnection, table: Table, number: int) -> list[int]:
    """Return the nodes of rows that views are kept by."""
    if table.name not in ("turns", "sessions", "messages", "tool_calls", "requests", *_ONCE):
        return []
    columns = ", ".join(_in_copy(table, column, number) for column in table)
    found = pattern.cursor().sql(f"select {node_expressions(table)[0]} from (select {columns} from {table.name})")
    nodes: list[int] = found.to_arrow_table().column(0).to_pylist()
    return nodes


def _in_copy(table: Table, column: Column, number: int) -> str:
    name = quote_name(column.name)
    if table.name in _ONCE or column.name in _NOT_PER_COPY:
        return name
    if column.unit is Unit.TIME:
        return f"{name} + {number * _MS_BETWEEN_COPIES} as {name}"
    if column.unit is Unit.ID and column.type is Type.BIGINT and column.name in table.key:
        return f"cast(hash({name}, {number}) >> 1 as bigint) as {name}"
    if column.unit is Unit.ID and column.type is Type.VARCHAR:
        return f"{_own_id(name, number)} as {name}"
    if column.name in ("ancestry", "query_message_ids"):
        ids = f"from_json({name}, '[\"VARCHAR\"]')"
        return f"cast(to_json([{_own_id('x', number)} for x in {ids}]) as varchar) as {name}"
    return name


def _own_id(value: str, number: int) -> str:
    """Ids are hashes, and must stay spread as hashes are: what reads files skips by the range of their ids."""
    own = f"upper(substr(md5({value} || '{number}'), 1, 26))"
    return (
        f"case when length({value}) = 26 then {own} when {value} like '%:%' or length({value}) < 20"
        f" then {value} || '~{number}' else left({value}, 6) || {own} end"
    )


def _count(pattern: duckdb.DuckDBPyConnection, table: str) -> int:
    found = pattern.execute(f"select count(*) from {table}").fetchone()
    return int(found[0]) if found else 0


def main() -> None:
    """Write a ledger where the command line says."""
    parser = argparse.ArgumentParser(description="Write a large ledger.")
    parser.add_argument("ledger", type=Path)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--without-texts", action="store_true")
    given = parser.parse_args()
    version = write_ledger(given.ledger, given.messages, has_texts=not given.without_texts)
    for name, segments in version.tables.items():
        size = sum(segment.size_bytes or 0 for segment in segments)
        print(f"{name:22} {sum(segment.rows for segment in segments):12,} rows {size / 1e6:10,.1f} MB")


if __name__ == "__main__":
    main()
