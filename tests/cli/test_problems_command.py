"""`aix problems`: what the latest imports could not take, and what earlier ones could not."""

import json
import shutil
from pathlib import Path

import pytest

from aix.schema import SCHEMA_VERSION
from tests.store.test_ledgers_of_all_versions import FIXTURES
from tests.support.command_line import AIX, run_in_process, run_on_terminal
from tests.support.sample_conversation import Row
from tests.support.sample_ledger import write_ledger


def source(path: str, last_run: str) -> Row:
    return {"source_key": path, "importer": "log", "path": path, "last_run_id": last_run}


def problem(run: str, path: str, seq: int = 0, **values: object) -> Row:
    return {"run_id": run, "source_key": path, "seq": seq, "kind": "truncated", "reason": f"Met by {run}.", **values}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    write_ledger(
        tmp_path,
        {
            "import_runs": [{"id": f"run-{n}", "started_at": n, "tool_version": "0"} for n in (1, 2)],
            "import_sources": [source("/logs/a.jsonl", "run-2"), source("/logs/b.jsonl", "run-1")],
            "import_problems": [
                problem("run-1", "/logs/a.jsonl", line=3, byte_offset=70, sample="old"),
                problem("run-2", "/logs/a.jsonl", line=4, sample="\x1b[2J" + "x" * 500),
                problem("run-2", "/logs/a.jsonl", 1, kind="unknown_type"),
                problem("run-1", "/logs/b.jsonl"),
                problem("run-1", "gone"),
            ],
        },
    )
    return tmp_path


def listed(ledger: Path, *arguments: str) -> list[tuple[object, ...]]:
    process = run_in_process("problems", "--json", "--ledger", str(ledger), *arguments)
    assert (process.returncode, process.stderr) == (0, "")
    return [(row["source"], row["kind"], row["reason"]) for row in json.loads(process.stdout)]


A, B = "/logs/a.jsonl", "/logs/b.jsonl"


def test_problems_are_those_of_the_last_run_that_read_each_source(ledger: Path) -> None:
    assert listed(ledger) == [
        (A, "truncated", "Met by run-2."),
        (A, "unknown_type", "Met by run-2."),
        (B, "truncated", "Met by run-1."),
        ("gone", "truncated", "Met by run-1."),
    ]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--all-runs"], 5),
        (["--kind", "truncated"], 3),
        (["--source", A], 2),
        (["--source", "/logs"], 3),
        (["--source", "/log"], 0),
        (["--source", "/logs", "--kind", "truncated", "--all-runs", "--limit", "2"], 2),
    ],
)
def test_problems_are_narrowed_down(ledger: Path, arguments: list[str], count: int) -> None:
    assert len(listed(ledger, *arguments)) == count


def test_machine_formats_hold_the_sample_whole_and_the_table_its_beginning(ledger: Path) -> None:
    process = run_in_process("problems", "--json", "--ledger", str(ledger))
    row = json.loads(process.stdout)[0]
    assert row == {
        "source": A,
        "line": 4,
        "byte_offset": None,
        "kind": "truncated",
        "reason": "Met by run-2.",
        "sample": "\x1b[2J" + "x" * 500,
    }
    shown, code = run_on_terminal(AIX, "problems", "--source", A, "--ledger", str(ledger))
    assert code == 0
    assert "\x1b[2J" not in shown
    assert "x" * 100 not in shown.replace("\r\n", "")
    alike, _ = run_on_terminal(AIX, "problems", "--kind", "truncated", "--ledger", str(ledger), NO_COLOR="1")
    [header] = [line for line in alike.splitlines() if line.startswith("source")]
    assert header.split()[:3] == ["source", "line", "reason"]
    assert "kind" not in header


def test_the_table_groups_problems_by_kind_with_what_to_do(ledger: Path) -> None:
    process = run_in_process("problems", "--ledger", str(ledger))
    header, _, *rows = process.stdout.splitlines()
    assert header.split("  ")[0] == "kind"
    counts = [tuple(row.split(maxsplit=2)[:2]) for row in rows]
    assert counts == [("truncated", "2"), ("truncated", "1"), ("unknown_type", "1")]
    assert rows[0].endswith(f"look at the example  {A}:4")
    assert process.stderr == "aix: `aix problems --kind truncated` lists such lines, each with the reason\n"
    empty = run_in_process("problems", "--source", "/log", "--ledger", str(ledger))
    assert (empty.stdout, empty.stderr) == ("", "aix: every line that was imported could be fully read\n")


def test_kinds_that_importers_note_come_with_advice(tmp_path: Path) -> None:
    known = {"importer": "claude_code", "path": A, "source_key": A, "last_run_id": "run-1"}
    tables: dict[str, list[Row]] = {
        "import_runs": [{"id": "run-1", "started_at": 1, "tool_version": "0"}],
        "import_sources": [known],
        "import_problems": [problem("run-1", A, kind="truncated_line"), problem("run-1", A, 1, kind="source_failed")],
    }
    write_ledger(tmp_path, tables)
    shown = run_in_process("problems", "--ledger", str(tmp_path)).stdout
    assert "import again later" in shown
    assert "fix it, import again" in shown


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_ledgers_of_all_versions_list_their_problems(version: int, tmp_path: Path) -> None:
    assert len(listed(shutil.copytree(FIXTURES / f"schema_{version}", tmp_path / "ledger"))) == (version > 1)
