"""Runs in which nothing has changed end early, and never when something has."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aix.permissions.contract import dialects
from aix.pipeline.report import Report, Status
from aix.pipeline.run import Settings, import_histories
from aix.pipeline.unchanged_cache import _QUIET_FILE
from aix.store.manifest import read_latest

pytestmark = pytest.mark.long

IN_PROCESS = Settings(jobs=0)


def entry(uuid: str, **message: str) -> str:
    content = {"role": "assistant", "content": "x", "model": "@(m)", **message}
    return json.dumps({"uuid": uuid, "sessionId": uuid, "timestamp": "2026-01-05T10:00:00Z", "message": content}) + "\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "above" / "logs"
    folder.mkdir(parents=True)
    for name in "ab":
        (folder / f"{name}.jsonl").write_text(entry(name))
    return folder


def run(logs: Path, tmp_path: Path, settings: Settings = IN_PROCESS) -> Report:
    return import_histories(tmp_path / "ledger", [logs], settings)


def test_the_run_after_an_import_ends_early(logs: Path, tmp_path: Path) -> None:
    first, second = run(logs, tmp_path), run(logs, tmp_path)
    assert (first.unchanged, second.unchanged, second.outcomes) == (0, 2, [])
    assert second.statuses == {Status.SKIPPED: 2}
    assert second.after == second.before
    assert run(logs, tmp_path, Settings(jobs=0, dry_run=True)).statuses == {Status.SKIPPED: 2}


def change_a_file(logs: Path) -> None:
    (logs / "a.jsonl").write_text(entry("a") + entry("c"))


def replace_a_file(logs: Path) -> None:
    """By one of the same size and time."""
    state = (logs / "a.jsonl").stat()
    (logs / "new").write_text(entry("a").replace('"x"', '"y"'))
    os.utime(logs / "new", ns=(state.st_atime_ns, state.st_mtime_ns))
    (logs / "new").rename(logs / "a.jsonl")


def add_a_file(logs: Path) -> None:
    (logs / "c.jsonl").write_text(entry("c"))


def add_programs_beside(logs: Path) -> None:
    (logs / "programs.json").write_text('[{"id": "m", "programType": "model", "config": {"modelId": "real"}}]')


def add_programs_above(logs: Path) -> None:
    (logs.parent / "programs.json").write_text('[{"id": "m", "programType": "model", "config": {"modelId": "real"}}]')


@pytest.mark.parametrize(
    "change",
    [change_a_file, replace_a_file, add_a_file, add_programs_beside, add_programs_above],
    ids=lambda f: f.__name__,
)
def test_whatever_changes_is_seen(logs: Path, tmp_path: Path, change: object) -> None:
    run(logs, tmp_path)
    assert callable(change)
    change(logs)
    report = run(logs, tmp_path)
    assert report.unchanged == 0
    assert report.statuses[Status.IMPORTED] + report.statuses[Status.UPSERTED] > 0


def test_programs_that_lie_elsewhere_are_looked_at_every_time(logs: Path, tmp_path: Path) -> None:
    add_programs_above(logs)
    run(logs, tmp_path)
    assert run(logs, tmp_path).unchanged == 0
    programs = logs.parent / "programs.json"
    programs.write_text(programs.read_text().replace("real", "fake"))
    assert run(logs, tmp_path).statuses == {Status.UPSERTED: 2}


def test_other_options_importers_and_places_are_other_runs(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path)
    inclusive = Settings(jobs=0, options={"session_log": {"usage": "inclusive"}})
    assert run(logs, tmp_path, inclusive).statuses == {Status.UPSERTED: 2}
    assert run(logs, tmp_path, Settings(jobs=0, machine="old")).statuses == {Status.IMPORTED: 2}
    assert run(logs, tmp_path, Settings(jobs=0, machine="old")).unchanged == 2
    assert run(logs / "a.jsonl", tmp_path, inclusive).statuses == {Status.SKIPPED: 1}
    assert run(logs, tmp_path, Settings(jobs=0, reparse=True)).statuses == {Status.UPSERTED: 2}


def answer_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = type(dialects()["session-log"])
    monkeypatch.setattr(dialect, "version", dialect.version + 1)


def be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(dialects(), "session-log")


@pytest.mark.parametrize("change", [answer_otherwise, be_gone], ids=lambda f: f.__name__)
def test_rules_that_are_understood_otherwise_are_held_against_all_calls_again(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch], None]
) -> None:
    first = run(logs, tmp_path)
    change(monkeypatch)
    second, third = run(logs, tmp_path), run(logs, tmp_path)
    assert first.after is not None
    assert second.after is not None
    assert (second.unchanged, third.unchanged) == (0, 2)
    assert second.after.views_made_by != first.after.views_made_by
    assert (second.after.tables, third.after) == (first.after.tables, second.after)


def test_what_failed_is_tried_every_time(logs: Path, tmp_path: Path) -> None:
    (logs / "b.jsonl").write_text(entry("b") + "not JSON\n")
    strict = Settings(jobs=0, strict=True)
    for _ in range(3):
        report = run(logs, tmp_path, strict)
        assert (report.unchanged, report.statuses[Status.FAILED]) == (0, 1)


def test_the_note_can_be_lost_or_broken(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path)
    note = tmp_path / "ledger" / _QUIET_FILE
    assert note.stat().st_mode & 0o777 == 0o600
    for content in (None, b"", b"[1]"):
        note.unlink() if content is None else note.write_bytes(content)
        assert run(logs, tmp_path).statuses == {Status.SKIPPED: 2}
        assert run(logs, tmp_path).unchanged == 2
    assert read_latest(tmp_path / "ledger").version == 1
