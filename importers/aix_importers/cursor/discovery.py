"""Finding the files of Cursor.

Every import asks this of every file, so modules that read conversations are loaded for files that need them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from aix.importing import Candidate, Source
from aix_importers.common.recognition import (
    CURSOR_FOLDER,
    PROGRAM_FILES,
    SUFFIXES,
    Family,
    is_below_cursor_folder,
    may_hold_lines,
    recognise,
)
from aix_importers.cursor.paths import (
    DATABASE_MAGIC,
    EDITOR_FILE,
    RULE_FILES,
    STORE_FILE,
    TRACKING_FILE,
    is_place_of_editor,
    is_place_of_store,
)

_TRANSCRIPT_SUFFIXES = (*SUFFIXES, ".json", ".txt")
_HEAD_BYTES = 4_096
_SETTINGS_BYTES = 2**20
_CONVERSATIONS = ("composer", "inline", "chat", "store")
"""The kinds of sources in a database that are conversations."""


def find_sources(files: Sequence[Candidate], importer: str) -> Iterator[Source]:
    """Go through the conversations in the files that are Cursor's, and the files with permission rules."""
    for file in files:
        if file.claimed_by not in (None, importer):
            continue
        name = file.name
        if name.endswith((".vscdb", ".db")):
            if file.head(len(DATABASE_MAGIC)) == DATABASE_MAGIC or _is_place_of_database(file.path, name):
                from aix_importers.cursor.sources import sources_or_problem

                yield from sources_or_problem(file.path)
        elif name in RULE_FILES:
            from aix_importers.cursor.settings import holds_rules

            if importer in (file.claimed_by, file.was_claimed_by) or holds_rules(file.head(_SETTINGS_BYTES)):
                yield Source(file.path, may_hold_secrets=True)
        elif name.lower().endswith(_TRANSCRIPT_SUFFIXES) and (file.claimed_by or _is_transcript(file, name.lower())):
            yield Source(file.path)


def is_conversation(source: Source) -> bool:
    """Whether a source is a conversation, rather than settings or another part of a database."""
    kind = source.key.partition(":")[0]
    return kind in _CONVERSATIONS if kind else not source.may_hold_secrets


def _is_place_of_database(path: str, name: str) -> bool:
    """Whether a file that is not a database lies where Cursor keeps one."""
    if name == EDITOR_FILE:
        return is_place_of_editor(path)
    return (name == STORE_FILE and is_place_of_store(path)) or name == TRACKING_FILE


def _is_transcript(file: Candidate, name: str) -> bool:
    """Whether a file is a transcript: by its folder, and by how it begins.

    All files where Cursor keeps transcripts are its own, unless their records are those of another tool.
    """
    if not is_below_cursor_folder(file.path):
        return False
    if may_hold_lines(name):
        family = recognise(file.path).family
        return family is Family.CURSOR or (family is None and name not in PROGRAM_FILES)
    head = file.head(_HEAD_BYTES).lstrip(b"\xef\xbb\xbf\0 \r\n\t")
    is_recognised = head.startswith((b"user:", b"assistant:") if name.endswith(".txt") else b"[")
    return is_recognised or _is_place_of_transcript(file.path)


def _is_place_of_transcript(path: str) -> bool:
    """Whether a file lies just where Cursor keeps transcripts, not only somewhere below that folder."""
    *_, third, second, folder, _name = ("", "", "", *Path(path).parts)
    return CURSOR_FOLDER in (folder, second) or (third == CURSOR_FOLDER and folder == "subagents")
