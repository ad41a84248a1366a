"""The commands that exist so far."""

import json
import os
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

import aix
from aix.schema import SCHEMA_VERSION, TABLES
from tests.merge.test_groups import conversation
from tests.support.command_line import AIX, run_aix, run_here, run_in_process
from tests.support.row_batches import deliver


def test_version_names_everything_a_report_needs() -> None:
    rows = {row["component"]: row["version"] for row in json.loads(run_aix("version", "--json").stdout)}
    assert rows["aix"] == aix.__version__ == version("aix-ledger")
    assert rows["ledger schema"] == str(SCHEMA_VERSION)
    assert rows["duckdb"] == version("duckdb")
    assert set(rows) == {
        "aix",
        "ledger schema",
        "python",
        "duckdb",
        "polars",
        "pyarrow",
        "tree-sitter",
        "tree-sitter-bash",
    }
    assert run_aix("--version").stdout == f"aix {aix.__version__}\n"


def test_schema_lists_every_table() -> None:
    rows = json.loads(run_aix("schema", "--json").stdout)
    assert [row["table"] for row in rows] == list(TABLES)
    assert [row["columns"] for row in rows] == [len(table.columns) for table in TABLES.values()]


def test_schema_lists_every_column_of_a_table() -> None:
    rows = json.loads(run_aix("schema", "tool_calls", "--json").stdout)
    assert [row["column"] for row in rows] == list(TABLES["tool_calls"].column_names)
    status = next(row for row in rows if row["column"] == "status")
    assert status["words"] == ["pending", "running", "completed", "failed"]
    assert status["nullable"] is False
    view = json.loads(run_aix("schema", "chat_mentions", "--json").stdout)
    assert view[0] == {"column": "message_id", "type": "VARCHAR", "description": "the message"}


def test_the_ledger_can_be_named_before_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(tmp_path / "one", conversation("a"))
    deliver(tmp_path / "two", conversation("b"))
    for arguments, label in (
        (["--ledger", "one", "sessions"], "a"),
        (["sessions", "--ledger", "two"], "b"),
        (["--ledger", "one", "sessions", "--ledger", "two"], "b"),
    ):
        run_here(*(str(tmp_path / each) if each in ("one", "two") else each for each in arguments), "--format", "csv")
        assert [row.split(",")[0] for row in capsys.readouterr().out.splitlines()[1:]] == [label]


def test_tags_are_listed_by_either_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(tmp_path, conversation("a"))
    run_here("tag", "add", "billing", "a", "--ledger", str(tmp_path))
    capsys.readouterr()
    for name in ("ls", "list"):
        run_here("tag", name, "--ledger", str(tmp_path), "--format", "csv")
        assert capsys.readouterr().out.splitlines()[1].startswith("billing,sessions,a,")


def test_a_command_for_writers_of_importers_works_and_is_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    run_here("--help")
    assert "golden" not in capsys.readouterr().out
    run_here("golden", "--help")
    assert capsys.readouterr().out.startswith("Usage: aix golden")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str) -> None:
    process = run_aix("completion", shell)
    assert process.returncode == 0
    assert "_AIX_COMPLETE" in process.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [("aix ver", "version"), ("aix schema tool_call_", "tool_call_facts"), ("aix schema --form", "--format")],
)
def test_the_bash_script_completes_commands_names_and_options(words: str, expected: str) -> None:
    bash = shutil.which("bash")
    assert bash, "this test needs bash"
    script = f"""
        source <({AIX} completion bash)
        COMP_WORDS=({words}) COMP_CWORD=$(( $(wc -w <<< "{words}") - 1 ))
        _aix_completion aix; echo "${{COMPREPLY[@]}}"
    """
    environment = os.environ | {"PATH": f"{Path(AIX).parent}:{os.environ['PATH']}"}
    process = subprocess.run([bash, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert expected in process.stdout.split()


def test_importers_are_named_with_either_mark(tmp_path: Path) -> None:
    shown = run_in_process("importers", "agent-dag")
    assert (shown.returncode, shown.stderr) == (0, "aix: the importer agent_dag has no options\n")
    graph = tmp_path / "graph.jsonl"
    graph.write_text('{"node": "Agent", "id": "a"}\n', "utf-8")
    listed = run_in_process("sources", str(graph), "--importer", "agent-dag", "--ledger", str(tmp_path / "l"), "--json")
    assert [row["importer"] for row in json.loads(listed.stdout)] == ["agent_dag"]
    refused = run_in_process("sources", str(graph), "--importer", "agentdag", "--ledger", str(tmp_path / "l"))
    assert (refused.returncode, "no importer named 'agentdag'" in refused.stderr) == (2, True)
