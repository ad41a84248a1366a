"""Files that hold records of chats, by the records in their beginning.

A document may begin with so many people and agents that its messages lie behind its beginning: it is searched on.
"""

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Raw

from aix.importing import Candidate, Source
from aix_importers.chat.collections import FIELDS, Collection, collection_named, collection_of_file
from aix_importers.common.recognition import Family, family_of_fields, fields_of_beginning, may_hold_lines, recognise

MOST_DOCUMENT_BYTES = 256 * 2**20
"""A file that is one JSON value is read as a whole, and only up to this size; JSON lines have no limit."""
_HEAD_BYTES = 2**16
_PIECE_BYTES = 2**20
_BLANK = b"\0 \t\r\n\xef\xbb\xbf"
_ARRAY = re.compile(rb"\[\s*(?=\{)")
_NAME = re.compile(rb'"([A-Za-z_-]{5,40})"\s*:\s*\Z')
_MOST_NAME_BYTES = 64
_ID = "_id"
_OTHER_ID = "id"
"""Stands for the id in exports that name each collection; elsewhere it is in files of many applications."""
_OF_CHATS_ALONE = frozenset({Collection.PARTICIPANTS, Collection.MESSAGES, Collection.AGENT_CHANGES})
"""Collections whose files count by themselves."""
_OF_ANY = frozenset(Collection)
_OWN_FIELDS = {
    Collection.PARTICIPANTS: ("conversationId", ("user", "agent"), ("userId", "agentId", "addedAt", "isRemoved")),
    Collection.MESSAGES: ("conversationId", ("participant", "system"), ("authorParticipantId",)),
    Collection.AGENT_CHANGES: ("agentId", (), ("changedBy", "changedAt")),
}
"""By collection whose files count by themselves: the field that a record with an `id` needs, and the kinds or fields
of which it needs one, since other applications have messages with an `id` too."""


def find_sources(files: Sequence[Candidate], importer: str) -> Iterator[Source]:
    """Go through the files of chats among the files.

    People, agents and titles are in files of many applications: such a file counts beside another of an export.
    """
    ids_of_chats = cache(_ids_of_chats)
    for file in files:
        if file.claimed_by not in (None, importer):
            continue
        if (
            file.claimed_by
            or _id_in_file(file, _OF_CHATS_ALONE) is not None
            or ((name := _id_in_file(file, _OF_ANY)) is not None and name in ids_of_chats(export_folder(file.path)))
        ):
            yield Source(file.path)


def _ids_of_chats(folder: str) -> set[str | None]:
    """Return the fields that hold ids, in the files of a folder or its tables that are of chats by themselves."""
    places = [*Path(folder).glob("*.*"), *Path(folder).glob("*/documents.*")]
    return {_id_in_file(Candidate(str(place), 0, 0, 0), _OF_CHATS_ALONE) for place in sorted(places)}


def export_folder(path: str) -> str:
    """Return the folder of an export that has a file, or a folder with a file, for each collection.

    >>> export_folder("/export/users.jsonl"), export_folder("/export/users/documents.jsonl")
    ('/export', '/export')
    """
    folder, _, name = path.rpartition(os.sep)
    return folder.rpartition(os.sep)[0] if name.lower().startswith("documents.") else folder


def _id_in_file(file: Candidate, collections: Container[Collection]) -> str | None:
    """Return the field that holds ids, in a file of records that only chats have, or of these collections by name."""
    if may_hold_lines(file.name):
        family = recognise(file.path).family
        if family is not None:
            return _ID if family is Family.CHAT else None
    elif not file.name.lower().endswith(".json"):
        return None
    head = file.head(_HEAD_BYTES)
    begin = head.lstrip(_BLANK)
    if not is_document(begin):
        return _id_in_record(begin.lstrip(b"[ \t\r\n"), collection_of_file(file.path), collections)
    found = _id_in_arrays(begin, collections)
    if found is not None or len(head) < _HEAD_BYTES or _id_in_arrays(begin, _OF_ANY) is None:
        return found
    return _id_in_rest(file.path)


def _id_in_arrays(data: bytes, collections: Container[Collection]) -> str | None:
    """Return the field that holds ids in the arrays of a document, by the first record of each."""
    found = (_id_in_record(record, collection, collections) for collection, record in _arrays(data))
    return next((name for name in found if name is not None), None)


def _arrays(data: bytes) -> Iterator[tuple[Collection | None, bytes]]:
    """Go through the arrays of objects in a part of a document: the collection by name, and what the array holds."""
    for array in _ARRAY.finditer(data):
        name = _NAME.search(data, max(0, array.start() - _MOST_NAME_BYTES), array.start())
        if name is not None:
            yield collection_named(name[1].decode()), data[array.end() : array.end() + _HEAD_BYTES]


def _id_in_rest(path: str) -> str | None:
    """Return the field that holds ids in the participants, messages or changes behind the beginning of a document."""
    try:
        with Path(path).open("rb") as file:
            before = b""
            for _ in range(MOST_DOCUMENT_BYTES // _PIECE_BYTES):
                piece = file.read(_PIECE_BYTES)
                if not piece:
                    break
                for collection, record in _arrays(before + piece):
                    if collection in _OF_CHATS_ALONE:
                        found = _id_in_record(record, collection, _OF_CHATS_ALONE)
                        if found is not None:
                            return found
                before = piece[-_HEAD_BYTES:]
    except OSError:
        pass
    return None


def is_document(begin: bytes) -> bool:
    """Whether a file is one object that holds collections, by its beginning.

    >>> is_document(b'{"version": 2, "users": [{"_id": "u1"'), is_document(b'{"_id": "m1", "content": "Hi"}')
    (True, False)
    """
    if not begin.startswith(b"{"):
        return False
    fields = fields_of_beginning(begin)
    return _ID not in fields and any(collection_named(name) for name in fields)


def _id_in_record(data: bytes, collection: Collection | None, collections: Container[Collection]) -> str | None:
    """Return the field that holds the id of a record, if that is of chats."""
    fields = fields_of_beginning(data) if data.startswith(b"{") else {}
    named = collection if collection in collections else None
    # An id that is not text shows as null: the file is of a database of something else.
    if _is_text(fields.get(_ID)):
        is_known = named is not None and _has_any(fields, FIELDS[named])
        return _ID if is_known or family_of_fields(fields) is Family.CHAT else None
    if _ID in fields or named is None or not _is_text(fields.get(_OTHER_ID)):
        return None
    needed, kinds, names = _OWN_FIELDS.get(named, (_OTHER_ID, (), FIELDS[named]))
    kind = bytes(fields.get("kind", b"")).decode("utf-8", "replace").strip('"')
    is_known = needed in fields and (kind in kinds or _has_any(fields, names))
    return _OTHER_ID if is_known and family_of_fields(fields) is None else None


def _has_any(fields: Mapping[str, Raw], names: Sequence[str]) -> bool:
    return any(name in fields for name in names)


def _is_text(value: Raw | None) -> bool:
    return value is not None and bytes(value) != b"null"
