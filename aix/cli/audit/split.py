"""`aix audit split`."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command
from aix.cli.diagnostics import say
from aix.cli.stdout import emit_at_once
from aix.output.text import escape_unsafe, to_json

if TYPE_CHECKING:
    from aix.permissions.shell import Command as ShellCommand
    from aix.permissions.shell import Script

_SHOWN = 300
"""How many characters of a command are shown to people."""


@click.command(cls=Command)
@click.argument("command_line", required=False, metavar="[COMMAND]")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How to write the answers. Default: text, for people.",
)
def command(command_line: str | None, output_format: str) -> None:
    """Split shell commands into the programs that they run.

    COMMAND is a whole command line, in quotes. Without it, commands are read from stdin, one on a line, and answered
    one by one. A line that is a JSON string stands for the
    text in it, so that a command may have several lines; a line that is a JSON object, for its `cmd` or `command`.

    Programs are found in chains, pipes, loops and substitutions, and behind what runs them: sudo, env, xargs, timeout,
    bash -c, find -exec and their like. What is run elsewhere, by ssh or docker exec, stays with the program that sends
    it there.

    \b
      aix audit split "make && rm -rf build"
      make: make
      rm: rm -rf build

    \b
      echo 'cd /srv && sudo -u www git pull | tee log' | aix audit split
      cd: cd /srv
      git pull: git pull (behind sudo)
      tee: tee log

    json is one list on a line for every line read, each command as an object with program, sub (the subcommand, or
    null), words (without quotes), env (assignments before it) and wrappers (from the outermost).

    \b
      echo 'FOO=1 sudo make -j4' | aix audit split --format json
      [{"program":"make","sub":null,"words":["make","-j4"],"env":["FOO=1"],"wrappers":["sudo"]}]
    """
    if command_line is None and sys.stdin.isatty():
        say("write commands, one on a line; Ctrl-D ends them")
    emit_at_once(_answers(_lines_read() if command_line is None else [command_line], as_json=output_format == "json"))


def _lines_read() -> Iterator[str]:
    """Return the commands of stdin, one on each line."""
    for line in sys.stdin.buffer:
        yield _command(line.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r"))


def _answers(commands: Iterable[str], *, as_json: bool) -> Iterator[str]:
    from aix.permissions.shell import split

    is_first = True
    for text in commands:
        script = split(text)
        if as_json:
            yield to_json([_row(found) for found in script.commands])
            continue
        if not is_first:
            yield ""
        is_first = False
        yield from _lines(script)


def _command(line: str) -> str:
    """Return the command that a line stands for."""
    if line.lstrip()[:1] not in ('"', "{"):
        return line
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if isinstance(value, dict):
        value = value.get("cmd", value.get("command"))
    return value if isinstance(value, str) else line


def _row(found: "ShellCommand") -> dict[str, object]:
    return {
        "program": found.program,
        "sub": found.sub,
        "words": found.words,
        "env": found.env,
        "wrappers": found.wrappers,
    }


def _lines(script: "Script") -> Iterator[str]:
    if not script.commands:
        yield "Nothing is run."
    for found in script.commands:
        name = found.program if found.sub is None else f"{found.program} {found.sub}"
        notes = [f"with {' '.join(found.env)}"] if found.env else []
        notes += [f"behind {', '.join(found.wrappers)}"] if found.wrappers else []
        yield _shown(f"{name}: {found.source}") + (f" ({_shown('; '.join(notes))})" if notes else "")
    if not script.is_whole:
        yield "Not all of it could be read: it is no valid shell, or too long."


def _shown(text: str) -> str:
    return escape_unsafe(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
