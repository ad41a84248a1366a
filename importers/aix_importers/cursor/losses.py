"""Records that are not read, or only in part: each is counted, and becomes a problem."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from aix_importers.cursor.conversation import Part
from aix_importers.cursor.database import as_bytes, error_text
from aix_importers.cursor.key_tables import (
    BUBBLE_PREFIX,
    CHATS_ITEM,
    COMPOSER_PREFIX,
    COMPOSERS_ITEM,
    CONTEXT_PREFIX,
    HEADERS_ITEM,
    SETTINGS_ITEM,
    KeyTable,
    end_of,
)
from aix_importers.cursor.key_values import ITEMS, TABLE, KeyValues
from aix_importers.cursor.paths import is_place_of_editor, read_beside
from aix_importers.cursor.records import TOOL_FORMER, Bubble, Composer, ToolData, read_tool
from aix_importers.cursor.values import (
    ABSENT,
    field,
    fields,
    fields_if_object,
    inner,
    is_filled,
    is_intact,
    is_list,
    items,
    sample_of,
    text,
)
from aix_importers.cursor.workspaces import BUBBLE_MARK, CHATS, COMPOSERS, WORKSPACE_FILE, ListItem

READ_PREFIXES = (COMPOSER_PREFIX, BUBBLE_PREFIX, CONTEXT_PREFIX)
"""Keys of conversations."""
IGNORED_PREFIXES = (
    "agentKv:", "checkpointId:", "codeBlockDiff:", "codeBlockPartialInlineDiffFates:", "composer.content.",
    "composerVirtualRowHeights:", "inlineDiff:", "inlineDiffUndoRedo-", "inlineDiffs-", "inlineDiffsData",
    "ofsContent:",
)  # fmt: skip
"""Keys of kinds that are known and not read by themselves; of `agentKv:`, blobs that a conversation refers to are."""
_NEVER_NAMED = re.compile(rb"auth|secret|token", re.IGNORECASE)
_LONGEST_KEY = 80
_KNOWN_ITEMS = {key.lower().encode(): key.encode() for key in (CHATS_ITEM, COMPOSERS_ITEM, HEADERS_ITEM, SETTINGS_ITEM)}
_NOT_PRINTED = re.compile(rb"[^\x20-\x7e]")
_OF_A_CALL = ("tool", "toolCallId", "params", "rawArgs", "result")
_KNOWN = frozenset(Bubble.__struct_encode_fields__)
_BOOKKEEPING = re.compile(rb'"(?:~[^"]*|[0-9a-zA-Z_-]{20,}|[^" ]*[/\\:][^" ]*|[\d.]*)"')
"""Texts that nobody said: states of an agent, ids, paths, numbers."""
_HOLDS_CALLS = re.compile(rb"toolCallId|rawArgs")
_OF_COMPOSER = frozenset({*Composer.__struct_encode_fields__, "cachedConversationSummary"})
_OF_SUMMARY = b'"truncationLastBubbleIdInclusive"'
_OF_CONTENT = (b'"toolCallId"', b'"text"')


class Loss(NamedTuple):
    """Something in a database that was not read."""

    kind: str
    reason: str
    sample: str | None = None


def losses(values: KeyValues) -> Iterator[Loss]:
    """Go through everything in a database that no source of a conversation accounts for."""
    yield from _structure(values)
    if values.disk is not None and values.disk.source:
        yield from _orphans(values)
        yield from _unknown_keys(values, values.disk)
    if values.items is not None and values.items.source:
        yield from _item_losses(values)
        yield from _odd_items(values, values.items)
    yield from _damage(values)
    beside = Path(values.path).with_name(WORKSPACE_FILE)
    if beside.is_file() and fields_if_object(read_beside(str(beside))) is None:
        yield Loss("unreadable_workspace", f"{WORKSPACE_FILE} beside the database is not a JSON object.")


def _structure(values: KeyValues) -> Iterator[Loss]:
    """Name what is wrong with the database as a whole, and with its tables."""
    if values.main_error:
        yield Loss("damaged", f"The database cannot be read: {values.main_error}. Its backup was read instead.")
    if error := values.database.schema_error:
        yield Loss("damaged", f"The schema is damaged: {error}. All tables that can still be read were read.")
    if values.database.log_error:
        yield Loss("damaged_log", values.database.log_error)
    if values.table_error:
        yield Loss("damaged", f"{values.table_error} That of the backup was read, which may be older.")
    for table in (values.disk, values.items):
        if table is not None and table.oddity:
            yield Loss("odd_table", table.oddity)
    is_of_cursor = values.disk is not None or is_place_of_editor(values.path)
    if values.items is None and is_of_cursor:
        yield Loss("no_table", f"The database has no table {ITEMS}.")
    if values.disk is None and is_of_cursor and "globalStorage" in Path(values.path).parts:
        reason = f"The database has no table {TABLE}, in which versions from 0.43 on keep conversations."
        yield Loss("no_table", reason)


def _damage(values: KeyValues) -> Iterator[Loss]:
    """Say how much of the tables is damaged."""
    for table in (values.disk, values.items):
        if table is None or not table.has_rows:
            continue
        check = values.check(table)
        if check.error:
            values.is_damaged = False
            yield Loss("damaged", f"Pages of {table.name} are damaged ({check.error}). {_reached(values, table)}")
        if check.differing:
            differing = f"{check.differing} keys are only in it or only in the table"
            yield Loss("damaged", f"The index of {table.name} is damaged: {differing}.")
    if values.is_damaged:
        values.is_damaged = False
        yield Loss("damaged", "Pages of the database are damaged; all rows that can still be read were read.")


def _reached(values: KeyValues, table: KeyTable) -> str:
    if table.name == ITEMS:
        return "All rows that can still be read were read."
    reached = len(values.salvaged())
    try:
        [(total,)] = values.disk_database.rows(f"select count(*) from {table.name}")  # noqa: S608
    except sqlite3.DatabaseError as error:
        return f"{reached} keys can still be found; how many there were is not known: {error_text(error)}."
    return f"{reached} of {total} keys can still be found; values on damaged pages are missing."


def _orphans(values: KeyValues) -> Iterator[Loss]:
    """Name the bubbles and contexts whose conversation is gone."""
    composers = {key[len(COMPOSER_PREFIX) :] for key, _ in values.keys(COMPOSER_PREFIX)}
    listed = values.owners(BUBBLE_PREFIX)
    owners = {owner: number for owner, number, _ in listed if not owner.startswith(b"task-")}
    for owner in sorted(owners.keys() - composers):
        reason = f"Left out, since their conversation is gone: {owners[owner]} bubbles."
        yield Loss("orphan_bubbles", reason, owner.decode("utf-8", "surrogateescape"))


def _unknown_keys(values: KeyValues, table: KeyTable) -> Iterator[Loss]:
    """Count the rows whose keys are of no known kind, or lack the id of a conversation."""
    try:
        unknown, sample = _count_unknown(values, table)
        nameless = _count_nameless(values, table)
    except sqlite3.DatabaseError:
        values.is_damaged = True
        return
    if unknown:
        reason = f"Left out, since their keys are of no known kind: {unknown} rows of {TABLE}."
        yield Loss("unknown_keys", reason, _shown(sample, table))
    if nameless:
        yield Loss("unknown_keys", f"Left out, since their keys name no conversation: {nameless} rows of {TABLE}.")


def _odd_items(values: KeyValues, table: KeyTable) -> Iterator[Loss]:
    """Count the items whose keys are damaged; items of other kinds are the editor's own."""
    try:
        rows = values.database.rows(f"select key from {table.source} where key is not null or value is not null")  # noqa: S608
    except sqlite3.DatabaseError:
        values.is_damaged = True
        return
    odd = [key for (row,) in rows if _is_odd(key := as_bytes(row) or b"")]
    if odd:
        reason = f"Left out, since their keys are damaged: {len(odd)} rows of {ITEMS}."
        yield Loss("unknown_keys", reason, _shown(odd[0], table))


def _shown(key: bytes | None, table: KeyTable) -> str | None:
    """Return the beginning of a key; nothing where it may be that of a secret, or a value that was taken for a key."""
    if key is None or table.source != table.name or _NEVER_NAMED.search(key):
        return None
    return sample_of(key[:_LONGEST_KEY])


def _count_unknown(values: KeyValues, table: KeyTable) -> tuple[int, bytes | None]:
    known = (*READ_PREFIXES, *IGNORED_PREFIXES)
    ranges = ["key is null and value is null"]  # holds nothing; Cursor writes such rows
    ranges += [f"key >= '{prefix}' and key < '{end_of(prefix)}'" for prefix in known]
    counts = " + ".join(f"(select count(*) from {table.source} where {each})" for each in ranges)  # noqa: S608
    [(unknown,)] = values.disk_database.rows(f"select (select count(*) from {table.source}) - ({counts})")  # noqa: S608
    if not unknown:
        return 0, None
    others = " and ".join(f"({each}) is not true" for each in ranges)
    found = values.disk_database.rows(f"select key from {table.source} where {others} limit 1")  # noqa: S608
    key = found[0][0] if found else None
    return unknown, key if isinstance(key, bytes) else None


def _count_nameless(values: KeyValues, table: KeyTable) -> int:
    counted = f"select count(*) from {table.source} where key >= ? and key < ?"  # noqa: S608
    [(bubbles,)] = values.disk_database.rows(counted, (BUBBLE_PREFIX, end_of(BUBBLE_PREFIX)))
    named = sum(number for _, number, _ in values.owners(BUBBLE_PREFIX))
    empty = values.disk_database.rows(f"select 1 from {table.source} where key = ?", (COMPOSER_PREFIX,))  # noqa: S608
    return max(0, int(bubbles) - named) + len(empty)


def _item_losses(values: KeyValues) -> Iterator[Loss]:
    """Go through what cannot be read in the items that hold conversations, their titles, or rules."""
    seen: set[str] = set()
    for item in (COMPOSERS, CHATS):
        yield from _list_losses(values, item, seen)
    for key, may_hold_secrets in ((HEADERS_ITEM, False), (SETTINGS_ITEM, True)):
        row = values.item_row(key)
        if row is not None and fields_if_object(as_bytes(row[0])) is None:
            yield _unreadable(key, as_bytes(row[0]), may_hold_secrets=may_hold_secrets)


def _is_odd(key: bytes) -> bool:
    """Whether the key of an item is not text, or differs from a known one only in case: nobody finds it."""
    try:
        is_text = key.decode().isprintable() and bool(key)
    except UnicodeDecodeError:
        is_text = False
    return not is_text or _KNOWN_ITEMS.get(_NOT_PRINTED.sub(b"", key).lower(), key) != key


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


def flaw_of(
    bubble: Bubble, listed_kind: int | None, part: Part, tool: ToolData | None, raw: Callable[[], bytes | Raw | None]
) -> str | None:
    """Return what is wrong with a bubble in a sentence; nothing where all of it was understood.

    `raw` gives the bubble as it is written: it is asked for only where the bubble seems to be empty.
    """
    kind = bubble.kind
    if kind is None and listed_kind is None:
        return "A message does not say whose it is, and counts as the assistant's."
    if kind is not None and listed_kind is not None and kind != listed_kind:
        return "A message is the user's by itself and the assistant's by the list, or the other way round."
    if tool is None and is_filled(bubble.tool_former_data) and _is_call(bubble.tool_former_data):
        return "A call has no name, and was left out."
    if any(is_filled(each) and text(each) is None for each in (bubble.text, bubble.raw_text)):
        return "The text of a message is no text."
    if part is Part.ARTEFACT and is_filled(bubble.thinking):
        return "The thinking of a message is no text."
    if part is Part.ARTEFACT and is_filled(bubble.conversation_summary):
        return "A summary has no text, and was left out."
    if part is Part.ARTEFACT or (part is Part.QUERY and not bubble.content):
        strange = [name for name, value in fields(raw()).items() if name not in _KNOWN and _is_content(value)]
        if strange:
            return f"A message without text has fields that are not known: {', '.join(sorted(strange))[:80]}."
    return None


def flaws_of(composer: Composer, written: bytes) -> Iterator[str]:
    """Go through what is wrong with the parts of a conversation that stand beside its messages.

    `written` is the composer as it is written.
    """
    if is_filled(composer.capabilities) and not is_list(composer.capabilities):
        yield "The calls that stand beside the messages are no list."
    for capability in items(composer.capabilities):
        yield from _flaws_of_capability(capability)
    latest = composer.latest_conversation_summary
    if is_filled(latest) and not any(map(text, (field(latest, "summary"), field(latest, "summary", "summary")))):
        yield "The latest summary of the conversation has no text."
    if _OF_SUMMARY in written:
        named = fields(written).items()
        strange = [name for name, value in named if name not in _OF_COMPOSER and _OF_SUMMARY in bytes(value)]
        if strange:
            yield f"A summary stands in a field that is not known: {', '.join(sorted(strange))[:80]}."


def _flaws_of_capability(capability: Raw) -> Iterator[str]:
    data, is_of_calls = field(capability, "data"), field(capability, "type") == TOOL_FORMER
    calls = field(data, "bubbleDataMap")
    found = fields_if_object(inner(calls)) if is_filled(calls) else {}
    is_lost = fields_if_object(capability) is None or (
        is_of_calls and is_filled(data) and fields_if_object(data) is None
    )
    is_read = is_of_calls and is_filled(calls)
    if found is None or is_lost or (not is_read and _HOLDS_CALLS.search(bytes(capability))):
        yield "The calls that stand beside the messages cannot be read."
        return
    for raw in found.values():
        if read_tool(raw) is None and is_filled(raw) and _is_call(raw):
            yield "A call has no name, and was left out."


def _is_call(data: Raw) -> bool:
    found = fields_if_object(data)
    return found is None or any(is_filled(found.get(name, ABSENT)) for name in _OF_A_CALL)


def _is_content(value: Raw) -> bool:
    if not is_filled(value):
        return False
    data = bytes(value)
    if data[:1] == b'"':
        return _BOOKKEEPING.fullmatch(data) is None
    return data[:1] in (b"{", b"[") and any(mark in data for mark in _OF_CONTENT)
