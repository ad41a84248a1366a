"""The count of compactions over raw Claude Code logs, on lines few enough to count by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import aix
from aix.pipeline.run import Settings, import_histories
from benchmarks.compaction_count import Count, compare, differences, turn_id
from tests import ROOT

SUMMARY = "This session is being continued from a previous conversation that ran out of context."

Line = Mapping[str, object]


def boundary(uuid: str, **metadata: object) -> Line:
    return {"type": "system", "subtype": "compact_boundary", "uuid": uuid, "compactMetadata": metadata}


def summary(uuid: str, parent: str | None) -> Line:
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"content": SUMMARY}}


def answer(message_id: str, tokens: int, at: str = "2026-01-01T00:00:00Z", **more: object) -> Line:
    usage = {"input_tokens": 1, "cache_read_input_tokens": tokens, "cache_creation_input_tokens": 10}
    message = {"id": f"msg_01{message_id * 22}", "model": "claude-x", "usage": usage}
    return {"type": "assistant", "uuid": f"{message_id}{tokens}", "timestamp": at, "message": message, **more}


def count(folder: Path, **files: Sequence[Line]) -> Count:
    counted = Count()
    for name, lines in files.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        counted.add_file(path)
    return counted


def told(counted: Count) -> dict[str, tuple[object, ...]]:
    """Return what was counted of each compaction: evidence, context before and after."""
    return {
        uuid: (each.evidence, each.tokens_before, counted.tokens_after(each))
        for uuid, each in counted.compactions.items()
    }


def test_the_context_after_is_the_next_answer_of_the_same_agent_with_its_greatest_figures(tmp_path: Path) -> None:
    lines = [
        boundary("b", trigger="auto", preTokens=900, postTokens=5),
        summary("s", "b"),
        answer("X", 700, agentId="a1"),
        answer("A", 20),
        answer("A", 30),
        answer("B", 40),
    ]
    assert told(count(tmp_path, main=lines)) == {"b": ("boundary", 900, 41)}


def test_copies_count_once_and_the_earliest_answer_to_any_of_them_is_the_next(tmp_path: Path) -> None:
    start = [boundary("b", preTokens=900), summary("s", "b")]
    early, late = answer("A", 20, at="2026-01-01T00:00:01Z"), answer("B", 50, at="2026-01-01T00:00:02Z")
    assert told(count(tmp_path, copy=[*start, late], main=[*start, early])) == {"b": ("boundary", 900, 31)}


def test_summaries_without_a_boundary_and_compactions_without_an_answer_count_and_micro_ones_do_not(
    tmp_path: Path,
) -> None:
    lines = [
        summary("l", None),
        boundary("b", preTokens=700),
        answer("A", 20),
        boundary("p", preTokens=900, postTokens=5),
        boundary("n", preTokens=800),
        {"type": "system", "subtype": "microcompact_boundary", "uuid": "m"},
    ]
    counted = count(tmp_path, main=lines)
    assert told(counted) == {
        "l": ("summary_only", None, 31),
        "b": ("boundary", 700, 31),
        "p": ("boundary", 900, None),
        "n": ("boundary", 800, None),
    }
    assert counted.microcompactions == {"m"}


def test_every_difference_is_a_sentence(tmp_path: Path) -> None:
    counted = count(tmp_path, main=[boundary("b", preTokens=900), boundary("c", preTokens=900)])
    rows = {turn_id("b"): ("boundary", 901, None), "other": ("boundary", 1, 1)}
    assert list(differences(counted, rows, 1)) == [
        "b: the logs say ('boundary', 900, None), the ledger ('boundary', 901, None)",
        "c: the ledger has no such compaction",
        "turn other: no log has it",
        "micro-compactions: the logs have 0, the ledger 1",
    ]


@pytest.mark.long
def test_a_ledger_of_the_fixtures_has_what_is_counted(tmp_path: Path) -> None:
    logs = ROOT / "fixtures" / "library" / "claude-code"
    import_histories(tmp_path / "ledger", [logs], Settings(jobs=0))
    with aix.open(tmp_path / "ledger") as ledger:
        counted, found = compare(logs, ledger)
    assert counted.compactions
    assert found == []
