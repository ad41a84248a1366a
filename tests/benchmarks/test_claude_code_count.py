"""The count over raw Claude Code logs, on a tree small enough to count by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.claude_code_count import Count, Figures, with_total

FIRST = "msg_01" + "A" * 22
SECOND = "msg_01" + "B" * 22
PROXY = "msg_20250101000000"
MODEL = "claude-x"

Line = Mapping[str, object] | str


def answer(uuid: str, message_id: str, tokens: tuple[int, int, int, int], **more: object) -> dict[str, object]:
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    usage: dict[str, object] = dict(zip(names, tokens, strict=True))
    if "hour" in more:
        hour = more.pop("hour")
        usage["cache_creation"] = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": hour}
    message = {"id": message_id, "model": MODEL, "content": [], "usage": usage, **more}
    return {"type": "assistant", "uuid": uuid, "message": message}


def calling(uuid: str, message_id: str, *calls: str) -> dict[str, object]:
    return answer(uuid, message_id, (0, 0, 0, 0), content=[{"type": "tool_use", "id": call} for call in calls])


def result(call: str, **more: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call, **more}
    return {"type": "user", "uuid": f"r-{call}", "message": {"content": [block]}}


def count(folder: Path, **files: Sequence[Line]) -> tuple[Count, Figures]:
    counted = Count()
    for name, lines in files.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        counted.add_file(path)
    return counted, with_total(counted.figures())


def test_a_message_counts_once_over_its_lines_and_files_with_the_greatest_value_of_each_figure(tmp_path: Path) -> None:
    lines = [
        answer("1", FIRST, (5, 1, 70, 0)),
        answer("2", FIRST, (3, 40, 0, 9), hour=9),
        answer("3", SECOND, (2, 2, 0, 0)),
    ]
    _, figures = count(tmp_path, main=lines, copy=lines)
    assert figures["all models"] == figures[f"model {MODEL}"] == (2, 7, 42, 70, 9, 0, 9)


def test_an_id_of_a_proxy_is_another_message_in_another_file_unless_its_records_are_copies(tmp_path: Path) -> None:
    one, other = answer("1", PROXY, (1, 1, 0, 0)), answer("9", PROXY, (1, 1, 0, 0))
    _, figures = count(tmp_path, main=[one, answer("2", PROXY, (1, 5, 0, 0))], copy=[one], agent=[other])
    assert figures["all models"] == (2, 2, 6, 0, 0, 0, 0)


def test_synthetic_messages_and_lines_that_are_no_json_count_nothing(tmp_path: Path) -> None:
    synthetic = answer("1", "5d1c", (9, 9, 9, 9), model="<synthetic>")
    two = json.dumps({"type": "summary"}) + json.dumps(answer("2", FIRST, (1, 2, 3, 4)))
    _, figures = count(tmp_path, main=[synthetic, "// exported", "[1, 2]", two, '{"type": "assistant", "mess'])
    assert figures["all models"] == (1, 1, 2, 3, 4, 0, 0)


def test_messages_of_agents_in_progress_records_count_with_those_of_their_own_files(tmp_path: Path) -> None:
    nested = answer("1", FIRST, (1, 2, 3, 4))
    progress = {"type": "progress", "data": {"type": "agent_progress", "agentId": "a1", "message": nested}}
    _, figures = count(tmp_path, main=[progress], agent=[answer("1", FIRST, (1, 20, 3, 4))])
    assert figures["all models"] == (1, 1, 20, 3, 4, 0, 0)


def test_calls_count_by_id_and_message_and_find_their_results_in_other_files(tmp_path: Path) -> None:
    first = [calling("1", FIRST, "a", "b", "c"), result("a"), calling("2", SECOND, "a"), result("a", is_error=True)]
    _, figures = count(tmp_path, main=first, other=[result("b", is_error=True), calling("1", FIRST, "a")])
    assert figures["tool calls: all, with a result, failed"] == (4, 3, 2)


def test_compactions_are_boundaries_and_summaries_without_one(tmp_path: Path) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b"}
    text = "This session is being continued from a previous conversation that ran out of context."
    under = {"type": "user", "uuid": "s", "parentUuid": "b", "isCompactSummary": True, "message": {"content": text}}
    lone = {"type": "user", "uuid": "l", "parentUuid": None, "message": {"content": [{"type": "text", "text": text}]}}
    micro = {"type": "system", "subtype": "microcompact_boundary", "uuid": "m"}
    counted, figures = count(tmp_path, main=[boundary, under, lone, micro], copy=[boundary, under, micro])
    assert (figures["compactions"], figures["microcompactions"]) == ((2,), (1,))
    assert (len(counted.boundaries), counted.lone_summaries()) == (1, 1)
