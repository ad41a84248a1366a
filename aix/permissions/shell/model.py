"""Parts of a shell command."""

import re
from typing import NamedTuple

import msgspec

from aix.permissions.shell.words import Word

REDIRECT_OPERATOR = re.compile(r"[0-9]*(?:\{\w+\})?(&>>|&>|<<<|<<-?|<>|>>|>\||[<>]&|[<>])")
"""A redirection with its descriptor, as it is written."""


class Redirect(NamedTuple):
    """One redirection: `2> log` is `>` to `log`; the number of the descriptor is left out."""

    op: str
    target: str
    """The file, descriptor or here-string, quotes resolved; the delimiter of a here-document."""


class SimpleCommand(NamedTuple):
    """A simple command as it is written, before wrappers are looked through."""

    words: tuple[str, ...]
    """Quotes and escapes resolved, expansions and substitutions kept as text."""
    env: tuple[str, ...]
    """The assignments before it."""
    redirects: tuple[Redirect, ...]
    source: str
    """Its words as they are written, without assignments, redirections and here-documents."""


class Command(NamedTuple):
    """A program that runs, with the wrappers that run it looked through."""

    program: str
    """The last part of the path that the first word names."""
    sub: str | None
    """The subcommand, for programs that have some."""
    words: tuple[str, ...]
    env: tuple[str, ...]
    """The assignments before it and before its wrappers."""
    wrappers: tuple[str, ...]
    """From the outermost, such as `sudo`, `bash -c`, `find -exec`."""
    redirects: tuple[Redirect, ...]
    """Its own and those of its wrappers."""
    source: str
    pipeline: int
    """Commands joined by pipes share this number."""
    documents: tuple[str, ...] = ()
    """The bodies of the here-documents that it reads."""


class Script(NamedTuple):
    """Commands, redirections and assignments of a text of shell commands."""

    simple: tuple[SimpleCommand, ...]
    commands: tuple[Command, ...]
    is_whole: bool
    """False when the text is no valid shell, too long or too deep: then this is what could be read."""
    redirects: tuple[Redirect, ...] = ()
    """Those that belong to no simple command, as of a loop, a group, or a line that only redirects."""
    assignments: tuple[str, ...] = ()
    """Assignments to variables such as `x=1`, quotes resolved, and the values of `for` loops in the same form."""


class Statement(msgspec.Struct):
    """A simple command with the places of its words."""

    text: str
    """The text that the places are in."""
    pipe: int | None
    """The number of the pipeline that it is a part of, when there is one."""
    words: list[Word] = msgspec.field(default_factory=list)
    env: list[str] = msgspec.field(default_factory=list)
    redirects: list[Redirect] = msgspec.field(default_factory=list)
    documents: list[str] = msgspec.field(default_factory=list)
    """The bodies of its here-documents."""
