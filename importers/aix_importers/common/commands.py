"""How much of a command a rule has to name, so that it lets pass no more than one thing that a program does."""

from collections.abc import Sequence

from aix.permissions.programs import listed, plain_name, subcommand

_DOING_ANYTHING = listed(
    """
    rm rmdir dd shred sudo doas pkexec su env xargs parallel eval exec source . sh bash zsh dash ksh fish pwsh
    powershell osascript ssh chroot
    """
)
_INTERPRETERS = listed("python python2 python3 node ruby perl php deno bun npx uvx pipx tsx ts-node")


def naming_length(words: Sequence[str]) -> int | None:
    """Return how many words name a program and what it does; None where only all of them do.

    >>> naming_length(["git", "-C", "log", "log", "-1"]), naming_length([".venv/bin/python", "-m", "pytest", "-q"])
    (4, 3)
    >>> naming_length(["python3", "-c", "pass"]), naming_length(["/bin/rm", "x"]), naming_length(["ls", "-l"])
    (None, None, 1)
    """
    program = plain_name(words[0].rpartition("/")[2]) if words else ""
    if not program or program in _DOING_ANYTHING:
        return None
    if program in _INTERPRETERS:
        length = 3 if "-m" in words[1:2] else 2
        return length if len(words) >= length and not words[length - 1].startswith("-") else None
    sub = subcommand(program, words)
    if sub is None:
        return 1
    # Before it, an option may have a value that is the same word.
    lengths = (place + 1 for place, word in enumerate(words) if word == sub)
    return next(length for length in lengths if subcommand(program, words[:length]) == sub)
