"""Whether a source still holds what it held when it was last read.

Logs grow at the end. A source that begins with what it held then has only grown, and what it gives takes the place of
what it gave; one that was rewritten, or cut, no longer has all that its rows were read from. Neither has one that
misses a file it had beside it, or has another in its place.
"""

from enum import Enum, auto

from aix.pipeline.worker_messages import Reading
from aix.store.fingerprints import Fingerprint


class Growth(Enum):
    """How what a source holds stands to what it held."""

    NEW = auto()
    GROWN = auto()
    """It begins with what it held, or holds nothing else."""
    REWRITTEN = auto()
    UNKNOWN = auto()
    """A conversation in a container has changed, and nobody can say how."""


def growth_of(before: Fingerprint | None, reading: Reading, *, is_outdated: bool) -> Growth:
    """Compare a source that was read with its last fingerprint."""
    if before is None or (before.failure and not before.content and before.size_bytes < 0):
        return Growth.NEW
    if reading.main_hash is None or before.size_bytes < 0:
        is_same = before.content == reading.content
        return Growth.GROWN if is_same or is_outdated else Growth.UNKNOWN
    has_all = before.content == reading.content or set(before.stamps[1:]) <= set(reading.stamps[1:])
    return Growth.GROWN if has_all and reading.head_hash == before.main_hash else Growth.REWRITTEN
