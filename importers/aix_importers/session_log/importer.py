"""The importer itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from aix.errors import UnknownNameError
from aix.importing import Answer, Candidate, Capabilities, Importer, Problem, Rows, Source
from aix_importers.common import PROBLEM_ADVICE, PROBLEM_NOTES
from aix_importers.common.recognition import SUFFIXES, Family, recognise, unread_form
from aix_importers.common.record_forms import Form
from aix_importers.session_log.discovery import find_sources, is_program_file

PROGRAM_ADVICE = {
    **dict.fromkeys(("unknown_program_type", "unknown_lifecycle", "unknown_event", "not_canonical"), "nothing: kept"),
    **dict.fromkeys(("unknown_principal_type", "no_program", "no_tag"), "nothing: kept"),
    "repeated_event": "nothing: it is there once",
    **dict.fromkeys(("self_reference", "reference_cycle", "delegation_cycle"), "fix the programs"),
    "credentials": "nothing: never stored",
}
"""By kind of problem with programs and events: what a user can do about it."""
_LOST = dict.fromkeys(("no_uuid", "no_time", "no_session"), "add the missing field")
"""Entries that lack these are skipped, or, without a session, placed by the one before them."""
PROGRAM_NOTES = frozenset(PROGRAM_ADVICE) - {"credentials"}
"""Those of them that are about records that were read whole."""
_FORMS_OF_PROGRAMS = (Form.LINES, Form.ARRAY, Form.SPREAD)
_USAGE = ("exclusive", "inclusive")


class SessionLogImporter(Importer):
    """Reads logs of `SessionLogEntry` lines, and files of the programs that they refer to and of their events."""

    name: ClassVar[str] = "session_log"
    version: ClassVar[str] = "3"
    description: ClassVar[str] = (
        "Session logs of JSON lines with uuid, sessionId and message; programs.json[l] and events."
    )
    problem_advice: ClassVar[Mapping[str, str]] = PROBLEM_ADVICE | PROGRAM_ADVICE | _LOST
    notes: ClassVar[frozenset[str]] = (PROBLEM_NOTES | PROGRAM_NOTES) - _LOST.keys()
    capabilities: ClassVar[Capabilities] = Capabilities(usage=Answer.YES, permissions=Answer.YES, codeblocks=Answer.YES)
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES
    option_help: ClassVar[Mapping[str, str]] = {
        "programs": "The file of programs to resolve @(id) with, instead of programs.json[l] near the log.",
        "usage": "`exclusive` (default), or `inclusive` where inputTokens includes what was read from the cache.",
        "origin": "What the ledger calls these logs, instead of session-log.",
    }

    @property
    def origin(self) -> str:
        """Name of these logs in the ledger."""
        return self.options.get("origin") or super().origin

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        """Return the session logs and the files of programs."""
        self._check_options()
        return find_sources(files, self.name, self._given_programs)

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        """Go through the rows and problems of logs and of files of programs."""
        # Imported here, since most runs find their logs unchanged and read none.
        from aix_importers.session_log.extraction import extract_log, extract_programs

        is_inclusive = self.options.get("usage") == "inclusive"
        for source in sources:
            recognised = recognise(source.path)
            is_of_programs = recognised.family is Family.PROGRAMS or self._is_named_as_programs(source.path)
            if is_of_programs and recognised.form in _FORMS_OF_PROGRAMS:
                yield from extract_programs(source, self.origin)
            elif problem := unread_form(source):
                yield problem
            else:
                yield from extract_log(source, self.origin, is_usage_inclusive=is_inclusive)

    def _check_options(self) -> None:
        usage = self.options.get("usage", _USAGE[0])
        if usage not in _USAGE:
            raise UnknownNameError("way to read usage", usage, _USAGE)

    def _is_named_as_programs(self, path: str) -> bool:
        return is_program_file(path) or path == self._given_programs

    @property
    def _given_programs(self) -> str | None:
        given = self.options.get("programs")
        return str(Path(given).absolute()) if given else None
