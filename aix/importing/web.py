"""Which sources are tied to each other, directly or through others."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from aix.ledger.families import Families
from aix.ledger.numbers import from_file_order
from aix.ledger.ties import StoredTies

_BITS = 32


def reading_of(contents: Mapping[str, str]) -> bytes:
    """Return what stands for sources that are read together, given by id, and for what they hold."""
    lines = "\n".join(f"{source}:{content}" for source, content in sorted(contents.items()))
    return hashlib.sha256(lines.encode()).digest()[:16]


class Web:
    """The ties of all sources, as one long list of numbers and one of the sources they belong to."""

    def __init__(self, ties: StoredTies) -> None:
        self._ids = [source for source, each in ties.items() if each.count]
        self._places = {source: place for place, source in enumerate(self._ids)}
        self._numbers = _joined([from_file_order(ties[source].numbers) for source in self._ids])
        self._owners = _joined([pa.repeat(pa.scalar(at, pa.uint64()), ties[i].count) for at, i in enumerate(self._ids)])

    def sets_with(self, sources: Iterable[str] | None) -> Iterator[frozenset[str]]:
        """Go through the sets of sources that are tied and of which one is given, or through all of them."""
        if sources is None:
            reached = pa.array(range(len(self._ids)), pa.uint64())
        else:
            reached = self._reached(pa.array([self._places[i] for i in sources if i in self._places], pa.uint64()))
        families = Families()
        families.link(self._links(pc.is_in(self._owners, value_set=reached)))
        sets: dict[int, set[str]] = {}
        for place in list(families.nodes()):
            sets.setdefault(families.of(place), set()).add(self._ids[place])
        return (frozenset(each) for each in sets.values())

    def _reached(self, sources: pa.Array) -> pa.Array:
        reached = sources
        while len(sources):
            numbers = self._numbers.filter(pc.is_in(self._owners, value_set=sources))
            found = pc.unique(self._owners.filter(pc.is_in(self._numbers, value_set=numbers)))
            sources = found.filter(pc.invert(pc.is_in(found, value_set=reached)))
            reached = pa.concat_arrays([reached, sources])
        return reached

    def _links(self, chosen: pa.Array) -> Iterator[tuple[int, int]]:
        """Go through pairs of sources that have a number in common, so many that every set hangs together."""
        numbers, owners = self._numbers.filter(chosen), self._owners.filter(chosen)
        order = pc.sort_indices(numbers)
        numbers, owners = numbers.take(order), owners.take(order)
        is_same = pc.equal(numbers[1:], numbers[:-1])
        one, other = owners[1:].filter(is_same), owners[:-1].filter(is_same)
        pairs = pc.unique(pc.bit_wise_or(pc.shift_left(one, pa.scalar(_BITS, pa.uint64())), other))
        return ((pair >> _BITS, pair & (1 << _BITS) - 1) for pair in pairs.to_pylist())


def _joined(arrays: list[pa.Array]) -> pa.Array:
    return pa.concat_arrays(arrays) if arrays else pa.array([], pa.uint64())
