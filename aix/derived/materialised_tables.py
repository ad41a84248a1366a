"""Tables that a program derives, kept group by group as a part of a version.

A view file that says `derived` declares such a table; no SQL gives its rows. A commit makes them for the families of
rows that are new to the version, copies those of families that only move to another group, and makes all again when the
views or prices have changed. Some follow from the permission rules of the whole ledger or from the user's file of
personas, and are made again when these change; those that follow from that file alone are in no group.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.derived.cache_key import are_rows_current, in_vain, made_by_now
from aix.errors import LedgerError, QueryFileError
from aix.query.views import library_views
from aix.schema import TABLES
from aix.schema.sql import empty_select, quote_name
from aix.store.manifest import COMPONENT, Manifest, Segment, groups_of, segment_path
from aix.store.views import live_select, stored_rows, tables_named, view_select
from aix.thread_pool import Beside, map_in_threads
from aix.version import FIRST_NUMBERED

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from aix.permissions.derived_tables import Answers
    from aix.permissions.rule_book import RuleBook
    from aix.personas.persona_book import PersonaBook
    from aix.personas.persona_tables import PersonaTables
    from aix.query.query_file import Query
    from aix.store.commit import Stage
    from aix.store.index import Index
    from aix.store.views import StoredRows

_RULES = "permission_rules"


def derived_selects(ledger: Path, manifest: Manifest) -> dict[str, str]:
    """Return for every derived table that is kept in a version a SELECT of its rows."""
    if not are_rows_current(manifest):
        return {}
    return {
        view.name: rows_select(view, stored_rows(ledger, manifest, manifest.views.get(view.name, ())))
        for view in library_views().values()
        if view.derived
    }


def derived_columns(manifest: Manifest) -> dict[str, list[str]]:
    """Return the columns of each derived table that is kept in a version, if they are known."""
    if not are_rows_current(manifest):
        return {}
    views = library_views()
    return {name: [column.name for column in views[name].columns] if name in views else [] for name in manifest.views}


def rows_select(view: "Query", files: "Sequence[StoredRows]") -> str:
    """Return a SELECT of the rows of a view in these files."""
    if not files:
        return empty_select(view.columns)
    return live_select(", ".join(quote_name(column.name) for column in view.columns), files)


def _load() -> None:
    with suppress(Exception):  # which is raised again where it can be explained
        from aix.permissions import derived_tables  # noqa: F401 - with all that splits and judges commands
        from aix.permissions.risks import load_risks

        load_risks()


loading = Beside(_load)
"""Loads what derivation takes, which is half of its time when there is little to derive."""


def keep_views(base: Manifest, new: Manifest, stage: "Stage", personas: "PersonaBook | None" = None) -> Manifest:
    """Return the new version with the derived tables of its groups, and with these personas, else those it has."""
    from aix.permissions.derived_tables import RULE_TABLES
    from aix.personas.persona_book import PersonaBook
    from aix.personas.persona_tables import FILE_TABLES, VERDICTS, stored_tables, tables_of
    from aix.store.engine import engine, engine_errors_of

    made_by = made_by_now(new)
    groups = groups_of(new.tables)
    are_same = base.views_made_by == made_by
    before = groups_of(base.tables) if are_same else {}
    unchanged = {group for group, files in groups.items() if before.get(group) == files}
    of_groups = {name: segments for name, segments in base.views.items() if name not in FILE_TABLES}
    views = {name: [kept for kept in segments if kept.group in unchanged] for name, segments in of_groups.items()}
    try:
        is_of_base = personas is None or (are_same and personas.digest == base.personas)
        known = stored_tables(stage.ledger, base) if is_of_base else tables_of(personas or PersonaBook())
        with engine_errors_of(stage.ledger), engine(stage.ledger) as connection:
            book = _rule_book(connection, stage.ledger, new)
            follow = {
                *(RULE_TABLES if book.digest != base.rules else ()),
                *((VERDICTS,) if known.digest != base.personas else ()),
            }
            for name in follow:
                views.pop(name, None)
            gone = {
                name: [each for each in segments if each.group not in unchanged]
                for name, segments in of_groups.items()
                if are_same and not follow
            }
            for group, files in groups.items():
                wanted = follow if group in unchanged else None
                made = _Group(stage, new, group, files, known, base.components if gone else 0, gone)
                for name, segment in made.write(connection, book, wanted):
                    views.setdefault(name, []).append(segment)
        for name in FILE_TABLES:
            if is_of_base and are_same:
                views[name] = [*base.views.get(name, ())]
            elif batch := known.batch(name):
                views[name] = [stage.write_view(name, batch.schema, [batch], None)]
    except (LedgerError, QueryFileError):
        # Nothing that a log says keeps it from being imported; who asks the view is told what is wrong.
        return msgspec.structs.replace(new, views={}, views_made_by=in_vain(made_by), rules=None, personas=None)
    kept = {name: tuple(segments) for name, segments in views.items() if segments}
    return msgspec.structs.replace(new, views=kept, views_made_by=made_by, rules=book.digest, personas=known.digest)


def _rule_book(connection: "duckdb.DuckDBPyConnection", ledger: Path, version: Manifest) -> "RuleBook":
    """Return the permission rules of a version; those of all groups, because a rule speaks of calls anywhere."""
    from aix.permissions.derived_tables import RULES_IN_FORCE, read_rule_book
    from aix.permissions.rule_book import RuleBook

    if _RULES not in version.tables:
        return RuleBook()
    selects = {name: view_select(TABLES[name], ledger, version) for name in tables_named([RULES_IN_FORCE])}
    return read_rule_book(connection, _with_clause(selects))


@dataclass(frozen=True)
class _Group:
    """A group of files, and what follows from its rows."""

    _stage: "Stage"
    _version: Manifest
    _name: str | None
    _files: Mapping[str, Sequence[Segment]]
    _personas: "PersonaTables"
    _last_known: int
    """Families up to this number come from groups that are gone."""
    _gone: Mapping[str, Sequence[Segment]]
    """By table: the rows that followed from the families of these groups, and still do."""

    def write(
        self, connection: "duckdb.DuckDBPyConnection", book: "RuleBook", wanted: Container[str] | None
    ) -> Iterator[tuple[str, Segment]]:
        """Write each derived table of the group, or only those that are wanted, unless it has no rows."""
        views = [view for view in library_views().values() if view.derived and view.kept_with in self._files]
        names = [view.name for view in views if wanted is None or view.name in wanted]
        if not names:
            return
        index = index_of(self._stage.ledger, self._version, self._name)
        answers: dict[str, list[Answers]] = {name: [] for name in names}
        if index is None or index.has_families_after(self._last_known):
            loading.wait()
            from aix.permissions.derived_tables import derived_rows

            tables = self._tables(is_numbered=index is not None)
            is_numbered = index is not None
            found = derived_rows(
                connection, names, book, tables=tables, personas=self._personas, is_numbered=is_numbered
            )
            for name, each in found:
                answers[name].append(each)

        def write(name: str) -> Segment | None:
            own = (each.rows() for each in answers[name])
            batches = chain(own, self._known_rows(name, index))
            first = next(batches, None)
            chained = chain([first], batches) if first else ()
            return first and self._stage.write_view(name, first.schema, chained, self._name)

        for name, segment in zip(names, map_in_threads(write, names), strict=True):
            if segment:
                yield name, segment

    def _tables(self, *, is_numbered: bool) -> str:
        """Return the tables that derivation reads as a WITH clause; of families that are known, no call or rule."""
        from aix.permissions.derived_tables import sources_with

        part = part_of(self._version, self._files)
        selects: dict[str, str] = {}
        for name in tables_named(sources_with(self._personas)):
            files = stored_rows(self._stage.ledger, part, part.tables.get(name, ()))
            select = live_select("*", files) if files else empty_select(TABLES[name])
            is_asked = is_numbered and files and name in ("permission_decisions", _RULES)
            selects[name] = f"{select} where {COMPONENT} > {self._last_known}" if is_asked else select
        return _with_clause(selects)

    def _known_rows(self, name: str, index: "Index | None") -> Iterator["pa.RecordBatch"]:
        """Go through the rows that follow from families of groups that are gone, as they were written there."""
        if index is None or not self._last_known:
            return
        import pyarrow as pa
        import pyarrow.compute as pc

        from aix.store.segments import read_row_groups

        families = index.families.cast(pa.int64())
        for segment in self._gone.get(name, ()):
            for rows in read_row_groups(segment_path(self._stage.ledger, segment)):
                known = rows.filter(pc.is_in(rows.column(COMPONENT), value_set=families))
                if len(known):
                    yield from known.to_batches()


def _with_clause(selects: Mapping[str, str]) -> str:
    return "with " + ", ".join(f"{quote_name(name)} as ({select})" for name, select in selects.items())


def part_of(version: Manifest, files: Mapping[str, Sequence[Segment]]) -> Manifest:
    """Return a version of these files and all their rows: what follows from a family does so also when it is dead."""
    tables = {name: tuple(segments) for name, segments in files.items()}
    return msgspec.structs.replace(version, tables=tables, dead={})


def index_of(ledger: Path, version: Manifest, group: str | None) -> "Index | None":
    """Return the index of a group of a version, dead families included; None where families have no numbers."""
    from aix.store.index import StoredIndex

    if group is None or version.schema_version < FIRST_NUMBERED:
        return None
    return StoredIndex(ledger, version.indexes[group]).whole
