"""Words found in a text: several times faster than one pattern with all of them, and logs have gigabytes."""

import string
from collections.abc import Iterable, Iterator
from heapq import merge

Place = tuple[int, int]
"""Where something stands in a text, from and to."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def listed(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


def lower_case(text: str) -> str:
    """Return a text in lower case, each character where it was.

    >>> lower_case("İPASS") == "i̇pass", len(lower_case("İPASS"))
    (False, 5)
    """
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWER)


def places_of(words: Iterable[str], text: str) -> Iterator[Place]:
    """Go through the places of words in a text, in their order; places may overlap.

    >>> list(places_of(["pass", "word"], "password, word"))
    [(0, 4), (4, 8), (10, 14)]
    """
    return merge(*(_places(word, text) for word in words if word in text))


def _places(word: str, text: str) -> Iterator[Place]:
    start = text.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = text.find(word, start + 1)
