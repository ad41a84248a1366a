"""Answers of the queries about compactions, against figures that were computed by hand: fixtures/library/README.md."""

import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import aix
from aix.output.transcript.compaction import find_compaction, read_detail
from aix.reading.ledger import Ledger
from aix.reading.search import count_microcompactions
from tests.queries.compactions_by_hand import CompactionByHand, compactions_by_hand
from tests.queries.ledger import FIXTURES

_PRESS = "claude-code:a0c0de01-5e55-4000-8000-000000000001"
_SPIRAL = "claude-code:a0c0de04-5e55-4000-8000-000000000001"


def _rows(ledger: Ledger, name: str, **parameters: object) -> list[dict[str, Any]]:
    return ledger.query(f"compaction_impact/{name}", **parameters).polars().to_dicts()


def _place(row: dict[str, Any]) -> tuple[str, str]:
    at = datetime.fromtimestamp(row["compacted_at"] / 1000, UTC)
    return row["session_label"].split(":")[1][:8], f"{at:%H:%M:%S}"


def test_every_compaction_costs_and_saves_what_was_computed_by_hand(filled: Ledger) -> None:
    cost, even = ({_place(row): row for row in _rows(filled, name)} for name in ("cost", "break_even"))
    found = [
        CompactionByHand(
            *_place(row),
            row["tokens_before"],
            row["tokens_after"],
            cost[_place(row)]["summary_tokens"],
            row["turns_summarized"],
            cost[_place(row)]["summarise_cost_usd"],
            cost[_place(row)]["rebuild_premium_usd"],
            even[_place(row)]["saved_per_request_usd"],
            even[_place(row)]["requests_to_break_even"],
            even[_place(row)]["requests_after"],
            even[_place(row)]["net_usd"],
        )
        for row in _rows(filled, "compactions")
    ]
    assert sorted(found, key=lambda each: (each.session, each.at)) == compactions_by_hand()


def test_a_cost_is_computed_only_where_the_summarising_call_has_a_log(filled: Ledger) -> None:
    computed = {_place(row)[0] for row in _rows(filled, "cost") if row["summarise_basis"] == "computed"}
    assert computed == {"a0c0de01", "a0c0de10", "ce85a97b"}


def test_the_log_shows_a_compaction_in_one_of_three_ways(filled: Ledger) -> None:
    rows = _rows(filled, "compactions")
    assert {_place(row)[0] for row in rows if row["evidence"] == "summary_only"} == {"a0c0de0c", "a0c0de0e"}
    assert {_place(row)[0] for row in rows if row["evidence"] == "cursor_summary"} == {"a0c0de12"}
    assert {_place(row)[0] for row in rows if row["is_unresolved"]} == {"a0c0de0d", "a0c0de0e"}
    assert {_place(row)[0] for row in rows if row["is_subagent"]} == {"a0c0de07"}
    assert {_place(row)[0] for row in rows if row["is_mid_task"]} == {"a0c0de03", "a0c0de07", "ce85a97b"}


def test_the_context_is_back_after_four_turns(filled: Ledger) -> None:
    [row] = _rows(filled, "rebound", session=_PRESS)
    assert (row["is_rebounded"], row["turns"], row["requests"], row["grown_tokens"]) == (True, 4, 11, 130_000)
    assert round(row["minutes"] * 60) == 500


def test_what_filled_the_context_again_adds_up_to_its_growth(filled: Ledger) -> None:
    rows = _rows(filled, "rebound_causes", session=_PRESS)
    tokens = {(row["class"], row["tool_name"]): row["tokens"] for row in rows}
    prompts = tokens.pop(("user_input", None)) + tokens.pop(("other", None))
    assert prompts == 3_000
    assert tokens == {
        ("tool_results", "Bash"): 60_000,
        ("tool_results", "Read"): 56_000,
        ("tool_results", "Edit"): 1_000,
        ("model_output", None): 10_000,
    }


def test_files_read_again_are_priced_as_written_to_the_cache(filled: Ledger) -> None:
    rows = _rows(filled, "rereads", session=_PRESS)
    found = {
        row["file_path"]: (row["first_distance_after"], row["result_tokens"], row["tokens_basis"], row["cost_usd"])
        for row in rows
    }
    assert found == {
        "/home/ada/press/drum.py": (1, 19_000, "measured", Decimal("0.07125")),
        "/home/ada/press/plates.py": (4, 37_000, "measured", Decimal("0.13875")),
    }
    [soon] = _rows(filled, "rereads", session=_PRESS, k=3)
    assert soon["file_path"] == "/home/ada/press/drum.py"


def test_the_same_calls_are_made_again(filled: Ledger) -> None:
    rows = _rows(filled, "repeated_calls", session=_PRESS)
    found = sorted((row["first_distance_after"], row["tool_name"], row["result_tokens_after"]) for row in rows)
    assert found == [(1, "Bash", 9_000), (1, "Read", 19_000), (3, "Bash", 49_000), (4, "Read", 37_000)]


def test_what_goes_wrong_is_compared_with_the_turns_before(filled: Ledger) -> None:
    [row] = _rows(filled, "aftermath", session=_PRESS)
    assert (row["turns_before"], row["turns_after"]) == (2, 4)
    assert (row["failed_calls_before"], row["failed_calls_after"]) == (0, 1)
    assert (row["denials_before"], row["denials_after"]) == (0, 1)
    assert (row["interrupts_before"], row["interrupts_after"]) == (0, 1)
    assert (row["requests_per_turn_before"], row["requests_per_turn_after"]) == (5, 2.75)
    assert round(row["minutes_to_first_edit"] * 60) == 260


def test_three_compactions_within_ten_minutes_are_a_spiral(filled: Ledger) -> None:
    [row] = _rows(filled, "spirals")
    assert (row["session_label"], row["compactions"], row["minutes"]) == (_SPIRAL, 3, 7)
    assert row["cost_usd"] == Decimal("0.0558") + Decimal("0.4485") + Decimal("0.0528") + Decimal("0.52095") + Decimal(
        "0.0561"
    ) + Decimal("0.0345")
    assert _rows(filled, "spirals", minutes=3) == []


def test_a_micro_compaction_stands_apart(filled: Ledger) -> None:
    [row] = _rows(filled, "micro_compactions")
    assert (row["tokens_before"], row["messages_tokens_before"], row["tokens_saved"]) == (91_000, 30_000, 20_000)
    assert row["turn_id"] not in {each["turn_id"] for each in _rows(filled, "compactions")}
    assert count_microcompactions(filled, {"model": "SONNET"}) == 1
    assert count_microcompactions(filled, {"model": "haiku"}) == 0


def test_one_in_detail_names_the_files_and_requests_that_the_queries_count(filled: Ledger) -> None:
    [row] = _rows(filled, "compactions", session=_PRESS)
    detail = read_detail(filled, find_compaction(filled, row["turn_id"]), limit=100)
    assert [(file.path, file.is_written, file.is_named) for file in detail.files] == [
        ("drum.py", False, True),
        ("ink.py", False, True),
        ("plates.py", True, False),
    ]
    assert [request.context_tokens for request in detail.after] == [30_000, 50_000, 60_000, 62_000, 64_000]


def test_groups_hold_every_compaction_once(filled: Ledger) -> None:
    for by in ("trigger", "model", "project", "client_version", "month", "origin"):
        assert sum(row["compactions"] for row in _rows(filled, "by_group", by=by)) == len(compactions_by_hand())
    manual = next(row for row in _rows(filled, "by_group") if row["group_name"] == "manual")
    assert (manual["compactions"], manual["tokens_before"], manual["costed_compactions"]) == (5, 81_000, 3)
    assert manual["cost_usd"] == Decimal("0.063") + Decimal("0.0575")  # the one in the middle of three


def test_long_contexts_that_nobody_compacted_are_listed(filled: Ledger) -> None:
    [row] = [row for row in _rows(filled, "near_limit") if row["session_label"].startswith("claude-code:a0c0de")]
    assert (row["peak_tokens"], row["requests"], row["limit_basis"]) == (196_000, 3, "estimated")


def test_without_its_compaction_a_session_carries_on_what_that_cut(filled: Ledger) -> None:
    session = "claude-code:a0c0de02-5e55-4000-8000-000000000001"
    [row] = _rows(filled, "what_if", session=session, never=True)
    carried = 3 * 81_000 * Decimal("0.0000005")  # 101,000 tokens before, 20,000 after, and three requests
    assert row["difference_usd"] == carried - Decimal("0.063") - Decimal("0.0575")
    assert (row["compactions_now"], row["compactions_then"], row["peak_then_tokens"]) == (1, 0, 105_000)


def test_no_compaction_leaves_less_than_nothing(filled: Ledger) -> None:
    assert _rows(filled, "what_if", after=-1, summary=-1) == _rows(filled, "what_if")
    assert min(row["peak_then_tokens"] for row in _rows(filled, "what_if", after=0)) > 0


def test_figures_that_no_context_can_have_are_unknown(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES / "ledgers" / "schema_3", tmp_path / "ledger"))
    with aix.open(folder) as old:
        assert old.sql("select max(tokens_before) from compactions").rows()[0][0] > 10**12
        assert {row["tokens_before"] for row in _rows(old, "compactions")} == {None}
        for name in [query.name for query in aix.queries() if query.pack == "compaction_impact"]:
            old.query(name).rows()
