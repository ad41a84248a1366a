"""The importer itself."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from aix.ids import h63
from aix.importing import Answer, Candidate, Capabilities, Importer, Problem, Rows, Source, Ties
from aix_importers.chat.collections import collection_of_file
from aix_importers.chat.discovery import export_folder, find_sources
from aix_importers.common import PROBLEM_ADVICE, PROBLEM_NOTES
from aix_importers.common.recognition import SUFFIXES

_ADD_TO_EXPORT = "add it to the export"
_FIX = "correct it in the export"
_NOTES = {"unknown_user", "unknown_agent", "unknown_author", "unknown_conversation", "no_participants"}
"""Kinds of problems with records that were read whole and name something which is not in the export."""


class ChatImporter(Importer):
    """Reads exports of users, agents, conversations, participants, messages and changes of agents."""

    name: ClassVar[str] = "chat"
    version: ClassVar[str] = "1"
    description: ClassVar[str] = "Chats of people and agents: exports of conversations, participants and messages."
    problem_advice: ClassVar[Mapping[str, str]] = {
        **PROBLEM_ADVICE,
        **dict.fromkeys(("unknown_user", "unknown_agent", "unknown_author", "unknown_conversation"), _ADD_TO_EXPORT),
        **dict.fromkeys(("no_participants", "no_conversation", "no_user", "no_agent"), _ADD_TO_EXPORT),
        **dict.fromkeys(("no_id", "duplicate_id"), _FIX),
        "credential": "nothing: not stored",
        "file_too_long": "convert to JSON lines",
    }
    notes: ClassVar[frozenset[str]] = PROBLEM_NOTES | _NOTES
    capabilities: ClassVar[Capabilities] = Capabilities(permissions=Answer.YES, codeblocks=Answer.YES)
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        """Return the files that hold records of chats."""
        return find_sources(files, self.name)

    def likely_ties(self, source: Source) -> Sequence[int]:
        """Return a number for the export that a file with one collection is a part of."""
        if collection_of_file(source.path) is None:
            return ()
        return [h63("folder", os.fsencode(export_folder(source.path)).hex())]

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
        """Go through the rows, problems and ties of files that are read together."""
        # Imported here, since most runs find their logs unchanged and read none.
        from aix_importers.chat.extraction import extract_chats

        return extract_chats(sources)
