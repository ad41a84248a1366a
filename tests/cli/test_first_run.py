"""The first run: `aix` alone, commands without a ledger, and the result of an import."""

import json
import os
import shutil
from pathlib import Path

import pytest

from aix.cli.command import LazyGroup
from aix.cli.import_ import ImportBar
from aix.cli.root import COMMANDS, JOBS, UNLISTED
from aix.cli.root import aix as root_command
from aix.errors import LedgerNotFoundError
from aix.pipeline.report import Outcome, Status
from aix_importers.cursor.discovery import _CONVERSATIONS
from aix_importers.cursor.key_tables import SourceKind
from tests.support.command_line import AIX, run_aix, run_in_process, run_on_terminal

FIXTURES = Path("fixtures").absolute()
FOUND = "Claude Code, 1 session; Cursor, 1 session"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a user with a session of each of two tools."""
    project = tmp_path / ".claude" / "projects" / "-work-site"
    project.mkdir(parents=True)
    records = [
        {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": "Hi"}},
        {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s1", "message": {"role": "assistant"}},
    ]
    lines = [json.dumps(record | {"timestamp": "2026-05-01T10:00:00Z"}) for record in records]
    (project / "s1.jsonl").write_text("\n".join([*lines, "{broken"]) + "\n")
    transcript = tmp_path / ".cursor" / "projects" / "p" / "agent-transcripts" / "t1.txt"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("user:\nHello\n\nassistant:\nHello!\n")
    return {"HOME": str(tmp_path), "AIX_LEDGER": str(tmp_path / "ledger")}


def test_aix_alone_says_what_it_found_and_what_comes_next(home: dict[str, str]) -> None:
    before = run_aix(**home)
    assert (before.returncode, before.stderr) == (0, "")
    assert f"Found   {FOUND}\nLedger  none yet\nNext    `aix import` reads" in before.stdout
    imported = run_aix("import", **home)
    assert imported.stdout.startswith("2 sessions, ")
    assert imported.stdout.endswith("1 line could not be fully read; see `aix problems`. Next: `aix overview`\n")
    after = run_aix(**home).stdout
    assert f"Found   {FOUND}\nLedger  2 sessions, last import just now\nNext    `aix overview`" in after
    with next(Path(home["HOME"]).glob(".claude/projects/*/s1.jsonl")).open("a") as log:
        log.write("{}\n")
    changed = run_aix(**home).stdout
    assert f"{FOUND}; 1 source changed since the last import" in changed
    assert "Next    `aix import`, then" in changed
    assert len(changed.splitlines()) <= 6


@pytest.mark.parametrize("command", ["cost", "sessions", "overview", "audit", "check", "sql select 1", "tag ls"])
def test_without_a_ledger_a_command_says_how_to_make_one(home: dict[str, str], command: str) -> None:
    process = run_in_process(*command.split(maxsplit=1 if command.startswith("sql") else -1), **home)
    assert (process.returncode, process.stdout) == (3, "")
    assert process.stderr.startswith(f"aix: No ledger yet. Run `aix import` (found: {FOUND})\n")
    assert f"its folder would be {home['AIX_LEDGER']}" in process.stderr


def test_the_ledger_that_was_named_is_the_one_to_import_into(home: dict[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert f"Run `aix import --ledger {other}` (found" in run_in_process("cost", "--ledger", str(other), **home).stderr
    assert f"there is no ledger at {FIXTURES}" in run_in_process("cost", "--ledger", str(FIXTURES), **home).stderr
    spaced = tmp_path / "my ledger"
    assert (
        f"Run `aix import --ledger '{spaced}'` (found" in run_in_process("cost", "--ledger", str(spaced), **home).stderr
    )
    relative = os.path.relpath(other)
    assert f"Run `aix import --ledger {other}` (found" in run_in_process("cost", "--ledger", relative, **home).stderr


def test_where_nothing_is_found_the_sample_is_named(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "AIX_LEDGER": str(tmp_path / "ledger")}
    assert "No ledger yet. No histories were found here: try `aix demo`" in run_in_process("cost", **home).stderr
    assert "`aix demo` for a sample" in run_in_process(**home).stdout
    assert run_in_process("import", **home).stdout.startswith(
        "No histories were found on this machine. Next: `aix demo`"
    )


def test_a_prompt_looks_for_no_histories(home: dict[str, str]) -> None:
    process = run_in_process("status", **home)
    assert (process.returncode, process.stdout) == (3, "")
    assert process.stderr.startswith("aix: No ledger yet. Run `aix import`\n")


def answer_on_terminal(answer: str, home: dict[str, str], *arguments: str) -> tuple[str, int]:
    return run_on_terminal(AIX, *arguments, columns=100, answer=answer, **home)


@pytest.mark.parametrize("answer", ["n", ""])
def test_on_a_terminal_the_import_is_offered_and_can_be_refused(home: dict[str, str], answer: str) -> None:
    shown, code = answer_on_terminal(answer, home, "sessions")
    assert f"No ledger yet. Found: {FOUND}. Import them now? [y/N]" in shown
    assert (code, Path(home["AIX_LEDGER"]).exists()) == (3, False)


def test_after_the_import_the_command_goes_on(home: dict[str, str]) -> None:
    shown, code = answer_on_terminal("y", home, "sql", "select count(*) as n_sessions from sessions")
    assert code == 0
    assert shown.index("2 sessions, ") < shown.index("n_sessions")


def test_the_result_of_an_import_is_a_sentence_and_rows_for_programs(home: dict[str, str]) -> None:
    planned = run_in_process("import", "--dry-run", **home).stdout
    assert planned.startswith("Would import 2 sources")
    assert "Nothing was imported (--dry-run)." in planned
    process = run_in_process("import", "--json", **home)
    rows = {(row["what"], row["name"]): row["count"] for row in json.loads(process.stdout)}
    assert (rows["sources", "imported"], rows["new rows", "sessions"], rows["problems", "found"]) == (2, 2, 1)
    assert run_in_process("import", **home).stdout.startswith("Nothing new in 2 sources, ")
    shutil.rmtree(home["AIX_LEDGER"])
    verbose = run_in_process("import", "--verbose", **home)
    assert "new rows" in verbose.stdout
    assert verbose.stderr.startswith("aix: 2 sessions, ")


def test_the_bar_keeps_its_total() -> None:
    from rich.progress import Progress

    progress = Progress(disable=True)
    bar = ImportBar(progress)
    bar.begin(2, 1000)
    totals = {progress.tasks[0].total}
    for name in ("a", "b"):
        bar.advance(Outcome(name, "log", Status.IMPORTED, size_bytes=500))
        totals.add(progress.tasks[0].total)
    shown = progress.tasks[0].description
    done = progress.tasks[0].completed
    bar.more(2, 1000)
    bar.advance(Outcome("a", "log", Status.IMPORTED, size_bytes=500))
    assert (len({*totals, progress.tasks[0].total}), progress.tasks[0].completed) == (1, done)
    assert shown == "Writing the ledger (2 sources read)"
    assert progress.tasks[0].description == "Reading 2 connected sources together"


def test_the_help_has_every_command_in_a_section() -> None:
    listed = [name for names in JOBS.values() for name in names]
    assert sorted([*listed, *UNLISTED]) == sorted(COMMANDS)
    assert isinstance(root_command, LazyGroup)
    shown = root_command.get_help(root_command.make_context("aix", []))
    assert shown.index("Every day:") < shown.index("Permissions:") < shown.index("Maintenance:")
    assert "golden" not in shown


def test_conversations_of_a_database_are_kinds_of_its_sources() -> None:
    assert set(_CONVERSATIONS) <= {str(kind) for kind in SourceKind}


def test_a_library_user_learns_which_folder_holds_no_ledger(tmp_path: Path) -> None:
    import aix

    with pytest.raises(LedgerNotFoundError, match=f"there is no ledger at {tmp_path}"):
        aix.open(tmp_path)
