"""Ledgers of many turns in one tree, whose ancestries together are far larger than everything else in them.

Run as a program, it joins such a tree into a ledger:

    python -m tests.support.deep_ledger LEDGER chain|tree TURNS
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path

from aix.ids import ulid
from aix.merge.merge_rows import add
from aix.merge.row_batches import Delivery
from aix.schema import TABLES
from aix.store.locks import staging_folder
from tests.support.sample_conversation import Row
from tests.support.sample_ledger import batch_from_rows

_ROWS_AT_ONCE = 1_000


def parents_of(shape: str, turns: int) -> list[int | None]:
    """Every turn follows the one before, or one of those before by chance."""
    if shape == "chain":
        return [None, *range(turns - 1)]
    dice = random.Random(20260205)
    return [None, *(dice.randrange(turn) for turn in range(1, turns))]


def deep_rows(parents: Sequence[int | None]) -> dict[str, list[Row]]:
    """Rows that break nothing; every tenth turn is a compaction that kept the first turn of all."""
    ids = [ulid("turn", "deep", str(number)) for number in range(len(parents))]
    inner = {parent for parent in parents if parent is not None}
    leaves = [number for number in range(len(parents)) if number not in inner]
    return {
        "turns": [
            {
                "id": ids[number],
                "parent_turn_id": None if parent is None else ids[parent],
                "turn_type": "compaction" if number and number % 10 == 0 else "normal",
                "started_at": number,
            }
            for number, parent in enumerate(parents)
        ],
        "sessions": [
            {"label": f"s-{leaf}", "thread_id": ids[leaf], "persona_id": "p", "created_at": 0, "updated_at": leaf}
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
            for number in range(10, len(parents), 10)
        ],
    }


def join_deep_tree(ledger: Path, shape: str, turns: int) -> None:
    with staging_folder(ledger) as folder:
        with Delivery(folder) as delivery:
            for name, rows in deep_rows(parents_of(shape, turns)).items():
                for start in range(0, len(rows), _ROWS_AT_ONCE):
                    batch = batch_from_rows(TABLES[name], rows[start : start + _ROWS_AT_ONCE])
                    delivery.add("deep", TABLES[name], batch)
        add(ledger, [delivery.files()])


if __name__ == "__main__":
    join_deep_tree(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
