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
from tests.support.command_line import AIX, run_aix


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
