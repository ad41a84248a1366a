"""Commands that people run daily import small changes first, and say what waits for `aix import`."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aix.cli import freshness
from aix.pipeline.freshness import Amount
from aix.pipeline.run import Settings, import_histories
from aix.reading.ledger import open_ledger
from aix.store.locks import alone, staging_folder
from aix.store.manifest import RAW_FOLDER, read_latest
from tests.importers.cursor.databases import GLOBAL, composer, prompt, write_database
from tests.support.command_line import AIX, run_aix, run_in_process, run_on_terminal

pytestmark = pytest.mark.long

ALWAYS = {"AIX_AUTO_IMPORT": "always"}
PROJECT = Path("projects") / "-home-ada-site"


def entry(uuid: str, session: str, **message: object) -> str:
    content = {"role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "done"}], **message}
    record = {"uuid": uuid, "sessionId": session, "type": "assistant", "timestamp": "2026-01-05T10:00:00Z"}
    return json.dumps({**record, "cwd": "/home/ada/site", "version": "2.0.1", "message": content}) + "\n"


@pytest.fixture
def logs(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tool's logs in the home, with two sessions."""
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    folder = empty_home / ".claude" / PROJECT
    folder.mkdir(parents=True)
    for name in "ab":
        (folder / f"{name}.jsonl").write_text(entry(f"{name}1", name))
    return folder


@pytest.fixture
def ledger(logs: Path) -> Path:
    """The configured ledger, with everything of the logs."""
    folder = logs.parents[2] / ".local" / "share" / "aix" / "ledger"
    import_histories(folder, None, Settings(jobs=0))
    assert sessions_in(folder) == ["a", "b"]
    return folder


def sessions_in(ledger: Path) -> list[str]:
    labels = open_ledger(ledger).sql("select label from sessions order by label").rows()
    return [label.removeprefix("claude-code:") for (label,) in labels]


def add(logs: Path, name: str) -> Path:
    path = logs / f"{name}.jsonl"
    path.write_text(entry(f"{name}1", name))
    return path


def test_small_changes_are_imported_first(ledger: Path, logs: Path) -> None:
    names = "ab"
    for name, command in {"c": "cost", "d": "sessions", "e": "overview", "f": "compactions"}.items():
        add(logs, name)
        process = run_in_process(command, **ALWAYS)
        assert process.returncode == 0, process.stderr
        assert process.stderr.splitlines()[0] == "aix: imported 1 changed source"
        names += name
        assert "".join(sessions_in(ledger)) == names
    assert "imported" not in run_in_process("cost", **ALWAYS).stderr
    assert read_latest(ledger).version == 5
    runs = open_ledger(ledger).sql("select argv from import_runs order by started_at").rows()
    assert [json.loads(argv) for (argv,) in runs][1:] == [["cost"], ["sessions"], ["overview"], ["compactions"]]


def test_a_terminal_gets_changes_and_a_pipe_does_not_unless_asked(ledger: Path, logs: Path) -> None:
    add(logs, "c")
    assert run_aix("sessions").stderr == ""
    assert sessions_in(ledger) == ["a", "b"]
    shown, code = run_on_terminal(AIX, "sessions")
    assert (code, sessions_in(ledger)) == (0, ["a", "b", "c"])
    assert "\x1b[2maix: imported 1 changed source\x1b[0m" in shown


def test_nothing_is_imported_unasked(ledger: Path, logs: Path) -> None:
    add(logs, "c")
    for arguments, environment in (
        (["sessions", "--no-import"], ALWAYS),
        (["sessions"], {"AIX_AUTO_IMPORT": "never"}),
        (["status"], ALWAYS),
        (["query", "overview/sessions"], ALWAYS),
    ):
        process = run_in_process(*arguments, **environment)
        assert (process.returncode, sessions_in(ledger)) == (0, ["a", "b"])
        assert "import" not in process.stderr


def test_another_ledger_than_the_configured_one_is_only_read(ledger: Path, logs: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(ledger, tmp_path / "copy")
    add(logs, "c")
    assert run_in_process("sessions", "--ledger", str(copy), **ALWAYS).stderr == ""
    assert sessions_in(copy) == sessions_in(ledger) == ["a", "b"]
    run_in_process("sessions", AIX_LEDGER=str(copy), **ALWAYS)
    assert (sessions_in(copy), sessions_in(ledger)) == (["a", "b", "c"], ["a", "b"])


@pytest.mark.usefixtures("logs")
def test_logs_that_were_never_imported_into_a_ledger_stay_out(tmp_path: Path) -> None:
    """As when the ledger holds a sample, or somebody else's histories."""
    elsewhere = tmp_path / "other" / "projects" / "p"
    elsewhere.mkdir(parents=True)
    (elsewhere / "z.jsonl").write_text(entry("z1", "z"))
    ledger = tmp_path / "ledger"
    import_histories(ledger, [elsewhere], Settings(jobs=0))
    process = run_in_process("sessions", AIX_LEDGER=str(ledger), **ALWAYS)
    assert (process.returncode, process.stderr, sessions_in(ledger)) == (0, "", ["z"])


def test_large_changes_wait_and_are_counted(ledger: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "_MOST_SOURCES", 1)
    for name in "cd":
        add(logs, name)
    process = run_in_process("sessions", **ALWAYS)
    assert process.stderr == "aix: 2 sources changed since the last import; run aix import\n"
    monkeypatch.setattr(freshness, "_MOST_SOURCES", 2)
    monkeypatch.setattr(freshness, "_MOST_BYTES", 200)
    assert "2 sources changed" in run_in_process("sessions", **ALWAYS).stderr
    assert sessions_in(ledger) == ["a", "b"]
    assert "2 new sessions" in run_in_process("import").stdout
    assert run_in_process("sessions", **ALWAYS).stderr == ""


def test_only_folders_that_were_imported_are_followed_until_all_are(logs: Path, tmp_path: Path) -> None:
    other = logs.with_name("-home-ada-other")
    other.mkdir()
    add(other, "x")
    ledger = tmp_path / "ledger"
    import_histories(ledger, [logs], Settings(jobs=0))
    add(logs, "c")
    below = logs / "c" / "subagents"
    below.mkdir(parents=True)
    (below / "agent-1.jsonl").write_text(entry("g1", "c").replace("{", '{"agentId": "1", "isSidechain": true, ', 1))
    environment = {"AIX_LEDGER": str(ledger), **ALWAYS}
    assert run_in_process("sessions", **environment).stderr == "aix: imported 2 changed sources\n"
    assert "x" not in sessions_in(ledger)
    run_in_process("import", AIX_LEDGER=str(ledger))
    assert "x" in sessions_in(ledger)
    new = logs.with_name("-home-ada-new")
    new.mkdir()
    add(new, "y")
    assert run_in_process("sessions", **environment).stderr == "aix: imported 1 changed source\n"
    assert "y" in sessions_in(ledger)


def test_a_conversation_in_a_large_database_waits_and_the_rest_does_not(
    logs: Path, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    database = write_database(empty_home / ".config" / GLOBAL, composer("k", [prompt("1", 1, "Hello")]))
    ledger = empty_home / ".local" / "share" / "aix" / "ledger"
    import_histories(ledger, None, Settings(jobs=0))
    write_database(database, composer("k", [prompt("1", 1, "Hello"), prompt("2", 2, "More")]))
    assert run_in_process("sessions", **ALWAYS).stderr == "aix: imported 1 changed source\n"
    write_database(database, composer("k", [prompt("1", 1, "Hello"), prompt("2", 2, "x" * 2**21)]))
    add(logs, "c")
    assert run_in_process("sessions", **ALWAYS).stderr.splitlines() == [
        "aix: imported 1 changed source",
        "aix: 1 source changed since the last import; run aix import",
    ]
    assert "c" in sessions_in(ledger)
    run_in_process("import")
    assert run_in_process("sessions", **ALWAYS).stderr == ""


def test_forget_says_that_a_changed_log_brings_the_session_back(ledger: Path, logs: Path) -> None:
    shown, _ = run_on_terminal(AIX, "forget", "claude-code:a", "--yes")
    assert "also the one before `aix cost`" in " ".join(shown.split())
    run_in_process("sessions", **ALWAYS)
    assert sessions_in(ledger) == ["b"]
    with (logs / "a.jsonl").open("a") as log:
        log.write(entry("a2", "a"))
    run_in_process("sessions", **ALWAYS)
    assert sessions_in(ledger) == ["a", "b"]


def test_sources_that_must_be_read_along_count_too(ledger: Path, logs: Path) -> None:
    """A session that copies records of another is read together with it."""
    whole = (logs / "a.jsonl").read_text()
    (logs / "c.jsonl").write_text(whole + entry("c1", "c", parentUuid="a1"))
    size = (logs / "c.jsonl").stat().st_size
    report = import_histories(ledger, None, Settings(jobs=0, at_most=Amount(1, size)))
    assert (report.waiting, sessions_in(ledger)) == (1, ["a", "b"])
    assert import_histories(ledger, None, Settings(jobs=0, at_most=Amount(2, 10**6))).waiting == 0
    assert sessions_in(ledger) == ["a", "b", "c"]


@pytest.mark.usefixtures("ledger")
def test_a_version_of_an_importer_that_is_new_waits_for_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    from aix_importers.claude_code import ClaudeCodeImporter

    monkeypatch.setattr(ClaudeCodeImporter, "version", "other")
    process = run_in_process("sessions", **ALWAYS)
    assert process.stderr == "aix: 2 sources changed since the last import; run aix import\n"


def test_other_prices_wait_for_an_import(ledger: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("model,component,usd_per_million\nclaude-x,input,1\n")
    process = run_in_process("sessions", AIX_PRICES=str(prices), **ALWAYS)
    assert process.stderr.startswith(
        "aix: the ledger was made by another version of AIX or with other prices; run `aix import`"
    )
    assert read_latest(ledger).version == 1


def test_raw_copies_are_kept_where_there_are_some(logs: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    import_histories(ledger, None, Settings(jobs=0, keep_raw=True))
    before = len(list((ledger / RAW_FOLDER).rglob("*.zst")))
    add(logs, "c")
    run_in_process("sessions", AIX_LEDGER=str(ledger), **ALWAYS)
    assert len(list((ledger / RAW_FOLDER).rglob("*.zst"))) == before + 1


def test_no_command_waits_for_another_writer(ledger: Path, logs: Path) -> None:
    add(logs, "c")
    with staging_folder(ledger):  # as an import has one
        process = run_in_process("sessions", **ALWAYS)
    assert process.returncode == 0
    assert process.stderr == "aix: another import is at work; its changes are not shown yet\n"
    with alone(ledger):  # as vacuum is
        assert import_histories(ledger, None, Settings(jobs=0, at_most=Amount(9, 10**6))).is_busy
    assert sessions_in(ledger) == ["a", "b"]
    assert "imported 1" in run_in_process("sessions", **ALWAYS).stderr


@pytest.mark.usefixtures("ledger")
def test_a_failure_costs_a_line_and_not_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Iterator[object]:
        raise RuntimeError("it broke")

    monkeypatch.setattr("aix.pipeline.run.load_importers", fail)
    process = run_in_process("sessions", "--json", **ALWAYS)
    assert process.stderr == "aix: changed logs could not be imported: RuntimeError: it broke\n"
    assert len(json.loads(process.stdout)) == 2


def test_a_source_that_cannot_be_read_is_tried_once(ledger: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aix_importers.claude_code import ClaudeCodeImporter

    def fail(*_: object) -> Iterator[object]:
        raise RuntimeError("it broke")

    with monkeypatch.context() as patch:
        patch.setattr(ClaudeCodeImporter, "extract", fail)
        add(logs, "c")
        first = run_in_process("sessions", **ALWAYS)
        assert (first.returncode, first.stderr) == (
            0,
            "aix: 1 changed source could not be read; aix import shows why\n",
        )
        assert run_in_process("sessions", **ALWAYS).stderr == ""
    assert sessions_in(ledger) == ["a", "b"]
    add(logs, "d")
    assert "imported 1 changed source" in run_in_process("sessions", **ALWAYS).stderr
    run_in_process("import")
    assert sessions_in(ledger) == ["a", "b", "c", "d"]


def make_old(path: Path, days: int) -> None:
    then = time.time() - days * 86_400 - 60
    os.utime(path, (then, then))


@pytest.mark.usefixtures("ledger")
def test_logs_that_the_tool_deletes_soon_are_named(
    logs: Path, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_old(add(logs, "c"), 26)
    make_old(add(logs, "d"), 3)
    monkeypatch.setattr(freshness, "_MOST_SOURCES", 1)
    assert run_in_process("sessions", **ALWAYS).stderr.splitlines() == [
        "aix: 2 sources changed since the last import; run aix import",
        "aix: Claude Code deletes logs after 30 days (cleanupPeriodDays); 1 log that is not imported yet has not"
        " changed for up to 26 days: run aix import",
    ]
    settings = empty_home / ".claude" / "settings.json"
    settings.write_text('{"cleanupPeriodDays": 99999}')
    assert "deletes" not in run_in_process("sessions", **ALWAYS).stderr
    settings.write_text("{}")
    assert (
        "aix: Claude Code deletes logs after 30 days (cleanupPeriodDays); the oldest that was imported now had not"
        " changed for 26 days: import more often, as docs/recipes.md shows, or raise the setting"
    ) in run_in_process("import").stderr.splitlines()
    make_old(add(logs, "e"), 2)
    assert "deletes" not in run_in_process("import").stderr
