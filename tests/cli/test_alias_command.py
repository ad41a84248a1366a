"""`aix alias` on a small ledger: what people see on 80 columns, and what scripts get."""

import json
from pathlib import Path

import click
import pytest

from aix.cli.root import aix as root_command
from aix.errors import AliasError, UnknownSessionError
from aix.store.manifest import read_latest
from tests.support.command_line import run_here, run_in_process
from tests.support.conversations import session
from tests.support.row_batches import deliver
from tests.support.sample_conversation import FIRST, MAIN
from tests.support.sample_ledger import SAMPLE_ROWS


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    deliver(tmp_path, SAMPLE_ROWS)
    return tmp_path


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    deliver(folder, SAMPLE_ROWS)
    return folder


def shown(ledger: Path, *arguments: str, code: int = 0) -> str:
    process = run_in_process("alias", *arguments, "--ledger", str(ledger), COLUMNS="80")
    assert process.returncode == code, process.stderr
    return process.stdout + process.stderr


def test_aliases_are_given_listed_and_removed(ledger: Path) -> None:
    assert shown(ledger, "add", "rename work", "s-1") == (
        "alias        session  change\n───────────  ───────  ──────\nrename work  s-1      added\n"
    )
    assert "had it already" in shown(ledger, "add", "rename work", "rename work")
    assert shown(ledger, "ls") == (
        "alias        session  from     title\n"
        "───────────  ───────  ───────  ─────────────────\n"
        "rename work  s-1      by hand  Rename a function\n"
        "s-1          s-1      log      Rename a function\n"
    )
    assert json.loads(shown(ledger, "list", "--by-hand", "--session", "rename work", "--json")) == [
        {"alias": "rename work", "session_label": MAIN, "from": "by hand", "title": "Rename a function"}
    ]
    assert shown(ledger, "rm", "rename work") == (
        "alias        session  change\n───────────  ───────  ───────\nrename work  s-1      removed\n"
    )
    assert shown(ledger, "ls", "--by-hand") == (
        "aix: No aliases given by hand yet; `aix alias add NAME SESSION` gives one\n"
    )


def test_who_takes_a_beginning_from_other_sessions_is_told(ledger: Path) -> None:
    assert "aix: 2 other sessions can no longer be named by 'session-log' as a beginning" in shown(
        ledger, "add", "session-log", "s-1"
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["add", "fox", "nobody"], UnknownSessionError, "there is no session named 'nobody'"),
        (["add", FIRST, "s-1"], AliasError, "it is the id of a turn"),
        (["add", "a:b", "s-1"], AliasError, "it begins as a label does"),
        (["rm", "s-1"], AliasError, "it comes from the log of the session session-log:s-1, whose next reading brings"),
        (["rm", "fox"], AliasError, "no session has it"),
        (["rm"], click.UsageError, "Missing parameter"),
        (["rename"], click.UsageError, "There is no command 'rename'"),
    ],
)
def test_unclear_wishes_change_nothing(
    untouched: Path, arguments: list[str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        run_here("alias", *arguments, *(["--ledger", str(untouched)] if len(arguments) > 1 else []))
    assert message in str(raised.value)
    assert read_latest(untouched).version == 1


def test_hostile_labels_and_titles_stay_text(tmp_path: Path) -> None:
    label = "log:\x1b[31mred\n$(rm -rf)"
    rows = {"sessions": [session(label, FIRST)], "session_context": [{"label": label, "title": "\x07| <b>\nnext"}]}
    deliver(tmp_path, {"turns": SAMPLE_ROWS["turns"], **rows})
    said = shown(tmp_path, "add", "fox", "log:") + shown(tmp_path, "ls")
    assert "\x1b" not in said
    assert "\x07" not in said
    assert len(said.splitlines()) == 6


def test_alias_alone_shows_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    run_here("alias")
    assert "aix alias add login-fix" in capsys.readouterr().out
    assert "alias" in root_command.list_commands(click.Context(root_command))
