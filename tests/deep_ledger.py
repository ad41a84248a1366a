"""Ledgers of many turns in one tree, whose ancestries together are far larger than everything else in them."""

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from aix.ids import h63, ulid
from aix.ledger.commit import Stage, commit
from aix.ledger.manifest import Manifest, Segment
from aix.schema import TABLES
from aix.schema.checks import batch_from_rows
from tests.sample_ledger import Row

_ROW_GROUP_BYTES = 16 * 2**20


def chain_parents(turns: int) -> list[int | None]:
    """Every turn follows the one before."""
    return [None, *range(turns - 1)]


def tree_parents(turns: int) -> list[int | None]:
    """Every turn follows one of those before, by chance."""
    dice = random.Random(20260205)
    return [None, *(dice.randrange(turn) for turn in range(1, turns))]


def write_deep_ledger(ledger: Path, parents: list[int | None]) -> None:
    """Write a ledger that breaks nothing; every tenth turn is a compaction that kept the first turn of all."""
    ids = [ulid("turn", "deep", str(number)) for number in range(len(parents))]
    inner = {parent for parent in parents if parent is not None}
    leaves = [number for number in range(len(parents)) if number not in inner]
    compactions = range(10, len(parents), 10)
    rows: dict[str, list[Row]] = {
        "turns": [
            {
                "id": ids[number],
                "parent_turn_id": None if parent is None else ids[parent],
                "turn_type": "compaction" if number and number % 10 == 0 else "normal",
                "status": "completed",
                "started_at": number,
                "has_children": int(number in inner),
            }
            for number, parent in enumerate(parents)
        ],
        "sessions": [
            {"label": f"s-{leaf}", "thread_id": ids[leaf], "persona_id": "p", "created_at": 0, "updated_at": leaf}
            for leaf in leaves
        ],
        "session_history": [
            {
                "id": h63("session_history", f"s-{leaf}", ids[leaf], leaf),
                "session_label": f"s-{leaf}",
                "thread_id": ids[leaf],
                "changed_at": leaf,
            }
            for leaf in leaves
        ],
        "compactions": [
            {
                "turn_id": ids[number],
                "summary": "",
                "summarized_through_turn_id": ids[parents[number] or 0],
                "first_kept_turn_id": ids[0],
                "model": "m",
            }
            for number in compactions
        ],
    }

    def change(base: Manifest, stage: Stage) -> dict[str, list[Segment]]:  # noqa: ARG001 - there is no base
        segments = {
            name: [stage.write(TABLES[name], [batch_from_rows(TABLES[name], table_rows)])]
            for name, table_rows in rows.items()
        }
        return segments | {"threads": [stage.write(TABLES["threads"], _thread_batches(ids, parents))]}

    commit(ledger, change)


def _thread_batches(ids: list[str], parents: list[int | None]) -> Iterator[pa.RecordBatch]:
    """Go through the threads in batches of bounded size, each of which becomes a row group."""
    still_needed = {parent: number for number, parent in enumerate(parents) if parent is not None}
    ancestries: dict[int, str] = {}
    depths: list[int] = []
    rows: list[Row] = []
    size = 0
    for number, parent in enumerate(parents):
        above = "[" if parent is None else ancestries[parent][:-1] + ","
        ancestry = f'{above}"{ids[number]}"]'
        depths.append(1 if parent is None else depths[parent] + 1)
        ancestries[number] = ancestry
        if parent is not None and still_needed[parent] == number:
            del ancestries[parent]
        if number not in still_needed:
            del ancestries[number]
        size += len(ancestry)
        rows.append({"turn_id": ids[number], "ancestry": ancestry, "depth": depths[number]})
        if size > _ROW_GROUP_BYTES:
            yield batch_from_rows(TABLES["threads"], rows)
            rows, size = [], 0
    if rows:
        yield batch_from_rows(TABLES["threads"], rows)
