"""Events of programs: every kind, every spelling, what is wrong with them, and what of them is never stored."""

import json
import re
from hashlib import sha256
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aix
from aix.importing import Problem
from aix.pipeline.run import Settings, import_histories
from aix_importers.common.program_event_kinds import PROGRAM_EVENT_KINDS
from aix_importers.common.recognition import Family, recognise
from aix_importers.session_log.export import program, program_event
from aix_importers.session_log.principals import read_principal
from aix_importers.session_log.program_events import ProgramEvent, read_event
from aix_importers.session_log.programs import LIFECYCLES, Program, read_program
from aix_importers.session_log.references import reference_cycles
from tests.importers.session_log.joining import said_together
from tests.importers.session_log.logs import FIXTURES, entry, extract, kinds, sources_in, write_log
from tests.support.sample_conversation import Row

SEED_KINDS = """
    PROVIDER_CREATED PROVIDER_CONFIGURED MODEL_CREATED MODEL_CONFIGURED MODEL_INFERENCE_REQUESTED
    MODEL_INFERENCE_COMPLETED SESSION_CREATED SESSION_MESSAGE SESSION_MODEL_SWITCHED SESSION_COMPLETED AGENT_CREATED
    AGENT_TASK_ASSIGNED AGENT_THINKING AGENT_EXECUTING AGENT_COMPLETED AGENT_CHECKPOINT AGENT_RESET TASK_CREATED
    TASK_ASSIGNED TASK_STARTED TASK_COMPLETED TASK_FAILED INFORMATION_CREATED INFORMATION_VALIDATED INFORMATION_UPDATED
    HUMAN_NOTIFIED HUMAN_APPROVED HUMAN_REJECTED NodeTagged NodeUntagged
""".split()  # noqa: SIM905 - read as in the document
T = 1767607200000
PIECES = ("AGENT_TOKEN", "AGENT_TOKEN", "MODEL_TOKEN_RECEIVED")
EVENT: dict[str, object] = {"id": "e1", "type": "TASK_CREATED", "timestamp": T, "taskId": "t", "data": {}}
CREDENTIALS = """
    s3cr3t-by-name sk-ant-REDACTED ghp_REDACTED AKIAIOSFODNN7EXAMPLE xoxb-REDACTED
    eyJhbGciOiJI.eyJzdWIiOiIx.c2ln https://user:s3cr3t-in-url@host/ postgres://u:s3cr3t-in-dsn@h/db Bearer-s3cr3t-token
""".split()  # noqa: SIM905 - one text is easier to grep for


def rows_of(path: Path, table: str) -> tuple[list[Row], list[Problem]]:
    statements, problems = extract(path)
    return [row for tables in statements.values() for row in tables.get(table, [])], problems


def test_every_kind_of_the_architecture_gives_a_row_without_a_problem() -> None:
    rows, problems = rows_of(FIXTURES / "program_events" / "input", "program_events")
    assert set(SEED_KINDS) <= {row["kind"] for row in rows}
    assert set(SEED_KINDS) <= PROGRAM_EVENT_KINDS
    assert problems == []
    assert all(row["program_id"] and row["occurred_at"] for row in rows)
    assert {row["event_id"] for row in rows} == {sha256(row["payload_json"].encode()).hexdigest() for row in rows}


def test_every_type_of_program_is_kept_with_its_lifecycle() -> None:
    rows, problems = rows_of(FIXTURES / "program_types" / "input", "programs")
    assert {row["program_type"] for row in rows} == set(LIFECYCLES)
    assert problems == []
    for program_type, lifecycles in LIFECYCLES.items():
        for lifecycle in lifecycles:
            name = "state" if program_type in ("agent", "human") else "lifecycle"
            read = read_program({"id": "x", "programType": program_type, name: lifecycle})
            assert read == Program("x", program_type, lifecycle, {})


@pytest.mark.parametrize("situation", ["bad_programs", "program_events", "program_events_in_other_spellings"])
def test_every_line_gives_a_row_or_a_problem_at_that_line(situation: str) -> None:
    path = max((FIXTURES / situation / "input").iterdir(), key=lambda path: path.stat().st_size)
    programs, problems = rows_of(path, "programs")
    events, _ = rows_of(path, "program_events")
    kept = {row["id"] for row in programs} | {row.get("claimed_event_id") for row in events}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            value = json.loads(line)
            value_id = value.get("event_id") or value.get("eventId") or value.get("id")
        except (ValueError, AttributeError):
            value_id = "none"
        assert value_id in kept or number in {problem.line for problem in problems}


@pytest.mark.parametrize(
    ("fields", "program_id"),
    [
        ({"programId": "@(x)", "taskId": "t"}, "x"),
        ({"nodeId": "x"}, "x"),
        ({"taskId": "x", "agentId": "y"}, "x"),
        ({"task_id": "x"}, "x"),
        ({"program": {"id": "x"}}, "x"),
        ({"data": {"taskId": "x", "id": "y"}}, "x"),
        ({"payload": {"id": "x"}}, "x"),
        ({"eventId": "e", "id": "x"}, "x"),
        ({"id": "e"}, None),
        ({"taskId": 7}, None),
    ],
)
def test_the_program_is_found_under_the_names_that_writers_use(fields: dict[str, object], program_id: str) -> None:
    read = read_event({"kind": "TASK_CREATED", "at": "2026-01-05T10:00:00Z", **fields})
    assert (read.program_id, read.time, "no_program" in dict(read.faults)) == (
        program_id,
        1767607200000,
        program_id is None,
    )


def test_who_approved_is_known_beside_the_program_that_was_approved() -> None:
    approval = {"type": "HUMAN_APPROVED", "timestamp": T, "programId": "t1", "humanId": "@(bo)"}
    assert read_event(approval).program_id == "bo"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, None),
        ({"principal": "ada"}, ("ada", None, ())),
        ({"principal": {"id": "ada", "type": "human"}}, ("ada", "human", ())),
        ({"principal": "bot", "principal_type": "agent", "on_behalf_of": "@(ada)"}, ("bot", "agent", ("ada",))),
        ({"onBehalfOf": [{"id": "a", "onBehalfOf": "b"}, "c"]}, (None, None, ("a", "b", "c"))),
        ({"principal": 7}, (None, None, ())),
        ({"principal": {"id": "x", "type": "robot"}}, ("x", None, ())),
    ],
)
def test_principals_have_many_forms(fields: dict[str, object], found: tuple[object, ...] | None) -> None:
    read = read_principal(fields)
    assert (read and (read.id, read.type, read.chain)) == found


def test_a_chain_that_never_ends_is_cut() -> None:
    deep: object = "last"
    for _ in range(300):
        deep = {"id": "x", "onBehalfOf": deep}
    read = read_principal({"principal": deep})
    assert read is not None
    assert [kind for kind, _ in read.faults] == ["delegation_cycle"]
    wide = read_principal({"onBehalfOf": [str(number) for number in range(100_000)]})
    assert wide is not None
    assert 0 < len(wide.chain) <= 1_000


def test_cycles_are_found_however_long_the_chain_is() -> None:
    chain = {str(number): [("sources", str(number + 1))] for number in range(20_000)}
    assert list(reference_cycles(chain)) == []
    [(setting, cycle)] = reference_cycles({**chain, "19999": [("sources", "0")]})
    assert (setting, cycle[0], cycle[-1], len(cycle)) == ("sources", "0", "0", 10)
    agent, task = [("currentTask", "task"), ("onBehalfOf", "boss")], [("assignee", "agent")]
    assert list(reference_cycles({"agent": agent, "task": task, "boss": [("onBehalfOf", "agent")]})) == [
        ("onBehalfOf", ["agent", "boss", "agent"])
    ]


def test_an_event_is_the_same_in_any_order_of_keys_and_whatever_its_id_is() -> None:
    other = dict(reversed(list({**EVENT, "id": "e2"}.items())))
    assert read_event(EVENT).id == read_event(other).id != read_event({**EVENT, "taskId": "u"}).id


def test_files_of_events_are_known_by_what_they_hold_and_are_never_copied(tmp_path: Path) -> None:
    names = ["events.jsonl", "program_events.jsonl", "wal.jsonl", "events.wal", "any-name.ndjson"]
    for name in names:
        write_log(tmp_path / name, [EVENT])
    (tmp_path / "events.json").write_text(json.dumps([EVENT], indent=1))
    (tmp_path / "program_events.json").write_text(json.dumps({"events": [EVENT]}))
    (tmp_path / "other.json").write_text(json.dumps([EVENT]))
    write_log(tmp_path / "log.jsonl", [entry("u", message={"content": json.dumps(EVENT)})])
    write_log(tmp_path / "graph.jsonl", [{"kind": "model_request", "event_id": "x", "ts": "2026-01-05T10:00:00Z"}])
    write_log(tmp_path / "foreign.jsonl", [{**entry("u"), "type": "user"}, {"type": "SOMETHING_ELSE"}])
    found = {Path(source.path).name: source.may_hold_secrets for source in sources_in(tmp_path)}
    assert found == {**dict.fromkeys([*names, "events.json", "program_events.json"], True), "log.jsonl": False}
    assert recognise(str(tmp_path / "events.json")).family is Family.PROGRAMS
    rows, problems = rows_of(tmp_path, "program_events")
    assert (len(rows), len({row["event_id"] for row in rows}), problems) == (7, 1, [])


def test_no_form_of_credentials_gets_into_rows_or_problems(tmp_path: Path) -> None:
    notes: list[dict[str, object]] = [{"note": text} for text in CREDENTIALS[1:8]]
    hidden: list[dict[str, object]] = [
        {"apiKey": CREDENTIALS[0]},
        *notes,
        {"headers": [["Authorization", CREDENTIALS[8]]], CREDENTIALS[2]: 1},
        {"args": ["--api-key", CREDENTIALS[0]], "deep": [{"env": {"OPENAI_KEY": CREDENTIALS[0]}}]},
    ]
    lines: list[dict[str, object]] = []
    for number, secret in enumerate(hidden):
        lines.append({"id": f"p{number}", "programType": "provider", "config": secret, **secret})
        lines.append(
            {**EVENT, "id": f"e{number}", "timestamp": T + number, "data": secret, "payload": [secret], **secret}
        )
    lines.append({"id": CREDENTIALS[1], "programType": "provider", "lifecycle": CREDENTIALS[1]})
    lines.append(
        {**EVENT, "id": CREDENTIALS[1], "type": CREDENTIALS[1], "kind": "TASK_CREATED", "principal": CREDENTIALS[1]}
    )
    path = write_log(tmp_path / "programs.jsonl", lines)
    path.write_text(path.read_text() + f'{{"apiKey": "{CREDENTIALS[0]}", \n{{"id": "{CREDENTIALS[1]}"')
    statements, problems = extract(path)
    stored = json.dumps([statements, [str(problem) for problem in problems]])
    assert [text for text in CREDENTIALS if text in stored] == []
    assert kinds(problems).count("credentials") >= 2 * len(hidden)
    assert len([row for tables in statements.values() for row in tables["programs"]]) == len(hidden)


@pytest.mark.long
def test_no_credential_is_in_any_file_of_the_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    secret = {"apiKey": CREDENTIALS[0], "note": CREDENTIALS[1], "headers": [["Authorization", CREDENTIALS[8]]]}
    write_log(
        tmp_path / "logs" / "programs.jsonl", [{"id": "p", "programType": "provider", "config": secret, **secret}]
    )
    write_log(tmp_path / "logs" / "events.jsonl", [{**EVENT, "data": secret, **secret}])
    write_log(tmp_path / "logs" / "log.jsonl", [entry("u")])
    import_histories(ledger, [tmp_path / "logs"], Settings(jobs=0, keep_raw=True))
    files = [path for path in ledger.rglob("*") if path.is_file()]
    assert any("raw" in path.parts for path in files)
    for text in (CREDENTIALS[0], CREDENTIALS[1], CREDENTIALS[8]):
        assert [path for path in files if text.encode() in path.read_bytes()] == []
    with aix.open(ledger) as opened:  # Parquet files are compressed
        for table in ("programs", "program_events", "import_problems"):
            rows = str(opened.sql(f"from {table}").rows())
            assert rows != "[]"
            assert [text for text in CREDENTIALS if text in rows] == []


def test_programs_and_events_between_entries_are_kept_without_their_credentials(tmp_path: Path) -> None:
    secret = {"apiKey": CREDENTIALS[0]}
    log = write_log(
        tmp_path / "log.jsonl",
        [
            entry("a"),
            entry("b"),
            entry("u", context={"credentials": secret}, principal={"id": "x", **secret}, config=secret),
            {"id": "p", "programType": "provider", "config": secret},
            {**EVENT, "data": secret},
            {"id": "e2", "type": "SESSION_MESSAGE", "timestamp": T, "sessionId": "s", "message": {"role": "user"}},
            {"config": secret},
            {"uuid": "v", "message": {"role": "robot"}, "config": secret},
        ],
    )
    log.write_text(f'{log.read_text()}{{"apiKey": "{CREDENTIALS[0]}", ', "utf-8")
    statements, problems = extract(log)
    [tables] = statements.values()
    assert [len(tables[name]) for name in ("messages", "programs", "program_events")] == [3, 1, 2]
    assert CREDENTIALS[0] not in json.dumps([statements, [str(problem) for problem in problems]])
    assert kinds(problems) == ["credentials"] * 3 + ["no_message", "unknown_role", "truncated_line"]
    assert [source.may_hold_secrets for source in sources_in(log)] == [True]


def test_the_own_fields_of_an_entry_lose_their_credentials_too(tmp_path: Path) -> None:
    """Those that have a column, such as the provider, and those that are kept as they came."""
    log = write_log(
        tmp_path / "log.jsonl",
        [
            entry("sk-0123456789abcdef01", principal=CREDENTIALS[1], onBehalfOf={"id": "bo", "apiKey": CREDENTIALS[0]}),
            entry("a", "assistant", "sk-0123456789abcdef01", provider=CREDENTIALS[6], situation=CREDENTIALS[2]),
        ],
    )
    statements, problems = extract(log)
    [tables] = statements.values()
    stored = json.dumps([statements, [str(problem) for problem in problems]])
    assert [text for text in CREDENTIALS if text in stored] == []
    assert kinds(problems) == ["credentials"] * 2
    assert [row["on_behalf_of"] for row in tables["turn_context"]] == ["bo"]
    assert {row["source_event_id"] for row in tables["turns"]} == {"sk-0123456789abcdef01"}  # an id is no credential


def test_pieces_of_an_answer_and_counts_of_tokens_are_no_credentials(tmp_path: Path) -> None:
    pieces = [
        {**EVENT, "type": kind, "data": {"token": f"w{number}", "tokens": 1}} for number, kind in enumerate(PIECES)
    ]
    rows, problems = rows_of(write_log(tmp_path / "events.jsonl", pieces), "program_events")
    assert [json.loads(row["payload_json"])["data"] for row in rows] == [piece["data"] for piece in pieces]
    assert "credentials" not in kinds(problems)
    assert json.loads(read_event({**EVENT, "data": {"token": "x", "tokens": "x"}}).payload_json)["data"] == {}


# NaN is no JSON, and equals nothing, not even itself.
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)
NAMES = "id eventId event_id kind event timestamp ts taskId programId principal onBehalfOf data payload context x"
fields = st.dictionaries(
    st.sampled_from(NAMES.split()),
    st.one_of(values, st.sampled_from(["@(x)", "x", 1767607200000, {"id": "x", "type": "human"}])),
)


@given(fields)
@settings(max_examples=40, deadline=None)
def test_any_event_comes_back_as_it_was_kept(extra: dict[str, object]) -> None:
    read = read_event({**extra, "type": "TASK_CREATED"})
    row = {"claimed_event_id": read.claimed_id, "payload_json": read.payload_json}
    again = read_event(json.loads(json.dumps(program_event(row))))
    assert (again.id, again.claimed_id, again.program_id, again.principal) == (
        read.id,
        read.claimed_id,
        read.program_id,
        read.principal,
    )
    assert isinstance(read, ProgramEvent)


@given(fields)
@settings(max_examples=40, deadline=None)
def test_any_program_comes_back_as_it_was_kept(extra: dict[str, object]) -> None:
    read = read_program({**extra, "id": "x", "programType": "agent", "state": "idle"})
    assert read is not None
    row = {
        "id": read.id,
        "program_type": read.type,
        "lifecycle": read.lifecycle,
        "config_json": json.dumps(read.config),
    }
    assert read_program(json.loads(json.dumps(program(row)))) == read


def test_the_rows_are_the_same_in_any_order_and_split_of_files(tmp_path: Path) -> None:
    lines = (FIXTURES / "program_events" / "input" / "events.jsonl").read_text().splitlines(keepends=True)
    parts = [lines[:10], lines[8:20], lines[20:]]
    whole = tmp_path / "whole" / "events.jsonl"
    whole.parent.mkdir()
    whole.write_text("".join(lines))
    expected = _without_positions(said_together(extract(whole)[0], extract(whole)[0]))
    assert len(expected) == len(lines)
    for number, order in enumerate(permutations(parts)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for place, part in enumerate(order):
            (folder / f"events-{place}.jsonl").write_text("".join(part))
        assert _without_positions(said_together(extract(folder)[0])) == expected


def _without_positions(said: dict[tuple[str, object], object]) -> dict[tuple[str, object], str]:
    """Leave out the place of an event in its file, which depends on the file."""
    return {key: re.sub(r"'position\\*', [0-9]+", "", str(value)) for key, value in said.items()}
