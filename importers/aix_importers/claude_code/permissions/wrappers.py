"""Programs that run the rest of their command line, and how rules look through them."""

from collections.abc import Sequence

from aix.permissions.programs import listed, program, programs_in

_MOST_STARTS = 8
_STRIPPED = listed("timeout time nice nohup stdbuf command builtin noglob xargs")
"""Those that every rule looks through, as the documentation says."""
_ALSO_RESTRICTED = listed("pkexec flock chrt taskset")
"""Those that rules which ask or deny look through besides, with all that the splitter of commands looks through."""
_BARE = frozenset(("xargs",))
"""Those that no rule looks through when they have options."""
_EXACT_ONLY = frozenset(("watch", "setsid", "ionice", "flock"))
_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-delete"))

_SAFE_VARIABLES = listed(
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
    if name not in _STRIPPED:
        if not is_restricting or not (name in _ALSO_RESTRICTED or name in programs_in("wrappers")):
            return None
    elif name in _BARE and any(word.startswith("-") for word in words[start + 1 : start + 2]):
        return None
    inner = program(name).inner_command(words, start + 1)
    return inner.start if inner is not None and inner.start < len(words) else None


def needs_exact_rule(words: Sequence[str]) -> bool:
    """Whether no rule with a star can let a command pass."""
    return bool(words) and (words[0] in _EXACT_ONLY or (words[0] == "find" and not _ACTIONS.isdisjoint(words)))
