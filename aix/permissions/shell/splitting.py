"""From a text to the programs that it runs, those behind wrappers such as `sudo`, `bash -c` and `find -exec` too."""

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from aix.permissions.programs import program, programs_in, subcommand
from aix.permissions.shell.reading import MAX_NESTING, Reader
from aix.permissions.shell.words import Command, Redirect, Script, SimpleCommand, Statement, Word, joined

_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "mksh"))
_WITHOUT_SHELL = frozenset(("-x", "--exec"))
"""Options of watch with which it runs its arguments as they are."""
_FIND_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
MAX_LENGTH = 256 * 1024
"""How many characters of a text are read."""
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\")


class _Wrapped(NamedTuple):
    """Command that a wrapper runs: words of its own command line, or a text that it reads as a script."""

    label: str
    words: Sequence[Word]
    env: Sequence[str] = ()
    script: Word | None = None
    is_beside: bool = False
    """Whether the wrapper does work of its own, so that it counts as a command too."""


@cache
def _wrapper_names() -> frozenset[str]:
    """Return the programs that can be wrappers: the words of any other program stand for themselves."""
    return frozenset((*programs_in("wrappers"), *_SHELLS, "eval", "find"))


def _look_through(name: str, words: Sequence[Word]) -> Iterator[_Wrapped]:
    """Yield what a program runs by its arguments: nothing for a program that only works by itself."""
    if name in _SHELLS:
        script = _shell_script(words)
        if script is not None:
            yield _Wrapped(f"{name} -c", (), script=script)
    elif name == "find":
        yield from _find_actions(words)
    elif name == "eval":
        arguments = words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]
        if arguments:
            yield _Wrapped("eval", (), script=joined(arguments))
    elif name in programs_in("wrappers"):
        yield from _wrapped(name, words)


def _wrapped(name: str, words: Sequence[Word]) -> Iterator[_Wrapped]:
    known = program(name)
    inner = known.inner_command([word.text for word in words])
    if inner is None:
        return
    env = [words[place].text for place in inner.assignments]
    rest = words[inner.start :]
    if inner.is_text:
        first = words[inner.start - 1]
        text = joined((_cut(first, inner.attached), *rest) if inner.attached else rest)
        yield _Wrapped(name, (), env, _with_program(name, text) if text.text.lstrip()[:1] == "-" else text)
    elif known.is_text and inner.options.isdisjoint(_WITHOUT_SHELL):
        yield _Wrapped(name, (), env, joined(rest))
    else:
        yield _Wrapped(name, rest, env)


def _with_program(name: str, text: Word) -> Word:
    """Return a text that begins with options of the program that splits it, with that program: `env -S "-i rm x"`."""
    added = len(name) + 1
    expansions = tuple((first + added, last + added) for first, last in text.expansions)
    return Word(f"{name} {text.text}", text.start, text.end, expansions)


def _cut(word: Word, start: int) -> Word:
    """Return a word without its beginning."""
    expansions = tuple((first - start, last - start) for first, last in word.expansions if first >= start)
    return Word(word.text[start:], word.start, word.end, expansions)


def _shell_script(words: Sequence[Word]) -> Word | None:
    """Return the text that a shell is given with `-c`."""
    position = 1
    has_script = False
    while position < len(words):
        text = words[position].text
        if text in ("-", "--"):
            position += 1
            break
        if text.startswith("--"):
            position += 2 if text in program("bash").valued else 1
        elif len(text) > 1 and text[0] in "-+":
            has_script = has_script or (text[0] == "-" and "c" in text)
            position += 1 + text.count("o") + text.count("O")
        else:
            break
    return words[position] if has_script and position < len(words) else None


def _find_actions(words: Sequence[Word]) -> Iterator[_Wrapped]:
    position = 1
    while position < len(words):
        action = words[position].text
        position += 1
        if action not in _FIND_ACTIONS:
            continue
        start = position
        while position < len(words) and not _ends_action(words, position):
            position += 1
        if position > start:
            yield _Wrapped(f"find {action}", words[start:position], is_beside=True)


def _ends_action(words: Sequence[Word], position: int) -> bool:
    text = words[position].text
    return text == ";" or (text == "+" and words[position - 1].text == "{}")


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
    if program in _wrapper_names():
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
        wrapped = list(_look_through(program, words)) if program in _wrapper_names() else []
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


def _script_commands(reader: Reader, wrapped: _Wrapped, pipe: int | None, around: _Surroundings) -> list[Command]:
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
