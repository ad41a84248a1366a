"""Conversations that are kept as lists of messages, without bubbles: how they become turns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aix.importing import Source
from aix_importers.cursor.calls import Call, canonical_hash
from aix_importers.cursor.composers import Composer
from aix_importers.cursor.conversation import ORIGIN, Conversation, Entry, Part
from aix_importers.cursor.decisions import Outcome
from aix_importers.cursor.message import Said
from aix_importers.cursor.results import Result, read_params
from aix_importers.cursor.times import set_times
from aix_importers.cursor.tools import access_of
from aix_importers.cursor.turns import chain, divide

_UNIQUE = re.compile(r"(?:toolu_|call_|fc_|srvtoolu_|\d*_?tool_[0-9a-f-]{16}|[0-9a-f]{8}-[0-9a-f]{4}-).*", re.DOTALL)


@dataclass(slots=True, eq=False)
class Listed:
    """A message in its list."""

    key: str
    part: Part
    said: Said
    time: int | None = None


def make_conversation(
    source: Source, session_id: str, listed: Sequence[Listed], began_at: int | None, ended_at: int | None
) -> Conversation:
    """Return the conversation that messages make."""
    said_of: dict[str, Said] = {each.key: each.said for each in listed}
    conversation = Conversation(source, session_id, Composer(), lambda entry: said_of.get(entry.key))
    conversation.began_at, conversation.updated_at = began_at, ended_at
    conversation.entries = [Entry(each.key, each.part, each.time) for each in listed]
    conversation.time_basis = set_times(conversation.entries, began_at, ended_at)
    conversation.turns = divide(conversation.entries)
    chain(conversation.turns)
    return conversation


def call_name(session_id: str, call_id: str) -> str:
    """Return the id of a call: its own, where that is made to be the only one of its kind.

    >>> call_name("s1", "toolu_01AbC"), call_name("s1", "tool_1")
    ('toolu_01AbC', 'cursor:s1:tool_1')
    """
    return call_id if _UNIQUE.fullmatch(call_id) else f"{ORIGIN}:{session_id}:{call_id}"


def make_call(
    name: str, params: str, result: str | None, status: str, outcome: Outcome, error: str | None = None
) -> Call:
    """Return a call of a log that keeps no more than its parameters and its result."""
    return Call(
        None,
        name,
        None,
        params,
        canonical_hash(params),
        result,
        error,
        status,
        outcome,
        access_of(name, None, params.encode()),
        None,
        None,
        read_params(params.encode()),
        Result(),
    )
