"""`aix mcp`: the server as clients start it, a process of its own."""

import subprocess
import sys
from importlib import util
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.server.client import rows_of, text_of
from tests.support.command_line import AIX, run_in_process, run_on_terminal
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

COUNT = {"query": "select count(*) as n from turns"}


def test_a_client_starts_the_command_and_calls_its_tools(tmp_path: Path, empty_home: Path) -> None:
    ledger = tmp_path / "ledger"
    write_ledger(ledger, SAMPLE_ROWS)
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "aix", "mcp", "--ledger", str(ledger)], env={"HOME": str(empty_home)}
    )

    async def run() -> None:
        async with Client(command) as client:
            assert "sql" in [tool.name for tool in (await client.list_tools()).tools]
            assert rows_of(text_of(await client.call_tool("sql", COUNT))) == [{"n": 6}]
            found = await client.call_tool("search", {"text": "calls"})
            assert rows_of(text_of(found))[0]["session"] == "session-log:s-1"
            assert (await client.call_tool("sql", {"query": "drop table turns"})).is_error

    anyio.run(run)


def test_the_end_of_input_ends_the_server_quietly_whatever_came_before(tmp_path: Path) -> None:
    sent = 'this is no JSON\n\n{}\n[1]\n{"jsonrpc": "2.0", "method": "none", "id": 1}\n'
    process = subprocess.run(
        [AIX, "mcp", "--ledger", str(tmp_path)], input=sent, capture_output=True, text=True, timeout=60
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert all(line.startswith("{") for line in process.stdout.splitlines())


def test_without_the_package_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = util.find_spec
    monkeypatch.setattr("aix.cli.mcp.find_spec", lambda name: None if name == "mcp_types" else find_spec(name))
    process = run_in_process("mcp", "--ledger", str(tmp_path))
    assert process.returncode == 2
    assert process.stderr == "aix: the package mcp 2 is not installed\n  pip install 'aix-ledger[mcp]'\n"
    assert process.stdout == ""


def test_a_person_is_told_what_the_command_waits_for(tmp_path: Path) -> None:
    shown, code = run_on_terminal(AIX, "mcp", "--ledger", str(tmp_path), answer="\x04")
    assert code == 0
    assert "this waits for a client on stdin" in shown
