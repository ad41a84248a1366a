"""Programs that run another program, looked through to the one that does the work."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from aix.permissions.programs import program, programs_in
from aix.permissions.shell.words import Word, joined


class Wrapped(NamedTuple):
    """Command that a wrapper runs: words of its own command line, or a text that it reads as a script."""

    label: str
    words: Sequence[Word]
    env: Sequence[str] = ()
    script: Word | None = None
    is_beside: bool = False
    """Whether the wrapper does work of its own, so that it counts as a command too."""


_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "mksh"))
_SHELL_LONG_VALUED = frozenset(("--rcfile", "--init-file"))
_WITHOUT_SHELL = frozenset(("-x", "--exec"))
"""Options of watch with which it runs its arguments as they are."""
_FIND_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


@cache
def wrapper_names() -> frozenset[str]:
    """Return the programs that can be wrappers: the words of any other program stand for themselves."""
    return frozenset((*programs_in("wrappers"), *_SHELLS, "eval", "find"))


def look_through(name: str, words: Sequence[Word]) -> Iterator[Wrapped]:
    """Yield what a program runs by its arguments: nothing for a program that only works by itself."""
    if name in _SHELLS:
        script = _shell_script(words)
        if script is not None:
            yield Wrapped(f"{name} -c", (), script=script)
    elif name == "find":
        yield from _find_actions(words)
    elif name == "eval":
        arguments = words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]
        if arguments:
            yield Wrapped("eval", (), script=joined(arguments))
    elif name in programs_in("wrappers"):
        yield from _wrapped(name, words)


def _wrapped(name: str, words: Sequence[Word]) -> Iterator[Wrapped]:
    known = program(name)
    inner = known.inner_command([word.text for word in words])
    if inner is None:
        return
    env = [words[place].text for place in inner.assignments]
    rest = words[inner.start :]
    if inner.is_text:
        first = words[inner.start - 1]
        yield Wrapped(name, (), env, joined((_cut(first, inner.attached), *rest) if inner.attached else rest))
    elif known.is_text and inner.options.isdisjoint(_WITHOUT_SHELL):
        yield Wrapped(name, (), env, joined(rest))
    else:
        yield Wrapped(name, rest, env)


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
            position += 2 if text in _SHELL_LONG_VALUED else 1
        elif len(text) > 1 and text[0] in "-+":
            has_script = has_script or (text[0] == "-" and "c" in text)
            position += 1 + text.count("o") + text.count("O")
        else:
            break
    return words[position] if has_script and position < len(words) else None


def _find_actions(words: Sequence[Word]) -> Iterator[Wrapped]:
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
            yield Wrapped(f"find {action}", words[start:position], is_beside=True)


def _ends_action(words: Sequence[Word], position: int) -> bool:
    text = words[position].text
    return text == ";" or (text == "+" and words[position - 1].text == "{}")
