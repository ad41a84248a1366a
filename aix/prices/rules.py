"""Rules that say which names a price line is for.

A rule is one of five words, with the text that it compares a name with: `equals`, `starts_with`, `ends_with`,
`contains`, `regex`. Written alone, a word is about the `model` of its line; several are written with their texts:

    starts_with:model-4-5 or contains:model and ends_with:-preview

`and` binds closer than `or`. Capitals make no difference.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import msgspec

from aix.errors import nearest_names

LONGEST_NAME = 200
"""No model has a longer name; what is longer is text from somewhere else, and no rule looks at it."""

_MOST_REPETITIONS = 2
_MOST_ALTERNATIVES = 16
_LITERAL = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\(\?[:=!]|\{\d{1,3}\}")
_REPETITION = re.compile(r"[*+?]|\{\d*,\d*\}")

Test = Callable[[str], bool]


class Rule(msgspec.Struct, frozen=True):
    """Tests, of which all of one alternative must hold."""

    alternatives: tuple[tuple[Test, ...], ...]

    def fits(self, name: str) -> bool:
        """Whether the rule is about that name.

        >>> parse_rule("starts_with:gpt-5 or equals:o3", "").fits("O3")
        True
        """
        if len(name) > LONGEST_NAME:
            return False
        lowered = name.lower()
        return any(all(test(lowered) for test in tests) for tests in self.alternatives)


@lru_cache(maxsize=4096)
def parse_rule(text: str, model: str) -> Rule:
    """Return the rule that a text stands for; raises ValueError with what is wrong with it."""
    if text in _MAKERS:
        return Rule(((_MAKERS[text](model),),))
    return Rule(tuple(tuple(_parse_clause(clause) for clause in part.split(" and ")) for part in text.split(" or ")))


def _parse_clause(clause: str) -> Test:
    word, has_text, text = clause.strip().partition(":")
    if word not in _MAKERS:
        nearest = nearest_names(word, _MAKERS, 1) or list(_MAKERS)
        raise ValueError(f"there is no rule {word!r}; use {' or '.join(nearest)}")
    if not has_text or not text:
        raise ValueError(f"{word!r} needs a text: {word}:TEXT")
    return _MAKERS[word](text)


def _equals(text: str) -> Test:
    wanted = text.lower()
    return lambda name: name == wanted


def _starts_with(text: str) -> Test:
    wanted = text.lower()
    return lambda name: name.startswith(wanted)


def _ends_with(text: str) -> Test:
    wanted = text.lower()
    return lambda name: name.endswith(wanted)


def _contains(text: str) -> Test:
    wanted = text.lower()
    return lambda name: wanted in name


def _regex(text: str) -> Test:
    """Compile a pattern that takes no time to speak of, whatever name it is tried on: names come from logs."""
    bare = _LITERAL.sub("", text)
    if len(text) > LONGEST_NAME:
        raise ValueError(f"a pattern has at most {LONGEST_NAME} characters")
    if re.search(r"\)[*+{]", bare):
        raise ValueError("a group in a pattern cannot be repeated")
    if len(_REPETITION.findall(bare)) > _MOST_REPETITIONS:
        raise ValueError(f"a pattern can repeat at most {_MOST_REPETITIONS} of its parts")
    if bare.count("|") > _MOST_ALTERNATIVES:
        raise ValueError(f"a pattern has at most {_MOST_ALTERNATIVES} alternatives")
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"this is no pattern: {error}") from error
    return lambda name: pattern.search(name) is not None


_MAKERS: dict[str, Callable[[str], Test]] = {
    "equals": _equals,
    "starts_with": _starts_with,
    "ends_with": _ends_with,
    "contains": _contains,
    "regex": _regex,
}
