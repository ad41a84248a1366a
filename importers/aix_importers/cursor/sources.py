"""The conversations and settings in a database of Cursor."""

import os
import sqlite3
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

from aix.importing import Source
from aix_importers.cursor.ai_tracking_db import tracking_sources
from aix_importers.cursor.database import state_of
from aix_importers.cursor.key_tables import (
    BUBBLE_PREFIX,
    COMPOSER_PREFIX,
    CONTEXT_PREFIX,
    SETTINGS_ITEM,
    SourceKind,
    source_key,
)
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.losses import losses
from aix_importers.cursor.paths import STORE_FILE, TRACKING_FILE, read_beside
from aix_importers.cursor.records import Composer, Head
from aix_importers.cursor.stores import store_source
from aix_importers.cursor.values import field, is_filled, json_value, text
from aix_importers.cursor.workspaces import (
    BUBBLE_MARK,
    CHATS,
    COMPOSERS,
    WORKSPACE_FILE,
    header_rows,
    heads_in,
    heads_of_item,
    listed_workspaces,
    storage_beside,
)

_DIGEST_BYTES = 16
_DRAFTS = ("empty-state-draft", "draft-")


class _Stamp:
    """Digest of the data that shows whether a conversation has changed, gathered piece by piece."""

    def __init__(self, *parts: object) -> None:
        self._hash = blake2b(digest_size=_DIGEST_BYTES)
        self.has_composer = False
        self.is_empty = False
        self.has_list = False
        self.bubbles = 0
        self.add(*parts)

    def add(self, *parts: object) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
            self._hash.update(len(data).to_bytes(8) + data)

    def add_head(self, head: Head) -> None:
        self.add(bytes(head.name), bytes(head.is_archived), bytes(head.last_updated_at))

    def digest(self) -> str:
        return self._hash.hexdigest()


def list_sources(path: str) -> Iterator[Source]:
    """Go through the conversations of a database, and its settings; nothing where it is not the editor's.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    with KeyValues(path) as values:
        if values.items is not None or values.disk is not None:
            yield from _composers(path, values)
            yield from _items(path, values)
        lost = [repr(loss) for loss in losses(values)]
        if lost:
            yield Source(path, source_key(SourceKind.LEFTOVERS), stamp=_Stamp(*lost).digest())


def _composers(path: str, values: KeyValues) -> Iterator[Source]:
    stamps = _stamps(values)
    workspace_of = _workspaces(path, values, stamps)
    content_of = cache(read_beside)
    for session_id, stamp in stamps.items():
        is_nothing = stamp.is_empty or session_id.startswith(_DRAFTS)
        if stamp.has_composer and is_nothing and not stamp.has_list and not stamp.bubbles:
            continue
        if not stamp.has_composer and not session_id.startswith("task-"):
            continue
        file = workspace_of.get(session_id)
        if file is not None:
            stamp.add(file, content_of(file))
        sidecars = (file,) if file is not None and content_of(file) else ()
        yield Source(path, source_key(SourceKind.COMPOSER, session_id), sidecars=sidecars, stamp=stamp.digest())


def _stamps(values: KeyValues) -> dict[str, _Stamp]:
    stamps: dict[str, _Stamp] = {}
    for key, row in values.keys(COMPOSER_PREFIX):
        session_id = key[len(COMPOSER_PREFIX) :].decode("utf-8", "surrogateescape")
        if not session_id or session_id in stamps:
            continue
        stamp = stamps[session_id] = _Stamp()
        value = values.get(key.decode("utf-8", "surrogateescape"))
        stamp.has_composer = True
        # The row is another one when it is rewritten; only in tables of another form it may not be.
        stamp.add(row, len(value or b""), crc32(value or b""))
        written = json_value(value) or b""
        composer = Composer.read(written)
        stamp.has_list = composer is not None and composer.has_conversation
        stamp.is_empty = composer is not None and not stamp.has_list and BUBBLE_MARK not in written
    for prefix in (BUBBLE_PREFIX, CONTEXT_PREFIX):
        for owner, number, mark in values.owners(prefix):
            session_id = owner.decode("utf-8", "surrogateescape")
            if session_id not in stamps:
                if prefix != BUBBLE_PREFIX:
                    continue
                stamps[session_id] = _Stamp()
            stamps[session_id].add(prefix, number, mark)
            stamps[session_id].bubbles += number if prefix == BUBBLE_PREFIX else 0
    return stamps


def _workspaces(path: str, values: KeyValues, stamps: dict[str, _Stamp]) -> dict[str, str]:
    """Return by conversation the file that says in which folder it was held, and stamp what lists say of it."""
    found: dict[str, str] = {}
    beside = Path(path).with_name(WORKSPACE_FILE)
    if beside.is_file():
        return dict.fromkeys(stamps, str(beside))
    storage = storage_beside(path)
    for session_id, head in heads_of_item(values).items():
        if session_id in stamps:
            stamps[session_id].add_head(head)
    for session_id, workspace_id, value in header_rows(values):
        if session_id in stamps:
            stamps[session_id].add(value)
            if workspace_id:
                found[session_id] = f"{storage}{os.sep}{workspace_id}{os.sep}{WORKSPACE_FILE}"
    for workspace in listed_workspaces(path):
        for session_id, head in heads_in(workspace).items():
            if session_id in stamps:
                stamps[session_id].add_head(head)
                found.setdefault(session_id, f"{workspace}{os.sep}{WORKSPACE_FILE}")
    return found


def _items(path: str, values: KeyValues) -> Iterator[Source]:
    workspace_file = Path(path).with_name(WORKSPACE_FILE)
    has_file = workspace_file.is_file()
    beside = workspace_file.read_bytes() if has_file else b""
    sidecars = (str(workspace_file),) if has_file else ()
    seen: set[str] = set()
    for kind, listed in ((SourceKind.INLINE, COMPOSERS), (SourceKind.CHAT, CHATS)):
        for item in listed.entries(values):
            session_id = text(field(item, listed.id))
            if not session_id or session_id in seen or not is_filled(field(item, listed.body)):
                continue
            seen.add(session_id)
            stamp = _Stamp(bytes(item), beside).digest()
            yield Source(path, source_key(kind, session_id), sidecars=sidecars, stamp=stamp)
    state = field(values.item(SETTINGS_ITEM), "composerState")
    if is_filled(state):
        stamp = _Stamp(bytes(state)).digest()
        yield Source(path, source_key(SourceKind.SETTINGS), stamp=stamp, may_hold_secrets=True)


def sources_or_problem(path: str) -> list[Source]:
    """Return the sources in a database; if it cannot be read, one that becomes a problem, so that it hides no other."""
    try:
        return list(database_sources(path))
    except (sqlite3.Error, OSError):
        return [Source(path, source_key(SourceKind.DATABASE), stamp=state_of(path), may_hold_secrets=True)]


def database_sources(path: str) -> Iterator[Source]:
    """Go through the conversations and settings in a database.

    Raises:
        sqlite3.Error: It is damaged, or not a database.
        OSError: It, or a file beside it, cannot be read.
    """
    name = os.path.basename(path)  # noqa: PTH119
    if name.endswith(".vscdb"):
        yield from list_sources(path)
    elif name == STORE_FILE:
        store = store_source(path)
        if store is not None:
            yield store
    elif name == TRACKING_FILE:
        yield from tracking_sources(path)
