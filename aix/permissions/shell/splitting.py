"""From a text to the programs that it runs."""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from aix.permissions.programs import subcommand
from aix.permissions.shell.model import Command, Redirect, Script, SimpleCommand
from aix.permissions.shell.reading import MAX_NESTING, Reader
from aix.permissions.shell.statement import Statement
from aix.permissions.shell.words import Word
from aix.permissions.shell.wrappers import Wrapped, look_through, wrapper_names

MAX_LENGTH = 256 * 1024
"""How many characters of a text are read."""


_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\")


class _Surroundings(NamedTuple):
    """Context that wrappers hand on to the commands that they run."""

    wrappers: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    documents: tuple[str, ...] = ()
    depth: int = 0


def split(command: str) -> Script:
    """Split a text of shell commands into the programs that it runs; any text has an answer."""
    reader = Reader()
    if len(command) > MAX_LENGTH:
        command = command[:MAX_LENGTH]
        reader.is_whole = False
    simple: list[SimpleCommand] = []
    commands: list[Command] = []
    for statement in reader.read(command):
        source = _source(statement.text, statement.words)
        words = tuple(word.text for word in statement.words)
        simple.append(SimpleCommand(words, tuple(statement.env), tuple(statement.redirects), source))
        commands += _commands(reader, statement, _Surroundings())
    assignments = tuple(reader.assignments)
    return Script(tuple(simple), tuple(_renumbered(commands)), reader.is_whole, tuple(reader.redirects), assignments)


def _renumbered(commands: list[Command]) -> list[Command]:
    """Number pipelines from 0 in their order, whichever way the text was read."""
    numbers: dict[int, int] = {}
    for position, command in enumerate(commands):
        number = numbers.setdefault(command.pipeline, len(numbers))
        if number != command.pipeline:
            commands[position] = command._replace(pipeline=number)
    return commands


def split_words(words: Sequence[str]) -> Script:
    """Return the script of one command whose words are given as they are."""
    program = _program(Word(words[0], 0, 0))
    if program in wrapper_names():
        return split(shlex.join(words))
    texts = tuple(words)
    source = shlex.join(words)
    command = Command(program, subcommand(program, texts), texts, (), (), (), source, 0)
    return Script((SimpleCommand(texts, (), (), source),), (command,), is_whole=True)


def _commands(reader: Reader, statement: Statement, around: _Surroundings) -> list[Command]:
    around = _handed_on(reader, around, statement.env, statement.redirects, statement.documents)
    number = next(reader.pipelines) if statement.pipe is None else statement.pipe
    commands: list[Command] = []
    waiting: list[tuple[Sequence[Word], _Surroundings]] = [(statement.words, around)]
    while waiting:
        words, around = waiting.pop()
        program = _program(words[0])
        wrapped = list(look_through(program, words)) if program in wrapper_names() else []
        if wrapped and around.depth >= MAX_NESTING:
            reader.is_whole = False
            wrapped = []
        inner_scripts: list[Command] = []
        inner_words: list[tuple[Sequence[Word], _Surroundings]] = []
        for one in wrapped:
            inside = _handed_on(reader, around, one.env)._replace(
                wrappers=(*around.wrappers, one.label), depth=around.depth + 1
            )
            if one.script is None:
                inner_words.append((one.words, inside))
            else:
                inner_scripts += _script_commands(reader, one, statement.pipe, inside)
        if not (inner_scripts or inner_words) or wrapped[0].is_beside:
            texts = tuple(word.text for word in words)
            source = _source(statement.text, words)
            commands.append(
                Command(
                    program,
                    subcommand(program, texts),
                    texts,
                    around.env,
                    around.wrappers,
                    around.redirects,
                    source,
                    number,
                    around.documents,
                )
            )
        commands += inner_scripts
        waiting.extend(reversed(inner_words))
    return commands


def _handed_on(
    reader: Reader,
    around: _Surroundings,
    env: Sequence[str],
    redirects: Sequence[Redirect] = (),
    documents: Sequence[str] = (),
) -> _Surroundings:
    """Return what surrounds a command with what it has itself; of very many surroundings only the latter."""
    if not reader.may_hand_on(len(around.env) + len(around.redirects)):
        around = around._replace(env=(), redirects=(), documents=())
    return around._replace(
        env=(*around.env, *env),
        redirects=(*around.redirects, *redirects),
        documents=(*around.documents, *documents),
    )


def _script_commands(reader: Reader, wrapped: Wrapped, pipe: int | None, around: _Surroundings) -> list[Command]:
    """Return the commands of a text that a wrapper runs; none when all that it runs is known only when it runs."""
    script = wrapped.script
    if script is None:
        return []
    commands: list[Command] = []
    is_known = False
    for statement in reader.read(script.text, pipe, script.expansions, around.depth):
        is_known = is_known or not statement.words[0].is_all_expansion
        commands += _commands(reader, statement, around)
    return commands if is_known else []


def _program(word: Word) -> str:
    """Return the last part of a path; a slash within an expansion does not separate parts."""
    text = word.text
    if _WINDOWS_PATH.match(text):
        return text[text.rfind("\\") + 1 :] or text
    slash = text.rfind("/")
    while slash >= 0 and any(start <= slash < end for start, end in word.expansions):
        slash = text.rfind("/", 0, slash)
    return text[slash + 1 :] or text


def _source(text: str, words: Sequence[Word]) -> str:
    pieces: list[str] = []
    end = -1
    for word in words:
        if end >= 0:
            gap = text[end : word.start]
            pieces.append(gap if not gap.strip(" \t") else " ")
        pieces.append(text[word.start : word.end])
        end = word.end
    return "".join(pieces)
