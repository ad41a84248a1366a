"""Items of the editor: single values that hold many conversations, or the settings."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Raw

from aix_importers.cursor.cut_json import closed
from aix_importers.cursor.database import as_bytes
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.keys import CHATS_ITEM, COMPOSERS_ITEM, HEADERS_ITEM, SETTINGS_ITEM
from aix_importers.cursor.values import field, fields_if_object, is_filled, is_intact, is_list, items, sample_of, text

BUBBLE_MARK = b'"bubbleId"'
"""Stands in every list of messages of a composer."""


class Loss(NamedTuple):
    """Something in a database that was not read."""

    kind: str
    reason: str
    sample: str | None = None


class ListItem(NamedTuple):
    """An item that holds a list of conversations."""

    key: str
    name: str
    """The field that holds the list."""
    id: str
    """The field of an entry that holds the id of the conversation."""
    body: str
    """The field of an entry that holds the messages."""

    def entries(self, values: KeyValues) -> list[Raw]:
        """Return the entries of the list; if the value was cut, those before the cut."""
        data = values.item(self.key)
        found = fields_if_object(data)
        if found is None and data:
            found = fields_if_object(closed(data))
        return items(found.get(self.name)) if found else []


CHATS = ListItem(CHATS_ITEM, "tabs", "tabId", "bubbles")
COMPOSERS = ListItem(COMPOSERS_ITEM, "allComposers", "composerId", "conversation")
_LISTS = (COMPOSERS, CHATS)
_KEYS = (CHATS_ITEM, COMPOSERS_ITEM, HEADERS_ITEM, SETTINGS_ITEM)
_NOT_PRINTED = re.compile(rb"[^\x20-\x7e]")


def item_losses(values: KeyValues) -> Iterator[Loss]:
    """Go through what cannot be read in the items that hold conversations, their titles, or rules."""
    seen: set[str] = set()
    for item in _LISTS:
        yield from _list_losses(values, item, seen)
    for key, may_hold_secrets in ((HEADERS_ITEM, False), (SETTINGS_ITEM, True)):
        row = values.item_row(key)
        if row is not None and fields_if_object(as_bytes(row[0])) is None:
            yield _unreadable(key, as_bytes(row[0]), may_hold_secrets=may_hold_secrets)


def odd_item_keys(keys: Iterable[object]) -> list[bytes]:
    """Return the keys of items that are not text, or differ from a known one only in case: nobody finds them."""
    known = {key.lower().encode(): key.encode() for key in _KEYS}
    odd = []
    for key in keys:
        data = as_bytes(key) or b""
        clean = _NOT_PRINTED.sub(b"", data).lower()
        if not _is_text(data) or known.get(clean, data) != data:
            odd.append(data)
    return odd


def _is_text(data: bytes) -> bool:
    try:
        return data.decode().isprintable() and bool(data)
    except UnicodeDecodeError:
        return False


def _list_losses(values: KeyValues, item: ListItem, seen: set[str]) -> Iterator[Loss]:
    row = values.item_row(item.key)
    if row is None:
        return
    data = as_bytes(row[0])
    found = fields_if_object(data)
    if found is not None and data is not None and not is_intact(data):
        reason = f"{item.key} holds bytes that are not text; they were replaced, and conversations may be missing."
        yield Loss("damaged_value", reason, sample_of(data))
    if found is None or data is None:
        yield _unreadable(item.key, data)
    elif item.name not in found:
        # Newer versions keep no list of composers here; the list of chats was always there.
        if item is CHATS or BUBBLE_MARK in data:
            yield Loss("unreadable_item", f"{item.key} has no list {item.name}.", sample_of(data))
    elif not is_list(found[item.name]) and is_filled(found[item.name]):
        yield Loss("unreadable_item", f"{item.name} in {item.key} is not a list.", sample_of(found[item.name]))
    bad = [entry for entry in item.entries(values) if _is_lost(entry, item, seen)]
    if bad:
        reason = f"Left out, since they are not conversations or repeat one: {len(bad)} entries of {item.key}."
        yield Loss("unreadable_entries", reason, sample_of(bad[0]))


def _is_lost(entry: Raw, item: ListItem, seen: set[str]) -> bool:
    """Whether an entry may hold messages and is not read."""
    if fields_if_object(entry) is None:
        return True
    body, session_id = field(entry, item.body), text(field(entry, item.id))
    if not is_filled(body):
        return not session_id or BUBBLE_MARK in bytes(entry) or (item is CHATS and not is_list(body))
    if not session_id or session_id in seen:
        return True
    seen.add(session_id)
    return False


def _unreadable(key: str, data: bytes | None, *, may_hold_secrets: bool = False) -> Loss:
    if data is None:
        return Loss("unreadable_item", f"The value of {key} is NULL.")
    sample = None if may_hold_secrets else sample_of(data)
    return Loss("unreadable_item", f"The value of {key} is not a JSON object: some of it may be missing.", sample)
