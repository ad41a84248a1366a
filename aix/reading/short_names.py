"""The shortest name by which each session is found, as people type it."""

from collections.abc import Iterable
from itertools import groupby

_SHORTEST = 8


def short_names(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return for every session the shortest beginning of one of its names that means no other, not below 8 characters.

    The names are those of all sessions: name and label, labels and aliases.

    >>> short_names([("log:5b1f03ab-1", "A"), ("5b1f03ab-1", "A"), ("log:5b1f03ab-2", "B"), ("5b1f03ab-2", "B")])
    {'A': '5b1f03ab-1', 'B': '5b1f03ab-2'}
    """
    # Of all names of other sessions, one beside a run of names of one session has most in common with its members.
    runs = [(label, [name for name, _ in run]) for label, run in groupby(sorted(names), key=lambda pair: pair[1])]
    shortest: dict[str, str] = {}
    for place, (label, run) in enumerate(runs):
        before = runs[place - 1][1][-1] if place else ""
        after = runs[place + 1][1][0] if place + 1 < len(runs) else ""
        for name in run:
            needed = 1 + max(_common_length(name, before), _common_length(name, after))
            found = name[: max(needed, _SHORTEST)]
            shortest[label] = min(shortest.get(label, found), found, key=lambda text: (len(text), text))
    return shortest


def _common_length(one: str, other: str) -> int:
    for length, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return length
    return min(len(one), len(other))
