"""Files that are session logs, and files with the programs they refer to and with events of programs."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache

from aix.importing import Candidate, Source
from aix_importers.common.program_event_kinds import PROGRAM_EVENT_KINDS
from aix_importers.common.recognition import PROGRAM_FILES, Family, may_hold_lines, recognise

_MOST_PROGRAM_BYTES = 2**22
"""A program may hold a long text before it says that it is one."""
_EVENT_FILES = ("program_events.json", "events.json")
_EVENT_SUFFIX = ".wal"
"""How the name ends to which the graph of programs appends its events."""

_PROGRAM_OR_EVENT = re.compile(
    rb'"programType"\s*:|"(?:type|kind|event)"\s*:\s*"(?:%s)"' % "|".join(sorted(PROGRAM_EVENT_KINDS)).encode()
)


def is_program_file(path: str) -> bool:
    """Whether a source of this importer holds programs or their events, by its name."""
    name = path[path.rfind(os.sep) + 1 :].lower()
    return name in PROGRAM_FILES or name in _EVENT_FILES or name.endswith(_EVENT_SUFFIX)


def find_sources(files: Sequence[Candidate], importer: str, given: str | None) -> Iterator[Source]:
    """Go through the logs, and the files of programs and events, among the files.

    `given` is a file that is read with every log instead of those that lie near it.
    """
    programs_in = cache(_programs_in)

    @cache  # thousands of logs lie in a few folders
    def programs_near(folder: str) -> tuple[str, ...]:
        return (*programs_in(folder), *(programs_in(_folder_of(folder)) if folder else ()))

    for file in files:
        if file.claimed_by not in (None, importer) or file.path == given:
            continue
        name = file.name
        if name.lower() in (*PROGRAM_FILES, *_EVENT_FILES):
            if importer in (file.claimed_by, file.was_claimed_by) or _is_of_programs(file):
                yield Source(file.path, may_hold_secrets=True)
        elif may_hold_lines(name) or name.lower().endswith(_EVENT_SUFFIX):
            family = _family_of_claimed(file) if file.claimed_by else recognise(file.path).family
            if family is Family.PROGRAMS:
                yield Source(file.path, may_hold_secrets=True)
            elif family is Family.SESSION_LOG and may_hold_lines(name):
                yield Source(
                    file.path,
                    sidecars=(given,) if given else programs_near(_folder_of(file.path)),
                    may_hold_secrets=_PROGRAM_OR_EVENT.search(file.head()) is not None,
                )
    if given:
        yield Source(given, may_hold_secrets=True)


def _family_of_claimed(file: Candidate) -> Family:
    """Return the family of a file that is this importer's own: at a glance, of events or of entries."""
    return Family.PROGRAMS if _PROGRAM_OR_EVENT.search(file.head()) else Family.SESSION_LOG


def _is_of_programs(file: Candidate) -> bool:
    family = recognise(file.path).family
    if family is None:  # lists of both in one object, for example
        return _PROGRAM_OR_EVENT.search(file.head(_MOST_PROGRAM_BYTES)) is not None
    return family is Family.PROGRAMS or (family is Family.SESSION_LOG and _holds_programs(file))


def _holds_programs(file: Candidate) -> bool:
    return b'"programType"' in file.head(_MOST_PROGRAM_BYTES)


def _folder_of(path: str) -> str:
    return path[: path.rfind(os.sep)]


def _programs_in(folder: str) -> tuple[str, ...]:
    """Return the files of programs in a folder, whether they are imported themselves or not."""
    paths = (f"{folder}{os.sep}{name}" for name in PROGRAM_FILES)
    return tuple(path for path in paths if _holds_programs(Candidate(path, 0, 0, 0)))
