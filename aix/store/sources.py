"""Fingerprints and ties of sources, in files beside those of the tables.

A fingerprint is how a source was when its rows were read, so that what has not changed is not read again. Fingerprints
are in JSON files of their own that need no Parquet reader. Ties are numbers of the records by which a source is
connected to others; they are read only when something has to be read.

Both are part of a commit, which adds a file with what it changes; files are put together so that they stay few and a
commit writes little more than what changed.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import msgspec

from aix.store.manifest import EntryFile
from aix.store.stored_files import read_decoded


class Fingerprint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a source was when it was last read, or why it could not be."""

    importer: str
    version: str
    """Of the importer, with the options it was given."""
    stamps: tuple[str, ...]
    """Size, time and inode of each of its files, or what the importer says instead."""
    content: str = ""
    """Hash of what the rows depend on; empty when the source must be read again, whatever its stamps say."""
    failure: str = ""
    size_bytes: int = -1
    """Of its main file; -1 when nobody can say."""
    head: str = ""
    """Hash of its main file, where that is not `content`."""
    since: int = 0
    """When it was first read, or first read after it was rewritten; 0 when nobody can say.

    What it gave before then is not replaced when it grows.
    """

    @property
    def main_hash(self) -> str:
        """Hash of its main file."""
        return self.head or self.content


Fingerprints = Mapping[str, Fingerprint]
"""By a hash of the name of the source: names can hold what is to be forgotten one day."""


_T = TypeVar("_T")
_FINGERPRINTS_DECODER = msgspec.json.Decoder(dict[str, Fingerprint])


def source_id(name: str) -> str:
    """Return the key of a source's fingerprint and ties."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def read_fingerprints(ledger: Path, files: Sequence[EntryFile]) -> dict[str, Fingerprint]:
    """Return the fingerprints in these files."""
    return _together(ledger, files, _FINGERPRINTS_DECODER.decode)


def _together(ledger: Path, files: Sequence[EntryFile], decode: Callable[[bytes], dict[str, _T]]) -> dict[str, _T]:
    """Return the entries of all files; what a later file says of a source holds."""
    return {
        name: entry for file in files for name, entry in read_decoded(ledger / file.path, decode, file.sha256).items()
    }


def files_to_merge(files: Sequence[EntryFile], new_entries: int) -> int:
    """Return how many of the last files a new one should take in.

    A file is taken in once the newer ones together are half as large: then there are never more files than the number
    of entries has digits, in base two.

    >>> files_to_merge([EntryFile("a", 1000), EntryFile("b", 10)], 6)
    1
    """
    entries, count = new_entries, 0
    for file in reversed(files):
        if file.entries > 2 * entries:
            break
        entries += file.entries
        count += 1
    return count


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
_TIES_DECODER = msgspec.msgpack.Decoder(dict[str, SourceTies])


def read_ties(ledger: Path, files: tuple[EntryFile, ...]) -> dict[str, SourceTies]:
    """Return the ties of all sources in these files."""
    return _together(ledger, files, _TIES_DECODER.decode)


def weight(ties: StoredTies) -> int:
    """Return how much there is to write."""
    return sum(1 + each.count for each in ties.values())
