"""The index of a group of files: which nodes its rows name, and the number of the family that each belongs to.

A family is a set of nodes that are tied together, directly or through others. There may be millions of nodes, so they
and their families are Arrow arrays: an object of Python for each would need ten times the memory.

A file holds the nodes in ascending order, then the family of each, as little-endian numbers of 64 bits. Nodes are
hashes, so the place of one can be guessed: a few nodes are looked up by reading a few hundred bytes each, however large
the index is; many are compared with all of it.
"""

import os
import sys
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from aix.errors import LedgerDamagedError
from aix.store.manifest import COMPONENT, EntryFile
from aix.store.stored_files import open_regular, sha256_of

Pairs = tuple[pa.Array | pa.ChunkedArray, pa.Array | pa.ChunkedArray]
"""Nodes, and for each of them one that it is tied to, which may be itself."""
WIDTH = 8
COMPONENT_FIELD = pa.field(COMPONENT, pa.int64(), nullable=False)
_WINDOW = 32
"""How many entries are read at once while a node is looked up."""
_ENTRIES_PER_LOOKUP = 64
"""Looking up one node costs about as much as comparing it with so many entries."""


class Families:
    """The families that pairs of nodes make."""

    def __init__(self, pairs: Sequence[Pairs]) -> None:
        places = concatenated([*(one for one, _ in pairs), *(other for _, other in pairs)]).dictionary_encode()
        self.nodes: pa.Array = places.dictionary
        """All nodes, each once."""
        half = len(places) // 2
        ones, others = places.indices[:half], places.indices[half:]
        is_tie = pc.not_equal(ones, others)
        self.numbers: pa.Array = _family_numbers(len(self.nodes), ones.filter(is_tie), others.filter(is_tie))
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


def _family_numbers(count: int, ones: pa.Array, others: pa.Array) -> pa.Array:
    """Return for each of the places below a count the smallest that it is tied to."""
    above = array("i", range(count))
    for one, other in zip(integers(ones), integers(others), strict=True):
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


def integers(places: pa.Array) -> "memoryview[int] | tuple[()]":
    """Return the items of an array of 32 bits each, without a copy or a list of objects."""
    return memoryview(places.buffers()[1]).cast("i")[places.offset :][: len(places)] if len(places) else ()


def to_file_order(numbers: pa.Array) -> bytes:
    """Return numbers, none of them NULL, as they are stored.

    >>> from_file_order(to_file_order(pa.array([3, 2**64 - 1], pa.uint64()).slice(1))).to_pylist()
    [18446744073709551615]
    """
    _, values = numbers.buffers()
    return _swapped(bytes(memoryview(values)[numbers.offset * WIDTH :][: len(numbers) * WIDTH]) if values else b"")


def from_file_order(content: bytes) -> pa.Array:
    """Return numbers from how they are stored."""
    return pa.Array.from_buffers(pa.uint64(), len(content) // WIDTH, [None, pa.py_buffer(_swapped(content))])


def of_array(numbers: "array[int]") -> pa.Array:
    """Return the numbers of an array whose items are such."""
    return pa.Array.from_buffers(pa.uint64(), len(numbers), [None, pa.py_buffer(numbers)])


def _swapped(content: bytes) -> bytes:
    if sys.byteorder == "little":
        return content
    numbers = array("Q", content)
    numbers.byteswap()
    return numbers.tobytes()


def are_all_in(nodes: pa.Array | pa.ChunkedArray, others: pa.Array) -> bool:
    """Whether all of these nodes are among the others."""
    return bool(pc.all(pc.is_in(nodes, value_set=others), min_count=0).as_py())


class Index:
    """Nodes and the numbers of their families."""

    def __init__(self, nodes: pa.Array, families: pa.Array) -> None:
        self.nodes = nodes
        self._families = families

    def __len__(self) -> int:
        return len(self.nodes)

    @classmethod
    def of(cls, families: Mapping[int, int]) -> "Index":
        """Make an index of nodes and their families."""
        return cls.sorted(pa.array(families.keys(), pa.uint64()), pa.array(families.values(), pa.uint64()))

    def numbered(self, first: int) -> "Index":
        """Return an index of the same families, whose numbers are those from the first on."""
        places = self._families.dictionary_encode().indices.cast(pa.uint64())
        return Index(self.nodes, pc.add(places, pa.scalar(first, pa.uint64())))

    def extended(self, nodes: pa.ChunkedArray, families: pa.ChunkedArray) -> "Index":
        """Return an index that has these nodes too, with the family of each."""
        added = Index(concatenated([nodes]), concatenated([families.cast(pa.uint64())]))
        return Index.merged([self, added._where(pc.invert(pc.is_in(added.nodes, value_set=self.nodes)))])

    @classmethod
    def merged(cls, indexes: Iterable["Index"]) -> "Index":
        """Make one index of several whose families have nothing in common."""
        listed = list(indexes)
        return cls.sorted(
            pa.concat_arrays([index.nodes for index in listed]), pa.concat_arrays([index._families for index in listed])
        )

    @classmethod
    def sorted(cls, nodes: pa.Array, families: pa.Array) -> "Index":
        """Make an index of nodes, in any order, and the family of each."""
        order = pc.sort_indices(nodes)
        return cls(nodes.take(order), families.take(order))

    @property
    def families(self) -> pa.Array:
        """The families, each once."""
        return pc.unique(self._families)

    def only(self, nodes: pa.Array) -> "Index":
        """Return an index of those of the nodes that are here."""
        return self._where(pc.is_in(self.nodes, value_set=nodes))

    def has_families_after(self, number: int) -> bool:
        """Whether there is a family of a greater number."""
        return bool(pc.any(pc.greater(self._families, pa.scalar(number, pa.uint64())), min_count=0).as_py())

    def families_of(self, nodes: pa.Array) -> pa.Array:
        """Return the families of those of the nodes that are here."""
        return pc.unique(self._families.filter(pc.is_in(self.nodes, value_set=nodes)))

    def part(self, families: pa.Array) -> "Index":
        """Return the part of these families."""
        return self._where(pc.is_in(self._families, value_set=families))

    def without(self, families: pa.Array) -> "Index":
        """Return the index without these families."""
        return self._where(pc.invert(pc.is_in(self._families, value_set=families)))

    def _where(self, chosen: pa.Array) -> "Index":
        return Index(self.nodes.filter(chosen), self._families.filter(chosen))

    def pairs(self) -> list[Pairs]:
        """Return the nodes with themselves, and with others of their families."""
        return [(self.nodes, self.nodes), neighbours(self.nodes, self._families)]

    def components(self, nodes: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Return the family of each of these nodes, as the column `component` has it; NULL for one that is not here."""
        is_asked = pc.is_in(self.nodes, value_set=nodes)  # Arrow makes a table of a value set; the index can be large
        places = pc.index_in(nodes, value_set=self.nodes.filter(is_asked))
        return self._families.filter(is_asked).take(places).cast(pa.int64())

    def to_bytes(self) -> bytes:
        """Return the content of an index file."""
        return b"".join(map(to_file_order, (self.nodes, self._families)))


class StoredIndex:
    """An index in a file without its dead families. No more is held than is looked at.

    Rows whose nodes are not found are taken for new ones: an index of wrong bytes would double them. So its checksum is
    compared before it is first used. An index of an earlier release has none; `check_order` is for those.
    """

    def __init__(self, ledger: Path, file: EntryFile, dead: Collection[int] = ()) -> None:
        self._path = ledger / file.path
        self._entries = file.entries
        self._sha256 = file.sha256
        self._dead = pa.array(dead, pa.uint64())

    def bury(self, families: pa.Array) -> None:
        """Leave out families that are here."""
        self.whole = self.whole.without(families)

    def check_order(self, *, is_numbered: bool = False) -> None:
        """Raise LedgerDamagedError unless nodes ascend; unless families have numbers, a node must stand for each."""
        index = self._all()
        is_ascending = pc.less(index.nodes[:-1], index.nodes[1:])
        stands_for_itself = pc.is_in(index.families, value_set=index.nodes)
        rules = (is_ascending,) if is_numbered else (is_ascending, stands_for_itself)
        if not all(pc.all(holds, min_count=0).as_py() for holds in rules):
            raise LedgerDamagedError(self._path, "its numbers are not those of an index")

    @cached_property
    def whole(self) -> Index:
        """All of it."""
        return self._all().without(self._dead) if len(self._dead) else self._all()

    def _all(self) -> Index:
        return Index(*(from_file_order(self._content(start, self._entries)) for start in (0, self._entries)))

    def families_of(self, nodes: pa.Array) -> pa.Array:
        """Return the families of those of the nodes that are here."""
        if "whole" in self.__dict__ or len(nodes) * _ENTRIES_PER_LOOKUP > self._entries:
            return self.whole.families_of(nodes)
        places = (self._place_of(node) for node in nodes.to_pylist())
        found = {self._numbers(self._entries + place, 1)[0] for place in places if place is not None}
        return pa.array(found.difference(self._dead.to_pylist()), pa.uint64())

    def _place_of(self, node: int) -> int | None:
        low, high = 0, self._entries
        smallest, largest = 0, 2**64
        while low < high:
            guess = low + (node - smallest) * (high - low) // (largest - smallest)
            start = max(low, min(guess - _WINDOW // 2, high - _WINDOW))
            numbers = self._numbers(start, min(_WINDOW, high - start))
            place = bisect_left(numbers, node)
            if place < len(numbers) and numbers[place] == node:
                return start + place
            if place == 0:
                high, largest = start, numbers[0]
            elif place == len(numbers):
                low, smallest = start + place, numbers[-1]
            else:
                return None
        return None

    def _numbers(self, start: int, count: int) -> "array[int]":
        """Return a few numbers; to make an Arrow array of them would take longer than to look at them."""
        return array("Q", _swapped(self._content(start, count)))

    def _content(self, start: int, count: int) -> bytes:
        content = os.pread(self._descriptor, count * WIDTH, start * WIDTH)
        if len(content) != count * WIDTH:
            raise LedgerDamagedError(self._path, "it became shorter while it was read")
        return content

    @cached_property
    def _descriptor(self) -> int:
        descriptor = open_regular(self._path)
        try:
            if os.fstat(descriptor).st_size != 2 * self._entries * WIDTH:
                raise LedgerDamagedError(self._path, f"it does not have {self._entries} entries")
            if self._sha256 is not None and sha256_of(descriptor) != self._sha256:
                raise LedgerDamagedError(self._path, "its content is not the one that the manifest names")
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def __del__(self) -> None:
        if "_descriptor" in self.__dict__:
            os.close(self._descriptor)
