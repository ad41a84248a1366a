"""The importer itself."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from aix.importing import Candidate, Capabilities, Importer, LoggedSession, Problem, Retention, Rows, Source, Ties
from aix_importers.claude_code.discovery import find_sources, is_settings
from aix_importers.common import EVERYTHING, PROBLEM_ADVICE, PROBLEM_NOTES
from aix_importers.common.recognition import SUFFIXES, unread_form
from aix_importers.common.tool_ids import is_uuid


class ClaudeCodeImporter(Importer):
    """Reads the transcripts that Claude Code keeps of its sessions."""

    name: ClassVar[str] = "claude_code"
    version: ClassVar[str] = "3"
    tool: ClassVar[str] = "Claude Code"
    description: ClassVar[str] = "Transcripts of Claude Code, with subagents and side calls, and its permission rules."
    problem_advice: ClassVar[Mapping[str, str]] = PROBLEM_ADVICE
    notes: ClassVar[frozenset[str]] = PROBLEM_NOTES
    capabilities: ClassVar[Capabilities] = EVERYTHING
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def default_places(self) -> Iterable[Path]:
        """Return the folders in which Claude Code keeps its data."""
        given = os.environ.get("CLAUDE_CONFIG_DIR")
        if given:
            return [Path(folder.strip()).expanduser() for folder in given.split(",") if folder.strip()]
        config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return [Path.home() / ".claude", Path(config) / "claude"]

    def retention(self, place: Path) -> Retention | None:
        """Return how long Claude Code keeps the transcripts of one of its folders, by the settings there."""
        from aix_importers.claude_code.settings import RETENTION_SETTING, kept_days

        days = kept_days(place / "settings.json")
        return None if days is None else Retention("Claude Code", days, RETENTION_SETTING)

    def resume_command(self, session: LoggedSession) -> Sequence[str]:
        """Return the command that resumes a session; any other text than its id would open a list to choose from."""
        return ("claude", "--resume", session.id) if is_uuid(session.id) else ()

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        """Return the transcripts, and the files with permission rules."""
        return find_sources(files, self.name, self.default_places())

    def count_sessions(self, sources: Sequence[Source]) -> int:
        """Return how many sources are transcripts of sessions rather than of subagents and side calls."""
        names = [Path(source.path).name for source in sources]
        return sum(not name.startswith("agent-") and not is_settings(name) for name in names)

    def likely_ties(self, source: Source) -> Sequence[int]:
        """Return the ties that the beginning and the end of a transcript show."""
        from aix_importers.claude_code.scan import likely_ties

        return () if is_settings(Path(source.path).name) else likely_ties(source)

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
        """Go through the rows and problems of transcripts and of permission rules."""
        # Imported here, since most runs find their logs unchanged and read none.
        from aix_importers.claude_code.extraction import extract_settings, extract_transcripts

        settings = [source for source in sources if is_settings(Path(source.path).name)]
        for source in settings:
            yield from extract_settings(source)
        transcripts = []
        for source in sources:
            if source in settings:
                continue
            problem = unread_form(source)
            if problem:
                yield problem
            else:
                transcripts.append(source)
        if transcripts:
            yield from extract_transcripts(transcripts)
