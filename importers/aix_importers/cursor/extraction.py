"""From sources that are read together to rows, problems and ties."""

import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from aix.ids import h63
from aix.importing import Problem, Rows, Source, Ties
from aix_importers.common.row_writer import Writer
from aix_importers.cursor.ai_tracking_db import Tracked, read_tracked
from aix_importers.cursor.conversation import Conversation
from aix_importers.cursor.database import error_text
from aix_importers.cursor.key_tables import SETTINGS_ITEM, SourceKind, parse_key
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.links import best_of_each, link, settle_call_ids, settle_shared_turns, ties_of
from aix_importers.cursor.losses import losses
from aix_importers.cursor.paths import RULE_FILES
from aix_importers.cursor.reading import read_conversation
from aix_importers.cursor.settings import extract_editor_rules, extract_rules
from aix_importers.cursor.sources import database_sources
from aix_importers.cursor.stores import read_store
from aix_importers.cursor.transcripts import read_transcript
from aix_importers.cursor.turn_rows import ConversationRows


def extract_all(sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
    """Go through what sources give that are read together."""
    with ExitStack() as stack:
        read = _Reading(stack)
        for source in sources:
            try:
                yield from read.take(source)
            except sqlite3.Error as error:  # the sources that are read together with it are not to blame
                yield _unreadable(source, error)
                yield _tie(source)
        yield from _write(read)


class _Reading:
    """Databases, conversations and tracking notes of sources that are read together."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.files: dict[str, KeyValues] = {}
        self.conversations: list[Conversation] = []
        self.tracked: dict[str, Tracked] = {}

    def take(self, source: Source) -> Iterator[Rows | Problem | Ties]:
        """Read a source as far as it can be read by itself."""
        kind, session_id = parse_key(source.key)
        if not source.key:
            if Path(source.path).name in RULE_FILES:
                yield from extract_rules(source)
            else:
                self.conversations.append(read_transcript(source))
        elif kind == SourceKind.TRACKING:
            self.tracked[session_id] = read_tracked(source.path, session_id)
            yield _tie(source)
        elif kind == SourceKind.STORE:
            yield from self._keep(source, read_store(source, session_id))
        elif kind == SourceKind.DATABASE:
            yield _reason_of(source)
        elif kind == SourceKind.LEFTOVERS:
            yield from (Problem(source, *loss[:2], sample=loss.sample) for loss in losses(self._values(source)))
        elif kind == SourceKind.SETTINGS:
            yield from extract_editor_rules(source, self._values(source).item(SETTINGS_ITEM))
        else:
            values = self._values(source)
            yield from self._keep(source, read_conversation(source, values))
            if values.is_damaged:
                values.is_damaged = False
                yield Problem(source, "damaged", "The database is damaged here; what can still be read was taken.")

    def _values(self, source: Source) -> KeyValues:
        if source.path not in self.files:
            self.files[source.path] = self._stack.enter_context(KeyValues(source.path))
        return self.files[source.path]

    def _keep(self, source: Source, found: Conversation | Problem) -> Iterator[Problem | Ties]:
        if isinstance(found, Conversation):
            self.conversations.append(found)
        else:
            yield found
            yield _tie(source)


def _write(read: _Reading) -> Iterator[Rows | Problem | Ties]:
    for conversation in read.conversations:
        yield from conversation.problems
        yield Ties(conversation.source, ties_of(conversation))
    chosen = best_of_each(read.conversations)
    settle_shared_turns(chosen)
    call_ids = settle_call_ids(chosen)
    links = link(chosen)
    for conversation in chosen:
        tracked = read.tracked.get(conversation.id, Tracked())
        conversation.title = conversation.title or tracked.title
        conversation.model = conversation.model or tracked.model
        conversation.is_subagent = (
            conversation.id in links.spawns or conversation.parent_id is not None or conversation.id.startswith("task-")
        )
    writer = Writer()
    written = []
    for conversation in chosen:
        if conversation.has_messages:
            rows = ConversationRows(conversation, read.files.get(conversation.source.path), writer, call_ids, links)
            yield from rows.run()
            written.append(rows)
    for rows in written:
        rows.add_session()
    yield from writer.take()


def _tie(source: Source) -> Ties:
    """Return the tie of a source that gives no conversation."""
    return Ties(source, array("Q", [h63("session", parse_key(source.key)[1])]))


def _unreadable(source: Source, error: sqlite3.Error) -> Problem:
    return Problem(source, "unreadable", f"The database cannot be read: {error_text(error)}.")


def _reason_of(source: Source) -> Problem:
    """Return why the conversations of a database cannot be listed."""
    try:
        list(database_sources(source.path))
    except sqlite3.Error as error:
        return _unreadable(source, error)
    raise OSError("it could not be read when its conversations were looked for: import it again")
