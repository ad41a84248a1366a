"""Running `aix` as users do: as a process of its own, in a pipe or on a terminal; or in the process of the tests."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from aix.cli.diagnostics import run
from aix.cli.root import aix as root_command

AIX = str(Path(sys.executable).with_name("aix"))


def run_aix(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `aix` with pipes for stdout and stderr."""
    return subprocess.run(
        [AIX, *arguments], capture_output=True, encoding="utf-8", env=os.environ | environment, timeout=60
    )


def run_in_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `aix` as `run_aix` does, but in this process, which takes a fraction of the time.

    Of the environment, PYTHONPATH names folders where Python looks for other distributions.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        if "PYTHONPATH" in environment:
            patch.setattr(sys, "path", [*environment["PYTHONPATH"].split(os.pathsep), *sys.path])
        patch.setattr(sys, "argv", ["aix", *arguments])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run(root_command)
    said = []
    for stream in (out, err):
        stream.seek(0)
        said.append(stream.read())
    return subprocess.CompletedProcess(["aix", *arguments], code, *said)


def run_on_terminal(*command: str, columns: int = 80, answer: str | None = None, **environ: str) -> tuple[str, int]:
    """Run a command on a terminal of its own; return what the terminal was sent, and the exit code.

    An answer is typed ahead, for the question that the command asks.
    """
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(environ, COLUMNS=str(columns), TERM="xterm-256color")
        os.execv(command[0], command)
    if answer is not None:
        os.write(terminal, f"{answer}\n".encode())
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other side has closed the terminal
        pass
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(status)


def run_here(*arguments: str) -> None:
    """Run a command line in this process, which is faster; errors are raised, and output goes where it always does."""
    root_command.main(list(arguments), prog_name="aix", standalone_mode=False)
