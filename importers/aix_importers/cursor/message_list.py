"""Conversations that are kept as lists of messages, without bubbles: how they become turns."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from aix.importing import Source
from aix_importers.cursor.conversation import Conversation, Entry, Part, Said
from aix_importers.cursor.records import Composer
from aix_importers.cursor.turns import arrange

_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_TIMESTAMP = re.compile(r"<timestamp>(.*?)</timestamp>", re.DOTALL)
_MOMENT = re.compile(
    r"(?:\w+, )?(\w{3})\w* (\d{1,2}), (\d{4}), (\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AP]M)?\s*"
    r"(?:\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\))?",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TAGS = ("<user_info>", "<rules>", "<system_reminder>", "<project_layout>", "<git_status>", "<open_and_recently")


class Listed(NamedTuple):
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
    arrange(conversation, began_at, ended_at)
    return conversation


class Query(NamedTuple):
    """Query that was asked."""

    text: str
    before: str
    """Text that the tool put before the query."""
    is_injected: bool
    """Whether the tool asked it, and nobody else."""
    time: int | None


def query_of(written: str) -> Query | None:
    r"""Return what was asked; nothing for a text that only describes the user's machine.

    >>> query_of("<user_query>\nadd a test\n</user_query>").text
    'add a test'
    >>> query_of("<user_info>\nOS: linux\n</user_info>") is None
    True
    """
    found = _QUERY.search(written)
    stamp = _TIMESTAMP.search(written)
    time = read_moment(stamp[1]) if stamp else None
    if found is None:
        if written.lstrip().startswith(_TAGS):
            return None
        return Query(_TIMESTAMP.sub("", written).strip("\n"), "", is_injected=False, time=time)
    before = _TIMESTAMP.sub("", written[: found.start()]).strip()
    is_injected = not found[1].startswith(("\n", "\r"))
    return Query(found[1].strip("\r\n"), before, is_injected, time)


def read_moment(written: str) -> int | None:
    """Return Unix milliseconds of a time as Cursor writes it for the model.

    >>> read_moment("Friday, May 8, 2026, 6:05 AM (UTC+5:30)")
    1778200500000
    """
    found = _MOMENT.search(written)
    if found is None or found[1].lower() not in _MONTHS:
        return None
    hour = int(found[4])
    if found[7]:
        hour = hour % 12 + (12 if found[7].upper() == "PM" else 0)
    offset = timedelta(hours=int(found[9] or 0), minutes=int(found[10] or 0))
    try:
        zone = timezone(-offset if found[8] == "-" else offset) if found[8] else UTC
        month = _MONTHS.index(found[1].lower()) + 1
        moment = datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), int(found[6] or 0), tzinfo=zone)
        return int(moment.timestamp()) * 1000
    except (ValueError, OverflowError):
        return None
