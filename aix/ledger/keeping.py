"""Kept views: what a view of the library makes of the ledger, written down group by group.

A view says `kept: by family with TABLE` when each of its rows follows from the rows of one family and from prices, and
a family without rows in that table gives none. What it makes of a group is then a file like those of the tables: a
commit makes it for the groups it writes, and for all of them when the prices or the views have changed. Whoever reads a
view gets the rows of these files, or, where there are none or another AIX made them, those that the view's SQL gives:
the same rows, only later. Rows that no SQL gives are derived by a program, in the same way; some of them follow from
the permission rules of the whole ledger, and are made anew when these change.
"""

from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.errors import LedgerError, QueryFileError
from aix.ledger.manifest import Manifest, Segment, groups_of
from aix.ledger.provenance import PRICES, are_rows_current, in_vain, made_by_now
from aix.ledger.views import create_views, read_files, tables_named
from aix.library.views import create_library_views, library_views
from aix.schema.sql import quote_name

if TYPE_CHECKING:
    from aix.ledger.commit import Stage
    from aix.library.query import Query
    from aix.permissions.rule_book import RuleBook

_BATCH_ROWS = 10_000
_RULES = "permission_rules"


def kept_selects(ledger: Path, manifest: Manifest) -> dict[str, str]:
    """Return for every view that is kept in a version a SELECT of its rows."""
    if not are_rows_current(manifest):
        return {}
    kept = [view for view in library_views().values() if view.kept_with]
    return {view.name: _select(view, ledger, manifest.views.get(view.name, ())) for view in kept}


def _select(view: "Query", ledger: Path, segments: Sequence[Segment]) -> str:
    if not segments:
        nothing = (f"cast(null as {column.type}) as {quote_name(column.name)}" for column in view.columns)
        return f"select {', '.join(nothing)} limit 0"
    names = (quote_name(column.name) for column in view.columns)
    return f"select {', '.join(names)} from {read_files(ledger, segments)}"


def keep_views(base: Manifest, new: Manifest, stage: "Stage") -> Manifest:
    """Return the new version with what the kept views make of its groups."""
    from aix.ledger.workbench import engine_errors_of
    from aix.permissions.derivation import RULE_TABLES

    made_by = made_by_now(new)
    groups = groups_of(new.tables)
    before = groups_of(base.tables) if base.views_made_by == made_by else {}
    unchanged = {group for group, files in groups.items() if before.get(group) == files}
    views = {name: [kept for kept in segments if kept.group in unchanged] for name, segments in base.views.items()}
    try:
        with engine_errors_of(stage.ledger):
            book = _rule_book(new, stage)
            follow_rules: Collection[str] = RULE_TABLES if book.digest != base.rules else ()
            for name in follow_rules:
                views.pop(name, None)
            for group, files in groups.items():
                wanted = follow_rules if group in unchanged else None
                for name, segment in _make(new, group, files, stage, book, wanted):
                    views.setdefault(name, []).append(segment)
    except (LedgerError, QueryFileError):
        # Nothing that a log says keeps it from being imported; who asks the view is told what is wrong.
        return msgspec.structs.replace(new, views={}, views_made_by=in_vain(made_by), rules=None)
    kept = {name: tuple(segments) for name, segments in views.items() if segments}
    return msgspec.structs.replace(new, views=kept, views_made_by=made_by, rules=book.digest)


def _rule_book(version: Manifest, stage: "Stage") -> "RuleBook":
    """Return the permission rules of a version; those of all groups, because a rule speaks of calls anywhere."""
    from aix.ledger.engine import engine
    from aix.permissions.derivation import RULES_IN_FORCE, read_rule_book
    from aix.permissions.rule_book import RuleBook

    if _RULES not in version.tables:
        return RuleBook()
    with engine(stage.ledger) as connection:
        create_views(connection, stage.ledger, version, tables_named([RULES_IN_FORCE]))
        return read_rule_book(connection)


def _make(
    version: Manifest,
    group: str | None,
    files: dict[str, list[Segment]],
    stage: "Stage",
    book: "RuleBook",
    wanted: Container[str] | None,
) -> Iterator[tuple[str, Segment]]:
    """Write what each view makes of a group, or only those that are wanted, unless that is nothing."""
    from aix.ledger.engine import catalog_of, engine
    from aix.ledger.streaming import start_reader
    from aix.permissions.derivation import SOURCES, derive

    views = [view for view in _views_to_keep(files) if wanted is None or view.name in wanted]
    if not views:
        return
    derived = [view.name for view in views if view.derived]
    tables = tables_named([*(view.sql for view in views), *(SOURCES if derived else ())])
    own = {name: tuple(segments) for name, segments in files.items() if name != PRICES}
    part = msgspec.structs.replace(version, tables={**own, PRICES: version.tables.get(PRICES, ())})
    with engine(stage.ledger) as connection:
        catalog = catalog_of(connection)
        create_views(connection, stage.ledger, part, tables)
        derive(connection, derived, book)
        for view in views:
            name = quote_name(view.name)
            if not view.derived:
                create_library_views(connection, [view])
            if not view.kept_with:
                continue
            if not view.derived:
                # A table, because what stands on it reads it again; of the view, as readers ask: of a statement that is
                # not in a view, DuckDB 1.2 can lose the rows where another table is empty.
                connection.execute(f"create temp table {name} as select * from {catalog}.main.{name}")
                connection.execute(f"drop view {catalog}.main.{name}")
            rows = start_reader(connection, f"from {name}", _BATCH_ROWS)
            with suppress(StopIteration):
                first = next(rows)
                yield view.name, stage.write_view(view.name, rows.schema, chain([first], rows), group)


def _views_to_keep(tables: Container[str]) -> list["Query"]:
    """Return the views that give rows where there are these tables, and those they stand on, each after its own."""
    views = library_views()
    needed: set[str] = set()
    for name in reversed(views):
        if name in needed or views[name].kept_with in tables:
            needed |= {name, *(views[name].names & views.keys())}
    return [view for name, view in views.items() if name in needed]
