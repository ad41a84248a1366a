"""A ledger that grows by one known step per commit, its rows made in worker processes.

Step N makes a session one turn longer, or begins the next one beside another that rests, and adds a small session that
shares its first turn.
Run as a program, it goes on from the step that the ledger is at, and says each step that it has committed:

    python -m tests.support.growing_ledger LEDGER STEPS
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from aix.errors import WorkerDiedError
from aix.merge import groups
from aix.merge.merge_rows import add
from aix.merge.row_batches import Delivery, Files
from aix.schema import TABLES
from aix.store.locks import staging_folder
from aix.store.manifest import count_rows, is_ledger, read_latest
from aix.workers import map_in_workers
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.row_batches import Rows
from tests.support.sample_ledger import batch_from_rows

SESSION_TURNS = 5
RESTING_TURNS = 30


def rows_of_step(step: int, part: int) -> Rows:
    """The rows of one of the two sources of a step."""
    number = step // SESSION_TURNS
    ids = [f"t-{number}-{place}" for place in range(step % SESSION_TURNS + 1)]
    if part == 0:
        # Beside a session that rests and is larger, the one that grows leaves dead rows.
        resting = [f"r-{number}-{place}" for place in range(RESTING_TURNS if step % SESSION_TURNS == 0 else 0)]
        rest = _conversation(f"rest-{number}", resting) if resting else {}
        return {name: [*rows, *rest.get(name, ())] for name, rows in _conversation(f"long-{number}", ids).items()}
    tags = [{"entity_type": "step", "entity_id": str(step), "tag": "done", "added_at": step}]
    return {**_conversation(f"fork-{step}", [ids[0], f"f-{step}"]), "tags": tags}


def _conversation(label: str, ids: list[str]) -> Rows:
    pairs = list(enumerate(zip(ids, [None, *ids], strict=False)))
    return {
        "turns": [turn(turn_id, above, place + 1) for place, (turn_id, above) in pairs],
        "turn_context": [context(turn_id) for turn_id in ids],
        "messages": [message(f"m-{turn_id}", turn_id, "user", content=f"{turn_id} " * 50) for turn_id in ids],
        "tool_calls": [call(f"c-{turn_id}", turn_id) for turn_id in ids],
        "requests": [request(f"r-{turn_id}", turn_id, input_tokens=3) for turn_id in ids],
        "sessions": [session(label, ids[-1], len(ids))],
    }


def make_delivery(order: tuple[Path, int, int]) -> Iterator[Files]:
    """Write what a source says into a folder; this is what the workers do."""
    folder, step, part = order
    folder.mkdir(mode=0o700)
    with Delivery(folder) as delivery:
        for name, rows in rows_of_step(step, part).items():
            delivery.add(f"{step}-{part}", TABLES[name], batch_from_rows(TABLES[name], rows))
    yield delivery.files()


def step_of(ledger: Path) -> int:
    """Return how many steps a ledger has made."""
    return count_rows(read_latest(ledger), "tags") if is_ledger(ledger) else 0


def grow(ledger: Path, steps: int) -> Iterator[int]:
    """Go through the steps as they are committed."""
    with staging_folder(ledger) as folder:
        first = step_of(ledger)
        orders = ((folder / f"{step}-{part}", step, part) for step in range(first, first + steps) for part in (0, 1))
        made: dict[int, list[Files]] = {}
        next_step = first
        for (_, step, _), files in map_in_workers(make_delivery, orders, 2):
            if isinstance(files, WorkerDiedError):
                raise files
            made.setdefault(step, []).append(files)
            while len(made.get(next_step, ())) == 2:
                add(ledger, made.pop(next_step))
                next_step += 1
                yield next_step


def leave_dead_rows() -> None:
    """Let a new group take in only much smaller ones: else groups so small never have dead rows."""
    groups._LEAST_BYTES, groups._TIMES_LARGER = 1, 0.5


if __name__ == "__main__":
    leave_dead_rows()
    for step in grow(Path(sys.argv[1]), int(sys.argv[2])):
        print(step, flush=True)
