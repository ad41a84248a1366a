"""`aix notebook`: copies of the notebooks, which never replace one that is there."""

from pathlib import Path

import pytest

from aix.cli.notebook import notebook_folder
from tests.support.command_line import run_in_process

NAMES = {path.name for path in notebook_folder().glob("*.ipynb")}


def test_notebooks_are_copied_and_those_that_are_there_stay(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "token_economics.ipynb").write_text("mine")
    copied = run_in_process("notebook", str(folder), "--no-open")
    assert copied.returncode == 0, copied.stderr
    assert {path.name for path in folder.iterdir()} == NAMES
    assert (folder / "token_economics.ipynb").read_text() == "mine"
    assert "is there already, and stays as it is" in copied.stderr
    assert "jupyter lab" in copied.stderr


def test_jupyter_is_started_on_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aix.cli.notebook.find_spec", lambda _: None)
    program = tmp_path / "bin" / "jupyter-lab"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/started\n')
    program.chmod(0o755)
    folder = tmp_path / "note books"
    assert run_in_process("notebook", str(folder), PATH=str(program.parent)).returncode == 0
    assert (tmp_path / "started").read_text() == f"{folder}\n"


def test_without_jupyter_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aix.cli.notebook.find_spec", lambda _: None)
    asked = run_in_process("notebook", str(tmp_path / "notes"), PATH=str(tmp_path))
    assert asked.returncode == 2
    assert "pip install 'aix-ledger[notebook]'" in asked.stderr


def test_a_folder_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    asked = run_in_process("notebook", str(tmp_path / "file" / "notes"), "--no-open")
    assert asked.returncode == 2
    assert "name another folder" in asked.stderr
