"""Messages to workers and from them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aix.errors import AixError
from aix.merge.row_batches import Files
from aix.pipeline.contract import Source
from aix.schema.arrow import repaired

_REASON_CHARACTERS = 1_000


class Group(msgspec.Struct, frozen=True):
    """Sources that are read together, and who reads them."""

    importer: str
    options: Mapping[str, str]
    sources: tuple[Source, ...]
    size_bytes: int
    known_bytes: tuple[int, ...] = ()
    """By source, how long its file was when it was last read; -1 when nobody can say."""
    parts: tuple["Group", ...] = ()
    """Groups to read one by one when these sources cannot be read together."""
    is_whole: bool = True
    """Whether all sources are here that are tied to these."""


@dataclass(frozen=True)
class Order:
    """The groups of sources that a worker reads."""

    groups: tuple[Group, ...]
    folder: Path
    """Where rows are put: it does not exist yet."""
    ledger: Path
    run_id: str
    machine: str | None = None
    strict: bool = False
    keep_raw: bool = False


class Began(msgspec.Struct, frozen=True):
    """A worker has begun to read a group."""

    number: int


class Reading(msgspec.Struct):
    """The result of reading one source."""

    source: Source
    stamps: tuple[str, ...] = ()
    content: str = ""
    """Hash of what was read; empty when it changed meanwhile."""
    main_hash: str | None = None
    """Hash of the main file."""
    size_bytes: int = -1
    """Of the main file, as it was hashed."""
    head_hash: str | None = None
    """Hash of as much of the main file as there was when it was last read; None when it has become shorter."""
    ties: bytes | None = None
    """Numbers of its ties, as they are stored; None when it gave none."""
    rows: Counter[str] = msgspec.field(default_factory=Counter)
    labels: list[str] = msgspec.field(default_factory=list)
    problems: int = 0
    notes: int = 0
    """How many of the problems are notes about records that were read whole."""
    unread: str = ""
    """Why nothing of it could be read, although reading it did not fail."""
    failure: str = ""


class GroupRead(msgspec.Struct, frozen=True):
    """A worker has read a group, or failed to."""

    number: int
    readings: tuple[Reading, ...]


class Delivered(msgspec.Struct, frozen=True):
    """A worker has done what it was told, and this is where the rows are."""

    rows: Files
    problems: Files
    parts: tuple[Files, ...] = ()
    """Rows of a large group behind the first part, which are joined after it, one part after the other."""


def fail(readings: Iterable[Reading], reason: str) -> None:
    """Note that nothing was taken from these sources, and why."""
    for reading in readings:
        reading.failure = repaired(reason)[:_REASON_CHARACTERS]
        reading.rows.clear()
        reading.labels.clear()


def explain(error: BaseException) -> str:
    """Return what an error means for the source that was being read."""
    if isinstance(error, AixError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"{error.filename or 'a file of it'} has vanished"
    if isinstance(error, OSError):
        return f"{error.filename or 'a file of it'} cannot be read: {error.strerror or error}"
    return f"the importer failed: {type(error).__name__}: {error}"
