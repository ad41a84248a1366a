"""Families: sets of nodes that are tied together, directly or through others.

There may be millions of nodes, so they and their families are Arrow arrays: an object of Python for each would need ten
times the memory.
"""

from array import array
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

Pairs = tuple[pa.Array | pa.ChunkedArray, pa.Array | pa.ChunkedArray]
"""Nodes, and for each of them one that it is tied to, which may be itself."""


class Families:
    """The families that pairs of nodes make."""

    def __init__(self, pairs: Sequence[Pairs]) -> None:
        places = concatenated([*(one for one, _ in pairs), *(other for _, other in pairs)]).dictionary_encode()
        self.nodes: pa.Array = places.dictionary
        """All nodes, each once."""
        half = len(places) // 2
        ones, others = places.indices[:half], places.indices[half:]
        is_tie = pc.not_equal(ones, others)
        self.numbers: pa.Array = _numbers(len(self.nodes), ones.filter(is_tie), others.filter(is_tie))
        """The number of the family of each node, which ascends with the first node of a family."""

    def of(self, nodes: pa.Array) -> pa.Array:
        """Return the numbers of the families of these nodes."""
        return self.numbers.take(pc.index_in(nodes, value_set=self.nodes))

    def part(self, numbers: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return the nodes of the families with these numbers, and the number of the family of each."""
        is_in_part = pc.is_in(self.numbers, value_set=numbers)
        return self.nodes.filter(is_in_part), self.numbers.filter(is_in_part)


def concatenated(nodes: Iterable[pa.Array | pa.ChunkedArray]) -> pa.Array:
    """Return nodes as one array."""
    chunks = [chunk for each in nodes for chunk in (each.chunks if isinstance(each, pa.ChunkedArray) else [each])]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.uint64())


def neighbours(nodes: pa.Array, numbers: pa.Array) -> Pairs:
    """Return pairs of nodes that have the same number, so many that all those that have it hang together."""
    order = pc.sort_indices(numbers)
    nodes, numbers = nodes.take(order), numbers.take(order)
    is_same = pc.equal(numbers[1:], numbers[:-1])
    return nodes[1:].filter(is_same), nodes[:-1].filter(is_same)


def _numbers(count: int, ones: pa.Array, others: pa.Array) -> pa.Array:
    """Return for each of the places below a count the smallest that it is tied to."""
    above = array("i", range(count))
    for one, other in zip(_values(ones), _values(others), strict=True):
        while (higher := above[one]) != one:
            above[one] = one = above[higher]
        while (higher := above[other]) != other:
            above[other] = other = above[higher]
        if one < other:
            above[other] = one
        else:
            above[one] = other
    for place, higher in enumerate(above):  # what is above is smaller, so its own way is short by now
        above[place] = above[higher]
    return pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(above)])


def _values(places: pa.Array) -> "memoryview[int] | tuple[()]":
    """Return the items of an array without a copy, or a list of objects."""
    return memoryview(places.buffers()[1]).cast("i")[places.offset :][: len(places)] if len(places) else ()
