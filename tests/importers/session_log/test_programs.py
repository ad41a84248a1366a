"""Programs: their files, their secrets, and what they say about sessions."""

import json
import os
from itertools import permutations
from pathlib import Path

import pytest

from aix.errors import UnknownNameError
from aix.importing import Problem, Source
from aix.pipeline.run import Settings, import_histories
from aix_importers.session_log.program_files import read_programs
from aix_importers.session_log.programs import Program, Programs
from aix_importers.session_log.session_settings import Named, SessionSettings
from tests import ROOT
from tests.importers.session_log.logs import entry, extract, write_log
from tests.support.row_batches import rows_of

SOURCE = Source("/logs/programs.json")
NO_PROGRAM = "This is no program and no event: it lacks an id or a programType, and states no kind."
MODEL: dict[str, object] = {
    "id": "m",
    "type": "program",
    "programType": "model",
    "lifecycle": "published",
    "config": {"modelId": "x"},
}


def read(path: Path, text: str) -> tuple[list[Program], list[str]]:
    path = path / "programs.json"
    path.write_text(text, "utf-8")
    found = list(read_programs(str(path), SOURCE))
    return [each for each in found if isinstance(each, Program)], [
        each.kind for each in found if isinstance(each, Problem)
    ]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([MODEL]),
        json.dumps([MODEL], indent=2),
        json.dumps({"m": {name: value for name, value in MODEL.items() if name != "id"}}),
        json.dumps({"programs": {"m": {**MODEL, "id": "m"}}, "events": []}),
        json.dumps(MODEL),
        json.dumps({"id": "m", "type": "model", "lifecycle": "published", "config": {"modelId": "x"}}),
        json.dumps({"m": {"type": "model", "lifecycle": "published", "config": {"modelId": "x"}}}),
        f"{json.dumps(MODEL)}\n\n",
        f"\ufeff{json.dumps([MODEL])}",
    ],
)
def test_programs_are_an_array_an_object_by_id_or_lines(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == ([Program("m", "model", "published", {"modelId": "x"})], [])


def test_what_is_no_program_is_a_problem(tmp_path: Path) -> None:
    lines = [
        json.dumps(MODEL),
        "not json",
        '{"id": "n"}',
        "7",
        json.dumps({"id": "a", "programType": "agent", "state": "idle"}),
    ]
    programs, problems = read(tmp_path, "\n".join(lines))
    assert [(program.id, program.lifecycle) for program in programs] == [("m", "published"), ("a", "idle")]
    assert problems == ["not_json", "not_a_program", "not_an_object"]


def test_the_records_that_the_documentation_shows_are_read_without_a_problem(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "programs.md").read_text("utf-8").split("```json\n")[1].split("```")[0]
    programs, problems = read(tmp_path, text)
    assert {program.type for program in programs} == {"provider", "model", "human", "agent", "session", "task"}
    assert (problems, text.count("TASK_ASSIGNED")) == ([], 1)


def test_what_stands_beside_programs_and_events_is_a_problem(tmp_path: Path) -> None:
    parts = {"models": [MODEL], "programs": [MODEL, {"id": "n", "type": {}}], "events": {}, "version": 1}
    programs, problems = read(tmp_path, json.dumps(parts))
    assert [program.id for program in programs] == ["m"]
    assert problems == ["not_a_program", *["unknown_part"] * 3]


def test_problems_of_programs_show_where_they_are_and_not_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "programs.jsonl"
    path.write_text(f'\ufeff{json.dumps(MODEL)}\n{{"apiKey": "s3cret"}}\n{{"apiKey": "s3cret", \n', "utf-8")
    _, *problems = read_programs(str(path), SOURCE)
    lines = path.read_bytes().split(b"\n")
    assert problems == [
        Problem(SOURCE, "not_a_program", NO_PROGRAM, 2, len(lines[0]) + 1),
        Problem(
            SOURCE,
            "not_json",
            "From character 1 on the line is not JSON; it was skipped.",
            3,
            len(lines[0]) + len(lines[1]) + 2,
        ),
    ]
    assert "s3cret" not in str(problems)


def test_settings_are_kept_without_secrets(tmp_path: Path) -> None:
    config = {"apiKey": "k", "headers": {"cf-aig-authorization": "k", "accept": "json"}, "topP": 0.9}
    [program], _ = read(tmp_path, json.dumps([{**MODEL, "config": config}]))
    assert program.config == {"headers": {"accept": "json"}, "topP": 0.9}


def settings(session_id: str, *programs: Program, path: str = "/logs/x.jsonl") -> SessionSettings:
    return SessionSettings(Programs(programs), session_id, path)


def granted_by(known: SessionSettings) -> dict[str, object]:
    found: dict[str, object] = json.loads(known.permissions_granted(known.principal(None)) or "")
    return found


def program(program_id: str, kind: str, stage: str | None = None, **config: object) -> Program:
    return Program(program_id, kind, stage, config)


def test_a_session_is_found_by_its_id_or_its_log() -> None:
    own = program("s", "session", owner="@(ada)")
    by_log = program("other", "session", owner="bob", logFile="sessions/x.jsonl")
    assert settings("s", own, by_log, path="/logs/sessions/x.jsonl").owner_id == "ada"
    assert settings("t", own, by_log, path="/logs/sessions/x.jsonl").owner_id == "bob"
    assert settings("t", own, by_log, path="/logs/x.jsonl").owner_id is None


def test_references_are_resolved_through_model_and_provider() -> None:
    known = settings(
        "s",
        program("m", "model", modelId="real-model", provider="@(p)"),
        program("p", "provider", providerType="vendor"),
        program("s", "session", defaultModel="@(m)"),
    )
    assert known.model("@(m)") == Named("real-model")
    assert known.provider(None, "@(m)") == Named("vendor")
    assert known.model("m") == Named("m")
    assert known.provider(None, "m") == Named(None)
    assert known.model("@(gone)") == Named("gone", "unresolved_reference")
    assert known.provider("@(p)", None) == Named("vendor")
    assert known.provider("@(gone)", None) == Named("gone", "unresolved_reference")
    assert known.model(None) == Named("real-model", "session_default")
    assert known.provider(None, None) == Named("vendor", "session_default")
    assert settings("t").model(None) == Named(None)


@pytest.mark.parametrize(
    ("lifecycle", "status"),
    [("pending", "pending"), ("blocked", "pending"), ("active", "running"), ("completed", "completed"), ("odd", None)],
)
def test_the_task_of_an_agent_is_that_of_its_session(lifecycle: str, status: str | None) -> None:
    own = program("s", "session", "completed", owner="@(agent)")
    agent = program("agent", "agent", currentTask="t", currentSession="s", tools=["@(a)", "b", 5])
    task = program("t", "task", lifecycle, title="Do it")
    known = settings("s", own, agent, task, program("u", "task", assignee="@(agent)"))
    assert (known.role, known.task_description, known.task_status) == ("worker", "Do it", status)
    assert (known.is_completed, known.tools_available) == (True, '["a","b"]')
    assert known.query_source() == Named("agent")


def test_an_agent_without_a_task_works_alone() -> None:
    known = settings("s", program("s", "session", owner="@(agent)"), program("agent", "agent"))
    assert (known.role, known.task_description, known.task_status) == ("unified", None, None)


@pytest.mark.parametrize(("config", "tools"), [({"tools": []}, "[]"), ({}, None), ({"tools": "all"}, None)])
def test_no_tools_are_not_the_same_as_unknown_tools(config: dict[str, object], tools: str | None) -> None:
    known = settings("s", program("s", "session", owner="@(agent)"), Program("agent", "agent", None, config))
    assert known.tools_available == tools


@pytest.mark.parametrize("kind", ["agent", "human"])
def test_permissions_that_no_program_states_have_no_basis(kind: str) -> None:
    own = program("s", "session", owner="@(x)")
    unknown = granted_by(settings("s", own, program("x", kind)))
    stated = granted_by(settings("s", own, program("x", kind, permissions=["read"])))
    assert (unknown["basis"], "allow" in unknown) == ("none", False)
    assert (stated["basis"], stated["allow"]) == ("ontology", ["read"])


@pytest.mark.parametrize(
    ("tools", "lists"),
    [
        ({"deny": ["@(shell)"]}, {"ask": [], "deny": ["shell"]}),
        ({"allow": []}, {"allow": [], "ask": [], "deny": []}),
        ({"allow": ["Read"], "ask": ["Write"]}, {"allow": ["Read"], "ask": ["Write"], "deny": []}),
    ],
)
def test_the_lists_of_a_persona_are_what_is_granted(tools: dict[str, object], lists: dict[str, object]) -> None:
    agent = Program("x", "agent", None, {"permissions": {"tools": tools}})
    granted = granted_by(settings("s", program("s", "session", owner="@(x)"), agent))
    assert granted["basis"] == "ontology"
    assert {kind: granted[kind] for kind in ("allow", "ask", "deny") if kind in granted} == lists


def test_the_rules_of_a_program_are_kept_under_its_name(tmp_path: Path) -> None:
    tools = {"allow": ["Read", "Read", "Bash(git:*)"], "deny": ["@(shell)"]}
    programs = write_log(
        tmp_path / "programs.jsonl",
        [{"id": "atlas", "programType": "agent", "config": {"permissions": {"tools": tools}}}],
    )
    statements, problems = extract(programs)
    rules = [row for tables in statements.values() for row in tables.get("permission_rules", [])]
    assert not problems
    assert {(row["origin"], row["scope"], row["file"]) for row in rules} == {
        ("session-log", "persona", f"{programs}#atlas")
    }
    assert [(row["kind"], row["rule"], row["position"]) for row in rules] == [
        ("allow", "Read", 0),
        ("allow", "Bash(git:*)", 2),
        ("deny", "shell", 0),
    ]


def test_what_is_learned_from_programs_later_is_believed(tmp_path: Path) -> None:
    log = write_log(
        tmp_path / "s.jsonl", [entry("u", session="s"), entry("a", "assistant", "u", message={"model": "@(m)"})]
    )
    before, _ = extract(log)
    programs: list[dict[str, object]] = [
        MODEL,
        {"id": "s", "programType": "session", "config": {"owner": "@(agent)"}},
        {"id": "agent", "programType": "agent"},
    ]
    write_log(tmp_path / "programs.jsonl", programs)
    after, _ = extract(log)
    [early], [late] = before.values(), after.values()
    marked = {(mark["table_name"], mark["column_name"]) for mark in early["inferred_values"]}
    assert marked == {
        ("requests", "model"),
        ("messages", "source"),
        ("threads", "persona_id"),
        ("sessions", "persona_id"),
    }
    assert "inferred_values" not in late
    assert (late["requests"][0]["model"], late["messages"][0]["source"]) == ("x", "agent")


@pytest.mark.long
def test_the_newest_state_of_a_program_counts_in_any_order(tmp_path: Path) -> None:
    task = {"id": "t", "programType": "task"}
    states: list[tuple[int, dict[str, object]]] = [
        (1, {**task, "lifecycle": "pending", "config": {"title": "A long title", "note": "gone later"}}),
        (2, {**task, "lifecycle": "failed", "config": {"title": "Short"}}),
        (3, {**task, "lifecycle": "active", "config": {}, "modified": "2020-01-01T00:00:00Z"}),
    ]
    for order in permutations(states):
        folder = tmp_path / "".join(str(written_at) for written_at, _ in order)
        for written_at, state in order:
            file = write_log(folder / str(written_at) / "programs.jsonl", [state])
            os.utime(file, (1_700_000_000 + written_at, 1_700_000_000 + written_at))
            import_histories(folder / "ledger", [file], Settings(jobs=0))
        [row] = rows_of(folder / "ledger", "programs")
        assert (row["lifecycle"], row["config_json"]) == ("failed", '{"title":"Short"}')
        assert row["updated_at"] == 1_700_000_002_000


def test_a_way_to_read_usage_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="inclusiv"):
        extract(tmp_path, usage="inclusiv")


def test_options_change_origin_and_the_reading_of_usage(tmp_path: Path) -> None:
    stated = {"usage": {"inputTokens": 100, "outputTokens": 5, "cacheReadTokens": 60}}
    too_little = {"usage": {"inputTokens": 10, "cacheReadTokens": 60}}
    answers = [entry("a", "assistant", "u", message=stated), entry("b", "assistant", "u", message=too_little)]
    log = write_log(tmp_path / "s.jsonl", [entry("u"), *answers])
    statements, _ = extract(log, usage="inclusive", origin="my-tool")
    [tables] = statements.values()
    first, second = tables["requests"]
    assert (first["input_tokens"], first["cache_read_tokens"], first["context_tokens"]) == (40, 60, 100)
    assert "input_tokens" not in second
    assert {row["label"] for row in tables["sessions"]} == {"my-tool:s"}
    assert {row["origin"] for row in tables["turn_context"]} == {"my-tool"}


def test_session_logs_have_no_calls_that_the_rules_of_a_persona_could_be_held_against(tmp_path: Path) -> None:
    tools = {"permissions": {"tools": {"deny": ["Bash"]}}}
    (tmp_path / "programs.json").write_text(json.dumps([{"id": "ada", "programType": "agent", "config": tools}]))
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    said = {"role": "assistant", "content": [use], "tool_calls": [{"id": "call_1", "function": {"name": "Bash"}}]}
    write_log(tmp_path / "a.jsonl", [entry("a"), entry("b", "assistant", "a", message=said, toolUseResult="x")])
    statements, _ = extract(tmp_path)
    tables = {name for tables in statements.values() for name in tables}
    assert {"messages", "permission_rules"} <= tables
    assert tables.isdisjoint({"tool_calls", "permission_decisions"})
