"""Paths that are not UTF-8: DuckDB opens none, so that no ledger can lie there."""

import os
from pathlib import Path

import pytest

import aix
from aix.cli.diagnostics import ExitCode, run
from aix.cli.root import aix as root_command
from aix.errors import ExportError, LedgerPathError
from aix.reading.export import export_duckdb
from aix.store.manifest import EMPTY
from tests.support.command_line import run_here
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

LOGS = str(Path("fixtures/session_log/two_turns").absolute())
COMMANDS = {
    "import": ["import", LOGS],
    "dry run": ["import", LOGS, "--dry-run"],
    "overview": ["overview"],
    "status": ["status"],
    "sql": ["sql", "select 1"],
    "forget": ["forget", "x"],
    "vacuum": ["vacuum"],
    "check": ["check"],
}


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    return tmp_path / os.fsdecode(b"odd\xff")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_uses_a_ledger_whose_path_is_not_utf8(odd: Path, name: str) -> None:
    with pytest.raises(LedgerPathError):
        run_here(*COMMANDS[name], "--ledger", str(odd))
    assert not odd.exists()


def test_the_message_names_the_path_and_the_remedy(
    odd: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AIX_LEDGER", str(odd))
    monkeypatch.setattr("sys.argv", ["aix", "import", LOGS])
    assert run(root_command) is ExitCode.LEDGER
    told = capsys.readouterr().err
    assert f"{odd.parent}/odd\\udcff cannot hold a ledger: its path is not UTF-8" in told
    assert "name another folder with --ledger" in told
    assert not odd.exists()


def test_a_path_counts_from_the_root_on(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd.mkdir()
    monkeypatch.chdir(odd)
    with pytest.raises(LedgerPathError):
        run_here("import", LOGS, "--ledger", "ledger")
    assert list(odd.iterdir()) == []


def test_python_is_told_the_same(odd: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerPathError):
        aix.import_histories([LOGS], odd)
    write_ledger(tmp_path / "plain", SAMPLE_ROWS)
    (tmp_path / "plain").rename(odd)
    with pytest.raises(LedgerPathError):
        aix.open(odd)
    with pytest.raises(LedgerPathError):
        aix.import_histories([odd], tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()


def test_what_is_written_there_is_written_or_refused(odd: Path, tmp_path: Path) -> None:
    write_ledger(tmp_path / "ledger", SAMPLE_ROWS)
    run_here("schema", "turns", "--format", "csv", "-o", str(odd))
    assert odd.read_text().startswith("column")
    with pytest.raises(ExportError, match="not UTF-8"):
        export_duckdb(tmp_path / "ledger", EMPTY, odd, [])
