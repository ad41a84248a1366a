"""Derived columns follow from the other rows, also from rows that came earlier, later, or from another source."""

import json
from pathlib import Path

import pytest

from aix.ids import h63
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.row_batches import Rows, deliver, rows_of
from tests.support.sample_conversation import Row

pytestmark = pytest.mark.long

QUESTION = message("q", "T", "user")
ANSWER = message("a", "T", "assistant", 2)
CHILD = turn("U", "T", 5)
COMPACTION = turn("K", "T", 5, turn_type="compaction")
CONTINUATION = turn("N", "K", 6)
CONTINUES = context("N", continues_turn_id="T")


def turn_after(ledger: Path, *given: Rows) -> Row:
    """Join rows into a ledger, one commit each, and return the turn T."""
    for rows in given:
        deliver(ledger, rows)
    return next(row for row in rows_of(ledger, "turns") if row["id"] == "T")


STATUSES: list[tuple[str, str, Rows]] = [
    ("only a question", "pending", {"messages": [QUESTION]}),
    ("nothing at all", "pending", {}),
    ("an answer", "completed", {"messages": [QUESTION, ANSWER]}),
    ("an open call", "streaming", {"messages": [QUESTION, ANSWER], "tool_calls": [call("c", "T", "pending")]}),
    (
        "a call that is completed and has no result",
        "streaming",
        {"messages": [QUESTION, ANSWER], "tool_calls": [call("c", "T", result_json=None)]},
    ),
    ("a failed call", "completed", {"messages": [QUESTION, ANSWER], "tool_calls": [call("c", "T", "failed")]}),
    (
        "a result that nobody answered",
        "streaming",
        {
            "messages": [QUESTION, ANSWER, message("r", "T", "tool", 3)],
            "tool_calls": [call("c", "T")],
        },
    ),
    (
        "an answer after the result",
        "completed",
        {"messages": [QUESTION, ANSWER, message("r", "T", "tool", 3), message("b", "T", "assistant", 4)]},
    ),
    ("an interruption", "failed", {"messages": [ANSWER], "turn_context": [context("T", is_interrupted=True)]}),
    (
        "an error instead of an answer",
        "failed",
        {"messages": [ANSWER], "message_facts": [{"message_id": "a", "is_error": True}]},
    ),
    (
        "an error that was got over",
        "completed",
        {
            "messages": [ANSWER, message("b", "T", "assistant", 3)],
            "message_facts": [{"message_id": "a", "is_error": True}],
        },
    ),
    ("a child but no answer", "failed", {"messages": [QUESTION], "turns": [CHILD]}),
    ("a child and an answer", "completed", {"messages": [QUESTION, ANSWER], "turns": [CHILD]}),
    (
        "a child and an open call",
        "failed",
        {"messages": [ANSWER], "turns": [CHILD], "tool_calls": [call("c", "T", "running")]},
    ),
    (
        "cut by a compaction before the answer",
        "completed",
        {"messages": [QUESTION], "turns": [COMPACTION, CONTINUATION], "turn_context": [CONTINUES]},
    ),
    (
        "cut by a compaction with a call open",
        "failed",
        {
            "messages": [QUESTION, ANSWER],
            "turns": [COMPACTION, CONTINUATION],
            "turn_context": [CONTINUES],
            "tool_calls": [call("c", "T", "pending")],
        },
    ),
    ("compacted and never continued", "failed", {"messages": [QUESTION], "turns": [COMPACTION]}),
    (
        "cut, and also followed by another turn",
        "failed",
        {"messages": [QUESTION], "turns": [COMPACTION, CONTINUATION, CHILD], "turn_context": [CONTINUES]},
    ),
    ("a compaction", "completed", {"turns": [turn("T", turn_type="compaction")]}),
    (
        "the last turn of a subagent whose task ended",
        "completed",
        {"messages": [QUESTION], "sessions": [session("s", "T", is_subagent=1, task_status="completed")]},
    ),
    (
        "the last turn of a subagent whose task failed",
        "failed",
        {"messages": [QUESTION], "sessions": [session("s", "T", is_subagent=1, task_status="failed")]},
    ),
    (
        "the last turn of a subagent that runs",
        "pending",
        {"messages": [QUESTION], "sessions": [session("s", "T", is_subagent=1, task_status="running")]},
    ),
    (
        "an ended task with a call open",
        "streaming",
        {
            "messages": [ANSWER],
            "tool_calls": [call("c", "T", "pending")],
            "sessions": [session("s", "T", is_subagent=1, task_status="completed")],
        },
    ),
    (
        "an ended task whose last turn failed by itself",
        "failed",
        {
            "turn_context": [context("T", is_interrupted=True)],
            "sessions": [session("s", "T", is_subagent=1, task_status="completed")],
        },
    ),
]


@pytest.mark.parametrize(("status", "rows"), [case[1:] for case in STATUSES], ids=[case[0] for case in STATUSES])
def test_the_status_of_a_turn(tmp_path: Path, status: str, rows: Rows) -> None:
    found = turn_after(tmp_path, {"turns": [turn("T")]}, rows)
    assert found["status"] == status
    assert (found["completed_at"] is None) == (status in ("pending", "streaming"))


def test_a_turn_ends_with_its_last_sign_of_activity(tmp_path: Path) -> None:
    given = {"turns": [turn("T", started_at=100)], "messages": [message("a", "T", "assistant", 150)]}
    assert turn_after(tmp_path, given)["completed_at"] == 150
    assert turn_after(tmp_path, {"tool_calls": [call("c", "T", completed_at=170)]})["completed_at"] == 170
    assert turn_after(tmp_path, {"turn_context": [context("T", ended_at=190)]})["completed_at"] == 190
    assert turn_after(tmp_path, {"tool_calls": [call("d", "T", "pending")]})["completed_at"] is None


def test_tokens_are_the_sums_over_the_requests_of_a_turn(tmp_path: Path) -> None:
    first = {
        "turns": [turn("T")],
        "requests": [
            request("r1", "T", 1, model="old", provider="one", input_tokens=1, output_tokens=2, cache_read_tokens=None),
            request("r2", "T", 2, model="new", provider=None, output_tokens=30),
            request("side", None, 3, model="other", output_tokens=1_000),
        ],
    }
    found = turn_after(tmp_path, first)
    assert (found["input_tokens"], found["output_tokens"], found["cached_input_tokens"]) == (1, 32, None)
    assert (found["total_tokens"], found["model"], found["provider"]) == (33, "new", None)
    grown = {"requests": [request("r2", "T", 2, output_tokens=50, cache_write_tokens=7)]}
    found = turn_after(tmp_path, grown)
    assert (found["output_tokens"], found["cache_write_tokens"], found["total_tokens"]) == (52, 7, 60)


def test_the_model_is_that_of_the_last_request_of_the_turn_whenever_it_was_sent(tmp_path: Path) -> None:
    requests = [request("r1", "T", 10, seq=0, model="first"), request("r2", "T", 7, seq=1, model="second")]
    assert turn_after(tmp_path, {"turns": [turn("T")], "requests": requests})["model"] == "second"


def test_a_provider_is_known_where_no_model_is(tmp_path: Path) -> None:
    requests = [request("r1", "T", provider="acme")]
    found = turn_after(tmp_path, {"turns": [turn("T")], "requests": requests})
    assert (found["model"], found["provider"]) == (None, "acme")


def test_unknown_tokens_are_null_and_a_stated_model_stands_in(tmp_path: Path) -> None:
    stated = context("T", stated_model="m", stated_provider="v")
    found = turn_after(tmp_path, {"turns": [turn("T")], "turn_context": [stated], "requests": [request("r", "T")]})
    assert [found[name] for name in ("input_tokens", "output_tokens", "total_tokens")] == [None, None, None]
    assert (found["model"], found["provider"]) == ("m", "v")


def test_sums_beyond_what_a_column_holds_do_not_stop_an_import(tmp_path: Path) -> None:
    huge = [request(name, "T", input_tokens=2**62) for name in ("r1", "r2")]
    child = {"turns": [turn("U", "T", 2)], "requests": [request("r3", "U", input_tokens=2**62)]}
    found = turn_after(tmp_path, {"turns": [turn("T")], "requests": huge}, child)
    assert (found["input_tokens"], found["total_tokens"]) == (None, None)
    threads = {row["turn_id"]: row["total_tokens"] for row in rows_of(tmp_path, "threads")}
    assert threads == {"T": None, "U": 2**62}


def test_messages_are_numbered_in_the_order_of_the_log_that_shows_most(tmp_path: Path) -> None:
    whole = {
        "turns": [turn("T")],
        "messages": [message(name, "T", "user", 7) for name in ("c", "a", "b")],
        "message_facts": [{"message_id": name, "position": place} for place, name in enumerate("cab")],
    }
    part = {
        "messages": [message("b", "T", "user", 7), message("x", "T", "user", 8)],
        "message_facts": [{"message_id": "b", "position": 0}, {"message_id": "x", "position": 1}],
    }
    deliver(tmp_path, part)
    found = turn_after(tmp_path, whole)
    assert {row["id"]: row["sequence"] for row in rows_of(tmp_path, "messages")} == {"c": 0, "a": 1, "x": 2, "b": 3}
    assert json.loads(found["query_message_ids"]) == ["c", "a", "x", "b"]


def test_queries_and_response_are_told_by_role_unless_stated(tmp_path: Path) -> None:
    given = {
        "turns": [turn("T")],
        "messages": [
            message("note", "T", "system", 1),
            message("ask", "T", "user", 2),
            message("text", "T", "assistant", 3),
            message("thought", "T", "assistant", 4),
        ],
    }
    found = turn_after(tmp_path, given)
    assert (json.loads(found["query_message_ids"]), found["response_message_id"]) == (["ask"], "thought")
    facts = [{"message_id": "note", "is_query": True}, {"message_id": "thought", "is_response": False}]
    found = turn_after(tmp_path, {"message_facts": facts})
    assert (json.loads(found["query_message_ids"]), found["response_message_id"]) == (["note", "ask"], "text")


def test_what_calls_used_is_counted_by_outcome(tmp_path: Path) -> None:
    calls = [call(name, "T", sequence=place) for place, name in enumerate(("c1", "c2", "c3"))]
    decisions = [
        {"call_id": name, "turn_id": "T", "class": "write", "raw_target": 'a "b"', "outcome": outcome}
        for name, outcome in (("c1", "ran"), ("c2", "not_granted"))
    ]
    found = turn_after(tmp_path, {"turns": [turn("T")], "tool_calls": calls, "permission_decisions": decisions})
    assert found["tool_call_count"] == 3
    assert json.loads(found["permissions_used"]) == [
        {
            "tool": "Edit",
            "class": "write",
            "target": 'a "b"',
            "n": 2,
            "ok": 1,
            "failed": 0,
            "denied": 1,
            "calls": ["c1", "c2"],
        },
        {"tool": "Edit", "class": None, "target": None, "n": 1, "ok": 1, "failed": 0, "denied": 0, "calls": ["c3"]},
    ]


def threads_by_id(ledger: Path) -> dict[str, tuple[list[str], int, int | None]]:
    return {
        row["turn_id"]: (json.loads(row["ancestry"]), row["depth"], row["total_tokens"])
        for row in rows_of(ledger, "threads")
    }


def test_a_parent_that_arrives_later_moves_the_whole_tree_under_it(tmp_path: Path) -> None:
    deliver(
        tmp_path, {"turns": [turn("C", "B", 3), turn("D", "C", 4)], "requests": [request("r", "D", input_tokens=1)]}
    )
    assert threads_by_id(tmp_path) == {"C": (["C"], 1, None), "D": (["C", "D"], 2, 1)}
    deliver(tmp_path, {"turns": [turn("X", None, 1)]})
    deliver(tmp_path, {"turns": [turn("B", "A", 2)], "turn_context": [context("B"), context("D")]})
    deliver(tmp_path, {"turns": [turn("A", None, 1)], "requests": [request("s", "A", input_tokens=10)]})
    assert threads_by_id(tmp_path) == {
        "A": (["A"], 1, 10),
        "B": (["A", "B"], 2, 10),
        "C": (["A", "B", "C"], 3, 10),
        "D": (["A", "B", "C", "D"], 4, 11),
        "X": (["X"], 1, None),
    }
    assert {row["id"]: row["has_children"] for row in rows_of(tmp_path, "turns")} == {
        "A": 1,
        "B": 1,
        "C": 1,
        "D": 0,
        "X": 0,
    }
    assert {row["turn_id"]: row["root_turn_id"] for row in rows_of(tmp_path, "turn_context")} == {"B": "A", "D": "A"}


def test_turns_that_are_each_others_ancestors_end_nothing_but_their_own_story(tmp_path: Path) -> None:
    rows = [turn("A", "B"), turn("B", "C"), turn("C", "A"), turn("D", "C"), turn("S", "S")]
    deliver(tmp_path, {"turns": rows})
    assert {turn_id: thread[0] for turn_id, thread in threads_by_id(tmp_path).items()} == {
        "A": ["A"],
        "C": ["A", "C"],
        "B": ["A", "C", "B"],
        "D": ["A", "C", "D"],
        "S": ["S"],
    }


def test_ids_of_any_characters_stay_valid_json(tmp_path: Path) -> None:
    odd = 'a"b\\c\n日本'
    deliver(tmp_path, {"turns": [turn(odd), turn("T", odd, 2)], "messages": [message(odd, "T", "user")]})
    assert threads_by_id(tmp_path)["T"][0] == [odd, "T"]
    assert json.loads(next(row for row in rows_of(tmp_path, "turns") if row["id"] == "T")["query_message_ids"]) == [odd]


def test_a_thread_keeps_what_its_source_says(tmp_path: Path) -> None:
    deliver(tmp_path, {"threads": [{"turn_id": "T", "persona_id": "ada", "thread_key": "k"}]})
    [early] = rows_of(tmp_path, "threads")
    assert (early["persona_id"], early["ancestry"], early["depth"]) == ("ada", None, None)
    deliver(tmp_path, {"turns": [turn("T")]})
    [whole] = rows_of(tmp_path, "threads")
    assert (whole["persona_id"], whole["thread_key"], whole["ancestry"]) == ("ada", "k", '["T"]')


def test_the_head_is_that_of_the_latest_state_in_any_order(tmp_path: Path) -> None:
    turns = [turn("A", None, 1), turn("B", "A", 2), turn("C", "A", 3)]
    states = [session("s", "A", 1), session("s", "C", 3), session("s", "B", 2)]
    for name, order in (("forwards", states), ("backwards", states[::-1])):
        for state in order:
            deliver(tmp_path / name, {"turns": turns, "sessions": [state]})
        [found] = rows_of(tmp_path / name, "sessions")
        assert (found["thread_id"], found["updated_at"]) == ("C", 3)


def movements(ledger: Path, label: str) -> list[tuple[int, str]]:
    rows = [row for row in rows_of(ledger, "session_history") if row["session_label"] == label]
    assert all(row["id"] == h63("session_history", label, row["thread_id"], row["changed_at"]) for row in rows)
    return sorted((row["changed_at"], row["thread_id"]) for row in rows)


def test_history_shows_every_turn_of_a_session_and_ends_with_its_head(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("A", None, 10), turn("B", "A", 20), turn("C", "A", 30)],
        "sessions": [session("s", "C", 40), session("old", "B", 25, status="archived")],
        "session_turns": [{"session_label": "s", "turn_id": turn_id} for turn_id in "ABC"],
    }
    deliver(tmp_path, rows)
    assert movements(tmp_path, "s") == [(10, "A"), (20, "B"), (30, "C")]
    assert movements(tmp_path, "old") == [(20, "B")]
    deliver(tmp_path, {"sessions": [session("s", "B", 50)]})
    assert movements(tmp_path, "s") == [(10, "A"), (20, "B"), (30, "C"), (50, "B")]


def test_a_session_that_is_over_keeps_its_history_and_a_branch_left_behind_has_its_end(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("A"), turn("B", "A", 2), turn("C", "A", 3)],
        "sessions": [session("over", "B", status="archived"), session("branch", "C", status="archived")],
        "session_turns": [{"session_label": "over", "turn_id": name} for name in "AB"],
    }
    deliver(tmp_path, rows)
    found = {(row["session_label"], row["thread_id"]) for row in rows_of(tmp_path, "session_history")}
    assert found == {("over", "A"), ("over", "B"), ("branch", "C")}


def test_history_ends_with_the_head_when_times_tie(tmp_path: Path) -> None:
    rows = {"turns": [turn("A", None, 10), turn("B", "A", 10)], "sessions": [session("s", "B", 10)]}
    deliver(tmp_path, rows)
    assert movements(tmp_path, "s") == [(10, "A"), (10, "B"), (11, "B")]


def test_turns_summarized_are_those_since_the_compaction_before(tmp_path: Path) -> None:
    def compaction(turn_id: str, through: str) -> Row:
        return {"turn_id": turn_id, "summary": "s", "summarized_through_turn_id": through, "model": "m"}

    chain = ["A", "B", "K1", "C", "K2", "K3"]
    turns = [
        turn(name, above, place, turn_type="compaction" if name.startswith("K") else "normal")
        for place, (name, above) in enumerate(zip(chain, [None, *chain], strict=False))
    ]
    rows = [compaction("K1", "B"), compaction("K2", "C"), compaction("K3", "K3")]
    deliver(tmp_path, {"turns": turns, "compactions": rows})
    found = {row["turn_id"]: row["turns_summarized"] for row in rows_of(tmp_path, "compactions")}
    assert found == {"K1": 2, "K2": 1, "K3": None}


def test_a_continuation_is_named_in_the_turn_it_continues(tmp_path: Path) -> None:
    rows = {"turns": [turn("T"), COMPACTION, CONTINUATION], "turn_context": [context("T"), CONTINUES]}
    deliver(tmp_path, rows)
    found = {row["turn_id"]: row["continued_by_turn_id"] for row in rows_of(tmp_path, "turn_context")}
    assert found == {"T": "N", "N": None}


def test_a_guess_stays_a_guess_until_something_is_read(tmp_path: Path) -> None:
    mark = {"table_name": "turns", "row_key": "T", "column_name": "started_at", "basis": "neighbours"}
    guess = {"turns": [turn("T", started_at=5)], "inferred_values": [mark]}
    assert turn_after(tmp_path, guess)["started_at"] == 5
    assert rows_of(tmp_path, "inferred_values") == [mark]
    assert turn_after(tmp_path, {"turns": [turn("T", started_at=9)]})["started_at"] == 9
    assert rows_of(tmp_path, "inferred_values") == []
    assert turn_after(tmp_path, guess)["started_at"] == 9
    assert rows_of(tmp_path, "inferred_values") == []


def test_what_is_null_is_no_guess(tmp_path: Path) -> None:
    mark = {"table_name": "threads", "row_key": "T", "column_name": "persona_id", "basis": "x"}
    deliver(tmp_path, {"turns": [turn("T")], "threads": [{"turn_id": "T"}], "inferred_values": [mark]})
    assert rows_of(tmp_path, "inferred_values") == []


def test_files_of_a_message_are_replaced_as_a_set(tmp_path: Path) -> None:
    def block(place: int, content: str) -> Row:
        return {"id": h63("message_codeblocks", "a", place), "message_id": "a", "idx": place, "content": content}

    deliver(tmp_path, {"turns": [turn("T")], "messages": [ANSWER], "message_codeblocks": [block(0, "whole")]})
    deliver(tmp_path, {"message_codeblocks": [block(0, "x"), block(1, "y")]})
    assert [row["content"] for row in rows_of(tmp_path, "message_codeblocks")] == [
        row["content"] for row in sorted([block(0, "x"), block(1, "y")], key=lambda row: row["id"])
    ]
    newest = deliver(tmp_path, {"message_codeblocks": [block(0, "whole")]})
    assert newest.version == 2, "the smaller set changes nothing"
