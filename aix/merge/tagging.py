"""Tags that users give to sessions, turns and anything else that has an id.

A tag is a row of its own beside the conversations: reading a source again leaves it, forgetting what it was given to
removes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from aix.derived.derived_data import DerivedData
from aix.errors import TagError, UnknownNameError
from aix.merge.groups import Groups
from aix.merge.merge_rows import Addition
from aix.merge.user_rows import find_name_problem, gather_user_rows, require_groups
from aix.merge.workspace import Delivered, open_workspace
from aix.query.views import create_library_views, library_views, with_foundations
from aix.schema import TABLES
from aix.schema.entities import NODES, VIEW_OF_NODES, entity_key
from aix.store.commit import Change, Stage, commit
from aix.store.locks import staging_folder
from aix.store.manifest import Manifest, read_latest
from aix.store.nodes import node_expressions
from aix.store.views import create_views

LONGEST_TAG = 100
_TAGS = TABLES["tags"]


@dataclass(frozen=True, order=True)
class Entity:
    """Something that can have tags: a row of a table, by its id (`aix.schema.entities.entity_key`)."""

    table: str
    key: str


def check_tag(tag: str) -> None:
    """Raise `TagError` for a text that cannot be a tag."""
    problem = find_name_problem(tag, LONGEST_TAG)
    if problem:
        raise TagError(tag, problem)


def add_tag(ledger: Path, tag: str, entities: Sequence[Entity], added_at: int) -> list[Entity]:
    """Give a tag to things in the ledger, in one commit, and return those that did not have it."""
    check_tag(tag)
    read_latest(ledger)
    columns: dict[str, list[object]] = {
        "entity_type": [entity.table for entity in entities],
        "entity_id": [entity.key for entity in entities],
        "tag": [tag] * len(entities),
        "added_at": [added_at] * len(entities),
    }
    with staging_folder(ledger) as folder:
        given = TagGiven(tag, entities, gather_user_rows(folder, _TAGS, columns))
        return commit(ledger, Change(adds=given, derived=DerivedData())).result(given)


def remove_tag(ledger: Path, tag: str, entities: Sequence[Entity] | None = None) -> list[Entity]:
    """Take a tag from things, or from all that have it, in one commit, and return those that had it."""
    require_groups(ledger)
    taken = TagTaken(tag, entities)
    return commit(ledger, Change(leaves=[taken], derived=DerivedData())).result(taken)


@dataclass(frozen=True)
class TagGiven:
    """A tag for things in the ledger, and the rows that say so."""

    tag: str
    entities: Sequence[Entity]
    rows: Delivered

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, list[Entity]]:
        """Return a version with these rows, and what did not have the tag."""
        with duckdb.connect() as connection:
            tables = {entity.table for entity in self.entities}
            create_views(connection, stage.ledger, base, {_TAGS.name, *tables})
            if NODES.name in tables:
                create_views(connection, stage.ledger, base, ["dag_events"])
                create_library_views(connection, with_foundations([VIEW_OF_NODES], library_views()))
            _check_there(connection, self.entities)
            having = _having(connection, self.tag)
        version, _ = Addition(self.rows).apply(base, stage)
        return version, [entity for entity in self.entities if entity not in having]


@dataclass(frozen=True)
class TagTaken:
    """The rows that give a tag to these things, or to all that have it."""

    tag: str
    entities: Sequence[Entity] | None

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, list[Entity]]:
        """Return a version without these rows, and what had the tag."""
        with open_workspace(stage.ledger) as workspace:
            create_views(workspace.connection, stage.ledger, base, [_TAGS.name])
            having = _having(workspace.connection, self.tag)
            had = sorted(having if self.entities is None else having.keys() & set(self.entities))
            if not had:
                return base, had
            groups = Groups(base, stage)
            groups.remove_rows(pa.array([having[entity] for entity in had], pa.uint64()))
            groups.drop_dead_rows()
            return groups.version(), had


def _check_there(connection: duckdb.DuckDBPyConnection, entities: Sequence[Entity]) -> None:
    """Another writer may have forgotten what was there when its name was looked up."""
    for table in {entity.table for entity in entities}:
        column = entity_key(TABLES[table])
        keys = {entity.key for entity in entities if entity.table == table}
        rows = VIEW_OF_NODES if table == NODES.name else table
        found = connection.execute(f"select {column} from {rows} where {column} in (select unnest($1))", [list(keys)])
        if gone := sorted(keys - {key for (key,) in found.fetchall()}):
            raise UnknownNameError(table.removesuffix("s"), gone[0], ())


def _having(connection: duckdb.DuckDBPyConnection, tag: str) -> dict[Entity, int]:
    """Return what has the tag, each with the node of the row that says so."""
    node = node_expressions(_TAGS)[0]
    found = connection.execute(f"select entity_type, entity_id, {node} from tags where tag = $1", [tag])
    return {Entity(table, key): node for table, key, node in found.fetchall()}
