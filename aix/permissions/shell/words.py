"""Parts of a shell command, and its words with their quotes resolved."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

Span = tuple[int, int]
QUOTING = frozenset("\\'\"$`")
_UNQUOTED = re.compile(r"[^\\'\"$]+")
_QUOTED = re.compile(r'[^\\"]+')
_ANSI_ESCAPE = re.compile(
    r"\\(?:x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)|[^\\]+|\\", re.DOTALL
)
_ANSI_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
REDIRECT_OPERATOR = re.compile(r"[0-9]*(?:\{\w+\})?(&>>|&>|<<<|<<-?|<>|>>|>\||[<>]&|[<>])")
"""A redirection with its descriptor, as it is written."""


class Word(NamedTuple):
    """A word, and where it stands."""

    text: str
    """Quotes and escapes resolved, expansions kept as they are written."""
    start: int
    end: int
    expansions: tuple[Span, ...] = ()
    """Where expansions stand in `text`."""

    @property
    def is_all_expansion(self) -> bool:
        """Whether nothing of it is known before it is expanded."""
        return bool(self.expansions) and self.expansions[0][0] == 0


def resolve(text: str, start: int, end: int, expansions: Sequence[Span]) -> Word:
    """Return the word that stands at a place of a text, given where in it expansions stand."""
    pieces: list[str] = []
    kept: list[Span] = []
    length = 0
    position = start
    is_quoted = False
    upcoming = iter(expansions)
    expansion = next(upcoming, None)

    def add(piece: str) -> None:
        nonlocal length
        pieces.append(piece)
        length += len(piece)

    while position < end:
        while expansion is not None and expansion[0] < position:
            expansion = next(upcoming, None)
        if expansion is not None and expansion[0] == position:
            stop = min(expansion[1], end)
            kept.append((length, length + stop - position))
            add(text[position:stop])
            position = max(stop, position + 1)
            continue
        limit = end if expansion is None else min(end, expansion[0])
        plain = (_QUOTED if is_quoted else _UNQUOTED).match(text, position, limit)
        if plain is not None:
            add(plain.group())
            position = plain.end()
            continue
        character = text[position]
        following = text[position + 1 : min(position + 2, end)]
        if character == '"':
            is_quoted = not is_quoted
            position += 1
        elif character == "\\":
            if following == "\r" and text[position + 2 : position + 3] == "\n" and position + 2 < end:
                position += 3
                continue
            if following != "\n":
                add(following if not is_quoted or following in '$`"\\' else character + following)
            position += 2
        elif character == "'":
            stop = text.find("'", position + 1, end)
            stop = end if stop < 0 else stop
            add(text[position + 1 : stop])
            position = stop + 1
        elif following == "'":
            stop = _ansi_end(text, position + 2, end)
            add(escapes_resolved(text[position + 2 : stop]))
            position = stop + 1
        else:
            if following != '"':
                add(character)
            position += 1
    return Word("".join(pieces), start, end, tuple(kept))


def joined(words: Iterable[Word]) -> Word:
    """Return words as one text with spaces between them, as programs do that run their arguments as a script."""
    texts: list[str] = []
    expansions: list[Span] = []
    length = 0
    for word in words:
        expansions += [(length + start, length + end) for start, end in word.expansions]
        texts.append(word.text)
        length += len(word.text) + 1
    return Word(" ".join(texts), 0, max(0, length - 1), tuple(expansions))


def _ansi_end(text: str, position: int, end: int) -> int:
    while position < end and text[position] != "'":
        position += 2 if text[position] == "\\" else 1
    return min(position, end)


def escapes_resolved(quoted: str) -> str:
    r"""Return a text with escapes such as `\n` and `\x72` replaced by their characters."""
    return "".join(_ansi_piece(piece) for piece in _ANSI_ESCAPE.findall(quoted))


def _ansi_piece(piece: str) -> str:
    if piece[0] != "\\" or len(piece) == 1:
        return piece
    kind = piece[1]
    if kind in "xuU" and len(piece) > 2:
        code = int(piece[2:], 16)
        return chr(code) if code < 0x110000 else piece
    if kind in "01234567":
        return chr(int(piece[1:], 8) & 0xFF)
    if kind == "c" and len(piece) == 3:
        return chr(ord(piece[2]) & 0x1F)
    return _ANSI_LETTERS.get(kind, piece)


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
