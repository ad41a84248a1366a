"""stdout is data and nothing else, wherever it goes."""

import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len
from rich.text import Text

from aix.cli.stdout import emit
from aix.errors import OutputError
from aix.output import Listing, ListingColumn
from aix.schema import TABLES
from tests.support.command_line import AIX, run_aix, run_in_process, run_on_terminal
from tests.support.sample_ledger import write_ledger

LISTING = Listing((ListingColumn("name"), ListingColumn("size", "BIGINT")), [("a", 1), (None, 2)])
HOSTILE = """
from aix.cli.stdout import emit
from aix.output import Listing, ListingColumn
columns = (ListingColumn("name \\x1b[2J"), ListingColumn("size", "BIGINT"))
rows = [("\\x1b]0;owned\\x07 \\x1b[2J \\u202e plain", 7)]
emit(Listing(columns, rows), output_format="{format}", path=None)
"""


@pytest.mark.parametrize("output_format", ["table", "csv", "json", "jsonl", "markdown"])
def test_text_of_a_log_cannot_drive_the_terminal(output_format: str) -> None:
    shown, code = run_on_terminal(sys.executable, "-c", HOSTILE.format(format=output_format))
    assert code == 0
    assert "plain" in shown
    for sequence in ("\x1b]", "\x07", "\x1b[2J", "\u202e"):
        assert sequence not in shown


@pytest.mark.parametrize("columns", [40, 80, 120, 140, 200])
def test_a_table_on_a_terminal_keeps_to_its_width_and_names_whole(columns: int) -> None:
    shown, code = run_on_terminal(AIX, "schema", "turns", columns=columns)
    assert code == 0
    lines = [Text.from_ansi(line).plain for line in shown.splitlines()]
    assert max(map(cell_len, lines)) <= columns
    words = {word for line in lines for word in line.split()}
    assert set(TABLES["turns"].column_names) <= words


def test_parquet_is_not_written_to_a_terminal() -> None:
    shown, code = run_on_terminal(AIX, "schema", "--format", "parquet")
    assert code == 2
    assert "PAR1" not in shown
    assert "-o FILE" in shown


def test_parquet_goes_down_a_pipe() -> None:
    output = subprocess.run([AIX, "schema", "--format", "parquet"], capture_output=True, check=True).stdout
    assert output[:4] == output[-4:] == b"PAR1"


def test_the_suffix_of_the_file_decides_unless_a_format_is_named(tmp_path: Path) -> None:
    starts = {
        ".csv": "table,",
        ".json": "[\n{",
        ".jsonl": '{"',
        ".md": "| table",
        ".txt": "table ",
    }
    for suffix, start in starts.items():
        target = tmp_path / f"out{suffix}"
        assert run_in_process("schema", "-o", str(target)).stdout == ""
        assert target.read_text().startswith(start), suffix
    run_in_process("schema", "-o", str(tmp_path / "out.parquet"))
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["table", "kind", "columns", "description"]
    run_in_process("schema", "--format", "csv", "-o", str(tmp_path / "out.json"))
    assert (tmp_path / "out.json").read_text().startswith("table,")


def test_json_is_short_for_format_json() -> None:
    assert run_in_process("schema", "--json").stdout == run_in_process("schema", "--format", "json").stdout
    contradiction = run_in_process("schema", "--json", "--format", "csv")
    assert contradiction.returncode == 2
    assert "contradict" in contradiction.stderr


def test_a_file_is_replaced_only_when_the_output_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("before")

    def failing_rows() -> Iterator[tuple[object, ...]]:
        yield ("a", 1)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        emit(Listing(LISTING.columns, failing_rows()), output_format=None, path=target)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_has_the_users_usual_permissions(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        emit(LISTING, output_format="csv", path=tmp_path / "out.csv")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o640


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.touch(mode=0o600)
    emit(LISTING, output_format="csv", path=target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("before")
    (tmp_path / "link.csv").symlink_to("real.csv")
    emit(LISTING, output_format=None, path=tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "name,size\na,1\n,2\n"


def test_devices_and_pipes_are_written_to_and_stay() -> None:
    emit(LISTING, output_format="csv", path=Path("/dev/null"))
    assert Path("/dev/null").is_char_device()
    assert run_aix("version", "-o", "/dev/stdout").stdout == run_aix("version").stdout


def test_an_error_of_the_rows_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    def unreadable_rows() -> Iterator[tuple[object, ...]]:
        yield ("a", 1)
        raise FileNotFoundError("some input")

    with pytest.raises(FileNotFoundError):
        emit(Listing(LISTING.columns, unreadable_rows()), output_format="csv", path=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught:
        emit(LISTING, output_format="csv", path=tmp_path / "absent" / "out.csv")
    assert str(tmp_path / "absent" / "out.csv") in str(caught.value)
    assert "No such file or directory" in str(caught.value)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError):
        emit(LISTING, output_format="csv", path=tmp_path / "loop")
    refused = run_in_process("schema", "-o", str(tmp_path / "absent" / "out.csv"))
    assert refused.returncode == 2
    assert "out.csv" in refused.stderr


def test_the_locale_changes_nothing() -> None:
    expected = run_aix("schema", "turns").stdout
    assert "─" in expected
    assert run_aix("schema", "turns", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii").stdout == expected


COMMANDS = [["schema"], ["schema", "--format", "parquet"], ["--help"], ["schema", "--help"], ["completion", "bash"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("redirection", "reason"), [("> /dev/full", "No space left"), (">&-", "closed")])
def test_a_stdout_that_cannot_be_written_is_explained(command: list[str], redirection: str, reason: str) -> None:
    shell = f"exec {shlex.join([AIX, *command])} {redirection}"
    process = subprocess.run(["sh", "-c", shell], capture_output=True, text=True)
    assert process.returncode == 2
    assert reason in process.stderr
    assert len(process.stderr.splitlines()) == 2


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_goes_away_ends_the_command_quietly(command: list[str]) -> None:
    process = subprocess.Popen([AIX, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), complaint) == (141, b"")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "txt"])
def test_on_a_terminal_a_file_is_named_with_its_rows(tmp_path: Path, suffix: str) -> None:
    write_ledger(tmp_path / "ledger", {})
    path = tmp_path / f"out.{suffix}"
    arguments = ["sql", "from range(12)", "-o", str(path), "--ledger", str(tmp_path / "ledger")]
    shown, code = run_on_terminal(AIX, *arguments, columns=200)
    assert (shown.strip(), code) == (f"aix: wrote {path} (12 rows)", 0)
    piped = run_in_process(*arguments)
    assert (piped.returncode, piped.stderr) == (0, "")
