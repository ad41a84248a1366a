"""The cache of views: rows that take long to compute, in a file for each group of files and view.

    LEDGER/cache/GROUP/VIEW-DIGEST.parquet

A view says `kept: by family with TABLE` when each of its rows follows from the rows of one family and from prices, and
a family without rows in that table gives none. Its rows are then computed group by group, by the first reader who asks
for them: an import pays nothing for them. They are no part of a version. The digest in the name changes with the views
and prices, so a file is either missing or right; a file of no bytes stands for no rows. Where the cache cannot be
written, readers ask the view's SQL, which gives the same rows, only later. Files go with their group, by `aix vacuum`
and `aix forget`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from aix.errors import LedgerDamagedError, LedgerError, QueryFileError
from aix.ledger.durable import make_folder, new_file, remove, writing_to
from aix.ledger.keeping import derived_selects, rows_select
from aix.ledger.manifest import CACHE_FOLDER, Manifest, Segment, check_folders, groups_of
from aix.ledger.provenance import PRICES, rows_digest
from aix.ledger.stored_files import is_regular
from aix.ledger.views import create_views, tables_named
from aix.library.views import create_library_views, library_views, with_foundations
from aix.schema.sql import quote_name

if TYPE_CHECKING:
    import duckdb

    from aix.library.query import Query

_BATCH_ROWS = 10_000


def cached_views() -> frozenset[str]:
    """Return the names of the views that have a cache."""
    return frozenset(view.name for view in library_views().values() if view.kept_with and not view.derived)


def cached_selects(ledger: Path, manifest: Manifest, names: Iterable[str]) -> dict[str, str]:
    """Return a SELECT of the cached rows of each of these views; rows that are missing are computed first.

    A view is left out when its rows cannot be computed or kept: its SQL gives them, or says why.
    """
    views = [library_views()[name] for name in names]
    groups = [_CachedGroup(ledger, manifest, name, files) for name, files in groups_of(manifest.tables).items()]
    missing = [(group, wanted) for group in groups if (wanted := [view for view in views if group.lacks(view)])]
    if missing:
        _compute(ledger, missing)
    return {
        view.name: rows_select(view, [path for group in groups for path in group.paths(view)])
        for view in views
        if not any(group.lacks(view) for group in groups)
    }


def _compute(ledger: Path, missing: "Iterable[tuple[_CachedGroup, Sequence[Query]]]") -> None:
    from aix.ledger.engine import engine
    from aix.ledger.workbench import engine_errors_of

    with suppress(LedgerError, QueryFileError, OSError), engine_errors_of(ledger), engine(ledger):
        for group, views in missing:
            with engine(ledger) as connection:
                group.compute(connection, views)


class _CachedGroup:
    """A group of files, and what the cache has of it."""

    def __init__(self, ledger: Path, manifest: Manifest, name: str | None, files: dict[str, list[Segment]]) -> None:
        self._ledger = ledger
        self._folder = ledger / CACHE_FOLDER / (name or _ungrouped(manifest))
        self._digest = rows_digest(manifest)
        own = {table: tuple(segments) for table, segments in files.items() if table != PRICES}
        derived = {
            view: tuple(each for each in segments if each.group == name) for view, segments in manifest.views.items()
        }
        prices = {PRICES: manifest.tables.get(PRICES, ())}
        self._part = msgspec.structs.replace(manifest, tables={**own, **prices}, views=derived)

    def _path(self, view: "Query") -> Path:
        return self._folder / f"{view.name}-{self._digest}.parquet"

    def _gives_rows(self, view: "Query") -> bool:
        return view.kept_with in self._part.tables

    def lacks(self, view: "Query") -> bool:
        """Whether the rows of a view have yet to be computed."""
        return self._gives_rows(view) and not is_regular(self._path(view))

    def paths(self, view: "Query") -> list[Path]:
        """Return the file of a view's rows, unless there are no rows."""
        return [self._path(view)] if self._gives_rows(view) and self._path(view).stat().st_size else []

    def compute(self, connection: "duckdb.DuckDBPyConnection", views: "Sequence[Query]") -> None:
        """Compute the rows of views, and of those that they stand on."""
        kept = derived_selects(self._ledger, self._part)
        order = with_foundations((view.name for view in views), library_views(), kept)
        if any(view.derived and view.name not in kept for view in order):
            raise LedgerDamagedError(self._folder, "the tables that a program derives were not made by this AIX")
        create_views(connection, self._ledger, self._part, tables_named(view.sql for view in order))
        for view in order:
            is_cached = view.name in cached_views()
            if not is_cached or self.lacks(view):
                create_library_views(connection, [view], kept, self._ledger)
            if is_cached:
                if self.lacks(view):
                    self._write(connection, view)
                create_library_views(connection, [view], {view.name: rows_select(view, self.paths(view))}, self._ledger)

    def _write(self, connection: "duckdb.DuckDBPyConnection", view: "Query") -> None:
        from aix.ledger.row_groups import Pace, RowGroupWriter
        from aix.ledger.streaming import start_reader

        check_folders(self._ledger)
        part = self._folder / f".{uuid4().hex}.part"
        # Of the view, as readers ask: of a statement that is not in a view, DuckDB 1.2 can lose the rows where another
        # table is empty.
        rows = start_reader(connection, f"from {quote_name(view.name)}", _BATCH_ROWS)
        first = next(rows, None)
        with writing_to(self._ledger):
            make_folder(self._folder)
            try:
                with new_file(part) as file:
                    if first is not None:
                        with RowGroupWriter(file, rows.schema, Pace.READ_OFTEN) as writer:
                            for batch in chain([first], rows):
                                writer.write(batch)
                part.replace(self._path(view))
            finally:
                remove(part)


def _ungrouped(manifest: Manifest) -> str:
    """Name the files that are in no group: those of a ledger that an early AIX wrote change as a whole."""
    return f"ungrouped-{manifest.version}"


def abandoned_caches(ledger: Path, versions: Sequence[Manifest]) -> Iterator[Path]:
    """Go through the folders of the cache whose group is in none of these versions."""
    groups = {group for version in versions for group in (*version.indexes, _ungrouped(version))}
    with suppress(FileNotFoundError):
        for folder in (ledger / CACHE_FOLDER).iterdir():
            if folder.name not in groups and folder.is_dir() and not folder.is_symlink():
                yield folder
