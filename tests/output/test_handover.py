"""The context of a thread as Markdown: what the model would see next, and no more than is wanted."""

from datetime import UTC
from pathlib import Path

import pytest

import aix
from aix.output.transcript.handover import Handover, hand_over
from aix.output.transcript.model import View
from tests.support.conversations import call, context, message, session, turn
from tests.support.row_batches import Rows, deliver

COUNT = 40


def long_session() -> Rows:
    names = [f"t-{number:02}" for number in range(COUNT)]
    parents = [None, *names[:-1]]
    return {
        "turns": [turn(name, parent, n) for n, (name, parent) in enumerate(zip(names, parents, strict=True))],
        "turn_context": [context(name) for name in names],
        "messages": [
            message(f"{name}-{role}", name, role, number, sequence=place, content=f"{role} {number} " + "x" * 400)
            for number, name in enumerate(names)
            for place, role in enumerate(("user", "assistant"))
        ],
        "sessions": [session("s", names[-1])],
    }


def handed(ledger: Path, thread_id: str, characters: int) -> Handover:
    with aix.open(ledger) as opened:
        return hand_over(opened, thread_id, View(UTC, with_thinking=False), title="Title", characters=characters)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    deliver(folder, long_session())
    return folder


def test_all_turns_are_shown_where_there_is_room(ledger: Path) -> None:
    whole = handed(ledger, "t-39", 100_000)
    assert (whole.turns, whole.left_out) == (COUNT, 0)
    assert next(line for line in whole.lines if line.startswith("## ")) == "## Turn 1 · 1970-01-01 00:00"


@pytest.mark.parametrize("characters", [1_000, 3_000, 9_000, 20_000])
def test_the_latest_turns_stay_within_the_limit(ledger: Path, characters: int) -> None:
    part = handed(ledger, "t-39", characters)
    text = "\n".join(part.lines)
    assert len(text) < characters + 200
    assert part.turns + part.left_out == COUNT
    assert f"{part.left_out} earlier turns left out" in text
    numbers = [line.split()[2] for line in part.lines if line.startswith("## ")]
    assert numbers == [str(number) for number in range(COUNT - part.turns + 1, COUNT + 1)]


def test_an_earlier_turn_ends_where_it_ended(ledger: Path) -> None:
    text = "\n".join(handed(ledger, "t-03", 100_000).lines)
    assert "assistant 3 " in text
    assert "user 4 " not in text


def test_a_turn_that_is_too_long_loses_its_middle_and_no_block_of_code_is_cut(tmp_path: Path) -> None:
    results = [call(f"c-{n}", "t", message_id="a", sequence=n, result_json=f'"line {n} {"y" * 90}"') for n in range(90)]
    rows = {
        "turns": [turn("t")],
        "turn_context": [context("t")],
        "messages": [
            message("u", "t", "user", content="Do it"),
            message("a", "t", "assistant", sequence=1),
            message("b", "t", "assistant", sequence=2, content="Finished"),
        ],
        "tool_calls": results,
        "sessions": [session("s", "t")],
    }
    deliver(tmp_path, rows)
    part = handed(tmp_path, "t", 4_000)
    text = "\n".join(part.lines)
    assert len(text) < 4_300
    assert "Do it" in text
    assert "Finished" in text
    assert "the middle of this turn left out" in text
    assert sum(line.startswith("```") for line in part.lines) % 2 == 0


def test_a_single_text_that_is_too_long_is_cut(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("t")],
        "messages": [message("u", "t", "user", content="long " * 50_000)],
        "sessions": [session("s", "t")],
    }
    deliver(tmp_path, rows)
    assert len("\n".join(handed(tmp_path, "t", 2_000).lines)) < 2_200
