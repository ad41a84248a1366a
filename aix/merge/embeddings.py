"""Vectors of a user's own model: rows beside the conversations, which go with what they stand for.

A vector stands for the text that a turn or program had when it was made. Storing another one replaces it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from aix.derived.derived_data import DerivedData
from aix.merge.groups import Groups
from aix.merge.merge_rows import Addition
from aix.merge.tagging import Entity
from aix.merge.user_rows import gather_user_rows, require_groups
from aix.merge.workspace import open_workspace
from aix.schema import TABLES
from aix.schema.entities import entity_key
from aix.store.commit import Change, Stage, commit
from aix.store.locks import staging_folder
from aix.store.manifest import Manifest
from aix.store.nodes import node_expressions
from aix.store.views import create_views

_EMBEDDINGS = TABLES["embeddings"]
Embedding = tuple[Entity, list[float]]
"""A turn or program, and its vector."""


def add_embeddings(ledger: Path, model: str, embeddings: Sequence[Embedding]) -> int:
    """Store vectors of a model in one commit, and return how many of them stand for something that is still there."""
    require_groups(ledger)
    given = EmbeddingsGiven(model, embeddings)
    earlier = EmbeddingsTaken(model, [entity for entity, _ in embeddings])
    return commit(ledger, Change(leaves=[earlier], adds=given, derived=DerivedData())).result(given)


@dataclass(frozen=True)
class EmbeddingsGiven:
    """Vectors of a model."""

    model: str
    embeddings: Sequence[Embedding]

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, int]:
        """Return a version with these vectors, without those of what was forgotten meanwhile, and their number."""
        there = _there(base, stage, {entity for entity, _ in self.embeddings})
        kept = [(entity, vector) for entity, vector in self.embeddings if entity in there]
        if not kept:
            return base, 0
        columns: dict[str, list[object]] = {
            "entity_type": [entity.table for entity, _ in kept],
            "entity_id": [entity.key for entity, _ in kept],
            "model": [self.model] * len(kept),
            "dim": [len(vector) for _, vector in kept],
            "vec": [vector for _, vector in kept],
        }
        with staging_folder(stage.ledger) as folder:
            version, _ = Addition(gather_user_rows(folder, _EMBEDDINGS, columns)).apply(base, stage)
        return version, len(kept)


@dataclass(frozen=True)
class EmbeddingsTaken:
    """The vectors of a model that these things have."""

    model: str
    entities: Sequence[Entity]

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        """Return a version without them."""
        node = node_expressions(_EMBEDDINGS)[0]
        with open_workspace(stage.ledger) as workspace:
            create_views(workspace.connection, stage.ledger, base, [_EMBEDDINGS.name])
            found = workspace.connection.execute(
                f"select entity_type, entity_id, {node} from embeddings where model = $1", [self.model]
            )
            wanted = set(self.entities)
            nodes = [node for table, key, node in found.fetchall() if Entity(table, key) in wanted]
            if not nodes:
                return base, None
            groups = Groups(base, stage)
            groups.remove_rows(pa.array(nodes, pa.uint64()))
            groups.drop_dead_rows()
            return groups.version(), None


def _there(base: Manifest, stage: Stage, entities: set[Entity]) -> set[Entity]:
    """Return those that a version has."""
    there: set[Entity] = set()
    with duckdb.connect() as connection:
        for table in sorted({entity.table for entity in entities}):
            create_views(connection, stage.ledger, base, [table])
            key = entity_key(TABLES[table])
            keys = [entity.key for entity in entities if entity.table == table]
            found = connection.execute(f"select {key} from {table} where {key} in (select unnest($1))", [keys])
            there.update(Entity(table, key) for (key,) in found.fetchall())
    return there
