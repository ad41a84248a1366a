"""Answers of the queries about compactions in ledgers that no ordinary log gives."""

import pytest

import aix
from aix.reading.ledger import Ledger
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.row_batches import deliver
from tests.support.sample_conversation import Row

HOME = "/home/ada/press"
COMPACTED_AT = 60_000


def _reading(number: int, turn_id: str, at: int, *targets: str) -> dict[str, list[Row]]:
    """Return an answer whose calls read these paths of the workspace."""
    answer = f"answer-{number}"
    calls = {f"call-{number}-{place}": target for place, target in enumerate(targets)}
    return {
        "messages": [message(answer, turn_id, "assistant", at)],
        "message_files": [
            {"id": 2 * number + place, "message_id": answer, "kind": "read", "file_path": f"{HOME}/{name}"}
            for place, name in enumerate(("ink.py", "sub/ink.py"))
        ],
        "tool_calls": [call(each, turn_id, message_id=answer, tool_name="Read", started_at=at) for each in calls],
        "tool_call_facts": [{"call_id": each, "result_chars": 400 * place} for place, each in enumerate(calls, 1)],
        "permission_decisions": [
            {"call_id": each, "turn_id": turn_id, "class": "read", "raw_target": target}
            for each, target in calls.items()
        ],
    }


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Give a session whose clock goes back after its compaction, and whose largest request is another model's."""
    ledger = tmp_path_factory.mktemp("odd") / "ledger"
    turns = ("turn-1", "turn-2", "turn-3")
    rows: dict[str, list[Row]] = {
        "turns": [
            turn("turn-1", workspace_path=HOME),
            turn("turn-2", "turn-1", COMPACTED_AT, turn_type="compaction", workspace_path=HOME),
            turn("turn-3", "turn-2", 30_000, workspace_path=HOME),
        ],
        "turn_context": [context(each) for each in turns],
        "compactions": [
            {
                "turn_id": "turn-2",
                "summary": "…",
                "summarized_through_turn_id": "turn-1",
                "model": "small",
                "tokens_before": 190_000,
            }
        ],
        "requests": [
            request("r-1", "turn-1", 1_000, model="small", input_tokens=190_000, output_tokens=1),
            request("r-2", "turn-3", 31_000, model="small", input_tokens=195_000, output_tokens=1),
            request("r-3", "turn-3", 32_000, model="large", input_tokens=400_000, output_tokens=1),
        ],
        "sessions": [session("log:s", "turn-3")],
        "session_turns": [{"session_label": "log:s", "turn_id": each} for each in turns],
        "tool_calls": [call("edit", "turn-3", started_at=33_000)],
        "permission_decisions": [{"call_id": "edit", "turn_id": "turn-3", "class": "write", "raw_target": "ink.py"}],
    }
    for part in (_reading(1, "turn-1", 2_000, "ink.py"), _reading(2, "turn-3", 32_500, "ink.py", "sub/ink.py")):
        for table, more in part.items():
            rows[table] = rows.get(table, []) + more
    deliver(ledger, rows)
    return aix.open(ledger)


def test_no_time_is_less_than_none_when_a_clock_goes_back(odd: Ledger) -> None:
    assert odd.query("compaction_impact/aftermath").polars()["minutes_to_first_edit"].to_list() == [None]
    [row] = odd.query("compaction_impact/rebound").polars().to_dicts()
    assert (row["is_rebounded"], row["requests"], row["minutes"]) == (True, 1, None)


def test_a_level_that_no_number_can_hold_is_unknown_and_never_reached(odd: Ledger) -> None:
    [row] = odd.query("compaction_impact/rebound", share=1e15).polars().to_dicts()
    assert (row["level_tokens"], row["is_rebounded"], row["ended_by"]) == (None, False, "end")


def test_a_window_is_inferred_from_all_requests_of_a_session(odd: Ledger) -> None:
    assert odd.query("compaction_impact/near_limit", model="small").rows() == []
    [row] = odd.query("compaction_impact/near_limit", model="large", share=0.3).polars().to_dicts()
    assert (row["limit_tokens"], row["peak_tokens"]) == (1_000_000, 400_000)


def test_a_path_means_the_file_in_the_workspace_before_others_that_end_with_it(odd: Ledger) -> None:
    rows = odd.query("compaction_impact/rereads").polars().to_dicts()
    tokens = {row["file_path"].removeprefix(HOME): row["result_tokens"] for row in rows}
    assert tokens == {"/ink.py": 100, "/sub/ink.py": 200}


def test_the_context_after_is_the_next_request_where_nothing_is_stated(odd: Ledger) -> None:
    [row] = odd.compactions().polars().to_dicts()
    assert (row["tokens_after"], row["tokens_after_basis"]) == (195_000, "reported")
