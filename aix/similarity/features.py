"""Words as numbers: which words a text has, how often, and how much the same words weigh in a whole ledger.

A word counts in one of 65,536 places that a hash of it names; a longer one counts by half also where its first five
letters do, so that `deploy`, `deploys` and `deployment` are alike. What counts often weighs more, by the logarithm.
Weights are whole numbers: sums of them do not depend on the order of the turns, the import or the machine.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import log, log1p
from zlib import crc32

from aix.search.words import words_of
from aix.similarity.texts import Part

PLACES = 2**16
_MOST_WORDS = 160
"""The different words of a turn that count, in the order of its parts: more of them find turns less well."""
_LONGEST_WORD = 40
"""Longer ones are keys and hashes."""
_BEGINNING = 5
_COUNTS = {Part.PROMPT: 2.0, Part.SUMMARY: 1.0, Part.PATH: 1.0, Part.ANSWER: 1.0, Part.TOOL: 0.5, Part.THINKING: 0.5}
"""How much a word counts in each part; sums of these are exact."""
_WEIGHT = 8
_RARITY = 256


def features_of(pieces: Iterable[tuple[Part, str]]) -> dict[int, int]:
    """Return the weight of each place that words of the texts count in, by place.

    >>> features_of([(Part.PROMPT, "why")])
    {36848: 9}
    """
    words: defaultdict[str, float] = defaultdict(float)
    for part, text in pieces:
        count = _COUNTS[part]
        for word in words_of(text):
            if word in words or len(words) < _MOST_WORDS:
                words[word] += count
    counts: defaultdict[int, float] = defaultdict(float)
    for word, count in words.items():
        if len(word) <= _LONGEST_WORD:
            place, beginning = _places_of(word)
            counts[place] += count
            if beginning is not None:
                counts[beginning] += count / 2
    return {place: round(_WEIGHT * log1p(counts[place])) for place in sorted(counts)}


def forms_of(text: str) -> set[str]:
    """Return the words of a text and the beginnings of longer ones: texts without a common one are not alike.

    >>> sorted(forms_of("Deploys why"))
    ['deplo-', 'deploys', 'why']
    """
    words = set(words_of(text))
    return words | {beginning for word in words if (beginning := _beginning_of(word)) is not None}


def _beginning_of(word: str) -> str | None:
    return f"{word[:_BEGINNING]}-" if len(word) > _BEGINNING else None


@lru_cache(2**17)
def _places_of(word: str) -> tuple[int, int | None]:
    """Return where a word counts, and where its beginning does."""
    beginning = _beginning_of(word)
    return _place(word), None if beginning is None else _place(beginning)


def _place(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass")) % PLACES


def rarities(texts: int, texts_with: Mapping[int, int]) -> list[int]:
    """Return how much each place weighs, when so many of all texts have a word there: the fewer, the more."""
    unknown = _rarity(texts, 0)
    found = [unknown] * PLACES
    for place, having in texts_with.items():
        found[place] = _rarity(texts, having)
    return found


def _rarity(texts: int, having: int) -> int:
    return max(1, round(_RARITY * log((texts + 1) / (having + 0.5))))
