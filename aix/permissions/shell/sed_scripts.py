"""Scripts of sed: the files that they write and the commands that they run."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aix.permissions.shell.runners import option_values

_MAX_SCRIPT = 4096
_ADDRESS = re.compile(r"(?:\d+(?:~\d+)?|\$|[+~]\d+|[\s,!;{}])+")
_LABEL = re.compile(r"[^;\n}]*")
_LINE = re.compile(r"[^\n]*")
_FLAGS = re.compile(r"[gpiImMe0-9]*")


class SedEffect(NamedTuple):
    """Something that a script does beside editing."""

    kind: str
    """`write` of a file, or `run` of a command."""
    text: str
    """The file or the command; empty for a command that comes from the input."""


def sed_script(words: Sequence[str]) -> list[str]:
    """Return the scripts that a sed command is given by its arguments."""
    given = list(option_values(words, ("-e", "--expression")))
    if given or any(word in ("-f", "--file") for word in words):
        return given
    return [next((word for word in words[1:] if word[:1] != "-" and word), "")]


def sed_effects(words: Sequence[str]) -> Iterator[SedEffect]:
    """Yield what the scripts of a sed command write and run.

    >>> list(sed_effects(("sed", "-n", "/a w b/p; w out", "f")))
    [SedEffect(kind='write', text='out')]
    """
    for script in sed_script(words):
        if ("w" in script or "e" in script) and len(script) <= _MAX_SCRIPT:
            yield from _effects(script)


def _effects(script: str) -> Iterator[SedEffect]:
    position = 0
    while position < len(script):
        address = _ADDRESS.match(script, position)
        if address is not None:
            position = address.end()
            continue
        letter = script[position]
        position += 1
        if letter in "/\\":
            position = _after(script, position, 1, letter)
        elif letter in "sy":
            end = _after(script, position, 3, "")
            flags = _FLAGS.match(script, end)
            position = flags.end() if flags else end
            if letter == "s" and flags and "e" in flags[0]:
                yield SedEffect("run", "")
            if letter == "s" and script[position : position + 1] == "w":
                position, target = _rest(script, position + 1)
                yield SedEffect("write", target)
        elif letter in "wWerRaic":
            position, target = _rest(script, position)
            if letter in "wW":
                yield SedEffect("write", target)
            elif letter == "e":
                yield SedEffect("run", target)
        elif letter in ":btT":
            label = _LABEL.match(script, position)
            position = label.end() if label else position


def _after(script: str, position: int, parts: int, delimiter: str) -> int:
    """Return where an address or a substitution ends, which may choose its own delimiter."""
    if delimiter in ("", "\\"):
        delimiter = script[position : position + 1]
        position += 1
        parts -= delimiter != "" and parts == 3
    while parts and position < len(script):
        if script[position] == "\\":
            position += 1
        elif script[position] == delimiter:
            parts -= 1
        position += 1
    return position


def _rest(script: str, position: int) -> tuple[int, str]:
    """Return the end of a line, and the text up to there."""
    line = _LINE.match(script, position)
    return (line.end(), line[0].strip()) if line else (position, "")
