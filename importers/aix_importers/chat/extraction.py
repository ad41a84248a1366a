"""From the files of chats that belong together to rows, problems and ties.

Files are read twice: once for who and what there is and which message stands where, once for what is said.
"""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from aix.ids import h63
from aix.importing import Problem, Rows, Source, Ties
from aix_importers.chat.collections import Collection
from aix_importers.chat.reading import Found, read_records, shown_name
from aix_importers.chat.records import (
    TABLES,
    FieldReader,
    Participant,
    digest_of,
    merged,
    read_agent,
    read_change,
    read_conversation,
    read_message,
    read_metadata,
    read_participant,
    read_user,
)
from aix_importers.chat.rows import ChatRows
from aix_importers.chat.turns import Directory, MessageIndex, Placement, Voice
from aix_importers.common.json_records import Record
from aix_importers.common.row_writer import MOST_COPIES
from aix_importers.common.times import UNDATED


def extract_chats(sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
    """Go through the rows, problems and ties of files that may belong to one export."""
    yield from _Extraction(sources).run()


class _Place(NamedTuple):
    """The place of a record, for problems that show only when all is read."""

    source: int
    line: int
    byte_offset: int


class _Extraction:
    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._directory = Directory()
        self._index = MessageIndex()
        self._rows = ChatRows(sources, self._directory)
        self._digests: dict[tuple[int, str, str], list[str]] = {}
        """By source, table and id: the different records that were seen."""
        self._participants: dict[str, _Place] = {}
        self._conversations: dict[str, _Place] = {}
        self._numbers = [array("Q") for _ in sources]
        self._written_at = [Path(source.path).stat().st_mtime_ns // 10**6 for source in sources]

    def run(self) -> Iterator[Rows | Problem | Ties]:
        """Read all files twice."""
        for number, source in enumerate(self._sources):
            for found in read_records(source):
                if isinstance(found, Problem):
                    yield found
                else:
                    yield from self._take(number, found)
                    yield from self._rows.take_if_full()
            self._tie_messages(number)
            yield Ties(source, self._numbers[number])
        yield from self._missing()
        self._rows.gather_members()
        placement = Placement(self._index, self._directory)
        for chat in placement.chats():
            self._rows.add_chat(placement, chat)
            yield from self._rows.take_if_full()
        yield from self._messages(placement)
        yield from self._rows.take()

    def _take(self, source: int, found: Found) -> Iterator[Problem]:
        record = found.record
        if found.collection is None:
            reason = "No field of the record says whether it is a user, agent, conversation, participant or message."
            yield self._problem(source, record, "unknown_record", reason)
        elif found.collection is Collection.MESSAGES:
            self._index.add(read_message(record.value), source)
        else:
            yield from self._take_entity(source, record, found.collection)

    def _take_entity(self, source: int, record: Record, collection: Collection) -> Iterator[Problem]:
        """Take a record that is a row of a table of its own."""
        fields = FieldReader(record.value)
        key = fields.id
        if key is None:
            if collection not in (Collection.PARTICIPANTS, Collection.AGENT_CHANGES):
                yield self._problem(source, record, "no_id", "The record has no _id, so nothing can refer to it.")
                return
            key = f"made:{digest_of(record.value)}"
            yield self._problem(source, record, "no_id", "The record has no _id; one was made of its content.")
        copy, problem = self._copy(source, record, TABLES[collection], key)
        if problem is not None:
            yield problem
        if copy is None:
            return
        # Of several records about one thing in a file, the later one is newer.
        seen_at = self._written_at[source] + copy
        row = self._read_entity(collection, key, fields, seen_at, _Place(source, record.line, record.byte_offset))
        self._tie(source, collection, key, row)
        yield from self._field_problems(source, record, fields)
        lacking = _lacking(collection, row)
        if lacking is not None:
            yield self._problem(source, record, *lacking)
            return
        table = TABLES[collection]
        self._rows.add(self._sources[source], table, copy, id=key, **row, extra_json=fields.extra_json)
        if collection is Collection.PARTICIPANTS and record.value.get("kind") not in ("user", "agent"):
            self._rows.mark(self._sources[source], table, key, "kind", "ids", copy=copy)

    def _read_entity(
        self, collection: Collection, key: str, fields: FieldReader, seen_at: int, here: _Place
    ) -> dict[str, object]:
        """Return the row of a record, and note what turns need of it."""
        if collection is Collection.AGENT_CHANGES:
            return read_change(fields)
        directory, updated_at = self._directory, fields.updated_at() or seen_at
        if collection is Collection.USERS:
            row = read_user(fields)
            directory.users.add(key)
        elif collection is Collection.AGENTS:
            row, agent = read_agent(fields, updated_at)
            directory.agents[key] = merged(directory.agents.get(key), agent)
        elif collection is Collection.CONVERSATIONS:
            row, conversation = read_conversation(fields, updated_at)
            directory.conversations[key] = merged(directory.conversations.get(key), conversation)
            self._conversations.setdefault(key, here)
        else:
            row, participant = read_participant(fields, updated_at)
            directory.participants[key] = merged(directory.participants.get(key), participant)
            self._participants.setdefault(key, here)
        return {**row, "updated_at": updated_at}

    def _copy(self, source: int, record: Record, table: str, key: str) -> tuple[int | None, Problem | None]:
        """Return which copy of a row a record is, None to skip it, and the problem that there are several."""
        seen = self._digests.setdefault((source, table, key), [])
        digest = digest_of(record.value)
        if digest in seen:
            return None, self._problem(source, record, "duplicate_id", "The record stands in the file a second time.")
        seen.append(digest)
        copy = len(seen) - 1
        if copy > MOST_COPIES:
            reason = f"{copy} earlier records have the same _id and say other things; this one was skipped."
            return None, self._problem(source, record, "duplicate_id", reason)
        if copy:
            reason = "An earlier record has the same _id and says something else; the two were joined."
            return copy, self._problem(source, record, "duplicate_id", reason)
        return copy, None

    def _messages(self, placement: Placement) -> Iterator[Rows | Problem]:
        """Read the files again for the messages, which come in the same order as before."""
        number = 0
        repeated = {*self._index.first_of, *self._index.first_of.values()}
        unknown: set[str] = set()
        for source, each in enumerate(self._sources):
            for found in read_records(each):
                if isinstance(found, Problem) or found.collection is not Collection.MESSAGES:
                    continue
                if number == len(self._index):  # the file has grown since
                    return
                copy: int | None = 0
                if number in repeated:
                    copy, problem = self._copy(source, found.record, "messages", self._index.ids[number])
                    yield from (problem,) if problem else ()
                yield from self._message(placement, number, found.record, unknown, copy)
                yield from self._rows.take_if_full()
                number += 1

    def _message(
        self, placement: Placement, number: int, record: Record, unknown: set[str], copy: int | None
    ) -> Iterator[Problem]:
        source, first = self._index.sources[number], self._index.first_of.get(number, number)
        fields = read_metadata(record.value)
        yield from self._field_problems(source, record, fields)
        if fields.id is None:
            yield self._problem(source, record, "no_id", "The message has no _id; one was made of its content.")
        if placement.turn_ids[first] is None:
            reason = "The message names no conversation, and nor does its author; it was skipped."
            yield self._problem(source, record, "no_conversation", reason)
            return
        yield from self._place_problems(placement, number, first, record, unknown)
        if copy is not None:
            self._rows.add_message(placement, number, first, record.value, fields, copy)

    def _place_problems(
        self, placement: Placement, number: int, first: int, record: Record, unknown: set[str]
    ) -> Iterator[Problem]:
        index, source = self._index, self._index.sources[number]
        conversation = index.conversations[first]
        if conversation is None:
            reason = "The message names no conversation; that of its author was taken."
            yield self._problem(source, record, "no_conversation", reason)
        elif conversation not in self._directory.conversations and conversation not in unknown:
            unknown.add(conversation)
            reason = "There is no record of the conversation that the message names; its messages were kept."
            yield self._problem(source, record, "unknown_conversation", reason)
        if placement.voice(first) is Voice.UNKNOWN:
            what = "names no author" if index.authors[first] is None else "has an author who is no known participant"
            yield self._problem(source, record, "unknown_author", f"The message {what}; a person was assumed.")
        basis = placement.bases.get(first)
        if basis == UNDATED:
            yield self._problem(source, record, "no_time", "Neither the message nor its conversation has a time.")
        elif basis is not None:
            reason = "The message has no usable time; that of a neighbour or of the conversation was taken."
            yield self._problem(source, record, "no_timestamp", reason)

    def _missing(self) -> Iterator[Problem]:
        """Go through the records that refer to others which are not there."""
        directory = self._directory
        with_members = {participant.conversation_id for participant in directory.participants.values()}
        for key, place in self._conversations.items():
            if key not in with_members:
                yield self._problem(place.source, place, "no_participants", "The conversation has no participants.")
        for key, place in self._participants.items():
            participant = directory.participants[key]
            is_agent = participant.kind == "agent"
            if (participant.agent_id if is_agent else participant.user_id) is None:
                what = "agent" if is_agent else "user"
                yield self._problem(place.source, place, f"no_{what}", f"The participant names no {what}.")
            for kind, what, name in _unknown(participant, directory):
                reason = f"There is no record of the {what} {name!r} that the participant names."
                yield self._problem(place.source, place, kind, reason)

    def _field_problems(self, source: int, record: Record, fields: FieldReader) -> Iterator[Problem]:
        if fields.is_too_deep:
            yield self._problem(source, record, "too_deep", "Fields that are nested too deeply were left out.")
        if fields.dropped:
            names = ", ".join(map(shown_name, fields.dropped))
            yield self._problem(source, record, "credential", f"It looks like a credential, and was left out: {names}.")
        if fields.wrong:
            names = ", ".join(fields.wrong)
            yield self._problem(source, record, "wrong_type", f"Not usable, and kept only as it came: {names}.")

    def _tie(self, source: int, collection: Collection, key: str, row: dict[str, object]) -> None:
        numbers = self._numbers[source]
        numbers.append(h63(collection, key))
        for name, target in _REFERENCES.items():
            if isinstance(referred := row.get(name), str):
                numbers.append(h63(target, referred))

    def _tie_messages(self, source: int) -> None:
        """Tie a file to the others by its messages, their conversations and their authors."""
        index, numbers = self._index, self._numbers[source]
        named: set[tuple[str, str]] = set()
        for number in range(len(index) - 1, -1, -1):
            if index.sources[number] != source:
                break
            numbers.append(h63(Collection.MESSAGES, index.ids[number]))
            if (conversation := index.conversations[number]) is not None:
                named.add((Collection.CONVERSATIONS, conversation))
            if (author := index.authors[number]) is not None:
                named.add((Collection.PARTICIPANTS, author))
        numbers.extend(h63(*each) for each in named)

    def _problem(self, source: int, place: Record | _Place, kind: str, reason: str) -> Problem:
        return Problem(self._sources[source], kind, reason, place.line, place.byte_offset)


_REFERENCES = {
    "conversation_id": Collection.CONVERSATIONS,
    "user_id": Collection.USERS,
    "agent_id": Collection.AGENTS,
}
"""By column: the collection that it refers to, as far as rows or problems depend on that."""


def _lacking(collection: Collection, row: dict[str, object]) -> tuple[str, str] | None:
    """Return the problem of a record that lacks what its table cannot do without."""
    if collection is Collection.PARTICIPANTS and row["conversation_id"] is None:
        return "no_conversation", "The participant names no conversation; only its messages were read."
    if collection is Collection.AGENT_CHANGES and None in (row["agent_id"], row["action"]):
        return "no_agent", "The change does not say what was done to which agent; it was skipped."
    return None


def _unknown(participant: Participant, directory: Directory) -> Iterator[tuple[str, str, str]]:
    """Go through what a participant refers to and nobody knows: the kind of problem, a word, the id."""
    for kind, what, key, known in (
        ("unknown_conversation", "conversation", participant.conversation_id, directory.conversations),
        ("unknown_user", "user", participant.user_id, directory.users),
        ("unknown_agent", "agent", participant.agent_id, directory.agents),
    ):
        if key is not None and key not in known:
            yield kind, what, key
