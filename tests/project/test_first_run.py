"""`make run`: what a newcomer sees."""

import subprocess
import sys
from pathlib import Path

import pytest

from aix.store.manifest import is_ledger
from tests import ROOT
from tests.support.plugin_env import plug_in

pytestmark = pytest.mark.long


def make_run(environment: Path, demo: Path) -> subprocess.CompletedProcess[str]:
    """Run it with an environment that is set up already."""
    set_up = ["-o", f"{environment}/.run", f"VENV={environment}"]
    return subprocess.run(
        ["make", "--no-print-directory", "-C", str(ROOT), "run", *set_up, f"DEMO={demo}"],
        capture_output=True,
        text=True,
    )


def default_ledger(home: Path) -> Path:
    return home / ".local" / "share" / "aix" / "ledger"


def test_without_histories_a_demo_is_shown_from_a_ledger_of_its_own(tmp_path: Path, empty_home: Path) -> None:
    demo = tmp_path / "demo"
    for _ in range(2):
        process = make_run(Path(sys.prefix), demo)
        assert process.returncode == 0, process.stderr
        assert process.stdout.startswith("There are no histories on this machine that AIX knows.")
        for shown in ("$", "rm -rf /srv/tides/cache", f"{demo}/audit.html"):
            assert shown in process.stdout
        assert f"try aix audit --ledger {demo}/ledger" in process.stderr
        assert "<html" in (demo / "audit.html").read_text("utf-8")
    assert is_ledger(demo / "ledger")
    assert not default_ledger(empty_home).exists()


def test_histories_on_the_machine_go_into_the_default_ledger(tmp_path: Path, empty_home: Path) -> None:
    plugged = plug_in(tmp_path)
    script = plugged.python.with_name("aix")
    script.write_text(f'#!/bin/sh\nexec {plugged.python} -m aix "$@"\n')
    script.chmod(0o755)
    (empty_home / "notes").mkdir()
    (empty_home / "notes" / "a.note").write_text("note\nhello\n")
    (empty_home / "notes" / "broken.note").symlink_to(tmp_path / "nowhere")
    process = make_run(plugged.python.parent.parent, tmp_path / "demo")
    assert process.returncode == 0, process.stderr
    assert "notes: 1 session · 1 turn" in process.stdout
    assert "broken.note: it cannot be read" in process.stderr
    assert is_ledger(default_ledger(empty_home))
    assert not (tmp_path / "demo").exists()
    assert default_ledger(empty_home).stat().st_mode & 0o777 == 0o700
