"""Search expressions: words, phrases, beginnings of words, and how they are combined.

    token bucket              texts with both words, wherever they stand
    "token bucket"            texts with these words beside each other
    buck*                     texts with a word that begins so
    retry OR backoff          texts with either
    retry NOT (http OR dns)   texts with the first and none of the others

OR joins less closely than words side by side. AND may stand between words and changes nothing. What has no meaning in
an expression, such as a bracket in a line of code, only divides words, so that any text can be searched for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from aix.errors import SearchTextError
from aix.search.words import folded, pattern_of, spaced, words_of

MOST_TERMS = 200
_DEEPEST = 10
"""Brackets inside brackets, for which FTS5 has little room; those that are deeper only divide words."""
_QUOTED = re.compile(r'"([^"]*)(?:"(\*?)|$)')
_BLANK = re.compile(r"\s+")
_WORD = re.compile(r"\S+")
_OPERATORS = ("AND", "OR", "NOT")


@dataclass(frozen=True)
class Term:
    """Words that stand beside each other; of a prefix, the last is the beginning of one."""

    text: str
    is_prefix: bool = False

    @property
    def match(self) -> str:
        """The term as FTS5 reads it."""
        quoted = spaced(self.text).replace("\0", " ").replace('"', '""')
        return f'"{quoted}" *' if self.is_prefix else f'"{quoted}"'

    @property
    def pattern(self) -> str:
        """The term as a regular expression for folded texts."""
        return pattern_of(words_of(self.text), is_prefix=self.is_prefix)


@dataclass(frozen=True)
class Every:
    """All of these, and none of the others."""

    parts: "tuple[Expression, ...]"
    without: "tuple[Expression, ...]" = ()

    @property
    def match(self) -> str:
        """The expression as FTS5 reads it."""
        wanted = " AND ".join(f"({part.match})" for part in self.parts)
        unwanted = " OR ".join(f"({part.match})" for part in self.without)
        return f"({wanted}) NOT ({unwanted})" if unwanted else wanted


@dataclass(frozen=True)
class Either:
    """At least one of these."""

    parts: "tuple[Expression, ...]"

    @property
    def match(self) -> str:
        """The expression as FTS5 reads it."""
        return " OR ".join(f"({part.match})" for part in self.parts)


Expression = Term | Every | Either


def holds(expression: Expression, text: str) -> bool:
    """Whether a text has what an expression asks for."""
    match expression:
        case Term():
            return bool(spans_in(text, (expression,)))
        case Every(parts, without):
            return all(holds(part, text) for part in parts) and not any(holds(part, text) for part in without)
        case Either(parts):
            return any(holds(part, text) for part in parts)


def terms_of(expression: Expression) -> Iterator[Term]:
    """Go through the terms that a text is found by; not those that it must not have."""
    if isinstance(expression, Term):
        yield expression
    else:
        for part in expression.parts:
            yield from terms_of(part)


def spans_in(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return where the terms stand in a text, in order and without overlaps."""
    return [found.span() for found in _pattern_of(tuple(terms)).finditer(folded(text))]


@lru_cache
def _pattern_of(terms: tuple[Term, ...]) -> re.Pattern[str]:
    longest_first = sorted(terms, key=lambda term: -len(term.text))
    return re.compile("|".join(term.pattern for term in longest_first))


def read_expression(text: str) -> Expression:
    """Read what a user searches for.

    >>> read_expression('retry "token bucket"')
    Every(parts=(Term(text='retry', is_prefix=False), Term(text='token bucket', is_prefix=False)), without=())
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SearchTextError(text.encode("utf-8", "replace").decode(), "it is not UTF-8") from None
    expression = _Reader(text).read()
    if expression is None:
        has_words = bool(words_of(text))
        raise SearchTextError(
            text, f"it has no {'word besides AND, OR and NOT' if has_words else 'letter and no digit'}"
        )
    return expression


class _Reader:
    """Reads an expression piece by piece."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces = list(_pieces(text))
        self._place = 0
        if sum(isinstance(piece, Term) for piece in self._pieces) > MOST_TERMS:
            raise SearchTextError(text, f"it has more than {MOST_TERMS} words")

    def read(self) -> Expression | None:
        """Return the whole expression; None when it holds no word."""
        parts = [self._either()]
        while self._place < len(self._pieces):  # behind a bracket that nothing opened
            self._place += 1
            parts.append(self._either())
        return _joined(parts)

    def _next(self) -> "str | Term | None":
        return self._pieces[self._place] if self._place < len(self._pieces) else None

    def _either(self) -> Expression | None:
        parts: list[Expression] = []
        while True:
            part = self._every()
            parts += part.parts if isinstance(part, Either) else [] if part is None else [part]
            if self._next() != "OR":
                break
            self._place += 1
        return parts[0] if len(parts) == 1 else Either(tuple(parts)) if parts else None

    def _every(self) -> Expression | None:
        parts: list[Expression | None] = []
        without: list[Expression] = []
        while (piece := self._next()) is not None and piece not in ("OR", ")"):
            self._place += 1
            is_unwanted = False
            while piece in ("AND", "NOT"):
                is_unwanted ^= piece == "NOT"
                piece = self._next()
                if piece is None or piece in ("OR", ")"):
                    break
                self._place += 1
            else:
                part = self._group() if piece == "(" else piece if isinstance(piece, Term) else None
                if is_unwanted and part is not None:
                    without.append(part)
                else:
                    parts.append(part)
        wanted = _joined(parts)
        if not without:
            return wanted
        if wanted is None:
            raise SearchTextError(self._text, "NOT leaves texts out, and there is no word that texts are found by")
        return Every(_parts_of(wanted), tuple(without))

    def _group(self) -> Expression | None:
        found = self._either()
        if self._next() == ")":
            self._place += 1
        return found


def _joined(parts: list[Expression | None]) -> Expression | None:
    known = [part for part in parts if part is not None]
    if len(known) == 1:
        return known[0]
    return Every(tuple(inner for part in known for inner in _parts_of(part))) if known else None


def _parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the parts of an expression that may stand among others that must all hold."""
    return expression.parts if isinstance(expression, Every) and not expression.without else (expression,)


def _pieces(text: str) -> Iterator[str | Term]:
    """Divide a text into operators, brackets and terms; what has no words is left out."""
    depth = 0
    for piece in _all_pieces(text):
        depth += (piece == "(") - (piece == ")" and depth > 0)
        if isinstance(piece, Term) or piece in _OPERATORS or depth + (piece == ")") <= _DEEPEST:
            yield piece


def _all_pieces(text: str) -> Iterator[str | Term]:
    place = 0
    while place < len(text):
        if blank := _BLANK.match(text, place):
            place = blank.end()
        elif text[place] == "(":
            yield "("
            place += 1
        elif quoted := _QUOTED.match(text, place):
            if words_of(quoted[1]):
                yield Term(quoted[1], is_prefix=bool(quoted[2]))
            place = quoted.end()
        elif word := _WORD.match(text, place):
            yield from _word_pieces(word[0])
            place = word.end()


def _word_pieces(word: str) -> Iterator[str | Term]:
    if word in _OPERATORS:
        yield word
        return
    inner = word
    while inner.endswith(")") and inner.count(")") > inner.count("("):  # the others belong to the word, as in `main()`
        inner = inner[:-1]
    if inner in _OPERATORS:
        yield inner
    elif words_of(inner):
        yield Term(inner.removesuffix("*"), is_prefix=inner[-1] == "*" and inner[-2:-1].isalnum())
    yield from ")" * (len(word) - len(inner))
