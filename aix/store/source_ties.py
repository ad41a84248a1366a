"""Ties of sources: numbers of the records by which each is connected to others, and whom it was last read with.

They are part of a commit, as fingerprints are, in files that are read only when something has to be read.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from aix.store.manifest import EntryFile
from aix.store.stored_files import read_decoded


class SourceTies(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The ties of a source to others."""

    read_with: bytes = b""
    """A hash of all sources that were read together with it, itself included, and of their contents."""
    numbers: bytes = b""
    """Unsigned little-endian numbers of 64 bits; none when it has no ties any more."""

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return len(self.numbers) // 8


StoredTies = Mapping[str, SourceTies]
"""By a hash of the name of the source, as fingerprints are."""
NO_TIES: StoredTies = MappingProxyType({})

_DECODER = msgspec.msgpack.Decoder(dict[str, SourceTies])


def read_ties(ledger: Path, files: tuple[EntryFile, ...]) -> dict[str, SourceTies]:
    """Return the ties of all sources in these files; what a later file says of a source holds."""
    known: dict[str, SourceTies] = {}
    for file in files:
        known.update(read_decoded(ledger / file.path, _DECODER.decode, file.sha256))
    return known


def encode_ties(ties: StoredTies) -> bytes:
    """Return the content of a file of ties."""
    return msgspec.msgpack.encode(ties)


def weight(ties: StoredTies) -> int:
    """Return how much there is to write."""
    return sum(1 + each.count for each in ties.values())
