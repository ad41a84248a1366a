"""Odd records are read as far as they can be, and named: none of them is lost in silence."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from aix.importing import Problem, Rows, Source
from aix_importers.claude_code import ClaudeCodeImporter
from benchmarks.record_balance import balance, sources_in
from tests.importers.claude_code.outlines import SITUATIONS
from tests.importers.claude_code.trees import tree_of, write_tree

SESSION = "5e55"
Record = dict[str, object]


def record(name: str, parent: str | None, second: int, **fields: object) -> Record:
    return {
        "type": "user",
        "uuid": name,
        "parentUuid": parent,
        "sessionId": SESSION,
        "isSidechain": False,
        "timestamp": f"2026-02-10T09:00:{second:02}.000Z",
        "message": {"role": "user", "content": f"text of {name}"},
        **fields,
    }


def answer(name: str, parent: str | None, second: int, *blocks: Record, **fields: object) -> Record:
    message: Record = {
        "id": f"msg_{name}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": f"text of {name}"}, *blocks],
        "usage": {"input_tokens": 5, "output_tokens": 6},
    }
    return record(name, parent, second, **{"type": "assistant", "message": message, **fields})


def call(name: str) -> Record:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}}


def result(name: str, parent: str | None, second: int, *calls: object, **fields: object) -> Record:
    blocks = [{"type": "tool_result", "tool_use_id": each, "content": f"result of {each} in {name}"} for each in calls]
    return record(name, parent, second, **{"message": {"role": "user", "content": blocks}, **fields})


def progress(name: str, second: int, inner: object, **fields: object) -> Record:
    data = {"type": "agent_progress", "agentId": "a1", "prompt": "Look", "message": inner}
    given = {"type": "progress", "message": None, "parentToolUseID": "toolu_task", "data": data, **fields}
    return {name: value for name, value in record(name, "answer", second, **given).items() if value is not None}


def shown(name: str, second: int) -> Record:
    """Return a record of a subagent, as progress holds it."""
    message = {"role": "user", "content": f"text of {name}"}
    return {
        "type": "user",
        "uuid": name,
        "timestamp": f"2026-02-10T09:00:{second:02}.000Z",
        "message": message,
    }


def without(given: Record, name: str) -> Record:
    return {each: value for each, value in given.items() if each != name}


TASK: Record = {"type": "tool_use", "id": "toolu_task", "name": "Task", "input": {"prompt": "Look"}}
ASKED = [record("ask", None, 1), answer("answer", "ask", 2, TASK, call("toolu_ls"))]
SHOWN = progress("p1", 3, shown("inner", 3))


def spoiled_progress(**data: object) -> Record:
    return progress("p2", 4, shown("lost", 4), data={**progress("", 4, shown("lost", 4))["data"], **data})  # type: ignore[dict-item]


@dataclass(frozen=True)
class Case:
    """Lines behind a prompt and its answer, and what becomes of them."""

    lines: Sequence[Record]
    problems: Sequence[tuple[str, int]]
    """Kind and line; the lines begin behind the prompt and the answer, with 3."""
    kept: Sequence[str] = ()
    """Texts that must stand in the rows."""
    files: Sequence[tuple[str, Sequence[Record]]] = ()
    """Other files of the session."""
    is_alone: bool = False
    """Whether there is neither prompt nor answer; then the lines begin with 1."""


CASES = {
    "an_orphan_sidechain_result": Case([result("r", None, 3, "nobody", isSidechain=True)], [("no_turn", 3)]),
    "an_orphan_sidechain_result_of_a_lost_parent": Case(
        [result("r", "nobody", 3, "nobody", isSidechain=True, agentId="a2")], [("no_turn", 3)]
    ),
    "a_result_alone": Case([result("r", None, 3, "nobody")], [("no_turn", 1), ("no_model_activity", 0)], is_alone=True),
    "a_local_command_in_a_sidechain": Case(
        [record("l", None, 3, isSidechain=True, message={"content": "<command-name>/x</command-name>"})],
        [("no_turn", 3)],
    ),
    "progress_with_a_list": Case([SHOWN, spoiled_progress(message=[shown("lost", 4)])], [("unreadable_progress", 4)]),
    "progress_with_a_text": Case([SHOWN, spoiled_progress(message="lost")], [("unreadable_progress", 4)]),
    "progress_with_a_number": Case([SHOWN, spoiled_progress(message=5)], [("unreadable_progress", 4)]),
    "progress_without_a_record": Case([SHOWN, spoiled_progress(message=None)], [("unreadable_progress", 4)]),
    "progress_with_a_message_for_a_record": Case(
        [SHOWN, spoiled_progress(message={"role": "user", "content": "lost"})], [("unreadable_progress", 4)]
    ),
    "progress_with_a_record_of_another_type": Case(
        [SHOWN, spoiled_progress(message={**shown("lost", 4), "type": 7})], [("unreadable_progress", 4)]
    ),
    "progress_with_a_record_without_a_message": Case(
        [SHOWN, spoiled_progress(message=without(shown("lost", 4), "message"))], [("unreadable_progress", 4)]
    ),
    "progress_of_a_nameless_agent": Case([SHOWN, spoiled_progress(agentId=7)], [("odd_progress", 4)], ["text of lost"]),
    "progress_of_nobody": Case([spoiled_progress(agentId=None)], [("unreadable_progress", 3)]),
    "progress_of_no_call": Case(
        [SHOWN, without(spoiled_progress(), "parentToolUseID")], [("odd_progress", 4)], ["text of lost"]
    ),
    "progress_whose_type_is_a_number": Case([SHOWN, spoiled_progress(type=7)], [("odd_progress", 4)], ["text of lost"]),
    "progress_with_a_record_without_a_uuid": Case(
        [SHOWN, spoiled_progress(message=without(shown("lost", 4), "uuid"))], [("odd_progress", 4)], ["text of lost"]
    ),
    "progress_with_fields_of_other_types": Case(
        [SHOWN, spoiled_progress(message={**shown("lost", 4), "uuid": 7, "timestamp": [], "requestId": {}})],
        [("odd_progress", 4)],
        ["text of lost"],
    ),
    "progress_whose_data_is_a_text": Case(
        [progress("p", 3, None, data="all is well")], [("unknown_type", 0)], ["all is well"]
    ),
    "progress_of_another_kind": Case(
        [progress("p", 3, None, data={"type": "tide", "height": "very high"})], [("unknown_type", 0)], ["very high"]
    ),
    "a_sidechain_record_that_the_file_of_its_agent_lacks": Case(
        [record("only-here", "inner", 4, isSidechain=True, agentId="a1")],
        [],
        ["text of inner", "text of only-here"],
        files=[("agent-a1.jsonl", [record("inner", None, 3, isSidechain=True, agentId="a1")])],
    ),
    "a_sidechain_record_of_an_agent_whose_file_is_a_warm_up": Case(
        [record("only-here", None, 4, isSidechain=True, agentId="a1")],
        [],
        ["text of only-here"],
        files=[("agent-a1.jsonl", [record("w", None, 3, message={"content": "Warmup"}, agentId="a1")])],
    ),
    "context_without_a_prompt": Case(
        [answer("a", None, 3), record("s", "a", 4, type="system", subtype="odd")], [("no_message", 2)], is_alone=True
    ),
    "context_of_a_file_of_copies": Case(
        [],
        [],
        ["odd of the copy"],
        files=[("5e56.jsonl", [*ASKED, record("s", "answer", 4, type="system", subtype="odd of the copy")])],
    ),
    "a_second_result": Case(
        [result("r1", "answer", 3, "toolu_ls"), result("r2", "r1", 4, "toolu_ls")],
        [],
        ["result of toolu_ls in r1", "result of toolu_ls in r2"],
    ),
    "a_call_twice_with_another_input": Case(
        [
            answer("a", "answer", 3, call("toolu_x"), {**call("toolu_x"), "input": {"command": "never run"}}),
        ],
        [],
        ["never run"],
    ),
    "two_results_of_unknown_calls": Case(
        [result("r", "answer", 3, "one", "two")], [], ["result of one in r", "result of two in r"]
    ),
    "a_result_whose_call_has_no_usable_id": Case(
        [result("r", "answer", 3, 7)], [("wrong_type", 3)], ["result of 7 in r"]
    ),
    "a_call_of_the_user": Case(
        [record("u", "answer", 3, message={"content": [{**call("odd"), "input": {"command": "not run"}}]})],
        [],
        ["not run"],
    ),
    "a_result_in_an_answer": Case(
        [answer("a", "answer", 3, {"type": "tool_result", "tool_use_id": "toolu_ls", "content": "odd place"})],
        [],
        ["odd place"],
    ),
    "an_image_that_is_a_text": Case(
        [record("i", "answer", 3, message={"content": [{"type": "image", "source": "a picture"}]})], [], ["a picture"]
    ),
    "a_boundary_without_a_uuid": Case(
        [
            record("", "answer", 3, type="system", subtype="compact_boundary", content="cut here", uuid=None),
        ],
        [("no_uuid", 3)],
        ["cut here"],
    ),
    "neither_uuid_nor_message": Case([record("", "answer", 3, uuid=None, message=None)], [("no_uuid", 3)]),
    "nothing_but_a_type": Case([{"type": "user", "sessionId": SESSION}], [("no_message", 3)]),
    "usage_that_is_a_list": Case(
        [answer("a", "answer", 3, message={"id": "m", "content": "odd", "usage": ["seven tokens"]})],
        [("wrong_type", 3)],
        ["seven tokens"],
    ),
    "tokens_that_are_a_text": Case(
        [answer("a", "answer", 3, message={"id": "m", "content": "odd", "usage": {"input_tokens": "many"}})],
        [("wrong_type", 3)],
        ["many"],
    ),
    "a_waiting_prompt_without_a_text": Case(
        [{"type": "queue-operation", "operation": "enqueue", "content": 5, "sessionId": SESSION}], [("wrong_type", 3)]
    ),
    "an_unknown_step_of_the_queue": Case(
        [{"type": "queue-operation", "operation": "hide", "content": "a prompt", "sessionId": SESSION}],
        [("unknown_type", 0)],
        ["a prompt"],
    ),
    "a_title_of_nothing": Case([{"type": "summary", "summary": "A title"}], [("no_title", 3)]),
}


def sources_of(folder: Path, case: Case) -> list[Source]:
    lines = [*case.lines] if case.is_alone else [*ASKED, *case.lines]
    for name, records in ((f"{SESSION}.jsonl", lines), *case.files):
        (folder / name).write_text("".join(json.dumps(each) + "\n" for each in records))
    return [Source(str(folder / name)) for name in (f"{SESSION}.jsonl", *(name for name, _ in case.files))]


@pytest.mark.parametrize("name", CASES)
def test_an_odd_record_is_read_or_named(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    sources = sources_of(tmp_path, case)
    given = list(ClaudeCodeImporter({}).extract(sources))
    problems = [(each.kind, each.line or 0) for each in given if isinstance(each, Problem)]
    assert sorted(problems) == sorted(case.problems)
    rows = [json.dumps(each.columns, default=str) for each in given if isinstance(each, Rows)]
    assert [text for text in case.kept if not any(text in row for row in rows)] == []
    assert balance(ClaudeCodeImporter({}), sources).unaccounted == []


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_line_of_the_golden_cases_is_accounted_for(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, tree_of(name))
    importer = ClaudeCodeImporter({})
    assert balance(importer, sources_in(importer, tmp_path)).unaccounted == []
