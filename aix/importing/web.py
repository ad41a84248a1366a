"""Which sources are tied to each other, directly or through others."""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from aix.ledger.families import Families, Pairs, neighbours
from aix.ledger.numbers import WIDTH, from_file_order
from aix.ledger.ties import StoredTies

_BITS = pa.scalar(32, pa.uint64())
_LOWER = pa.scalar(2**32 - 1, pa.uint64())


def reading_of(contents: Mapping[str, str]) -> bytes:
    """Return what stands for sources that are read together, given by id, and for what they hold."""
    lines = "\n".join(f"{source}:{content}" for source, content in sorted(contents.items()))
    return hashlib.sha256(lines.encode()).digest()[:16]


class Web:
    """The ties of all sources, as one long list of numbers and one of the places of the sources they belong to."""

    def __init__(self, ties: StoredTies) -> None:
        self._ties = {source: each.numbers for source, each in ties.items() if each.numbers}
        self._ids = list(self._ties)

    def sets_with(self, sources: Iterable[str] | None) -> Iterator[frozenset[str]]:
        """Go through the sets of sources that are tied and of which one is given, or through all of them."""
        reached = self._ties.keys() if sources is None else self._reached(set(sources) & self._ties.keys())
        families = Families([self._links(reached)])
        sets: dict[int, set[str]] = {}
        for place, number in zip(families.nodes.to_pylist(), families.numbers.to_pylist(), strict=True):
            sets.setdefault(number, set()).add(self._ids[place])
        return (frozenset(each) for each in sets.values())

    def _reached(self, sources: set[str]) -> set[str]:
        numbers, owners = self._listed(range(len(self._ids)))
        reached, new = sources, sources
        while new:
            wanted = from_file_order(b"".join(self._ties[source] for source in new))
            found = pc.unique(owners.filter(pc.is_in(numbers, value_set=wanted)))
            new = {self._ids[place] for place in found.to_pylist()} - reached
            reached = reached | new
        return reached

    def _links(self, sources: Container[str]) -> Pairs:
        """Return pairs of sources that have a number in common, so many that every set hangs together."""
        numbers, owners = self._listed([place for place, source in enumerate(self._ids) if source in sources])
        one, other = neighbours(owners, numbers)
        pairs = pc.unique(pc.bit_wise_or(pc.shift_left(one, _BITS), other))  # of which there are far fewer
        return pc.shift_right(pairs, _BITS), pc.bit_wise_and(pairs, _LOWER)

    def _listed(self, places: Sequence[int]) -> tuple[pa.Array, pa.Array]:
        """Return the numbers of the sources at these places, and the place of the source of each."""
        ties = [self._ties[self._ids[place]] for place in places]
        ends = pa.array(accumulate(len(each) // WIDTH for each in ties), pa.int64())
        owners = pa.RunEndEncodedArray.from_arrays(ends, pa.array(places, pa.uint64()))
        return from_file_order(b"".join(ties)), pc.run_end_decode(owners)
