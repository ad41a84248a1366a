"""`aix mcp`: the server as clients start it, a process of its own."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib import util
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

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
        async with Client(stdio_client(command)) as client:
            assert "sql" in [tool.name for tool in (await client.list_tools()).tools]
            assert rows_of(text_of(await client.call_tool("sql", COUNT))) == [{"n": 6}]
            found = await client.call_tool("search", {"text": "calls"})
            assert rows_of(text_of(found))[0]["session"] == "session-log:s-1"
            assert (await client.call_tool("sql", {"query": "drop table turns"})).is_error

    anyio.run(run)


@pytest.mark.long
def test_the_end_of_input_ends_the_server_quietly_whatever_came_before(tmp_path: Path) -> None:
    sent = 'this is no JSON\n\n{}\n[1]\n{"jsonrpc": "2.0", "method": "none", "id": 1}\n'
    process = subprocess.run(
        [AIX, "mcp", "--ledger", str(tmp_path)], input=sent, capture_output=True, text=True, timeout=60
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert all(line.startswith("{") for line in process.stdout.splitlines())


def started(ledger: Path, *messages: Mapping[str, object]) -> "subprocess.Popen[str]":
    """Start a server, introduce a client, send messages, and wait until the first was answered."""
    pipe = subprocess.PIPE
    server = subprocess.Popen([AIX, "mcp", "--ledger", str(ledger)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert server.stdin is not None
    assert server.stdout is not None
    for each in (initialize, initialized, *messages):
        server.stdin.write(json.dumps(each) + "\n")
        server.stdin.flush()
    assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "aix"
    return server


@pytest.mark.long
def test_a_call_that_still_runs_does_not_hold_up_the_end(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    write_ledger(ledger, SAMPLE_ROWS)
    endless = "select count(*) from range(10_000_000) a, range(10_000_000) b where a.range + b.range = 3"
    call = {"name": "sql", "arguments": {"query": endless}}
    with started(ledger, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) as server:
        _, errors = server.communicate(timeout=30)
    assert (server.returncode, errors) == (0, "")


@pytest.mark.long
def test_an_interruption_ends_the_server_that_waits_for_input(tmp_path: Path) -> None:
    with started(tmp_path) as server:
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == 130
        assert server.stderr is not None
        assert "aix: interrupted" in server.stderr.read()


def test_without_the_package_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = util.find_spec
    monkeypatch.setattr("aix.cli.mcp.find_spec", lambda name: None if name == "mcp_types" else find_spec(name))
    process = run_in_process("mcp", "--ledger", str(tmp_path))
    assert process.returncode == 2
    assert process.stderr == "aix: the package mcp 2 is not installed\n  pip install 'aix-ledger[mcp]'\n"
    assert process.stdout == ""


@pytest.mark.long
def test_a_person_is_told_what_the_command_waits_for(tmp_path: Path) -> None:
    shown, code = run_on_terminal(AIX, "mcp", "--ledger", str(tmp_path), answer="\x04")
    assert code == 0
    assert "this waits for a client on stdin" in shown
