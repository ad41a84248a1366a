"""Kept views: what a view of the library makes of the ledger, written down group by group.

A view says `kept: by family` when each of its rows follows from the rows of one family and from prices. What it makes
of a group is then a file like those of the tables: a commit makes it for the groups it writes, and for all of them when
the prices or the views have changed. Whoever reads a view gets the rows of these files, or, where there are none or
another AIX made them, those that the view's SQL gives: the same rows, only later.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.ledger.manifest import PRICE_TABLES, Manifest, Segment, groups_of
from aix.ledger.staging import staging_folder
from aix.ledger.views import create_views, read_files, tables_named
from aix.library.views import create_library_views, library_views, library_views_digest
from aix.schema import SCHEMA_VERSION
from aix.schema.sql import quote_name, quote_text

if TYPE_CHECKING:
    from aix.ledger.commit import Stage
    from aix.library.query import Query

_PRICES = "model_prices"
"""The one table that rows of every group follow from."""
_MEMORY_LIMIT = "256MB"


def are_views_kept(manifest: Manifest) -> bool:
    """Whether all was done to keep the views of a version."""
    made_by = _made_by(manifest)
    return manifest.views_made_by in (made_by, _in_vain(made_by))


def kept_selects(ledger: Path, manifest: Manifest) -> dict[str, str]:
    """Return for every view that is kept in a version a SELECT of its rows."""
    if manifest.views_made_by != _made_by(manifest):
        return {}
    kept = [view for view in library_views().values() if view.is_kept]
    return {view.name: _select(view, ledger, manifest.views.get(view.name, ())) for view in kept}


def _select(view: "Query", ledger: Path, segments: Sequence[Segment]) -> str:
    if not segments:
        nothing = (f"cast(null as {column.type}) as {quote_name(column.name)}" for column in view.columns)
        return f"select {', '.join(nothing)} limit 0"
    names = (quote_name(column.name) for column in view.columns)
    return f"select {', '.join(names)} from {read_files(ledger, segments)}"


def keep_views(base: Manifest, new: Manifest, stage: "Stage") -> Manifest:
    """Return the new version with what the kept views make of its groups."""
    import duckdb

    made_by = _made_by(new)
    groups = groups_of(new.tables)
    before = groups_of(base.tables) if base.views_made_by == made_by else {}
    unchanged = {group for group, files in groups.items() if before.get(group) == files}
    views = {name: [kept for kept in segments if kept.group in unchanged] for name, segments in base.views.items()}
    try:
        for group in groups.keys() - unchanged:
            for name, segment in _make(new, group, groups[group], stage):
                views.setdefault(name, []).append(segment)
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error:
        # Nothing that a log says keeps it from being imported; who asks the view is told what is wrong.
        return msgspec.structs.replace(new, views={}, views_made_by=_in_vain(made_by))
    kept = {name: tuple(segments) for name, segments in views.items() if segments}
    return msgspec.structs.replace(new, views=kept, views_made_by=made_by)


def _made_by(manifest: Manifest) -> str:
    """Return what changes when rows of views would, although their group is as it was.

    Prices of models that are new to a ledger change nothing: no group that was there has requests of them.
    """
    prices = [each.path for each in manifest.tables.get(_PRICES, ()) if not manifest.prices or each.group is not None]
    parts = [library_views_digest(), str(SCHEMA_VERSION), manifest.prices or "", *sorted(prices)]
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def _in_vain(made_by: str) -> str:
    return f"{made_by} failed"


def _make(
    version: Manifest, group: str | None, files: dict[str, list[Segment]], stage: "Stage"
) -> Iterator[tuple[str, Segment]]:
    """Write what each view makes of a group, unless that is nothing."""
    import duckdb

    views = _views_to_keep()
    tables = tables_named(view.sql for view in views)
    if not files.keys() & {*tables} - {*PRICE_TABLES}:
        return
    own = {name: tuple(segments) for name, segments in files.items() if name != _PRICES}
    part = msgspec.structs.replace(version, tables={**own, _PRICES: version.tables.get(_PRICES, ())})
    with (
        staging_folder(stage.ledger) as scratch,
        duckdb.connect(config={"memory_limit": _MEMORY_LIMIT, "threads": 2}) as connection,
    ):
        connection.execute(f"set temp_directory = {quote_text(str(scratch))}")
        create_views(connection, stage.ledger, part, tables)
        for view in views:
            if not view.is_kept:
                create_library_views(connection, [view])
                continue
            # A table, not a view: what stands on it reads it again.
            connection.execute(f"create temp table {quote_name(view.name)} as {view.statement}")
            rows = connection.sql(f"from {quote_name(view.name)}").to_arrow_reader()
            with suppress(StopIteration):
                first = next(rows)
                yield view.name, stage.write_view(view.name, rows.schema, chain([first], rows), group)


def _views_to_keep() -> list["Query"]:
    """Return the kept views and those that they stand on, each after its own."""
    views = library_views()
    needed: set[str] = set()
    for name in reversed(views):
        if name in needed or views[name].is_kept:
            needed |= {name, *(views[name].names & views.keys())}
    return [view for name, view in views.items() if name in needed]
