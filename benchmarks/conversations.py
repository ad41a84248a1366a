"""Generated conversations with texts of real sizes, as fast as they can be made.

A session has 20 turns of 8 calls; lengths of messages and results follow a Pareto distribution, as those of real logs
do, and the text compresses about as well as theirs.
"""

import random
from collections.abc import Iterator

import pyarrow as pa

from aix.ids import ulid
from aix.schema import TABLES
from aix.schema.arrow import arrow_schema

CALLS = 8
_WORDS = 20_000
_TEXT_CHARACTERS = 8_000_000
Row = dict[str, object]


class Text:
    """An endless supply of text."""

    def __init__(self) -> None:
        dice = random.Random(1)
        words = ["".join(dice.choices("etaoinshrdlu_.", k=dice.randint(2, 9))) for _ in range(_WORDS)]
        chosen = (words[int(dice.random() ** 3 * _WORDS)] for _ in range(_TEXT_CHARACTERS // 5))
        self._text = " ".join(chosen)

    def cut(self, dice: random.Random, length: int) -> str:
        """Return so many characters."""
        start = dice.randrange(len(self._text) - length)
        return self._text[start : start + length]


def session_rows(text: Text, number: int, turns: int = 20) -> dict[str, list[Row]]:
    """Return the rows of a session; with more turns it is the same session, grown."""
    label = f"bench:{number}"
    began = 1_700_000_000_000 + number * 10_000_000
    rows: dict[str, list[Row]] = {}
    parent = None
    for place in range(turns):
        dice = random.Random(f"{number}/{place}")
        turn_id = ulid("turn", "bench", f"{number}/{place}")
        for name, row in _turn_rows(text, dice, turn_id, parent, label, began + place * 60_000):
            rows.setdefault(name, []).append(row)
        parent = turn_id
    head: Row = {"label": label, "thread_id": parent, "persona_id": "bench", "origin": "bench"}
    rows["sessions"] = [{**head, "created_at": began, "updated_at": began + turns * 60_000}]
    return rows


def batches(rows: dict[str, list[Row]]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Go through the rows as batches of their tables."""
    for name, listed in rows.items():
        table = TABLES[name]
        defaults = {column.name: column.default for column in table}
        yield name, pa.RecordBatch.from_pylist([{**defaults, **row} for row in listed], arrow_schema(table))


def _turn_rows(
    text: Text, dice: random.Random, turn_id: str, parent: str | None, label: str, at: int
) -> Iterator[tuple[str, Row]]:
    yield "turns", {"id": turn_id, "parent_turn_id": parent, "started_at": at, "workspace_path": "/home/ada/project"}
    yield "turn_context", {"turn_id": turn_id, "origin": "bench", "turn_key": turn_id, "git_branch": "main"}
    yield "session_turns", {"session_label": label, "turn_id": turn_id}
    yield from _message_rows(text, dice, turn_id, "user", 0, at, 200)
    for number in range(CALLS):
        then = at + number * 5_000
        place = 1 + 2 * number
        message_id = ulid("msg", turn_id, str(place))
        yield from _message_rows(
            text, dice, turn_id, "assistant", place, then, int(dice.paretovariate(1.2) * 80) % 4_000
        )
        yield from _message_rows(text, dice, turn_id, "tool", place + 1, then + 900, 0)
        call_id = f"call_{turn_id}_{number}"
        yield (
            "requests",
            {
                "id": ulid("req", call_id),
                "turn_id": turn_id,
                "session_label": label,
                "message_id": message_id,
                "requested_at": then,
                "model": "model-x",
                "provider": "vendor",
                "input_tokens": dice.randrange(50),
                "output_tokens": dice.randrange(2_000),
                "cache_read_tokens": dice.randrange(150_000),
                "cache_write_tokens": dice.randrange(5_000),
            },
        )
        yield (
            "tool_calls",
            {
                "id": call_id,
                "turn_id": turn_id,
                "message_id": message_id,
                "tool_name": "Bash",
                "params_json": f'{{"command":"{text.cut(dice, 80)}"}}',
                "result_json": f'"{text.cut(dice, int(dice.paretovariate(1.1) * 400) % 30_000)}"',
                "status": "completed",
                "started_at": then,
                "completed_at": then + 900,
                "sequence": number,
            },
        )
        yield "tool_call_facts", {"call_id": call_id, "params_bytes": 80, "result_bytes": 400}
        yield (
            "permission_decisions",
            {"call_id": call_id, "turn_id": turn_id, "class": "exec", "raw_target": "make", "outcome": "ran"},
        )
    yield from _message_rows(text, dice, turn_id, "assistant", 2 * CALLS + 1, at + 50_000, 800)


def _message_rows(
    text: Text, dice: random.Random, turn_id: str, role: str, place: int, at: int, length: int
) -> Iterator[tuple[str, Row]]:
    message_id = ulid("msg", turn_id, str(place))
    yield (
        "messages",
        {
            "id": message_id,
            "turn_id": turn_id,
            "role": role,
            "content": text.cut(dice, length) if length else None,
            "source": None if role == "assistant" else "human",
            "sequence": place,
            "created_at": at,
            "metadata_json": f'{{"uuid":"{message_id}"}}',
        },
    )
    yield "message_facts", {"message_id": message_id, "text_chars": length, "position": place}
