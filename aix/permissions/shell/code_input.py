"""Programs that take the code that they run from their input, and the texts that reach them."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from aix.permissions.shell.model import Command
from aix.permissions.shell.splitting import split
from aix.permissions.shell.values import DECODERS, printed

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "mksh", "csh", "tcsh", "rbash"))
_READING_SCRIPT = frozenset(("source", "."))
_SCHEDULERS = frozenset(("at", "batch"))
_GIVEN_PROGRAM = re.compile(r"^(?:-[A-Za-z0-9]*[cemnprE][A-Za-z0-9.]*|--eval|--print|--version|--help)$")
_GIVEN_TO_SHELL = re.compile(r"^(?:-[a-z]*c|--version|--help)$")
_INTERPRETER = re.compile(
    r"^(?:(?:ba|z|da|k|fi|a|mk|c|tc|rba|)sh|python[0-9.]*|node|ruby|perl|php|deno|bun|pwsh|powershell)$"
)
_INPUT_NAMES = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_READING_FILES = frozenset(("cat", "head", "tail", "bat", "gunzip", "zcat", "gzcat", "bzcat", "xzcat", "tac"))
_CRON_LINE = re.compile(r"^[ \t]*+(?:@\w++|(?:[*/,\w-]++[ \t]++){5})[ \t]*+(.+)$", re.MULTILINE)
_MOST_WORDS = 2000
_VERSIONED = re.compile(r"(?<=[a-z])-?[0-9.]+$|\.exe$")

MAX_FED = 64 * 1024
"""How many characters of a text that is run are read."""


class Fed(NamedTuple):
    """A text that reaches a program as its code."""

    text: str | None
    """None where the words of the script do not say it."""
    is_decoded: bool = False
    """Whether a decoder makes the text of another."""


def plain_program(program: str) -> str:
    """Return the name of an interpreter without its version: `python3` for `python3.12`.

    >>> plain_program("python3.12"), plain_program("perl5.34"), plain_program("md5sum")
    ('python', 'perl', 'md5sum')
    """
    if not program[-1:].isdigit() and not program.endswith(".exe"):
        return program
    bare = _VERSIONED.sub("", program)
    return bare if _INTERPRETER.match(bare) else program


def takes_program(command: Command) -> bool:
    """Whether an interpreter runs the code that is passed to its input."""
    is_shell = command.program in SHELLS
    given = _GIVEN_TO_SHELL if is_shell else _GIVEN_PROGRAM
    if is_shell and "xargs" in command.wrappers and _GIVEN_TO_SHELL.match(command.words[-1]):
        return True
    words = iter(command.words[1:_MOST_WORDS])
    for word in words:
        if word == "-" or (is_shell and word == "-s"):
            return True
        if given.match(word):
            return False
        if word[:1] != "-":
            return word in _INPUT_NAMES or word == "run"
        if is_shell and word.endswith("o"):
            next(words, None)
    return True


def file_run(command: Command) -> str | None:
    """Return the name of the file whose code a command runs."""
    if command.program in _READING_SCRIPT or _INTERPRETER.match(command.program):
        given = _GIVEN_TO_SHELL if command.program in SHELLS else _GIVEN_PROGRAM
        for word in command.words[1:_MOST_WORDS]:
            if given.match(word):
                return None
            if word[:1] != "-" and word != "run":
                return word
        if command.program in SHELLS:
            return next((redirect.target for redirect in command.redirects if redirect.op == "<"), None)
    return None


def runs_input(command: Command) -> bool:
    """Whether a command runs the text of its input as shell commands."""
    program, words = command.program, command.words
    if program in SHELLS:
        return takes_program(command)
    if program in _READING_SCRIPT:
        return len(words) > 1 and words[1] in _INPUT_NAMES
    if program in _SCHEDULERS:
        return not {"-f", "-l", "-r", "-d", "-c", "-q"} & set(words)
    if program == "crontab":
        return all(word in _INPUT_NAMES for word in words[1:])
    if program == "parallel":
        return all(word[:1] == "-" for word in words[1:])
    if program == "ssh":
        return sum(word[:1] != "-" for word in words[1:]) == 1
    return False


def code_fed(command: Command, before: Sequence[Command], expand: Callable[[str], str]) -> Iterator[Fed]:
    """Yield the texts that a command which runs its input is given, by the commands that are piped into it."""
    yield from (Fed(text) for text in command.documents)
    for redirect in command.redirects:
        if redirect.op == "<<<":
            yield _of_word(redirect.target, expand)
        elif redirect.op == "<" and redirect.target.startswith("<("):
            yield from _of_substitution(redirect.target, expand)
    if before and not command.documents:
        yield from _of_pipeline(command, before, expand)


def code_in_words(command: Command, expand: Callable[[str], str]) -> Iterator[Fed]:
    """Yield the texts that a command runs although its words name them only by expansions."""
    words = command.words
    if command.program in _READING_SCRIPT or command.program in SHELLS:
        for word in words[1:]:
            if word.startswith("<("):
                yield from _of_substitution(word, expand)
    if command.program == "eval" and len(words) > 1:
        yield _of_word(" ".join(words[1:]), expand)
    elif command.program in SHELLS:
        place = next((place for place, word in enumerate(words) if place and _GIVEN_TO_SHELL.match(word)), 0)
        if place and place + 1 < len(words):
            yield _of_word(words[place + 1], expand)


def cron_commands(table: str) -> str:
    """Return the commands of a table of cron, one on a line."""
    return "\n".join(_CRON_LINE.findall(table))


def _of_word(word: str, expand: Callable[[str], str]) -> Fed:
    text = expand(word)
    if text[:1] not in ("$", "`"):
        return Fed(text, text != word and any(decoder in word for decoder in ("base64", "xxd", "rev", "tr ")))
    if text[:2] in ("$(",) or text[:1] == "`":
        programs = [command.program for command in split(text[:1024].strip("$()`")).commands]
        is_decoded = not DECODERS.isdisjoint(programs)
        return Fed(None if is_decoded else "", is_decoded)
    return Fed(None)


def _of_substitution(word: str, expand: Callable[[str], str]) -> Iterator[Fed]:
    commands = split(word[2:-1]).commands
    if len({command.pipeline for command in commands}) == 1:
        text = printed(commands, expand)
        is_decoded = not DECODERS.isdisjoint(command.program for command in commands)
        if text is not None or is_decoded:
            yield Fed(text, is_decoded)


def _of_pipeline(command: Command, before: Sequence[Command], expand: Callable[[str], str]) -> Iterator[Fed]:
    is_decoded = any(each.program in DECODERS for each in before)
    whole = printed(before, expand)
    if whole is not None:
        yield Fed(whole, is_decoded)
        return
    said = [text for each in before if (text := printed([each], expand)) is not None]
    yield from (Fed(text, is_decoded) for text in said)
    is_file = all(each.program in _READING_FILES for each in before)
    if is_decoded or not (said or is_file or (command.program == "crontab" and before[0].program == "crontab")):
        yield Fed(None, is_decoded)
