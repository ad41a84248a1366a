"""Sessions out of the ledger and in again."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from aix.exporting.sessions import export_sessions, file_stem
from aix.health import Severity, check
from aix.reading.ledger import open_ledger
from aix.schema import TABLES
from aix_importers.session_log.export import SessionLogExporter
from tests import ROOT
from tests.importers.session_log.logs import FIXTURES, entry, import_logs, write_log
from tests.importers.session_log.random_logs import clean_logs
from tests.support.command_line import run_in_process
from tests.support.conversations import context, message, request, session, turn
from tests.support.row_batches import deliver, dump

pytestmark = pytest.mark.long

BEYOND_EXPORT = ("several_sessions_in_one_file",)
"""Situations in which an entry follows one of another session: that stands in another file."""

_POSITION = TABLES["program_events"].column_names.index("position")


def export(ledger: Path, target: Path, name: str | None = None) -> list[str]:
    with open_ledger(ledger) as opened:
        export_sessions(opened, SessionLogExporter(), target, name)
    return sorted(path.name for path in target.iterdir())


def dump_without_paths(ledger: Path) -> dict[str, list[str]]:
    found = dump(ledger)
    if "session_context" in found:
        found["session_context"] = [json.dumps(json.loads(row)[:5]) for row in found["session_context"]]
    if "program_events" in found:  # in one file, the events of several have other places
        events = map(json.loads, found["program_events"])
        found["program_events"] = [json.dumps([*event[:_POSITION], *event[_POSITION + 1 :]]) for event in events]
    return found


def test_what_was_imported_is_exported_as_it_was(tmp_path: Path) -> None:
    situations = [path for path in FIXTURES.iterdir() if path.name not in BEYOND_EXPORT]
    import_logs(tmp_path / "one", *situations)
    names = export(tmp_path / "one", tmp_path / "out")
    assert {"programs.jsonl", "program_events.jsonl"} <= set(names)
    import_logs(tmp_path / "two", tmp_path / "out")
    one, two = (dump_without_paths(tmp_path / name) for name in ("one", "two"))
    # A program without a time of its own has that of its file, which the export writes later.
    without_times = [[json.loads(row)[:-1] for row in dump.pop("programs")] for dump in (one, two)]
    assert two == one
    assert without_times[1] == without_times[0]


def test_an_entry_is_written_as_it_was_read(tmp_path: Path) -> None:
    entries = [
        {**entry("u"), "parentUuid": None, "extra": {"deep": [1, 2.5, "x"]}},
        entry("a", "assistant", "u", 3, message={"model": "@(m)", "usage": {"input_tokens": 4}, "stop": None}),
        {**entry("v", parent="lost"), "timestamp": "2026-01-05T12:00:09+02:00"},
    ]
    import_logs(tmp_path / "ledger", write_log(tmp_path / "log.jsonl", entries))
    assert export(tmp_path / "ledger", tmp_path / "out") == ["session-log.s.jsonl"]
    lines = (tmp_path / "out" / "session-log.s.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == entries


@given(entries=clean_logs())
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_entries_come_back(tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, object]]) -> None:
    folder = tmp_path_factory.mktemp("roundtrip")
    import_logs(folder / "one", write_log(folder / "log.jsonl", [entry("first", session="s0"), *entries]))
    export(folder / "one", folder / "out")
    import_logs(folder / "two", folder / "out")
    assert dump_without_paths(folder / "two") == dump_without_paths(folder / "one")


def test_a_session_of_any_origin_becomes_a_log(tmp_path: Path) -> None:
    answered = {"input_tokens": 3, "cache_read_tokens": 2, "model": "m", "latency_ms": 7, "origin_request_id": "r"}
    rows = {
        "turns": [turn("T1"), turn("T2", "T1", 2_000), turn("T3", "T1", 3_000)],
        "threads": [{"turn_id": turn_id} for turn_id in ("T1", "T2", "T3")],
        "turn_context": [context("T1"), context("T2", situation="quick"), context("T3")],
        "sessions": [session("test:x", "T3", origin="test", origin_session_id="x")],
        "session_turns": [{"session_label": "test:x", "turn_id": turn_id} for turn_id in ("T1", "T2", "T3")],
        "messages": [
            message("u1", "T1", "user", 1_000, content="one"),
            message("u2", "T1", "user", 1_001, content="two"),
            message("t1", "T1", "tool", 1_002, source="event"),
            message("a1", "T1", "assistant", 1_003),
            message("a2", "T1", "assistant", 1_004, content="done"),
            message("u3", "T2", "user", 2_000, content="three", metadata_json='{"uuid":"not of this id"}'),
            message("a3", "T2", "assistant", 2_001, content="four", metadata_json="not JSON"),
            message("u4", "T3", "user", 3_000, content="five"),
        ],
        "requests": [{**request("q", "T2"), "message_id": "a3", "provider": "p", **answered}],
    }
    deliver(tmp_path / "one", rows)
    assert export(tmp_path / "one", tmp_path / "out", "test:x") == ["test.x.jsonl"]
    written = [json.loads(line) for line in (tmp_path / "out" / "test.x.jsonl").read_text().splitlines()]
    assert [(each["uuid"], each.get("parentUuid"), each["message"]["content"]) for each in written] == [
        ("u1", None, "one"),
        ("u2", "u1", "two"),
        ("a1", "u2", ""),
        ("a2", "u2", "done"),
        ("u3", "a2", "three"),
        ("a3", "u3", "four"),
        ("u4", "a2", "five"),
    ]
    assert written[5] == {
        "uuid": "a3",
        "parentUuid": "u3",
        "sessionId": "x",
        "timestamp": "1970-01-01T00:00:02.001Z",
        "message": {
            "role": "assistant",
            "content": "four",
            "model": "m",
            "usage": {"inputTokens": 3, "cacheReadTokens": 2},
        },
        "requestId": "r",
        "provider": "p",
        "latencyMs": 7,
        "situation": "quick",
    }
    import_logs(tmp_path / "two", tmp_path / "out")
    parents = """
        select c.turn_key, p.turn_key, t.total_tokens from turns t join turn_context c on c.turn_id = t.id
        left join turn_context p on p.turn_id = t.parent_turn_id order by t.started_at
    """
    with open_ledger(tmp_path / "two") as two:
        assert two.sql(parents).rows() == [("u1", None, None), ("u3", "u1", 5), ("u4", "u1", None)]
    assert not [each for each in check(tmp_path / "two") if each.count and each.severity is Severity.HARD]


@pytest.mark.parametrize(
    ("label", "stem"),
    [
        ("session-log:5b1f-22", "session-log.5b1f-22"),
        ("session-log:programs", "session-log.programs"),
    ],
)
def test_a_plain_name_names_the_file(label: str, stem: str) -> None:
    assert file_stem(label) == stem


def test_hostile_names_stay_in_the_folder_and_apart() -> None:
    labels = [
        "x:../../etc",
        "x:a/b",
        "x:ab",
        "x:AB",
        "x:Ab",
        "x.a:b",
        "x:a.b",
        "x:",
        ":x",
        "x",
        "x:\0",
        "x:" + "é" * 500,
        "x:" + "a" * 500,
    ]
    stems = [file_stem(label) for label in labels]
    assert len(set(stems)) == len(labels)
    assert all(len(stem.encode()) < 200 and not set(stem) & set("/\\\0:") and stem[0] != "." for stem in stems)


def installed_exporter(folder: Path) -> str:
    """Make the entry point known to a process, whatever was installed when."""
    (folder / "session_log_exporter-1.dist-info").mkdir(parents=True)
    (folder / "session_log_exporter-1.dist-info" / "METADATA").write_text("Name: session_log_exporter\nVersion: 1\n")
    (folder / "session_log_exporter-1.dist-info" / "entry_points.txt").write_text(
        "[aix.exporters]\nsession-log = aix_importers.session_log.export:SessionLogExporter\n"
    )
    root = ROOT
    return ":".join(map(str, (root, root / "importers", folder)))


def test_the_command_writes_all_sessions_or_one_of_any_version(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    import_logs(ledger, write_log(tmp_path / "a.jsonl", [entry("a", session="one")]))
    import_logs(ledger, write_log(tmp_path / "b.jsonl", [entry("b", session="two")]))
    path = installed_exporter(tmp_path / "site")
    for target, flags, files in (
        ("all", [], ["session-log.one.jsonl", "session-log.two.jsonl"]),
        ("by-alias", ["--session", "two"], ["session-log.two.jsonl"]),
        ("earlier", ["--at", "1"], ["session-log.one.jsonl"]),
    ):
        command = ["export", "--format", "session-log", "-o", str(tmp_path / target), "--ledger", str(ledger)]
        process = run_in_process(*command, *flags, PYTHONPATH=path)
        assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
        assert sorted(each.name for each in (tmp_path / target).iterdir()) == files
        assert {each.stat().st_mode & 0o777 for each in (tmp_path / target).iterdir()} == {0o600}
    for flags, expected in (
        (["--session", "thre"], "no session named"),
        (["--canonical"], "--canonical is for"),
        (["--format", "sessionlog"], "no format named"),
        (["--format", "parquet", "--session", "one"], "--session is for"),
    ):
        command = ["export", "--format", "session-log", "-o", str(tmp_path / "no"), "--ledger", str(ledger)]
        process = run_in_process(*command, *flags, PYTHONPATH=path)
        assert (process.returncode, process.stdout) == (2, "")
        assert expected in process.stderr
    assert not (tmp_path / "no").exists()
