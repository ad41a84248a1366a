"""Records as far as their places depend on them.

A long transcript has hundreds of thousands, of which each is looked at a few times, in order. So they are kept in
columns, and made again whenever somebody goes through them: an object for each would need three times the memory.
"""

from array import array
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from aix_importers.claude_code.record_kinds import Kind

_KINDS = tuple(Kind)
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
_QUEUE_STEP = -1
NO_TIME = -(2**63)
"""Stands in columns for a time that is not known."""
_WIDTH = 9
"""How many numbers stand for one entry."""
_TEXTS = 4


class Entry(Struct, gc=False):
    """A record that makes a message, as far as its place depends on it."""

    kind: Kind
    uuid: str
    parent: str | None
    time: int | None
    byte_offset: int
    line: int
    session_id: str | None
    digest: int = 0
    """Of the content as it is written."""
    text_digest: int = 0
    """Of what a message of the user says."""
    message_key: str | None = None
    block_digests: tuple[int, ...] = ()
    calls: tuple[str, ...] = ()
    """The calls that an answer makes."""
    results_of: tuple[str, ...] = ()
    """The calls that it holds results of."""
    errors: tuple[bool, ...] = ()
    """Whether each of the results is an error."""


class QueueStep(Struct, gc=False):
    """Something that happened to the prompts which wait until the agent is free."""

    operation: str
    text: str | None
    timestamp: str | None
    session_id: str | None
    byte_offset: int


class Entries:
    """Entries one after the other; to change one that was taken in changes nothing here."""

    def __init__(self) -> None:
        self._numbers = array("q")
        self._texts: list[str | QueueStep | None] = []
        self._block_digests = array("q")
        self._calls: list[str] = []
        self._errors = bytearray()
        self.last_uuid: str | None = None

    def __len__(self) -> int:
        return len(self._numbers) // _WIDTH

    def append(self, entry: Entry | QueueStep) -> None:
        """Take an entry in."""
        if isinstance(entry, QueueStep):
            self._numbers.extend((_QUEUE_STEP, 0, 0, 0, 0, 0, 0, 0, 0))
            self._texts += (entry, None, None, None)
            return
        self._numbers.extend(
            (
                _NUMBERS[entry.kind],
                NO_TIME if entry.time is None else entry.time,
                entry.byte_offset,
                entry.line,
                entry.digest,
                entry.text_digest,
                len(entry.block_digests),
                len(entry.calls),
                len(entry.results_of),
            )
        )
        self._texts += (entry.uuid, entry.parent, entry.session_id, entry.message_key)
        self._block_digests.extend(entry.block_digests)
        self._calls += entry.calls
        self._calls += entry.results_of
        self._errors.extend(entry.errors)
        self.last_uuid = entry.uuid

    def __iter__(self) -> Iterator[Entry | QueueStep]:
        digests, calls, errors = iter(self._block_digests), iter(self._calls), iter(self._errors)
        numbers, texts = iter(self._numbers), iter(self._texts)
        for each, (uuid, parent, session_id, message_key) in zip(
            zip(*[numbers] * _WIDTH, strict=True), zip(*[texts] * _TEXTS, strict=True), strict=True
        ):
            kind, time, byte_offset, line, digest, text_digest, digest_count, call_count, result_count = each
            if isinstance(uuid, QueueStep):
                yield uuid
                continue
            yield Entry(
                _KINDS[kind],
                uuid,
                parent,
                None if time == NO_TIME else time,
                byte_offset,
                line,
                session_id,
                digest,
                text_digest,
                message_key,
                tuple(islice(digests, digest_count)),
                tuple(islice(calls, call_count)),
                tuple(islice(calls, result_count)),
                tuple(map(bool, islice(errors, result_count))),
            )
