"""Files that are session logs, and files with the programs they refer to."""

import os
from collections.abc import Iterator, Sequence
from functools import cache

from aix.importing import Candidate, Source
from aix_importers.common.recognition import PROGRAM_FILES, Family, may_hold_lines, recognise

_MOST_PROGRAM_BYTES = 2**22
"""A program may hold a long text before it says that it is one."""


def is_program_file(path: str) -> bool:
    """Whether a file holds programs, by its name."""
    return path[path.rfind(os.sep) + 1 :].lower() in PROGRAM_FILES


def find_sources(files: Sequence[Candidate], importer: str, given: str | None) -> Iterator[Source]:
    """Go through the logs and the files of programs among the files.

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
        if name.lower() in PROGRAM_FILES:
            if importer in (file.claimed_by, file.was_claimed_by) or _is_of_programs(file):
                yield Source(file.path)
        elif may_hold_lines(name) and (file.claimed_by or recognise(file.path).family is Family.SESSION_LOG):
            yield Source(file.path, sidecars=(given,) if given else programs_near(_folder_of(file.path)))
    if given:
        yield Source(given)


def _is_of_programs(file: Candidate) -> bool:
    return _holds_programs(file) and recognise(file.path).family in (Family.SESSION_LOG, None)


def _holds_programs(file: Candidate) -> bool:
    return b'"programType"' in file.head(_MOST_PROGRAM_BYTES)


def _folder_of(path: str) -> str:
    return path[: path.rfind(os.sep)]


def _programs_in(folder: str) -> tuple[str, ...]:
    """Return the files of programs in a folder, whether they are imported themselves or not."""
    paths = (f"{folder}{os.sep}{name}" for name in PROGRAM_FILES)
    return tuple(path for path in paths if _holds_programs(Candidate(path, 0, 0, 0)))
