"""Ledgers of a few sessions about different things, whose turns are compared."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from aix.merge import groups as ledger_groups
from aix.search.words import words_of
from tests.support.conversations import call, message, request, session, turn
from tests.support.row_batches import Rows, deliver

TIDES = [
    ("When is the next spring tide in the harbour?", "Springs follow the new moon by two days."),
    ("Draw the tide table for March.", "I wrote the table of tides to march.csv."),
]
QUEUE = [
    ("The token bucket refills too slowly, why?", "Its clock counts milliseconds, and the refill expects seconds."),
    ("Fix the refill of the bucket.", "The bucket is refilled by seconds now."),
]
SHIPS = [("Which ships are moored in the harbour tonight?", "Three ships, and a tug.")]
SECRET = "npm_" + "q7ZkM4xWb9TrNd2LcVy8HsGp5JfRa3EuQwXn"
"""Made up, and in two pieces, so that no scanner finds it here."""


def talk(name: str, exchanges: Sequence[tuple[str, str]], *, calls: bool = True) -> Rows:
    """A session of prompts and answers, whose turns are named by it and their place."""
    ids = [f"{name}-{number}" for number in range(len(exchanges))]
    above: list[str | None] = [None, *ids]
    return {
        "turns": [
            turn(each, parent, 1_000 * place) for place, (each, parent) in enumerate(zip(ids, above, strict=False), 1)
        ],
        "messages": [
            row
            for each, (prompt, answer) in zip(ids, exchanges, strict=True)
            for row in (
                message(f"p-{each}", each, "user", content=prompt),
                message(f"a-{each}", each, "assistant", content=answer, sequence=1),
            )
        ],
        "requests": [request(f"r-{each}", each, model="m") for each in ids],
        "sessions": [session(name, ids[-1])],
        "session_turns": [{"session_label": name, "turn_id": each} for each in ids],
        "tool_calls": [call(f"c-{name}", ids[0], result_json=f'"{SECRET} bulk of a result"')] if calls else [],
    }


PROGRAMS: Rows = {
    "programs": [
        {
            "id": "tide-notes",
            "program_type": "information",
            "config_json": '{"content": "Spring tides and neap tides"}',
        },
        {"id": "harbour-task", "program_type": "task", "config_json": '{"title": "Count ships in the harbour"}'},
        {"id": "queue-agent", "program_type": "agent", "config_json": '{"name": "Keeper of the token bucket"}'},
    ]
}
ALL = (talk("tides", TIDES), talk("queue", QUEUE), talk("ships", SHIPS), PROGRAMS)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger of three sessions and three programs; nobody imports into it."""
    ledger = tmp_path_factory.mktemp("similar") / "ledger"
    deliver(ledger, *ALL)
    return ledger


@pytest.fixture
def several_groups() -> Iterator[None]:
    """Leave small groups of files apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_groups, "_TIMES_LARGER", 0)
        yield


def embed_words(text: str) -> list[float]:
    """Count words by their first letter: a model that a test can foresee."""
    vector = [0.0] * 26
    for word in words_of(text):
        if "a" <= word[0] <= "z":
            vector[ord(word[0]) - ord("a")] += 1
    return vector if any(vector) else [1.0] * 26
