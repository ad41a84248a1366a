"""Which sources are tied to each other, directly or through others."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from aix.ledger.families import Families
from aix.ledger.numbers import WIDTH, from_file_order
from aix.ledger.ties import StoredTies

_BITS = 32


def reading_of(contents: Mapping[str, str]) -> bytes:
    """Return what stands for sources that are read together, given by id, and for what they hold."""
    lines = "\n".join(f"{source}:{content}" for source, content in sorted(contents.items()))
    return hashlib.sha256(lines.encode()).digest()[:16]


class Web:
    """The ties of all sources, as one long list of numbers and one of the places of the sources they belong to."""

    def __init__(self, ties: StoredTies) -> None:
        self._ties = {source: each for source, each in ties.items() if each.count}
        self._ids = list(self._ties)
        self._places = {source: place for place, source in enumerate(self._ids)}
        self._numbers, self._owners = self._listed(self._ids)

    def sets_with(self, sources: Iterable[str] | None) -> Iterator[frozenset[str]]:
        """Go through the sets of sources that are tied and of which one is given, or through all of them."""
        reached = self._ids if sources is None else self._reached(set(sources) & self._ties.keys())
        families = Families()
        families.link(self._links(reached))
        sets: dict[int, set[str]] = {}
        for place in list(families.nodes()):
            sets.setdefault(families.of(place), set()).add(self._ids[place])
        return (frozenset(each) for each in sets.values())

    def _reached(self, sources: set[str]) -> set[str]:
        reached, new = sources, sources
        while new:
            numbers, _ = self._listed(new)
            found = pc.unique(self._owners.filter(pc.is_in(self._numbers, value_set=numbers)))
            new = {self._ids[place] for place in found.to_pylist()} - reached
            reached = reached | new
        return reached

    def _links(self, sources: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Go through pairs of sources that have a number in common, so many that every set hangs together."""
        numbers, owners = self._listed(sources)
        order = pc.sort_indices(numbers)
        numbers, owners = numbers.take(order), owners.take(order)
        is_same = pc.equal(numbers[1:], numbers[:-1])
        one, other = owners[1:].filter(is_same), owners[:-1].filter(is_same)
        pairs = pc.unique(pc.bit_wise_or(pc.shift_left(one, pa.scalar(_BITS, pa.uint64())), other))
        return ((pair >> _BITS, pair & (1 << _BITS) - 1) for pair in pairs.to_pylist())

    def _listed(self, sources: Iterable[str]) -> tuple[pa.Array, pa.Array]:
        """Return the numbers of these sources, and the place of the source of each, as bytes put together."""
        ties = [(self._places[source].to_bytes(WIDTH, "little"), self._ties[source]) for source in sources]
        numbers = b"".join(each.numbers for _, each in ties)
        return from_file_order(numbers), from_file_order(b"".join(place * each.count for place, each in ties))
