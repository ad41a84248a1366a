"""The importer itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from aix.importing import Candidate, Capabilities, Importer, LoggedSession, Problem, Rows, Source, Ties
from aix_importers.common import EVERYTHING, PROBLEM_ADVICE, PROBLEM_NOTES
from aix_importers.common.tool_ids import is_uuid
from aix_importers.cursor.discovery import find_sources, is_conversation
from aix_importers.cursor.paths import default_places, is_store_of_chat


class CursorImporter(Importer):
    """Reads the conversations that Cursor keeps in databases and transcripts."""

    name: ClassVar[str] = "cursor"
    version: ClassVar[str] = "2"
    tool: ClassVar[str] = "Cursor"
    description: ClassVar[str] = "Chats and agents of Cursor, of the editor and the command line, and its permissions."
    problem_advice: ClassVar[Mapping[str, str]] = PROBLEM_ADVICE
    notes: ClassVar[frozenset[str]] = PROBLEM_NOTES
    capabilities: ClassVar[Capabilities] = EVERYTHING

    def default_places(self) -> Iterable[Path]:
        """Return the folders in which Cursor keeps its data."""
        return default_places()

    def resume_command(self, session: LoggedSession) -> Sequence[str]:
        """Return the command that resumes a chat of the command line; the editor has none for its own."""
        is_of_command_line = session.path is not None and is_store_of_chat(session.path, session.id)
        return ("cursor-agent", "--resume", session.id) if is_of_command_line and is_uuid(session.id) else ()

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        """Return the conversations, and the settings with permission rules."""
        return find_sources(files, self.name)

    def count_sessions(self, sources: Sequence[Source]) -> int:
        """Return how many sources are conversations rather than settings and other parts of a database."""
        return sum(is_conversation(source) for source in sources)

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
        """Go through the rows and problems of conversations that are read together."""
        # Imported here, since most runs find nothing changed and read no conversation.
        from aix_importers.cursor.extraction import extract_all

        return extract_all(sources)
