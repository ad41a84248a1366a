"""`aix demo`: a ledger of its own, and nothing of the user's touched."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.command_line import run_in_process


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo in its default place."""
    data = tmp_path_factory.mktemp("data")
    process = run_in_process("demo", XDG_DATA_HOME=str(data))
    assert process.returncode == 0, process.stderr
    assert process.stdout  # the overview, which has tests of its own
    assert f"try aix audit --ledger {data}/aix/demo/ledger\n" in process.stderr
    assert [path.name for path in (data / "aix").iterdir()] == ["demo"]
    return data / "aix" / "demo"


def last_day(ledger: Path) -> str:
    rows = json.loads(
        run_in_process("sql", "--ledger", str(ledger), "--json", "select max(started_at) from turns").stdout
    )
    [milliseconds] = rows[0].values()
    return str(datetime.fromtimestamp(milliseconds / 1000, UTC).date())


@pytest.mark.long
def test_the_demo_ends_yesterday(demo: Path) -> None:
    assert last_day(demo / "ledger") in {str(datetime.now(UTC).date() - timedelta(days=days)) for days in (1, 2)}


@pytest.mark.long
def test_a_demo_replaces_an_earlier_one_and_nothing_else_in_the_folder(demo: Path) -> None:
    (demo / "audit.html").write_text("mine")
    before = sorted(path.name for path in demo.iterdir())
    assert run_in_process("demo", str(demo), "--end", "2025-06-30").returncode == 0
    assert last_day(demo / "ledger") == "2025-06-30"
    assert sorted(path.name for path in demo.iterdir()) == before


def test_a_folder_that_holds_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "kept.txt").write_text("mine")
    process = run_in_process("demo", str(tmp_path))
    assert process.returncode == 2
    assert f"{tmp_path} holds other files" in process.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["logs", "kept.txt"]


def test_the_ledger_of_the_user_is_refused(tmp_path: Path) -> None:
    process = run_in_process("demo", str(tmp_path / "new"), AIX_LEDGER=str(tmp_path / "new" / "ledger"))
    assert process.returncode == 2
    assert "your own ledger is in " in process.stderr
    assert not (tmp_path / "new").exists()


def test_the_ledger_of_the_user_is_refused_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "ledger").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    process = run_in_process("demo", str(tmp_path / "link"), AIX_LEDGER=str(tmp_path / "real" / "ledger"))
    assert process.returncode == 2
    assert "your own ledger is in " in process.stderr


def test_a_file_with_the_name_of_the_mark_is_not_the_mark(tmp_path: Path) -> None:
    (tmp_path / "DEMO.txt").write_text("mine")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "kept.txt").write_text("mine")
    process = run_in_process("demo", str(tmp_path))
    assert process.returncode == 2
    assert (tmp_path / "DEMO.txt").read_text() == "mine"
    assert (tmp_path / "logs" / "kept.txt").exists()
