"""Names of sessions that shells complete: quick, harmless, and silent when anything is wrong."""

from pathlib import Path

import pytest
from click.shell_completion import get_completion_class

from aix.cli.root import aix as root_command
from tests.support.conversations import session, turn
from tests.support.row_batches import deliver
from tests.support.sample_conversation import SUBAGENT
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

HOSTILE = ["$(touch hit)", "`x`", "a b", "a;b", "it's", "-x", "two\nlines", "\x1b[31mred", "a|b", "a*", "~", "#x"]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    write_ledger(folder, SAMPLE_ROWS)
    return folder


def completions(ledger: Path, *words: str, shell: str = "bash") -> list[str]:
    """Return what a shell gets that completes the last of these words."""
    found = get_completion_class(shell)
    assert found is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIX_LEDGER", str(ledger))
        patch.setenv("COMP_WORDS", " ".join(["aix", *words]))
        patch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words)))
        return found(root_command, {}, "aix", "_AIX_COMPLETE").complete().splitlines()


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["compactions"],
        ["context"],
        ["resolve"],
        ["resume"],
        ["forget"],
        ["alias", "add", "fox"],
        ["alias", "ls", "--session"],
        ["tag", "add", "billing"],
        ["tag", "rm", "billing"],
        ["cost", "--session"],
        ["compactions", "--session"],
        ["status", "--session"],
        ["similar"],
        ["similar", "first"],
        ["sessions", "--containing"],
    ],
    ids=" ".join,
)
def test_names_of_sessions_are_completed_wherever_one_is_asked_for(ledger: Path, words: list[str]) -> None:
    assert completions(ledger, *words, "s") == ["plain,s-1"]
    assert "plain,agent-a" in completions(ledger, *words, "ag")


def test_a_whole_label_is_completed_where_it_is_begun(ledger: Path) -> None:
    assert f"plain,{SUBAGENT}" in completions(ledger, "show", "session-log:s-1/")


def test_sessions_without_a_time_of_their_own_come_last_as_in_their_list(tmp_path: Path) -> None:
    undated = {"table_name": "sessions", "row_key": "undated", "column_name": "updated_at", "basis": "undated"}
    labels = ("undated", "early", "late")
    sessions = [session(label, f"t-{label}", updated_at=at) for label, at in zip(labels, (99, 5, 7), strict=True)]
    turns = [turn(f"t-{label}") for label in labels]
    deliver(tmp_path, {"turns": turns, "sessions": sessions, "inferred_values": [undated]})
    assert completions(tmp_path, "show", "") == ["plain,late", "plain,early", "plain,undated"]


def test_titles_are_shown_where_a_shell_can(ledger: Path) -> None:
    assert completions(ledger, "show", "s", shell="zsh")[:3] == ["plain", "s-1", "Rename a function"]
    assert completions(ledger, "show", "s", shell="fish")[0].startswith("plain,s-1")


def test_the_ledger_before_or_after_the_command_is_asked(ledger: Path, tmp_path: Path) -> None:
    assert completions(tmp_path, "--ledger", str(ledger), "show", "s") == ["plain,s-1"]
    assert completions(tmp_path, "show", "--ledger", str(ledger), "s") == ["plain,s-1"]


@pytest.mark.parametrize("content", [None, "", "no manifest"])
def test_without_a_ledger_nothing_is_completed_and_nothing_said(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "versions").mkdir()
        (tmp_path / "versions" / "1.json").write_text(content)
    assert completions(tmp_path, "show", "s") == []


def test_names_that_a_shell_would_run_are_not_completed(tmp_path: Path) -> None:
    turns = [turn(f"t-{number}") for number in range(len(HOSTILE) + 1)]
    labels = [*HOSTILE, "plain-one"]
    context = [{"label": label, "title": "\x1b[2J$(x)\nnext"} for label in labels]
    sessions = [session(label, row["id"]) for label, row in zip(labels, turns, strict=True)]
    deliver(tmp_path, {"turns": turns, "sessions": sessions, "session_context": context})
    assert completions(tmp_path, "show", "") == ["plain,plain-one"]
    shown = completions(tmp_path, "show", "", shell="zsh")
    assert shown == ["plain", "plain-one", "\\u001b[2J$(x) next"]
