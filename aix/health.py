"""Checks of a ledger for inconsistencies.

Each SQL file in `queries/health` that has a severity is one check: it returns the rows that break an invariant, and its
header says which one and how bad that is. Checks run in bounded memory, whatever the ledger holds. Other files there
show how things are, and judge nothing.

    for finding in check(Path("ledger")):
        print(finding.name, finding.status, finding.count)
"""

import tempfile
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from aix.errors import LedgerDamagedError, UnknownNameError
from aix.query.packs import find_query, own_query_names
from aix.query.query_file import Query
from aix.query.views import create_library_views, library_views, views_named
from aix.reading.database import can_have_rows
from aix.store.manifest import EMPTY, Manifest, dead_in, manifest_path, read_latest, read_manifest, segments_of
from aix.store.views import create_views

if TYPE_CHECKING:
    import duckdb

_PACK = "health/"
_ROWS_AT_ONCE = 1_000
_IDS_SHOWN = 5
# Two threads each hold one row group of long texts at a time, a few times over; DuckDB does not count all of that
# towards its limit, so the limit is half of what the whole process may need.
_LIMITS = {"threads": "2", "memory_limit": "256MB", "preserve_insertion_order": "false"}


class Severity(StrEnum):
    """How bad it is when an invariant is broken."""

    HARD = "hard"
    WARNING = "warning"


class Status(StrEnum):
    """The status of a check."""

    OK = "ok"
    ALARM = "alarm"
    INFO = "info"
    """Something was found that may be right."""
    SKIP = "skip"
    """There was nothing to check against."""


class OffendingRow(NamedTuple):
    """A row that breaks an invariant, and why."""

    table_name: str
    row_id: str
    reason: str


@dataclass(frozen=True)
class Finding:
    """The findings of one check."""

    name: str
    invariant: str
    severity: Severity
    status: Status
    count: int
    first_ids: tuple[str, ...]
    reason: str
    """A sentence: what is wrong with the first row, or what holds."""


def check_names() -> tuple[str, ...]:
    """Return the names of all checks."""
    return tuple(name.removeprefix(_PACK) for name in own_query_names() if name.startswith(_PACK) and _is_check(name))


@cache
def _is_check(name: str) -> bool:
    return find_query(name).severity is not None


def find_check(name: str) -> Query:
    """Return the check of that name, or say which names come near.

    >>> find_check("parent_exists").invariant
    'I2a'
    """
    if name not in check_names():
        raise UnknownNameError("check", name, check_names())
    return find_query(_PACK + name)


def check(ledger: Path) -> list[Finding]:
    """Run all checks on the newest version of the ledger."""
    with examine(ledger) as examination:
        return [examination.run(find_check(name)) for name in check_names()]


class Examination:
    """One version of a ledger, opened to be checked."""

    def __init__(
        self,
        connection: "duckdb.DuckDBPyConnection",
        ledger: Path,
        *,
        has_previous: bool,
        without_rows: Container[str] = (),
    ) -> None:
        self._connection = connection
        self._ledger = ledger
        self._has_previous = has_previous
        self._without_rows = without_rows
        """The checks that can find nothing: the tables without which they have no rows are empty."""

    def run(self, query: Query) -> Finding:
        """Run one check."""
        first: list[OffendingRow] = []
        count = 0
        for row in self.offending_rows(query):
            count += 1
            if count <= _IDS_SHOWN:
                first.append(row)
        severity = Severity(query.severity or "")
        status, reason = self._judge(query, severity, first)
        return Finding(
            query.name.removeprefix(_PACK),
            query.invariant or "",
            severity,
            status,
            count,
            tuple(row.row_id for row in first),
            reason,
        )

    def offending_rows(self, query: Query) -> Iterator[OffendingRow]:
        """Go through the rows that break the invariant."""
        import duckdb

        if query.name in self._without_rows:
            return
        try:
            result = self._run(query.sql)
            while rows := result.fetchmany(_ROWS_AT_ONCE):
                yield from map(OffendingRow._make, rows)
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise LedgerDamagedError(self._ledger, f"the check {query.name} cannot be made: {error}") from error

    def _run(self, sql: str) -> "duckdb.DuckDBPyConnection":
        """Run a query, and where memory is short once more with one thread: each thread holds a part of every join."""
        import duckdb

        try:
            return self._connection.execute(sql)
        except duckdb.OutOfMemoryException:
            self._connection.execute("set threads = 1")  # for the other checks too, which are as large
            return self._connection.execute(sql)

    def _judge(self, query: Query, severity: Severity, first: list[OffendingRow]) -> tuple[Status, str]:
        if first:
            return Status.ALARM if severity is Severity.HARD else Status.INFO, first[0].reason
        if query.needs == "previous" and not self._has_previous:
            return Status.SKIP, "There is no earlier version to compare with."
        return Status.OK, f"{query.title}."


@contextmanager
def examine(ledger: Path) -> Iterator[Examination]:
    """Open the newest version of a ledger for checks, and the one before it in the schema `previous`."""
    import duckdb

    from aix.derived.materialised_tables import derived_columns
    from aix.store.segments import check_segments

    manifest = read_latest(ledger)
    previous = _read_previous(ledger, manifest)
    check_segments(ledger, manifest, derived_columns(manifest))
    with (
        tempfile.TemporaryDirectory(prefix="aix-check-") as folder,
        duckdb.connect(config={**_LIMITS, "temp_directory": folder}) as connection,
    ):
        connection.execute("set enable_progress_bar = false")  # DuckDB would draw it on stdout
        connection.execute("create schema previous; set schema = 'previous'")
        create_views(connection, ledger, EMPTY if previous is None else _without_shared_files(previous, manifest))
        connection.execute("set schema = 'main'")
        create_views(connection, ledger, manifest)
        checks = [find_check(name) for name in check_names()]
        without_rows = {query.name for query in checks if not can_have_rows(query, manifest)}
        chosen = [query for query in checks if query.name not in without_rows]
        _create_library_views(connection, ledger, manifest, chosen)
        yield Examination(connection, ledger, has_previous=previous is not None, without_rows=without_rows)


def _create_library_views(
    connection: "duckdb.DuckDBPyConnection", ledger: Path, manifest: Manifest, checks: Iterable[Query]
) -> None:
    """Create the views of the library that checks read; what a program derives is made here where it is not kept."""
    import duckdb

    from aix.derived.materialised_tables import derived_selects
    from aix.derived.view_cache import cached_selects, cached_views
    from aix.permissions.derived_tables import derive, read_rule_book
    from aix.personas.persona_tables import stored_tables

    words = {word for query in checks for word in query.names}
    kept = derived_selects(ledger, manifest)
    cached = views_named(" ".join(words), library_views(), cached_views() | kept.keys())
    kept |= cached_selects(ledger, manifest, [view.name for view in cached if view.name in cached_views()])
    needed = views_named(" ".join(words), library_views(), kept)
    derived = [view.name for view in needed if view.derived and view.name not in kept]
    try:
        if derived:
            derive(connection, derived, read_rule_book(connection), personas=stored_tables(ledger, manifest))
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise LedgerDamagedError(ledger, f"what the checks read cannot be made: {error}") from error
    create_library_views(connection, [view for view in needed if view.name not in derived], kept, ledger)


def _read_previous(ledger: Path, manifest: Manifest) -> Manifest | None:
    if manifest.replaces_rows:
        return None
    path = manifest_path(ledger, manifest.version - 1)
    return read_manifest(path) if path.exists() else None


def _without_shared_files(previous: Manifest, current: Manifest) -> Manifest:
    """Leave out the files that the current version has too, with the same dead families: their rows cannot be gone."""
    shared = {each for each in segments_of(current) if dead_in(previous, each) == dead_in(current, each)}
    tables = {
        name: tuple(segment for segment in segments if segment not in shared)
        for name, segments in previous.tables.items()
    }
    return msgspec.structs.replace(previous, tables=tables)
