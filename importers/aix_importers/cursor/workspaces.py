"""Workspaces: the folder that a window was open in, and the conversations that were listed there."""

import os
import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from aix_importers.cursor.database import as_bytes, state_of
from aix_importers.cursor.key_tables import CHATS_ITEM, COMPOSERS_ITEM, HEADERS_ITEM
from aix_importers.cursor.key_values import KeyValues, given_key
from aix_importers.cursor.paths import EDITOR_FILE, path_of_uri, read_beside
from aix_importers.cursor.records import Head
from aix_importers.cursor.values import closed, field, fields_if_object, items, text

BUBBLE_MARK = b'"bubbleId"'
"""Stands in every list of messages of a composer."""
WORKSPACE_FILE = "workspace.json"


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

    def find(self, values: KeyValues, session_id: str) -> Raw | None:
        """Return the first entry about a conversation."""
        return next((entry for entry in self.entries(values) if text(field(entry, self.id)) == session_id), None)


CHATS = ListItem(CHATS_ITEM, "tabs", "tabId", "bubbles")
COMPOSERS = ListItem(COMPOSERS_ITEM, "allComposers", "composerId", "conversation")


def listed_workspaces(database: str) -> list[str]:
    """Return the folders of all workspaces that go with a global database, by name."""
    storage = storage_beside(database)
    try:
        names = sorted(entry.name for entry in Path(storage).iterdir())
    except OSError:
        return []
    folders = (f"{storage}{os.sep}{name}" for name in names)
    return [folder for folder in folders if Path(folder, EDITOR_FILE).is_file()]


def storage_beside(database: str) -> str:
    """Return the folder of all workspaces that goes with a global database."""
    user = os.path.dirname(os.path.dirname(database))  # noqa: PTH120
    return f"{user}{os.sep}workspaceStorage"


def heads_in(workspace: str) -> dict[str, Head]:
    """Return by id what the database in the folder of a workspace says about its conversations."""
    database = f"{workspace}{os.sep}{EDITOR_FILE}"
    return _heads_in(database, state_of(database))


@lru_cache(maxsize=64)  # asked for once per conversation
def _heads_in(database: str, state: str) -> dict[str, Head]:  # noqa: ARG001
    try:
        with KeyValues(database) as values:
            return _heads_of(COMPOSERS.entries(values))
    except (sqlite3.Error, OSError):
        return {}


def heads_of_item(values: KeyValues) -> dict[str, Head]:
    """Return by id what the item of headers says about conversations."""
    return _heads_of(items(field(values.item(HEADERS_ITEM), "allComposers")))


def _heads_of(listed: Iterable[Raw]) -> dict[str, Head]:
    """Return by id what a list says about conversations."""
    found: dict[str, Head] = {}
    for item in listed:
        head = Head.read(item)
        if head is not None and (name := text(head.composer_id)):
            found.setdefault(name, head)
    return found


def header_rows(values: KeyValues, session_id: str | None = None) -> list[tuple[str, str | None, bytes]]:
    """Return what the table of headers says: by conversation, the workspace and the header."""
    if "composerHeaders" not in values.tables:
        return []
    only = " where composerId = cast(? as text)" if session_id is not None else ""
    given = (given_key(session_id),) if session_id is not None else ()
    found = []
    try:
        rows = values.database.rows(f"select composerId, workspaceId, value from composerHeaders{only}", given)  # noqa: S608
        for name, workspace, value in rows:
            if isinstance(name, bytes):
                folder = workspace.decode("utf-8", "replace") if isinstance(workspace, bytes) else None
                safe = folder if folder and "/" not in folder and "\\" not in folder and folder != ".." else None
                found.append((name.decode("utf-8", "surrogateescape"), safe, as_bytes(value) or b""))
    except sqlite3.DatabaseError:
        values.is_damaged = True
    return found


def folder_of(workspace_file: str) -> str | None:
    """Return the folder that was open, by the file beside the database of a workspace."""
    data = read_beside(workspace_file)
    folder = text(field(data, "folder"))
    if folder:
        return path_of_uri(folder)
    file_uri = text(field(data, "workspace")) or text(field(data, "workspace", "configPath"))
    if not file_uri:
        return None
    path = path_of_uri(file_uri)
    return path.rpartition("/")[0] if path and path.endswith(".code-workspace") else path
