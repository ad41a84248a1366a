"""The owner of stderr: every error becomes one message there, and the exit code of its kind."""

import os
import sys
from contextlib import AbstractContextManager, redirect_stdout
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.stdout import ReaderGoneError, is_terminal
from aix.errors import AixError
from aix.output.humanise import counted
from aix.output.terminal import fitting_lines, has_colours
from aix.output.text import escape_unsafe

if TYPE_CHECKING:
    from rich.console import Console


class ExitCode(IntEnum):
    """Exit codes of the process."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    LEDGER = 3
    DEFECT = 70
    INTERRUPTED = 130
    CLOSED_PIPE = 141


MEANINGS = {
    ExitCode.OK: "fine",
    ExitCode.FINDINGS: "a check or audit found something, or some sources could not be imported",
    ExitCode.USAGE: "the command line, the configuration or the output file is wrong",
    ExitCode.LEDGER: "the ledger is missing, damaged or too new",
    ExitCode.DEFECT: "a defect in AIX or a plugin; `AIX_DEBUG=1` shows where",
    ExitCode.INTERRUPTED: "Ctrl-C",
    ExitCode.CLOSED_PIPE: "the reader of stdout went away, as `head` does",
}


def run(command: click.Command) -> ExitCode:
    """Run a command line and return how it ended; every error becomes one message on stderr."""
    try:
        outcome = command.main(prog_name="aix", standalone_mode=False)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "aix"
        _complain(_on_one_line(error.format_message()), f"see {path} --help")
        return ExitCode.USAGE
    except click.ClickException as error:
        _complain(_on_one_line(error.format_message()), "")
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted", "")
        return ExitCode.INTERRUPTED
    except ReaderGoneError:
        return ExitCode.CLOSED_PIPE
    except AixError as error:
        _trace()
        _complain(str(error), error.remedy)
        return ExitCode(error.exit_code)
    except Exception as error:
        _trace()
        remedy = "" if _debugging() else "set AIX_DEBUG=1 to see where, and report it"
        _complain(f"this is a defect: {type(error).__name__}: {error}", remedy)
        return ExitCode.DEFECT
    if outcome is True:  # a listing has findings
        return ExitCode.FINDINGS
    return ExitCode(outcome or ExitCode.OK)


def report_defect(place: str, error: Exception) -> None:
    """Say that something failed that does not end the command; of the error only its kind, as it may quote logs."""
    _trace()
    say(f"{place}: this is a defect: {type(error).__name__}")


def say(message: str) -> None:
    """Say something beside the data, on a line of its own; on a terminal, on as many as its width needs."""
    for line in _message_lines(message):
        _say(line)


def whisper(message: str) -> None:
    """Say something that matters less than the data: as `say` does, but dim where stderr has colours."""
    is_dim = _has_person() and has_colours()
    for line in _message_lines(message):
        if is_dim:
            click.echo(click.style(escape_unsafe(line), dim=True), file=sys.stderr)
        else:
            _say(line)


def _message_lines(message: str) -> list[str]:
    return _fitted(f"aix: {message}")


def _fitted(line: str) -> list[str]:
    return fitting_lines(line, "  ") if _has_person() else [line]


def _has_person() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def is_screen() -> bool:
    """Whether a person reads data and messages together: stdout and stderr are both a terminal."""
    return is_terminal() and _has_person()


def head(text: str) -> None:
    """Write a heading above the data, on a terminal."""
    for line in fitting_lines(escape_unsafe(text)):
        click.echo(click.style(line, bold=True) if has_colours() else line, file=sys.stderr)


def report_file(path: Path, count: int | None = None, thing: str = "row") -> None:
    """Say on a terminal that a file or folder was written, and with how many rows or files."""
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"wrote {path}" + ("" if count is None else f" ({counted(count, thing)})"))


def is_dialogue() -> bool:
    """Whether a person can answer questions: stdin, stdout and stderr are all a terminal."""
    return is_screen() and sys.stdin is not None and sys.stdin.isatty()


def confirm(question: str) -> bool:
    """Ask a question on the terminal; anything but y or yes means no."""
    click.echo(f"{escape_unsafe(question)} [y/N] ", nl=False, file=sys.stderr)
    flush_stderr()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def console() -> "Console | None":
    """Return stderr as a terminal to draw on; None when it is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(file=sys.stderr)


def prints_beside() -> AbstractContextManager[object]:
    """Let all that is printed in a block go to stderr: stdout is data, and a plugin may print."""
    return redirect_stdout(sys.stderr)


def _on_one_line(message: str) -> str:
    return " ".join(message.split())


def _complain(problem: str, remedy: str) -> None:
    first, *others = problem.split("\n")
    # All but the first are indented, so that text of a log cannot look like another message.
    lines = [f"aix: {first}", *(f"  {line}".rstrip() for line in others), *([f"  {remedy}"] if remedy else [])]
    for line in lines:
        for part in _fitted(line):
            _say(part)


def _trace() -> None:
    if _debugging():
        import traceback

        for line in traceback.format_exc().splitlines():
            _say(line)


def flush_stderr() -> None:
    """Write out the buffer of stderr."""
    if sys.stderr is not None:
        sys.stderr.flush()


def _say(line: str) -> None:
    if sys.stderr is not None:  # it is None when the process was started with stderr closed
        click.echo(escape_unsafe(line), file=sys.stderr)


def _debugging() -> bool:
    return bool(os.environ.get("AIX_DEBUG"))
