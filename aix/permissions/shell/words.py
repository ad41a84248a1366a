"""Words of a shell command, with their quotes resolved."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Span = tuple[int, int]


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
