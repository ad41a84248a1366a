"""`aix events`: ids of the events of a file, and whether the file has the right ones."""

import gzip
import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from aix.importing import Source
from aix_importers.agent_dag.records import Event, read_records
from tests.support.command_line import AIX, run_in_process, run_on_terminal

STARTED = {"kind": "run_started", "ts": "2026-01-05T10:00:00Z", "run_id": "r-1", "agent_id": "a-1"}
# Written by hand as RFC 8785 writes it: keys in order, no blanks.
CANONICAL = '{"agent_id":"a-1","kind":"run_started","run_id":"r-1","ts":"2026-01-05T10:00:00Z"}'
RIGHT = sha256(CANONICAL.encode()).hexdigest()


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    lines = [
        json.dumps({"event_id": RIGHT, **STARTED}),
        json.dumps(dict(reversed(STARTED.items()))),
        json.dumps({"event_id": RIGHT, **STARTED, "reason": "user"}),
        "",
        json.dumps({"node": "Message", "id": "m-1", "ts": "2026-01-05T10:00:00Z"}),
        json.dumps({"edge": "RUN_HAS_EVENT", "src": "r-1", "dst": RIGHT, "seq": 0}),
        '{"kind": "run_finished", "ts": "2026-01-05T10:00:09Z", "score": NaN}',
        '{"kind": "run_finis',
    ]
    path = tmp_path / "graph.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_the_id_of_each_event_is_printed_with_its_line(graph: Path) -> None:
    printed = run_in_process("events", "hash", str(graph), "--json")
    rows = json.loads(printed.stdout)
    assert [(row["line"], row["kind"]) for row in rows] == [
        (1, "run_started"),
        (2, "run_started"),
        (3, "run_started"),
        (7, "run_finished"),
    ]
    assert rows[0]["event_id"] == rows[1]["event_id"] == RIGHT != rows[2]["event_id"]
    odd = '{"kind":"run_finished","score":"NaN","ts":"2026-01-05T10:00:09Z"}'
    assert rows[3]["event_id"] == sha256(odd.encode()).hexdigest()
    assert "line 7: JSON has no number NaN; it was kept as a text." in printed.stderr
    assert "line 8 was skipped: it is not JSON" in printed.stderr
    assert "4 ids computed" in printed.stderr
    assert f"`aix events verify {graph}`" in printed.stderr


def test_right_wrong_and_missing_ids_are_told_apart(graph: Path) -> None:
    verified = run_in_process("events", "verify", str(graph))
    assert verified.returncode == 1
    assert [line.split()[:3] for line in verified.stdout.splitlines()[2:]] == [
        ["1", "right", "run_started"],
        ["2", "missing", "run_started"],
        ["3", "wrong", "run_started"],
        ["7", "missing", "run_finished"],
    ]
    assert "4 events: 1 right, 1 wrong, 2 missing" in verified.stderr
    assert "1 id is wrong: the event was changed, or its writer computes ids differently." in verified.stderr


@pytest.mark.parametrize("action", ["hash", "verify"])
def test_bytes_that_are_not_utf8_are_noted(action: str, graph: Path) -> None:
    line = json.dumps({**STARTED, "reason": "caf?"}).encode().replace(b"?", b"\xe9")
    graph.write_bytes(b"\n".join([json.dumps(STARTED).encode(), line, b"\xe9"]))
    printed = run_in_process("events", action, str(graph), "--json")
    assert [row["line"] for row in json.loads(printed.stdout)] == [1, 2]
    assert "line 2: Bytes that are not UTF-8 were hashed as the character U+FFFD." in printed.stderr
    assert "line 3 was skipped: it is not JSON" in printed.stderr
    assert "line 1:" not in printed.stderr


def test_a_file_without_a_wrong_id_is_fine(graph: Path) -> None:
    graph.write_text(graph.read_text("utf-8").splitlines()[0], "utf-8")
    verified = run_in_process("events", "verify", str(graph), "--format", "csv")
    assert verified.returncode == 0
    assert verified.stdout.splitlines()[1] == f"1,right,run_started,{RIGHT},{RIGHT}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "No event in"),
        (b'{"node": "Agent", "id": "a"}\n', "No event in"),
        (f'{{"event_id": "{RIGHT}", {CANONICAL[1:]}\n{{"kind": "run_fin'.encode(), "1 line could not be read"),
    ],
)
def test_a_file_that_could_not_be_verified_is_not_fine(graph: Path, content: bytes, said: str) -> None:
    graph.write_bytes(content)
    verified = run_in_process("events", "verify", str(graph))
    assert (verified.returncode, said in verified.stderr) == (1, True)


@pytest.mark.parametrize(
    "content", [gzip.compress(CANONICAL.encode(), mtime=0), CANONICAL.encode("utf-16")], ids=["gzip", "utf-16"]
)
def test_a_file_that_is_not_lines_of_utf_8_is_refused(graph: Path, content: bytes) -> None:
    graph.write_bytes(content)
    verified = run_in_process("events", "verify", str(graph))
    assert (verified.returncode, "compressed or UTF-16" in verified.stderr) == (2, True)


def test_events_are_those_that_an_import_takes(graph: Path) -> None:
    attributes = {**STARTED, "node": "worker-3"}
    odd = {**STARTED, "event_id": {"event_id": RIGHT}}
    graph.write_text(f"{CANONICAL} {json.dumps(attributes)}\n{json.dumps(odd)}\n", "utf-8")
    rows = json.loads(run_in_process("events", "verify", str(graph), "--json").stdout)
    assert [(row["line"], row["verdict"]) for row in rows] == [(1, "missing"), (1, "missing"), (2, "wrong")]
    with graph.open("rb") as file:
        read = list(read_records(Source(str(graph)), file))
    assert [event.id for event in read if isinstance(event, Event)] == [row["computed_event_id"] for row in rows]


def test_a_file_of_something_else_is_answered_with_one_reason(graph: Path) -> None:
    graph.write_text("# Notes\n" * 20, "utf-8")
    verified = run_in_process("events", "verify", str(graph))
    [reason] = verified.stderr.splitlines()
    assert reason.startswith(f"aix: No event in {graph}: an event has `kind`, and `event_id` or `ts`")
    assert reason.endswith(f"`aix import {graph}`")


def test_an_id_that_is_a_number_is_named(graph: Path) -> None:
    graph.write_text("".join(f"{json.dumps({**STARTED, 'event_id': each})}\n" for each in range(7)), "utf-8")
    verified = run_in_process("events", "verify", str(graph))
    assert "line 1: Its event_id is a number; an id must be a string." in verified.stderr
    assert "2 more lines like these" in verified.stderr


def test_a_folder_is_answered_with_a_file_of_it(graph: Path) -> None:
    refused = run_in_process("events", "verify", str(graph.parent))
    assert (refused.returncode, f"name one file, such as {graph}" in refused.stderr) == (2, True)


def test_events_alone_shows_its_commands() -> None:
    shown = run_in_process("events")
    assert (shown.returncode, "  verify  Compare the ids" in shown.stdout) == (0, True)


@pytest.mark.long
def test_ids_are_whole_at_80_columns(graph: Path) -> None:
    text, _ = run_on_terminal(AIX, "events", "hash", str(graph), NO_COLOR="1")
    assert text.splitlines()[0].split() == ["line", "event_id"]
    assert text.splitlines()[1].split() == ["1", RIGHT]


def test_stdin_is_read_and_not_asked_for_again(graph: Path) -> None:
    piped = subprocess.run(
        [AIX, "events", "hash", "-"], input=graph.read_text("utf-8"), capture_output=True, encoding="utf-8", timeout=60
    )
    assert "4 ids computed" in piped.stderr
    assert "next:" not in piped.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    refused = run_in_process("events", "hash", str(tmp_path / "gone.jsonl"))
    assert (refused.returncode, "gone.jsonl cannot be read" in refused.stderr) == (2, True)
