"""Programs that run another program, looked through to the one that does the work."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aix.permissions.shell.words import Word, joined


class Wrapped(NamedTuple):
    """Command that a wrapper runs: words of its own command line, or a text that it reads as a script."""

    label: str
    words: Sequence[Word]
    env: Sequence[str] = ()
    script: Word | None = None
    is_beside: bool = False
    """Whether the wrapper does work of its own, so that it counts as a command too."""


class _Options(NamedTuple):
    valued: str = ""
    """The letters of options that take a value."""
    long_valued: frozenset[str] = frozenset()
    refusing: frozenset[str] = frozenset()
    """Options with which it runs no other program."""
    operands: int = 0
    """How many operands stand before the program."""
    takes_assignments: bool = False
    is_script: bool = False
    """Whether it hands its arguments to a shell."""


def _options(
    valued: str = "",
    long_valued: str = "",
    refusing: str = "",
    *,
    operands: int = 0,
    takes_assignments: bool = False,
    is_script: bool = False,
) -> _Options:
    return _Options(
        valued, frozenset(long_valued.split()), frozenset(refusing.split()), operands, takes_assignments, is_script
    )


_TIMEOUT = _options("ks", "--kill-after --signal", operands=1)
_WRAPPERS = {
    "sudo": _options(
        "CDghpRrTtUu",
        "--user --group --host --prompt --chdir --chroot --role --type --close-from --command-timeout --other-user",
        "-l -e -v -K --list --edit --validate --remove-timestamp --version --help",
        takes_assignments=True,
    ),
    "doas": _options("Cu", refusing="-L -s"),
    "env": _options("uCa", "--unset --chdir --argv0", takes_assignments=True),
    "xargs": _options(
        "adEILJnPRSs",
        "--arg-file --delimiter --max-args --max-chars --max-procs --process-slot-var",
        "--help --version --show-limits",
    ),
    "timeout": _TIMEOUT,
    "gtimeout": _TIMEOUT,
    "nice": _options("n", "--adjustment"),
    "ionice": _options("cn", "--class --classdata", "-p -P -u --pid --pgid --uid"),
    "nohup": _options(refusing="--help --version"),
    "setsid": _options(refusing="--help --version"),
    "stdbuf": _options("ioe", "--input --output --error"),
    "unbuffer": _options(),
    "caffeinate": _options("tw"),
    "time": _options("fo", "--format --output"),
    "command": _options(refusing="-v -V"),
    "builtin": _options(),
    "coproc": _options(),
    "exec": _options("a"),
    "busybox": _options(refusing="--list --help --install --list-full"),
    "watch": _options("nqs", "--interval --equexit --shotsdir", "--help --version", is_script=True),
}
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "mksh"))
_SHELL_LONG_VALUED = frozenset(("--rcfile", "--init-file"))
_FIND_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=", re.ASCII)

NAMES = frozenset((*_WRAPPERS, *_SHELLS, "eval", "find"))
"""Programs that can be wrappers: the words of any other program stand for themselves."""


def valued_options(program: str) -> tuple[str, tuple[str, ...]]:
    """Return the options of a wrapper that take a value: the letters of the short ones, and the long ones."""
    options = _WRAPPERS[program]
    return options.valued, tuple(sorted(options.long_valued))


def look_through(program: str, words: Sequence[Word]) -> Iterator[Wrapped]:
    """Yield what a program runs by its arguments: nothing for a program that only works by itself."""
    if program in _SHELLS:
        script = _shell_script(words)
        if script is not None:
            yield Wrapped(f"{program} -c", (), script=script)
    elif program == "find":
        yield from _find_actions(words)
    elif program == "eval":
        arguments = words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]
        if arguments:
            yield Wrapped("eval", (), script=joined(arguments))
    elif program in _WRAPPERS:
        yield from _wrapped(program, words, _WRAPPERS[program])


def _wrapped(program: str, words: Sequence[Word], options: _Options) -> Iterator[Wrapped]:
    position = 1
    operands = options.operands
    env: list[str] = []
    is_script = options.is_script
    while position < len(words):
        text = words[position].text
        if text == "--":
            position += 1
            if operands:
                position += operands
            break
        if text[:1] == "-" and (len(text) > 1 or program == "env"):
            if _refuses(text, options):
                return
            if program == "env" and (split := _split_string(words, position)) is not None:
                yield Wrapped("env", (), env, split)
                return
            if program == "watch" and text in ("-x", "--exec"):
                is_script = False
            position += 1 + _takes_next(text, options)
        elif options.takes_assignments and _ASSIGNMENT.match(text):
            env.append(text)
            position += 1
        elif operands:
            operands -= 1
            position += 1
        else:
            break
    while options.takes_assignments and position < len(words) and _ASSIGNMENT.match(words[position].text):
        env.append(words[position].text)
        position += 1
    if position >= len(words):
        return
    inner = words[position:]
    if is_script:
        yield Wrapped(program, (), env, joined(inner))
    else:
        yield Wrapped(program, inner, env)


def _refuses(text: str, options: _Options) -> bool:
    if text in options.refusing:
        return True
    if text.startswith("--"):
        return False
    for letter in text[1:]:
        if letter in options.valued:
            return False
        if f"-{letter}" in options.refusing:
            return True
    return False


def _takes_next(text: str, options: _Options) -> bool:
    """Whether the value of an option is the next word."""
    if text.startswith("--"):
        return text in options.long_valued or (
            len(text) > 3 and sum(name.startswith(text) for name in options.long_valued) == 1
        )
    for place, letter in enumerate(text[1:], 2):
        if letter in options.valued:
            return place == len(text)
    return False


def _split_string(words: Sequence[Word], position: int) -> Word | None:
    """Return the command line that `env -S` makes of one argument and what follows it."""
    text = words[position].text
    if text.startswith("--split-string="):
        cut = len("--split-string=")
    elif text == "--split-string" or re.fullmatch(r"-[iv0]*S", text):
        return joined(words[position + 1 :]) if position + 1 < len(words) else None
    elif match := re.match(r"-[iv0]*S", text):
        cut = match.end()
    else:
        return None
    word = words[position]
    shifted = tuple((start - cut, end - cut) for start, end in word.expansions if start >= cut)
    return joined((Word(text[cut:], word.start, word.end, shifted), *words[position + 1 :]))


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
