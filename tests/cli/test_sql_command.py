"""`aix sql` answers one SELECT, in every format, and nothing else."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from aix.cli.diagnostics import run
from aix.cli.root import aix as root_command
from aix.output import FORMATS
from tests.reading.test_results import NATIVE
from tests.support.changes import commit
from tests.support.command_line import AIX, run_aix, run_in_process
from tests.support.numbered_ledgers import next_generation
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

HARD_EXPRESSIONS = [
    *(expression for expression, *_ in NATIVE),
    "date '-290307-01-01'",
    "timestamptz 'infinity'",
    "'nan'::double",
    "'-infinity'::float",
    "''::blob",
    "{'t': timestamptz '2026-01-01', 'n': {'d': date '9999-12-31'}}",
    "map {date '2026-01-01': interval 1 day}",
    "[[uuid '00000000-0000-0000-0000-00000000000a']]",
    "chr(27) || '[31m'",
    "{'\x1b[2J': 1}",
]

OTHER_STATEMENTS_OF_EACH_KIND = [
    "",
    "copy turns to '{folder}/out.csv'",
    "export database '{folder}/out'",
    "attach '{folder}/out.duckdb'",
    "create temp table x as select 1",
    "select 1; copy (select 1) to '{folder}/out.csv'",
    "with x as (delete from turns returning *) select * from x",
    "explain analyze copy (select 1) to '{folder}/out.csv'",
    "select * from enable_profiling(save_location = '{folder}/out.json')",
    "select nextval('x')",
    "select * from read_text('/etc/passwd')",
    "select * from '{folder}/outside.parquet'",
    "from '/etc/passwd.csv'",
    "describe '{folder}/outside.parquet'",
]
"""The ledger, which the command asks, is tried with all of them in tests/reading/test_statements.py."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql") / "ledger"
    write_ledger(folder, SAMPLE_ROWS)
    return folder


@pytest.fixture
def in_process(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("AIX_LEDGER", str(ledger))
    return monkeypatch


def ask(patch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `aix sql` in this process."""
    patch.setattr("sys.argv", ["aix", "sql", *arguments])
    return run(root_command)


def test_the_ledger_is_the_one_of_the_option_or_of_the_configuration(ledger: Path, tmp_path: Path) -> None:
    query = "select count(*) as n from turns"
    answer = f'[\n{{"n":{len(SAMPLE_ROWS["turns"])}}}\n]\n'
    (tmp_path / "config.toml").write_text(f'ledger = "{ledger}"')
    assert run_aix("sql", query, "--json", "--ledger", str(ledger)).stdout == answer
    assert run_in_process("sql", query, "--json", AIX_LEDGER=str(ledger)).stdout == answer
    assert run_in_process("--config", str(tmp_path / "config.toml"), "sql", query, "--json").stdout == answer
    process = run_in_process("sql", query)
    assert (process.returncode, process.stdout) == (3, "")
    assert "No ledger yet." in process.stderr


def test_the_sql_comes_from_the_command_line_a_file_or_stdin(ledger: Path, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    file.write_text("-- how many?\nselect 'ä' as n; -- done\n", "utf-8")
    command = [AIX, "sql", "--format", "csv", "--ledger", str(ledger), "-f"]
    from_file = subprocess.run([*command, str(file)], capture_output=True, encoding="utf-8")
    from_stdin = subprocess.run([*command, "-"], capture_output=True, encoding="utf-8", input=file.read_text("utf-8"))
    assert from_file.stdout == from_stdin.stdout == "n\nä\n"


def test_a_query_is_given_once(
    in_process: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latin").write_bytes(b"select '\xe4'")
    for arguments in ((), ("select 1", "-f", str(tmp_path / "latin")), ("-f", str(tmp_path / "nowhere"))):
        assert ask(in_process, *arguments) == 2
    assert ask(in_process, "-f", str(tmp_path / "latin")) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_an_earlier_version_can_be_asked(tmp_path: Path) -> None:
    for _ in range(3):
        commit(tmp_path, next_generation)
    query = ["sql", "select distinct tag from tags", "--format", "jsonl", "--ledger", str(tmp_path)]
    assert run_in_process(*query).stdout == '{"tag":"3"}\n'
    assert run_in_process(*query, "--at", "2").stdout == '{"tag":"2"}\n'
    process = run_in_process(*query, "--at", "9")
    assert process.returncode == 2
    assert "no version 9" in process.stderr
    assert "1 to 3" in process.stderr


@pytest.mark.parametrize("query", OTHER_STATEMENTS_OF_EACH_KIND)
def test_everything_but_a_select_is_refused(
    in_process: pytest.MonkeyPatch, tmp_path: Path, query: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(in_process, "--", query.replace("{folder}", str(tmp_path))) == 2
    out, err = capsys.readouterr()
    assert err.startswith("aix: ")
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
    assert "root:" not in out


def test_a_refusal_says_what_is_run(in_process: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ask(in_process, "copy turns to 'x'")
    assert capsys.readouterr().err == (
        "aix: COPY is not run here\n  one SELECT is run, or the EXPLAIN of one; see `aix sql --help`\n"
    )


def test_an_error_points_at_the_place(in_process: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(in_process, "select id,\n       nothing\nfrom turns") == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith('aix: Binder Error: Referenced column "nothing" not found')
    assert lines[-2] == "  LINE 2:        nothing"
    assert lines[-1].startswith("                 ^")


def test_text_of_a_log_cannot_look_like_a_message(
    in_process: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(in_process, "select cast('1' || chr(10) || 'aix: all is well' || chr(27) as integer)")
    err = capsys.readouterr().err
    assert "\naix:" not in err
    assert "\x1b" not in err


@pytest.mark.parametrize("output_format", FORMATS)
def test_values_of_every_type_are_written_in_every_format(
    in_process: pytest.MonkeyPatch, tmp_path: Path, output_format: str
) -> None:
    out = tmp_path / "out"
    columns = ", ".join(f"{expression} as x{number}" for number, expression in enumerate(HARD_EXPRESSIONS))
    assert ask(in_process, f"select {columns}", "--format", output_format, "-o", str(out)) == 0
    assert b"\x1b" not in out.read_bytes() or output_format in ("csv", "parquet")


def test_structs_and_lists_are_nested_in_json(
    in_process: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    query = "select sum(1) as n, {'d': date '2026-02-05', 'l': [1.5]} as s, map {'k': 1} as m, null as z"
    assert ask(in_process, query, "--json") == 0
    assert json.loads(capsysbinary.readouterr().out) == [
        {"n": 1, "s": {"d": "2026-02-05", "l": [1.5]}, "m": {"k": 1}, "z": None}
    ]


def test_parquet_keeps_the_types(in_process: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    query = """
        select date '2026-02-05' as day, make_timestamp(1_000_000) as at, 1::utinyint as small, [1] as list,
               1.50::decimal(9, 2) as price, {'a': 'x'} as s, sum(2) as n, interval 1 day as i
    """
    assert ask(in_process, query, "-o", str(out)) == 0
    types = {field.name: str(field.type) for field in pq.read_schema(out)}
    assert types == {
        "day": "date32[day]",
        "at": "timestamp[us]",
        "small": "uint8",
        "list": types["list"],  # how its items are called depends on the release
        "price": "decimal128(9, 2)",
        "s": "struct<a: string>",
        "n": "decimal128(38, 0)",
        "i": "string",
    }
    assert pl.read_parquet(out).height == 1


def test_a_plan_is_drawn_line_by_line(
    in_process: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert ask(in_process, "explain select * from turns join messages on turns.id = turn_id") == 0
    lines = capsysbinary.readouterr().out.decode().splitlines()
    assert lines[0] == "plan"
    assert len(lines) > 10
    assert '"' not in "".join(lines)


@pytest.mark.scale
def test_many_rows_need_little_memory(ledger: Path, tmp_path: Path) -> None:
    program = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""
    query = "select repeat('x', 2_000) || i as text from range({rows}) t(i)"
    for output_format in ("csv", "jsonl", "parquet"):
        peaks = []
        for rows in (1_000, 200_000):
            output = ["-o", str(tmp_path / "out"), "--format", output_format, "--ledger", str(ledger)]
            command = [sys.executable, "-c", program, AIX, "sql", query.format(rows=rows), *output]
            peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        assert peaks[1] - peaks[0] < 200, f"{output_format}: the rows are 400 MB"


def test_an_error_after_the_first_rows_leaves_no_file(in_process: pytest.MonkeyPatch, tmp_path: Path) -> None:
    query = "select case when i < 500_000 then i else cast('x' || i as bigint) end from range(600_000) t(i)"
    for name in ("out.csv", "out.parquet"):
        assert ask(in_process, query, "-o", str(tmp_path / name)) == 2
        assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.parametrize("output_format", ["csv", "parquet"])
def test_ctrl_c_ends_a_long_query(ledger: Path, output_format: str) -> None:
    query = "select sum(hash(i)) from range(1_000_000_000_000) t(i)"
    # A shell lets what it starts in the background ignore Ctrl-C, and a process inherits that.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [AIX, "sql", query, "--format", output_format, "--ledger", str(ledger)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, inherited)
    try:
        while _cpu_seconds(process.pid) < 6:  # by then the query runs
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err.strip()) == (130, "aix: interrupted")


def _cpu_seconds(process: int) -> float:
    """Return how long a process has computed, however busy the machine is with others."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_reader_that_goes_away_ends_it_quietly(ledger: Path) -> None:
    command = f"{AIX} sql 'from range(10_000_000)' --format csv --ledger {ledger}"
    process = subprocess.run(
        ["bash", "-c", f"{command} | head -n 2; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert (process.stdout, process.stderr, process.returncode) == ("range\n0\n", "", 141)


def test_a_ledger_that_cannot_be_written_is_read(ledger: Path, tmp_path: Path) -> None:
    read_only = tmp_path / "ledger"
    subprocess.run(["cp", "-r", str(ledger), str(read_only)], check=True)
    (read_only / "ledger.duckdb").unlink(missing_ok=True)
    (read_only / "ledger.duckdb").mkdir()
    process = run_aix("sql", "select 1 as one", "--format", "csv", "--ledger", str(read_only))
    assert (process.stdout, process.stderr) == ("one\n1\n", "")


def test_nothing_is_left_in_the_current_folder(ledger: Path, tmp_path: Path) -> None:
    subprocess.run(
        [AIX, "sql", "from turns order by id", "--ledger", str(ledger)],
        cwd=tmp_path,
        env=os.environ,
        check=True,
        capture_output=True,
    )
    assert not list(tmp_path.iterdir())
