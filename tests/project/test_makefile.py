"""`make` says in one line what a machine lacks."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import ROOT


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs that holds what a shell needs, but neither Python nor uv."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("make", "sh", "sed", "sort", "awk", "touch", "env"):
        found = shutil.which(name)
        assert found, f"this test needs {name}"
        (programs / name).symlink_to(found)
    return programs


def make(machine: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", "-C", str(ROOT), f"VENV={machine.parent / 'venv'}", *arguments],
        capture_output=True,
        text=True,
        env={"PATH": str(machine), "HOME": str(machine.parent), **environment},
    )


def program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def explanation(process: subprocess.CompletedProcess[str]) -> str:
    """The one line that is not make's own."""
    assert process.returncode != 0
    [line] = [line for line in process.stderr.splitlines() if not line.startswith("make")]
    return line


@pytest.mark.parametrize("target", ["run", "test", "lint"])
def test_a_machine_without_python_gets_one_clear_line(machine: Path, target: str) -> None:
    assert "needs Python 3.11 or newer, and there is no python3" in explanation(make(machine, target))


def test_an_old_python_gets_one_clear_line(machine: Path) -> None:
    program(machine / "python3", "exit 1")  # what the version check of an old Python answers
    assert "python3 is older" in explanation(make(machine, "run"))


def test_a_python_without_venv_gets_one_clear_line(machine: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "ensurepip.py").write_text("raise ImportError")
    program(machine / "python3", f'PYTHONPATH={tmp_path / "broken"} exec {sys.executable} "$@"')
    line = explanation(make(machine, "run"))
    assert "lacks the venv module" in line
    assert "python3-venv" in line


def test_uv_is_used_when_it_is_there(machine: Path, tmp_path: Path) -> None:
    log = tmp_path / "uv.log"
    program(machine / "uv", f'echo "$@" >> {log}; exit 1')
    assert make(machine, "run").returncode != 0
    assert log.read_text().startswith("venv --quiet --python >=3.11")


def test_help_lists_every_target(machine: Path) -> None:
    listed = {line.split()[1] for line in make(machine, "help").stdout.splitlines()}
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY: help"))
    assert listed == set(phony.split()[1:])


def test_the_lowest_versions_are_the_bounds_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = [line for line in (ROOT / "constraints" / "lowest.txt").read_text().splitlines() if line[0] != "#"]
    assert [bound.replace(">=", "==") for bound in project["dependencies"]] == pins
