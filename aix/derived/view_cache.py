"""The cache of views: rows that take long to compute, in a file for each group of files and view.

    LEDGER/cache/GROUP/VIEW-DIGEST.parquet

A view says `kept: by family with TABLE` when each of its rows follows from the rows of one family and from prices, and
a family without rows in that table gives none. Its rows are then computed group by group, by the first reader who asks
for them, and not by imports. They are no part of a version. The digest in the name changes with the views and prices,
so a file is either missing or right. Where the cache cannot be written, readers ask the view's SQL, which gives the
same rows, only later. Files go with their group, by `aix vacuum` and `aix forget`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.derived.cache_key import PRICES, rows_digest
from aix.derived.materialised_tables import derived_selects, index_of, part_of, rows_select
from aix.errors import LedgerDamagedError, LedgerError, QueryFileError
from aix.process import load_arrow
from aix.query.views import create_library_views, library_views, with_foundations
from aix.schema import TABLES
from aix.schema.sql import quote_name
from aix.store.cache_files import check_cache, keep_in_cache
from aix.store.durable import make_folder, new_file, writing_to
from aix.store.manifest import CACHE_FOLDER, Manifest, Segment, groups_of, ungrouped_cache
from aix.store.nodes import node_expressions, node_of
from aix.store.stored_files import ends_with
from aix.store.views import create_views, tables_named

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from aix.query.query_file import Query
    from aix.store.index import Index

_SUFFIX = ".parquet"
_END_OF_PARQUET = b"PAR1"
_BATCH_ROWS = 10_000
_IDS = {
    "call_id": ("tool_calls",),
    "compaction_turn_id": ("turns",),
    "message_id": ("messages",),
    "request_id": ("requests",),
    "session_label": ("sessions", "turns"),
    "turn_id": ("turns",),
}
"""Columns of views that name a row by its key, with its table; a turn of no session may stand for one."""


def cached_views() -> frozenset[str]:
    """Return the names of the views that have a cache."""
    return frozenset(view.name for view in library_views().values() if view.kept_with and not view.derived)


def cache_paths(ledger: Path, manifest: Manifest) -> list[Path]:
    """Return every file that the cache can have of a version, whether it is there or not."""
    views = [library_views()[name] for name in cached_views()]
    return [path for group in _groups(ledger, manifest) for view in views for path in group.paths(view)]


def cached_selects(ledger: Path, manifest: Manifest, names: Iterable[str]) -> dict[str, str]:
    """Return a SELECT of the cached rows of each of these views; rows that are missing are computed first.

    A view is left out when its rows cannot be computed or kept: its SQL gives them, or says why.
    """
    views = [library_views()[name] for name in names]
    groups = _groups(ledger, manifest) if views else []
    try:
        for group in groups:
            group.check()
    except LedgerDamagedError:
        return {}
    missing = [(group, wanted) for group in groups if (wanted := [view for view in views if group.lacks(view)])]
    if missing:
        _compute(ledger, missing)
    return {
        view.name: rows_select(view, [(path, group.dead) for group in groups for path in group.paths(view)])
        for view in views
        if not any(group.lacks(view) for group in groups)
    }


def is_cache_of(version: Manifest, path: Path) -> bool:
    """Whether a file in the folder of a group has rows as this AIX computes them for a version."""
    return path.name.endswith(f"-{rows_digest(version)}{_SUFFIX}")


def _groups(ledger: Path, manifest: Manifest) -> list["_CachedGroup"]:
    return [_CachedGroup(ledger, manifest, name, files) for name, files in groups_of(manifest.tables).items()]


def _compute(ledger: Path, missing: "Iterable[tuple[_CachedGroup, Sequence[Query]]]") -> None:
    load_arrow()
    from aix.store.engine import engine, engine_errors_of, one_engine

    with (
        suppress(LedgerError, QueryFileError, OSError),
        writing_to(ledger),
        engine_errors_of(ledger),
        one_engine(ledger, is_reader=True),
    ):
        for group, views in missing:
            group.make_folder()
            with engine(ledger, is_reader=True) as connection:
                group.compute(connection, views)


class _CachedGroup:
    """A group of files, and what the cache has of it."""

    def __init__(self, ledger: Path, manifest: Manifest, name: str | None, files: dict[str, list[Segment]]) -> None:
        self._ledger = ledger
        self._folder = ledger / CACHE_FOLDER / (name or ungrouped_cache(manifest))
        self._digest = rows_digest(manifest)
        own = {table: tuple(segments) for table, segments in files.items() if table != PRICES}
        derived = {
            view: tuple(each for each in segments if each.group == name) for view, segments in manifest.views.items()
        }
        prices = {PRICES: manifest.tables.get(PRICES, ())}
        self._part = msgspec.structs.replace(part_of(manifest, {**own, **prices}), views=derived)
        self._name = name
        self.dead = manifest.dead[name].components if name in manifest.dead else ()
        """Families whose cached rows are no part of the version."""

    def check(self) -> None:
        """Raise LedgerDamagedError when the cache, or the group's folder in it, is a link or no folder."""
        check_cache(self._ledger, self._folder)

    def make_folder(self) -> None:
        """Make the folder of the group, so that nothing is computed which cannot be kept."""
        self.check()
        make_folder(self._folder)

    def paths(self, view: "Query") -> list[Path]:
        """Return the file of a view's rows; none when the group gives the view no rows."""
        path = self._folder / f"{view.name}-{self._digest}{_SUFFIX}"
        return [path] if view.kept_with in self._part.tables else []

    def lacks(self, view: "Query") -> bool:
        """Whether the rows of a view have yet to be computed; a file that was cut short has none."""
        return not all(ends_with(path, _END_OF_PARQUET) for path in self.paths(view))

    def compute(self, connection: "duckdb.DuckDBPyConnection", views: "Sequence[Query]") -> None:
        """Compute the rows of views, and of those that they stand on."""
        kept = derived_selects(self._ledger, self._part)
        order = with_foundations((view.name for view in views), library_views(), kept)
        if any(view.derived and view.name not in kept for view in order):
            raise LedgerDamagedError(self._folder, "the tables that a program derives were not made by this AIX")
        create_views(connection, self._ledger, self._part, tables_named(view.sql for view in order))
        for place, view in enumerate(order):
            if view.name not in cached_views():
                create_library_views(connection, [view], kept, self._ledger)
                continue
            if self.lacks(view):
                create_library_views(connection, [view])
                self._write(connection, view)
            if any(view.name in later.names for later in order[place + 1 :]):
                rows = rows_select(view, [(path, ()) for path in self.paths(view)])
                create_library_views(connection, [view], {view.name: rows}, self._ledger)

    def _write(self, connection: "duckdb.DuckDBPyConnection", view: "Query") -> None:
        from aix.store.segments import Pace, RowGroupWriter

        for path in self.paths(view):
            with (
                keep_in_cache(self._ledger, self._part.version, path) as part,
                _numbered_rows(connection, view, self._index) as rows,
                new_file(part) as file,
                RowGroupWriter(file, rows.schema, Pace.READ_OFTEN) as writer,
            ):
                for batch in rows:
                    writer.write(batch)

    @cached_property
    def _index(self) -> "Index | None":
        return index_of(self._ledger, self._part, self._name)


@contextmanager
def _numbered_rows(
    connection: "duckdb.DuckDBPyConnection", view: "Query", index: "Index | None"
) -> Iterator["pa.RecordBatchReader"]:
    """Give the rows of a view of a group; with its index, each with the number of its family in a last column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from aix.store.engine import computed_rows
    from aix.store.index import COMPONENT_FIELD

    name = quote_name(view.name)
    if index is None:
        with computed_rows(connection, f"from {name}", _BATCH_ROWS) as rows:
            yield rows
        return
    count = len(view.columns)

    def number(batch: pa.RecordBatch) -> pa.RecordBatch:
        components = pc.coalesce(*map(index.components, batch.columns[count:]))
        return batch.select(range(count)).append_column(COMPONENT_FIELD, components)

    with computed_rows(connection, f"select *, {', '.join(_nodes(view))} from {name}", _BATCH_ROWS) as rows:
        schema = pa.schema([*(rows.schema.field(place) for place in range(count)), COMPONENT_FIELD])
        yield pa.RecordBatchReader.from_batches(schema, map(number, rows))


def _nodes(view: "Query") -> list[str]:
    """Return SQL for nodes, of which the first that is known is of the family that a row of a view follows from.

    The first column that has the name of an id names it; in a view without one, the key of the table that it is kept
    with.
    """
    named = next((column.name for column in view.columns if column.name in _IDS), None)
    if named is None:
        return [node_expressions(TABLES[view.kept_with or ""])[0]]
    return [node_of(TABLES[table], named) for table in _IDS[named]]
