"""From sources that are read together to rows, problems and ties."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack

from aix.ids import h63
from aix.importing import Problem, Rows, Source, Ties
from aix_importers.cursor.call_ids import settle_call_ids
from aix_importers.cursor.conversation import Conversation
from aix_importers.cursor.conversation_rows import ConversationRows
from aix_importers.cursor.forks import settle_shared_turns
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.keys import BUBBLE_PREFIX, COMPOSER_PREFIX, LEFTOVERS, SETTINGS, owner_of, parse_key
from aix_importers.cursor.links import link
from aix_importers.cursor.reading import read_conversation
from aix_importers.writer import Writer


def extract_all(sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
    """Go through what sources give that are read together."""
    with ExitStack() as stack:
        files: dict[str, KeyValues] = {}
        conversations: list[Conversation] = []
        for source in sources:
            if source.path not in files:
                files[source.path] = stack.enter_context(KeyValues(source.path))
            values = files[source.path]
            kind, _ = parse_key(source.key)
            if kind == LEFTOVERS:
                yield from _leftovers(source, values)
            elif kind == SETTINGS:
                continue
            elif kind == "":
                yield Problem(source, "unreadable", "The database cannot be read.")
            else:
                found = read_conversation(source, values)
                if isinstance(found, Problem):
                    yield found
                    yield Ties(source, array("Q", [_number("session", parse_key(source.key)[1])]))
                else:
                    conversations.append(found)
        yield from _write(conversations, files)


def _write(conversations: Sequence[Conversation], files: dict[str, KeyValues]) -> Iterator[Rows | Problem | Ties]:
    for conversation in conversations:
        yield from conversation.problems
        yield Ties(conversation.source, _ties(conversation))
    chosen = _best_of_each(conversations)
    settle_shared_turns(chosen)
    call_ids = settle_call_ids(chosen)
    links = link(chosen)
    for conversation in chosen:
        conversation.is_subagent = (
            conversation.id in links.spawns or conversation.parent_id is not None or conversation.id.startswith("task-")
        )
    writer = Writer()
    written = []
    for conversation in chosen:
        if conversation.has_messages:
            rows = ConversationRows(conversation, files[conversation.source.path], writer, call_ids, links)
            yield from rows.run()
            written.append(rows)
            if files[conversation.source.path].is_damaged:
                yield Problem(conversation.source, "damaged", "The database is damaged; what can be read was taken.")
    for rows in written:
        rows.add_session()
    yield from writer.take()


def _best_of_each(conversations: Iterable[Conversation]) -> list[Conversation]:
    """Return each conversation once, from where most of it is known: the global database before those of workspaces."""
    best: dict[str, Conversation] = {}
    for conversation in conversations:
        other = best.get(conversation.id)
        if other is None or _standing(conversation) > _standing(other):
            best[conversation.id] = conversation
    return list(best.values())


def _standing(conversation: Conversation) -> tuple[bool, bool, int, str]:
    path = conversation.source.path
    is_global = "globalStorage" in path
    return conversation.has_messages, is_global, len(conversation.entries), path


def _ties(conversation: Conversation) -> "array[int]":
    numbers = {_number("session", conversation.id)}
    numbers.update(_number("session", child) for child in conversation.child_ids)
    if conversation.parent_id:
        numbers.add(_number("session", conversation.parent_id))
    for entry in conversation.entries:
        numbers.add(_number("bubble", entry.key))
        if entry.call_id:
            numbers.add(_number("call", entry.call_id))
    return array("Q", sorted(numbers))


def _number(kind: str, name: str) -> int:
    return h63(kind, name)


def _leftovers(source: Source, values: KeyValues) -> Iterator[Problem]:
    """Name the bubbles whose conversation is gone."""
    owners: dict[str, int] = {}
    for key, _ in values.keys(BUBBLE_PREFIX):
        owner = owner_of(key, BUBBLE_PREFIX)
        if owner and not owner.startswith("task-"):
            owners[owner] = owners.get(owner, 0) + 1
    composers = {
        key[len(COMPOSER_PREFIX) :].decode("utf-8", "surrogateescape") for key, _ in values.keys(COMPOSER_PREFIX)
    }
    for owner in sorted(owners.keys() - composers):
        reason = f"{owners[owner]} messages belong to a conversation that is gone; they were left out."
        yield Problem(source, "orphan_bubbles", reason, sample=owner)
