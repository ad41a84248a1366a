"""The index of a group of files: which nodes its rows name, and to which family each belongs.

A file holds the nodes in ascending order, then the family of each, as little-endian numbers of 64 bits. It lies in
memory only as far as it is looked at.
"""

import mmap
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from aix.errors import LedgerDamagedError

_WIDTH = 8


class Index:
    """Nodes and their families."""

    def __init__(self, nodes: pa.Array, families: pa.Array) -> None:
        self._nodes = nodes
        self._families = families

    def __len__(self) -> int:
        return len(self._nodes)

    @classmethod
    def of(cls, families: Iterable[tuple[int, int]]) -> "Index":
        """Make an index of pairs of node and family."""
        ordered = sorted(families)
        return cls(
            pa.array([node for node, _ in ordered], pa.uint64()),
            pa.array([family for _, family in ordered], pa.uint64()),
        )

    @classmethod
    def merged(cls, indexes: Iterable["Index"]) -> "Index":
        """Make one index of several whose families have nothing in common."""
        listed = list(indexes)
        nodes = pa.concat_arrays([index._nodes for index in listed])
        families = pa.concat_arrays([index._families for index in listed])
        order = pc.sort_indices(nodes)
        return cls(nodes.take(order), families.take(order))

    def families_of(self, nodes: pa.Array) -> pa.Array:
        """Return the families of those of the nodes that are here."""
        return pc.unique(self._families.filter(pc.is_in(self._nodes, value_set=nodes)))

    def split(self, families: pa.Array) -> tuple["Index", "Index"]:
        """Return the part of these families, and the rest."""
        chosen = pc.is_in(self._families, value_set=families)
        others = pc.invert(chosen)
        return (
            Index(self._nodes.filter(chosen), self._families.filter(chosen)),
            Index(self._nodes.filter(others), self._families.filter(others)),
        )

    @property
    def nodes(self) -> pa.Array:
        """The nodes."""
        return self._nodes

    @property
    def families(self) -> pa.Array:
        """The families, each once."""
        return pc.unique(self._families)

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Go through nodes with their families."""
        return zip(self._nodes.to_pylist(), self._families.to_pylist(), strict=True)

    def to_bytes(self) -> bytes:
        """Return the content of an index file."""
        return b"".join(_little_endian(numbers) for numbers in (self._nodes, self._families))


def read_index(path: Path) -> Index:
    """Open an index file."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size % (2 * _WIDTH):
                raise LedgerDamagedError(path, "it is not a whole index")
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise LedgerDamagedError(path, error.strerror or str(error)) from error
    buffer = pa.py_buffer(content)
    count = size // (2 * _WIDTH)
    return Index(
        *(pa.Array.from_buffers(pa.uint64(), count, [None, buffer.slice(place * count * _WIDTH)]) for place in (0, 1))
    )


def _little_endian(numbers: pa.Array) -> bytes:
    content = array("Q", numbers.to_pylist())
    if sys.byteorder == "big":
        content.byteswap()
    return content.tobytes()
