"""Rules about commands: each is the beginning of one, up to the end of a word."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aix.permissions.globs import command_glob, has_wildcards
from aix.permissions.programs import naming_length
from aix.permissions.shell import Script, SimpleCommand, split
from aix_importers.common import remembered

_BASE_AND_ARGUMENTS = re.compile(r"([^\s:]+):(.*)", re.DOTALL)
_PLAIN_WORD = re.compile(r"[\w./@%+=,~^-][\w./@%+=:,~^-]*")
_DELETING = {"rm", "rmdir", "unlink", "shred", "del", "erase", "rd", "remove-item", "ri"}
_LONGEST_RULE = 200


class Part(NamedTuple):
    """A command of a chain."""

    words: tuple[str, ...]
    text: str
    """As it is written."""


class Chain(NamedTuple):
    """Parts that a command consists of."""

    script: Script
    written: tuple[Part, ...]
    """Every command as it is written, with the variables that it sets."""
    reached: tuple[Part, ...]
    """Every command without variables and the folder of its program, and every one that others run."""
    deletes: bool
    """Whether it removes files."""


@remembered(longest=500)
def read_chain(command: str) -> Chain:
    """Return the parts of a command."""
    script = split(command)
    reached = [Part(_named(each.words), each.source) for each in script.simple]
    reached += [Part(_named(each.words), each.source) for each in script.commands if each.wrappers]
    deletes = any(
        each.program.lower() in _DELETING or (each.program == "git" and each.sub == "rm") for each in script.commands
    )
    return Chain(script, tuple(_written(each) for each in script.simple), tuple(reached), deletes)


def rules_for(part: SimpleCommand) -> list[str]:
    """Return the rules that let a command pass, from the narrowest to the widest."""
    exact = _written(part).text
    found = [f"Shell({exact})"] if exact and len(exact) <= _LONGEST_RULE and exact.isprintable() else []
    beginning = _beginning(part)
    if beginning and all(map(_PLAIN_WORD.fullmatch, beginning)):
        found.append(f"Shell({' '.join(beginning)})")
    return list(dict.fromkeys(found))


def _beginning(part: SimpleCommand) -> tuple[str, ...]:
    """Return the words up to the program and its subcommand; none where only all of them name what is done."""
    commands = split(part.source).commands
    if len(commands) != 1 or not part.words:
        return ()
    [command] = commands
    start = len(part.words) - len(command.words)
    if start < 0 or part.words[start:] != command.words:
        return ()
    length = naming_length(command.words)
    return (*part.env, *part.words[: start + length]) if length is not None else ()


def _written(part: SimpleCommand) -> Part:
    return Part((*part.env, *part.words), " ".join((*part.env, part.source)).strip())


def _named(words: tuple[str, ...]) -> tuple[str, ...]:
    if not words or ("/" not in words[0] and "\\" not in words[0]):
        return words
    return (re.split(r"[/\\]", words[0])[-1], *words[1:])


class CommandRules:
    """Rules about commands of one kind, each with its number."""

    def __init__(self, rules: Iterable[tuple[int, str]]) -> None:
        self._fixed: dict[str, list[tuple[int, tuple[str, ...], str]]] = {}
        self._globs: list[tuple[int, re.Pattern[str]]] = []
        for number, written in rules:
            for form in _forms(written.strip()):
                self._add(number, form)

    def _add(self, number: int, form: str) -> None:
        words = tuple(form.split())
        if has_wildcards(form):
            self._globs.append((number, command_glob(" ".join(words))))
        elif words:
            self._fixed.setdefault(words[0], []).append((number, words, form))

    def find(self, part: Part) -> list[int]:
        """Return the rules that speak of a command."""
        words, text = part
        found = set()
        for number, begin, _ in self._fixed.get(words[0], ()) if words else ():
            if words[: len(begin)] == begin:
                found.add(number)
        first = text.split(None, 1)[0] if text.strip() else ""
        for number, _, form in self._fixed.get(first, ()):
            if text.startswith(form) and (len(text) == len(form) or text[len(form)].isspace()):
                found.add(number)
        if self._globs:
            joined = " ".join(words)
            found |= {number for number, glob in self._globs if glob.match(joined) or glob.match(text)}
        return sorted(found)


def _forms(written: str) -> Sequence[str]:
    """Return a rule as a beginning, and where it is written as `command:args` as that too."""
    found = _BASE_AND_ARGUMENTS.fullmatch(written)
    if not found:
        return (written,)
    base, arguments = found.groups()
    return (written, base if arguments.strip("* ") == "" else f"{base} {arguments.strip()}")
