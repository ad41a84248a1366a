"""Programs that run the rest of their command line, and how rules look through them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from aix.permissions.shell.wrappers import valued_options
from aix_importers.claude_code.permissions.texts import names

_MOST_STARTS = 8
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=", re.ASCII)


class _Wrapper(NamedTuple):
    valued: str = ""
    """Letters of the options whose value may be the next word."""
    long_valued: tuple[str, ...] = ()
    refusing: tuple[str, ...] = ()
    """Options with which it runs nothing."""
    operands: int = 0
    takes_assignments: bool = False
    takes_options: bool = True


_STRIPPED = {
    "timeout": _Wrapper("ks", ("--kill-after", "--signal"), operands=1),
    "time": _Wrapper("fo", ("--format", "--output")),
    "nice": _Wrapper("n", ("--adjustment",)),
    "nohup": _Wrapper(),
    "stdbuf": _Wrapper("ioe", ("--input", "--output", "--error")),
    "command": _Wrapper(refusing=("-v", "-V")),
    "builtin": _Wrapper(),
    "noglob": _Wrapper(),
    "xargs": _Wrapper(takes_options=False),
}
"""Those that every rule looks through."""

_ALSO_RESTRICTED = {
    "sudo": _Wrapper(*valued_options("sudo"), takes_assignments=True),
    "doas": _Wrapper("Cu"),
    "pkexec": _Wrapper(long_valued=("--user",)),
    "env": _Wrapper(*valued_options("env"), takes_assignments=True),
    "watch": _Wrapper("nqs", ("--interval", "--equexit", "--shotsdir")),
    "setsid": _Wrapper(),
    "ionice": _Wrapper("cn", ("--class", "--classdata"), refusing=("-p", "-P", "-u", "--pid", "--pgid", "--uid")),
    "flock": _Wrapper("wE", ("--timeout", "--wait", "--conflict-exit-code"), operands=1),
    "chrt": _Wrapper("TPD", operands=1),
    "taskset": _Wrapper(operands=1),
    "exec": _Wrapper("a"),
    "coproc": _Wrapper(),
}
"""Those that rules which ask or deny look through besides."""

_EXACT_ONLY = frozenset(("watch", "setsid", "ionice", "flock"))
_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-delete"))

_SAFE_VARIABLES = names(
    """
    NODE_ENV NO_COLOR FORCE_COLOR COLORTERM TERM LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME CHARSET TZ LS_COLORS LSCOLORS
    GREP_COLOR GREP_COLORS GCC_COLORS TIME_STYLE BLOCK_SIZE BLOCKSIZE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE
    PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTEST_DEBUG RUST_BACKTRACE RUST_LOG GOOS GOARCH GOEXPERIMENT GO111MODULE CGO_ENABLED
    """
)
"""The client strips assignments of variables that it knows to be safe, and names two of them; the list is its own."""


def is_safe_assignment(text: str) -> bool:
    """Whether an allow rule looks past an assignment."""
    return text.partition("=")[0] in _SAFE_VARIABLES


def inner_starts(words: Sequence[str], *, is_restricting: bool) -> list[int]:
    """Return where the commands within wrappers begin, from the outermost; of very many, some and the innermost.

    >>> inner_starts(["nohup", "timeout", "-s", "KILL", "30s", "make"], is_restricting=False)
    [1, 5]
    """
    starts: list[int] = []
    start = 0
    while (inner := _inner_start(words, start, is_restricting=is_restricting)) is not None:
        if len(starts) == _MOST_STARTS:
            starts.pop()
        start = inner
        starts.append(start)
    return starts


def _inner_start(words: Sequence[str], start: int, *, is_restricting: bool) -> int | None:
    name = words[start] if start < len(words) else ""
    wrapper = _STRIPPED.get(name) or (_ALSO_RESTRICTED.get(name) if is_restricting else None)
    if wrapper is None:
        return None
    operands = wrapper.operands
    place = start + 1
    while place < len(words):
        word = words[place]
        if word.startswith("-") and len(word) > 1:
            if not wrapper.takes_options or word in wrapper.refusing:
                return None
            place += 1
            if word == "--":
                place += operands
                break
            place += _takes_next(word, wrapper)
        elif wrapper.takes_assignments and _ASSIGNMENT.match(word):
            place += 1
        elif operands:
            operands -= 1
            place += 1
        else:
            break
    return place if place < len(words) else None


def needs_exact_rule(words: Sequence[str]) -> bool:
    """Whether no rule with a star can let a command pass."""
    return bool(words) and (words[0] in _EXACT_ONLY or (words[0] == "find" and not _ACTIONS.isdisjoint(words)))


def _takes_next(word: str, wrapper: _Wrapper) -> bool:
    if word.startswith("--"):
        return word in wrapper.long_valued
    for place, letter in enumerate(word[1:], 2):
        if letter in wrapper.valued:
            return place == len(word)
    return False
