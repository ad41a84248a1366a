"""Records of a database that no conversation accounts for: each is counted, and becomes a problem."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from aix_importers.cursor.connections import error_text
from aix_importers.cursor.default_paths import is_place_of_editor
from aix_importers.cursor.items import Loss, item_losses, odd_item_keys
from aix_importers.cursor.key_tables import KeyTable
from aix_importers.cursor.key_values import ITEMS, TABLE, KeyValues
from aix_importers.cursor.keys import BUBBLE_PREFIX, COMPOSER_PREFIX, CONTEXT_PREFIX, end_of
from aix_importers.cursor.values import fields_if_object, sample_of
from aix_importers.cursor.workspaces import WORKSPACE_FILE, read_workspace

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


def losses(values: KeyValues) -> Iterator[Loss]:
    """Go through everything in a database that no source of a conversation accounts for."""
    yield from _structure(values)
    if values.disk is not None and values.disk.source:
        yield from _orphans(values)
        yield from _unknown_keys(values, values.disk)
    if values.items is not None and values.items.source:
        yield from item_losses(values)
        yield from _odd_items(values, values.items)
    yield from _damage(values)
    beside = Path(values.path).with_name(WORKSPACE_FILE)
    if beside.is_file() and fields_if_object(read_workspace(str(beside))) is None:
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
        _, check = values.check(table)
        if check.error:
            values.is_damaged = False
            yield Loss("damaged", f"Pages of {table.name} are damaged ({check.error}). {_reached(values, table)}")
        if check.differing:
            reason = (
                f"The index of {table.name} is damaged: {check.differing} keys are only in it or only in the table."
            )
            yield Loss("damaged", reason)
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
    composers = {
        key[len(COMPOSER_PREFIX) :].decode("utf-8", "surrogateescape") for key, _ in values.keys(COMPOSER_PREFIX)
    }
    listed = ((owner.decode("utf-8", "surrogateescape"), number) for owner, number, _ in values.owners(BUBBLE_PREFIX))
    owners = {owner: number for owner, number in listed if not owner.startswith("task-")}
    for owner in sorted(owners.keys() - composers):
        reason = f"Left out, since their conversation is gone: {owners[owner]} bubbles."
        yield Loss("orphan_bubbles", reason, owner)


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
    odd = odd_item_keys(key for (key,) in rows)
    if odd:
        yield Loss(
            "unknown_keys",
            f"Left out, since their keys are damaged: {len(odd)} rows of {ITEMS}.",
            _shown(odd[0], table),
        )


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
    low, high = BUBBLE_PREFIX, end_of(BUBBLE_PREFIX)
    [(bubbles,)] = values.disk_database.rows(
        f"select count(*) from {table.source} where key >= ? and key < ?",  # noqa: S608
        (low, high),
    )
    named = sum(number for _, number, _ in values.owners(BUBBLE_PREFIX))
    empty = values.disk_database.rows(f"select 1 from {table.source} where key = ?", (COMPOSER_PREFIX,))  # noqa: S608
    return max(0, int(bubbles) - named) + len(empty)
