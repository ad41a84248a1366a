"""`aix resume`: a command that a shell runs as it is meant, or a context; nothing of a log acts."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import AIX, run_in_process, run_on_terminal
from tests.support.conversations import context, message, session, turn
from tests.support.row_batches import deliver
from tests.support.sample_conversation import ABANDONED, COMPACTION, MAIN, SUBAGENT, Row
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

RECORDER = """#!{python}
import json, os, sys
with open({record!r}, "w") as file:
    json.dump([os.getcwd(), *sys.argv[1:]], file)
"""
PLUGIN = """
from aix.importing import Capabilities, Importer

class TalkImporter(Importer):
    name, version, description, capabilities = "talk", "1", "Talks.", Capabilities()
    tool = "Talk"

    def discover(self, files):
        return []

    def extract(self, sources):
        yield from ()

    def resume_command(self, session):
        return ("talk", "--resume", session.id)
"""
HOSTILE = [
    "plain",
    "it's",
    'say "hi"',
    "$(touch hit)",
    "`touch hit`",
    "a; touch hit",
    "a && touch hit",
    "a | tee hit",
    "*",
    "~",
    "${HOME}",
    "!!",
    "back\\slash",
    "日本語 ü",
    "# no comment",
    "",
]
FOLDER = "it's $(touch hit); `touch hit` & -x"
REFUSED = ["two\nlines", "\x1b[31mred", "--delete", "-x", "turned \u202e round", "nul\x00", "\r"]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Install an importer whose tool takes any id."""
    packages = tmp_path_factory.mktemp("packages")
    info = packages / "talk-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: talk\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[aix.importers]\ntalk = talk_importer:TalkImporter\n")
    (packages / "talk_importer.py").write_text(PLUGIN)
    return str(packages)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a ledger of hostile ids, and with the folder in which their sessions began."""
    place = tmp_path_factory.mktemp("hostile")
    folder = place / FOLDER
    folder.mkdir()
    ids = dict(enumerate([*HOSTILE, *REFUSED]))
    rows = {
        "turns": [turn(f"t-{number}") for number in ids],
        "sessions": [
            {**session(f"s{number}", f"t-{number}"), "origin": "talk", "origin_session_id": session_id}
            for number, session_id in ids.items()
        ],
        "session_context": [{"label": f"s{number}", "project": str(folder)} for number in ids],
    }
    deliver(place / "ledger", rows)
    return place


def talk_rows(session_id: str, folder: str | None = None) -> dict[str, list[Row]]:
    return {
        "turns": [turn("t-1"), turn("t-2", "t-1", 2)],
        "turn_context": [context("t-1"), context("t-2")],
        "messages": [message("m-1", "t-1", "user", content="Go $(touch hit)")],
        "sessions": [session("s", "t-2", origin="talk", origin_session_id=session_id)],
        "session_context": [{"label": "s", "project": folder, "title": "Talk"}],
        "session_turns": [{"session_label": "s", "turn_id": name} for name in ("t-1", "t-2")],
    }


def run_line(line: str, tmp_path: Path, program: str) -> list[str]:
    """Run a command line as people do, with a program that notes its folder and arguments; return these."""
    programs, record, elsewhere = tmp_path / "programs", tmp_path / "record.json", tmp_path / "elsewhere"
    for folder in (programs, elsewhere):
        folder.mkdir(exist_ok=True)
    (programs / program).write_text(RECORDER.format(python=sys.executable, record=str(record)))
    (programs / program).chmod(0o700)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "-c", line], check=True, cwd=elsewhere, env=os.environ | {"PATH": path})
    assert not [file for file in tmp_path.rglob("hit*") if file.is_file()], "a part of the log was run"
    noted: list[str] = json.loads(record.read_text())
    return noted


@pytest.mark.parametrize(("number", "session_id"), list(enumerate(HOSTILE)))
def test_a_shell_runs_the_command_with_the_id_as_it_is(
    number: int, session_id: str, talk: str, hostile: Path, tmp_path: Path
) -> None:
    process = run_in_process("resume", f"s{number}", "--ledger", str(hostile / "ledger"), PYTHONPATH=talk)
    assert (process.returncode, process.stderr) == (0, "")
    assert len(process.stdout.splitlines()) == 1
    assert run_line(process.stdout, tmp_path, "talk") == [str(hostile / FOLDER), "--resume", session_id]
    assert not list(hostile.rglob("hit"))


@pytest.mark.parametrize("number", range(len(HOSTILE), len(HOSTILE) + len(REFUSED)))
def test_an_id_that_cannot_be_shown_or_is_an_option_gives_no_command(number: int, talk: str, hostile: Path) -> None:
    process = run_in_process("resume", f"s{number}", "--ledger", str(hostile / "ledger"), PYTHONPATH=talk)
    assert (process.returncode, process.stdout) == (1, "")
    assert f"AIX knows no command with which Talk goes on with the session s{number}" in process.stderr
    assert "\x1b" not in process.stderr


@pytest.mark.parametrize(
    ("folder", "begins", "note"),
    [
        (None, "talk --resume", "no log names the folder of the session; run the command where Talk was started"),
        ("relative/-x", "talk --resume", "no log names the folder"),
        ("/no/such folder", "cd '/no/such folder' && talk", "the folder /no/such folder is not on this machine"),
        (r"C:\Users\ada", r"cd 'C:\Users\ada' && talk", "is not on this machine"),
        ("/tmp\n/x", "", "has a name that cannot be shown as it is"),
    ],
)
def test_the_folder_is_that_of_the_session_or_said_to_be_missing(
    folder: str | None, begins: str, note: str, talk: str, tmp_path: Path
) -> None:
    deliver(tmp_path / "ledger", talk_rows("id", folder))
    process = run_in_process("resume", "s", "--ledger", str(tmp_path / "ledger"), PYTHONPATH=talk)
    assert process.stdout.startswith(begins)
    assert note in process.stderr


def test_an_earlier_turn_and_a_log_that_is_gone_are_told(talk: str, tmp_path: Path) -> None:
    rows = talk_rows("id", str(tmp_path))
    rows["session_context"][0]["raw_path"] = str(tmp_path / "gone.jsonl")
    deliver(tmp_path / "ledger", rows)
    process = run_in_process("resume", "s", "--ledger", str(tmp_path / "ledger"), PYTHONPATH=talk)
    assert "the log of the session is gone, so Talk may not find it" in process.stderr
    process = run_in_process("resume", "t-1", "--ledger", str(tmp_path / "ledger"), PYTHONPATH=talk)
    assert process.returncode == 1
    assert "the turn t-1 is an earlier one of the session s, which tools continue at its head" in process.stderr
    assert "`aix resume t-1 --context` prints its context" in process.stderr


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    write_ledger(folder, SAMPLE_ROWS)
    return folder


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (SUBAGENT, f"the session {SUBAGENT} is a subagent of {MAIN}, which no tool continues by itself"),
        (ABANDONED, f"the session {ABANDONED} is archived: its tool no longer goes on with it"),
        (MAIN, f"AIX knows no command with which session-log goes on with the session {MAIN}"),
    ],
)
def test_a_session_that_no_tool_continues_says_why_and_offers_the_context(
    sample: Path, target: str, reason: str
) -> None:
    process = run_in_process("resume", target, "--ledger", str(sample))
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == f"aix: {reason}\n  `aix resume {shlex.quote(target)} --context` prints its context\n"


@pytest.mark.long
def test_a_terminal_gets_the_context_where_there_is_no_command(sample: Path) -> None:
    output, code = run_on_terminal(AIX, "resume", "s-1", "--ledger", str(sample))
    assert code == 0
    assert "this is the context" in " ".join(output.split())
    assert "# Rename a function" in output


CONTEXT = """\
# Rename a function

What follows is an earlier conversation. Go on from its end.

## Turn 3 · 1970-01-01 00:00

*context compacted: 9.0P → 32k tokens · 2 turns summarised · auto*

> A function was renamed.

## Turn 4 · 1970-01-01 00:00

**Assistant:**

Done.
"""


def test_the_context_is_what_the_model_would_see_next(sample: Path, tmp_path: Path) -> None:
    process = run_in_process("resume", "s-1", "-o", str(tmp_path / "context.md"), "--ledger", str(sample))
    assert (process.stdout, process.stderr) == ("", "")
    assert (tmp_path / "context.md").read_text("utf-8") == CONTEXT
    after_summary = run_in_process("resume", COMPACTION, "--context", "--ledger", str(sample)).stdout
    assert "A function was renamed." in after_summary
    assert "Done." not in after_summary


def test_a_context_hides_secrets(tmp_path: Path) -> None:
    rows = talk_rows("id")
    rows["messages"] = [message("m-1", "t-1", "user", content="Use API_KEY=tr0ub4dor3xyz of mara@example.org")]
    rows["session_context"][0]["title"] = "Ask mara@example.org"
    deliver(tmp_path / "ledger", rows)
    process = run_in_process("resume", "s", "--redact", "--ledger", str(tmp_path / "ledger"))
    assert "tr0ub4dor3xyz" not in process.stdout
    assert "mara@example.org" not in process.stdout
    assert "hidden: 1 secret" in process.stderr


def test_titles_are_free_of_markup_as_in_tables(tmp_path: Path) -> None:
    folder = str(tmp_path / "ledger")
    rows = talk_rows("id")
    command = "<command-message>tea:brew</command-message> <command-name>/tea:brew</command-name>"
    prompt = f"{command} <command-args>two cups</command-args>"
    rows["messages"] = [message("m-1", "t-1", "user", content=prompt)]
    rows["session_context"][0]["title"] = None
    deliver(tmp_path / "ledger", rows)
    title = "/tea:brew two cups"
    assert run_in_process("resume", "s", "--context", "--ledger", folder).stdout.startswith(f"# {title}\n")
    for arguments in (("search", "brew"), ("tree", "s")):
        [row] = json.loads(run_in_process(*arguments, "--json", "--ledger", folder).stdout)
        assert row["title"] == title


ID = "5b1f03ab-0000-4000-8000-000000000001"
STORE = f"/home/ada/.cursor/chats/0cc175b9c0f1b6a831c399e269772661/{ID}/store.db"


@pytest.mark.parametrize(
    ("origin", "session_id", "path", "words"),
    [
        ("claude-code", ID, None, ["claude", "--resume", ID]),
        ("claude-code", "a title $(touch hit)", None, None),
        ("claude-code", "-p", None, None),
        ("cursor", ID, STORE, ["cursor-agent", "--resume", ID]),
        ("cursor", ID, "/home/ada/.config/Cursor/User/globalStorage/state.vscdb", None),
        ("cursor", ID, STORE.replace("chats", "acp-sessions"), None),
        ("cursor", ID, None, None),
        ("chat", ID, None, None),
        ("no-importer", ID, None, None),
    ],
)
def test_tools_of_the_command_line_go_on_with_their_own_sessions(
    origin: str, session_id: str, path: str | None, words: list[str] | None, tmp_path: Path
) -> None:
    rows = talk_rows(session_id, str(tmp_path))
    rows["sessions"][0]["origin"] = origin
    rows["session_context"][0]["raw_path"] = path
    deliver(tmp_path / "ledger", rows)
    process = run_in_process("resume", "s", "--ledger", str(tmp_path / "ledger"))
    if words is None:
        assert (process.returncode, process.stdout) == (1, "")
    else:
        assert run_line(process.stdout, tmp_path, words[0]) == [str(tmp_path), *words[1:]]
