"""Snippets: the part of a text around the words that were searched for, on one line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aix.search.expression import Term, spans_in

_BEFORE = 60
_CHARACTERS = 300
_READ = 3_000
"""Characters from which a snippet is made: a text may have many blanks in a row."""
_MOST_SPANS = 20
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Snippet:
    """A part of a text on one line."""

    text: str
    start: int
    """Where the first of the words begins; 0 where the text has none, as when they were hidden."""
    has_words: bool = True
    """Whether the text has one of the words."""

    def from_word(self, before: int) -> str:
        """Return the snippet from a few characters before the word on.

        >>> Snippet("the bucket leaks tokens all night", 11).from_word(7)
        '…bucket leaks tokens all night'
        """
        begin = max(self.start - before, 0)
        if begin:
            begin = next((at + 1 for at in range(begin - 1, self.start) if self.text[at] == " "), begin)
        return f"…{self.text[begin:].lstrip('…')}" if begin else self.text


def snippet(text: str, terms: Sequence[Term]) -> Snippet:
    """Return the part of a text that has most of the terms, from a little before the first of them."""
    spans = spans_in(text, terms)
    start = _best_start(text, spans)
    begin = max(start - _BEFORE, 0)
    if begin:  # no half word
        begin = next((place + 1 for place in range(begin - 1, start) if text[place].isspace()), begin)
    before = _BLANKS.sub(" ", text[begin:start]).lstrip()
    after = _BLANKS.sub(" ", text[start : start + _READ])
    is_cut = start + _READ < len(text) or len(after) > _CHARACTERS
    mark = "…" if begin else ""
    shown = f"{mark}{before}{after[:_CHARACTERS].rstrip()}{'…' if is_cut else ''}"
    return Snippet(shown, len(mark) + len(before) if spans else 0, bool(spans))


def _best_start(text: str, spans: Sequence[tuple[int, int]]) -> int:
    """Return where the stretch begins that holds most different words; 0 for a text without any."""
    best, most = 0, 0
    for place, (start, _) in enumerate(spans):
        near = spans[place : place + _MOST_SPANS]
        different = {text[begin:end].lower() for begin, end in near if end <= start + _CHARACTERS}
        if len(different) > most:
            best, most = start, len(different)
    return best
