"""Facts from the first reading of a transcript that decide where records belong, without the contents of records."""

import hashlib
import os
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path

from msgspec import Raw, Struct, field

from aix.importing import Source
from aix_importers.claude_code.classification import WARMUP, Kind, Progress
from aix_importers.claude_code.discovery import FileKind, SourceFile, source_file
from aix_importers.claude_code.reading import Located, TranscriptReader
from aix_importers.claude_code.records import NOTHING, Record

TASK_CHARACTERS = 200
"""As much of a prompt describes a task that is described by nothing else."""
NO_TIME = -(2**63)
"""Stands in columns for a time that is not known."""
_WARMUP_DIGEST = hash(WARMUP)
_STANDARD_ID = re.compile(r"msg_(?:bdrk_|vrtx_)?01[0-9A-Za-z]{22}")
_HEAD_BYTES = 64 * 2**10
_TAIL_BYTES = 16 * 2**10
_RECORDS = ("uuid", "parentUuid", "logicalParentUuid", "leafUuid")
_NAMED = re.compile(rf'"({"|".join(_RECORDS)}|agentId|sessionId|session_id|slug)":\s?"([\w-]{{1,100}})"'.encode())
_KINDS = tuple(Kind)
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
_QUEUE_STEP = -1
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
    """Entries one after the other; to change one that was taken in changes nothing here.

    A long transcript has hundreds of thousands, of which each is looked at a few times, in order. So they are kept in
    columns, and made again whenever somebody goes through them: an object for each would need three times the memory.
    """

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


class SharedTexts(dict[str, str]):
    """Texts of which one copy serves all who name them: ids that records refer to, models, folders.

    >>> texts = SharedTexts()
    >>> texts["".join(["a", "b"])] is texts["".join(["a", "b"])]
    True
    """

    def __missing__(self, text: str) -> str:
        self[text] = text
        return text


class Spawn(Struct, gc=False):
    """A call that starts a subagent."""

    call_id: str
    beginning: str
    """The first characters of the prompt."""
    prompt_digest: int | None
    description: str | None
    agent_type: str | None


class SpawnResult(Struct, gc=False, rename="camel"):
    """Facts about a subagent in the result of the call that spawned it."""

    agent_id: str | None = None
    agent_type: str | None = None
    status: str | None = None
    is_async: bool | None = None
    total_tokens: int | None = None
    content: Raw = NOTHING
    uuid: str = field(default="", name="aix:uuid")
    """The record that holds it."""


class Titles(Struct, gc=False):
    """Names that a file gives to sessions."""

    custom: dict[str, str] = {}
    generated: dict[str, str] = {}
    of_leaves: dict[str, str] = {}
    """By the last record of a conversation."""
    agent_names: dict[str, str] = {}


class TieNumbers:
    """The numbers of what a file has in common with others: names would need far more memory."""

    def __init__(self) -> None:
        self.numbers = array("Q")

    def add(self, name: str) -> None:
        """Take a name."""
        self.numbers.append(_tie_number(name))


@lru_cache(maxsize=4_096)  # what stands side by side names much the same
def _tie_number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class Scan:
    """Facts that one file gives about the places of records."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.entries = Entries()
        self.sidechain: list[Entry] = []
        """Records of subagents that stand in the file of the session."""
        self.sidechain_agents: dict[str, str] = {}
        """By the record of a sidechain: the agent, where it is named."""
        self.nested: dict[tuple[str, str, str], Entries] = {}
        """By agent, call and session: what the progress of a call shows of the agent's own records."""
        self.sidechain_calls: dict[str, str] = {}
        """By the record of a sidechain: the call that started it, where it is named."""
        self.search_calls: dict[str, str] = {}
        """By call that searches the web: the message that makes it."""
        self.denied_calls: set[str] = set()
        """Calls that the end of a capture says were denied."""
        self.links: dict[str, str | None] = {}
        """By a record that makes no message: its parent."""
        self.first_session_id: str | None = None
        self.last_session_id: str | None = None
        self.has_stem_as_session = False
        self.first_time: int | None = None
        self.last_time: int | None = None
        self.written_at = 0
        """When the file was last written."""
        self.first_text: str | None = None
        self.live_leaf: str | None = None
        """The record that is noted as the end of the conversation, unless it goes on behind that note."""
        self.titles = Titles()
        self.slug: str | None = None
        self.spawns: dict[str, Spawn] = {}
        self.spawn_results: dict[str, SpawnResult] = {}
        self.agents_in_results: dict[str, str] = {}
        self.agents_in_progress: dict[str, str] = {}
        self.agents_in_notices: dict[str, str] = {}
        self.agents_in_texts: dict[str, str] = {}
        self.ended_agents: dict[str, str] = {}
        """By agent: how a notice says that it ended."""
        self.ties = TieNumbers()
        self.kept: list[Located] | None = None
        """The records themselves, where they are few enough to be kept until they are told."""
        self._uuids: set[str] | None = None

    @property
    def session_id(self) -> str | None:
        """The session that the file is the transcript of."""
        if self.file.kind is not FileKind.MAIN:
            return self.first_session_id
        return self.file.stem if self.has_stem_as_session else self.last_session_id

    def read_again(self) -> Iterator[Located]:
        """Go through the records themselves, from memory where they were kept."""
        if self.kept is not None:
            yield from self.kept
            return
        with Path(self.file.source.path).open("rb") as file:
            yield from (each for each in TranscriptReader(self.file.source, file) if isinstance(each, Located))

    def agent_in(self, record: Record, progress: Progress) -> str | None:
        """Return the subagent that progress shows; one that it does not name is known by other progress of the call."""
        if progress.agent_id or not record.parent_tool_use_id:
            return progress.agent_id
        agents = self.agents_in_progress.items()
        return next((agent for agent, call in agents if call == record.parent_tool_use_id), None)

    def calls(self) -> Iterator[tuple[str, ...]]:
        """Go through the calls that are made in the file."""
        for entry in self.records():
            if entry.calls:
                yield entry.calls

    def records(self) -> Iterator[Entry]:
        """Go through the records that stand in the file, those of subagents last."""
        return (entry for entry in chain(self.entries, self.sidechain) if isinstance(entry, Entry))

    def shown_records(self) -> Iterator[Entry]:
        """Go through the records of subagents that progress shows."""
        entries = (entry for entries in self.nested.values() for entry in entries)
        return (entry for entry in entries if isinstance(entry, Entry))

    def forget_records(self) -> None:
        """Let go of the records, once their places are known."""
        self.entries, self.sidechain, self.nested = Entries(), [], {}

    def holds(self, uuid: str) -> bool:
        """Whether a record stands in the file."""
        if self._uuids is None:
            self._uuids = {*(entry.uuid for entry in self.records()), *self.links}
        return uuid in self._uuids

    @property
    def is_conversation(self) -> bool:
        """Whether the file holds turns of its own."""
        return self.file.kind.is_conversation and not (self.file.kind is FileKind.AGENT and self.is_warmup)

    @cached_property
    def is_warmup(self) -> bool:
        """Whether the file only holds a call that warms up the cache."""
        return self.first_text == WARMUP and is_warmup(self.entries)

    @property
    def order(self) -> tuple[float, float, str]:
        """Sort key of files, which does not depend on how or when they were found."""
        never = float("inf")
        first = never if self.first_time is None else self.first_time
        last = never if self.last_time is None else self.last_time
        return first, last, self.file.source.path


def is_warmup(entries: Iterable[Entry | QueueStep]) -> bool:
    """Whether nothing is asked for in a conversation but to warm up the cache."""
    asked = [entry.text_digest for entry in entries if isinstance(entry, Entry) and entry.kind is Kind.PROMPT]
    return bool(asked) and set(asked) == {_WARMUP_DIGEST}


class MessageKeys:
    """Names for the messages of a file; an id of a proxy may name several, which the first record distinguishes."""

    def __init__(self) -> None:
        self._first_uuids: dict[tuple[str, str | None], str] = {}

    def of(self, message_id: str, agent_id: str | None, uuid: str) -> str:
        """Return the name of the message that a record of an agent has a part of."""
        if _STANDARD_ID.fullmatch(message_id):  # the vendor makes it, so that it names no other message
            return message_id
        return f"{message_id}@{self._first_uuids.setdefault((message_id, agent_id), uuid)}"


def queue_key(session_id: str | None, timestamp: str | None, text: str) -> str:
    """Return what stands for the uuid of a prompt that waited and has none."""
    return f"q:{session_id}:{timestamp}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def take_tie_numbers(scan: Scan) -> "array[int]":
    """Return, once, the numbers by which files that share a record, a message, a call, an agent or a session meet."""
    ties = scan.ties
    if scan.session_id:
        ties.add(f"session:{scan.session_id}")
    if scan.file.kind is FileKind.MAIN:
        # A name that two sessions of a project want is an alias of neither.
        folder = scan.file.source.path.rpartition(os.sep)[0]
        for name in (scan.slug, *scan.titles.agent_names.values()):
            if name:
                ties.add(f"name:{folder}:{name}")
    if scan.file.agent_id:
        ties.add(f"agent:{scan.file.agent_id}")
    scan.ties = TieNumbers()
    return ties.numbers


def likely_ties(source: Source) -> "array[int]":
    """Return the numbers of the records, agents and session that a transcript names at its beginning and end.

    Files that continue, copy or belong to one another nearly always show it there. Each name is one that reading the
    file takes as a tie.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for key, name in _NAMED.findall(_ends_of(source.path)):
        found[key.decode()].append(name.decode())
    file = source_file(source)
    sessions = found["sessionId"] + found["session_id"]
    names = {name for key in _RECORDS for name in found[key]}
    names |= {f"agent:{name}" for name in (*found["agentId"], file.agent_id) if name}
    if file.kind is FileKind.MAIN:
        names |= {f"session:{name}" for name in ([file.stem] if file.stem in sessions else sessions[-1:])}
        names |= {f"name:{source.path.rpartition(os.sep)[0]}:{name}" for name in found["slug"][:1]}
    else:
        names |= {f"session:{name}" for name in sessions[:1]}
    ties = TieNumbers()
    for name in names:
        ties.add(name)
    return ties.numbers


def _ends_of(path: str) -> bytes:
    with Path(path).open("rb") as file:
        head = file.read(_HEAD_BYTES)
        size = os.fstat(file.fileno()).st_size
        file.seek(max(len(head), size - _TAIL_BYTES))
        return head + b"\n" + file.read(_TAIL_BYTES)
