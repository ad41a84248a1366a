"""stderr says what was wrong and what to do; the exit code says it to scripts."""

import subprocess
from pathlib import Path

import click
import pytest

from aix import errors
from aix.cli.diagnostics import ExitCode, run
from tests.support.command_line import AIX, run_aix


def failing(error: BaseException) -> click.Command:
    def fail() -> None:
        raise error

    return click.Command("fail", callback=fail)


@pytest.fixture(autouse=True)
def no_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["aix"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UnknownNameError("table", "turn", ("turns",)), 2),
        (errors.ConfigError("config.toml", "wrong", "right it"), 2),
        (errors.OutputError("x", "full", "elsewhere"), 2),
        (errors.LedgerNotFoundError(Path("x")), 3),
        (errors.LedgerDamagedError(Path("x"), "broken"), 3),
        (errors.LedgerTooNewError(Path("x"), 9, 2), 3),
        (errors.RowError("turns", ("id: is NULL",)), 1),
        (click.UsageError("wrong"), 2),
        (click.ClickException("wrong"), 2),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("division by zero"), 70),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_its_exit_code_and_says_what_to_do(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(failing(error)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.lstrip("\n").startswith("aix: ")
    assert "Traceback" not in err
    if isinstance(error, errors.AixError):
        assert str(error) in err
        assert error.remedy in err


def test_a_command_that_ends_well_exits_with_zero_and_findings_with_one() -> None:
    assert run(click.Command("good", callback=lambda: None)) == 0
    assert run(click.Command("found", callback=lambda: ExitCode.FINDINGS)) == 1
    assert run(click.Command("left", callback=lambda: click.get_current_context().exit(1))) == 1


def test_text_of_a_log_cannot_drive_the_terminal_through_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    run(failing(errors.LedgerDamagedError(Path("x"), "\x1b]0;owned\x07")))
    assert "\x1b" not in capsys.readouterr().err


def test_messages_stay_off_stdout_when_stderr_is_closed() -> None:
    process = subprocess.run(["sh", "-c", f"exec {AIX} xyzzy 2>&-"], capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (2, "")


def test_a_defect_shows_where_when_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("AIX_DEBUG", "1")
    assert run(failing(ZeroDivisionError("by \x1b[2J zero"))) == ExitCode.DEFECT
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shcema"], "Did you mean 'schema'?"),
        (["xyzzy"], "There is no command 'xyzzy'."),
        (["schema", "turn"], "did you mean turns"),
        (["schema", "xyzzy"], "the tables are: turns, threads"),
        (["schema", "--format", "xml"], "'xml' is not one of"),
        (["schema", "a", "b"], "unexpected extra argument"),
        (["--wrong"], "--wrong"),
        (["completion"], "SHELL"),
        (["completion", "tcsh"], "bash"),
    ],
)
def test_wrong_usage_is_explained_on_stderr(arguments: list[str], message: str) -> None:
    process = run_aix(*arguments)
    assert process.returncode == 2
    assert process.stdout == ""
    assert message in process.stderr
    assert len(process.stderr.splitlines()) <= 3


def test_no_arguments_or_help_teach_on_stdout() -> None:
    for arguments, beginning in (([], "AIX shows "), (["--help"], "Usage: aix "), (["-h"], "Usage: aix ")):
        process = run_aix(*arguments)
        assert process.returncode == 0
        assert process.stdout.startswith(beginning)
        assert process.stderr == ""
