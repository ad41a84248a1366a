"""The graph of sources that are tied to each other, directly or through others."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from aix.store.components import Families, Pairs, neighbours
from aix.store.source_ties import NO_TIES, StoredTies
from aix.store.uint64 import WIDTH, from_file_order

_BITS = pa.scalar(32, pa.uint64())
_LOWER = pa.scalar(2**32 - 1, pa.uint64())


def reading_of(contents: Mapping[str, str]) -> bytes:
    """Return what stands for sources that are read together, given by id, and for what they hold."""
    lines = "\n".join(f"{source}:{content}" for source, content in sorted(contents.items()))
    return hashlib.sha256(lines.encode()).digest()[:16]


class SourceGraph:
    """The ties of sources, as one long list of numbers and one of the places of the sources they belong to."""

    def __init__(self, ties: StoredTies) -> None:
        self.stored = ties
        self._ties = {source: each.numbers for source, each in ties.items() if each.numbers}
        self._ids = list(self._ties)
        self._numbers, self._owners = _listed(self._ties.values())

    def sets_with(self, sources: Iterable[str] | None, fresh: StoredTies = NO_TIES) -> Iterator[frozenset[str]]:
        """Go through the sets of sources that are tied and of which one is given, or through all of them.

        `fresh` holds the ties of some sources as they are by now.
        """
        newer = SourceGraph(fresh)
        ties = {**{source: each for source, each in self._ties.items() if source not in fresh}, **newer._ties}
        given = ties.keys() if sources is None else ties.keys() & set(sources)
        reached, new = list(given), given
        while new and sources is not None:
            wanted = from_file_order(b"".join(ties[source] for source in new))
            found = (self._with_any(wanted) - fresh.keys()) | newer._with_any(wanted)
            new = found.difference(reached)
            reached += new
        families = Families([_links([ties[source] for source in reached])])
        sets: dict[int, set[str]] = {}
        for place, number in zip(families.nodes.to_pylist(), families.numbers.to_pylist(), strict=True):
            sets.setdefault(number, set()).add(reached[place])
        return (frozenset(each) for each in sets.values())

    def _with_any(self, numbers: pa.Array) -> set[str]:
        """Return the sources that have any of these numbers."""
        places = pc.unique(self._owners.filter(pc.is_in(self._numbers, value_set=numbers)))
        return {self._ids[place] for place in places.to_pylist()}


def _links(ties: Collection[bytes]) -> Pairs:
    """Return pairs of places in a list of ties that have a number in common, so many that every set hangs together."""
    numbers, owners = _listed(ties)
    one, other = neighbours(owners, numbers)
    pairs = pc.unique(pc.bit_wise_or(pc.shift_left(one, _BITS), other))  # of which there are far fewer
    return pc.shift_right(pairs, _BITS), pc.bit_wise_and(pairs, _LOWER)


def _listed(ties: Collection[bytes]) -> tuple[pa.Array, pa.Array]:
    """Return all numbers of a list of ties, and the place in the list of each."""
    ends = pa.array(accumulate(len(each) // WIDTH for each in ties), pa.int64())
    owners = pa.RunEndEncodedArray.from_arrays(ends, pa.array(range(len(ties)), pa.uint64()))
    return from_file_order(b"".join(ties)), pc.run_end_decode(owners)
