"""Which files are session logs, and which hold the programs they refer to."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache

from aix.importing import Candidate, Source

PROGRAM_FILES = ("programs.json", "programs.jsonl")
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*(:?)|[{}\[\]]')
_MOST_LINES = 50
_HEAD_BYTES = 16_384


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
            if importer in (file.claimed_by, file.was_claimed_by) or _holds_programs(file.head()):
                yield Source(file.path)
        elif name.endswith(".jsonl") and (file.claimed_by or holds_entry(file.head(_HEAD_BYTES))):
            yield Source(file.path, sidecars=(given,) if given else programs_near(_folder_of(file.path)))
    if given:
        yield Source(given)


def holds_entry(head: bytes) -> bool:
    """Whether the beginning of a file has a line that looks like an entry; the last line may be cut."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return any(_is_entry(line.strip(b"\0")) for line in lines[:_MOST_LINES])


def _is_entry(line: bytes) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _begins_like_entry(line)
    if not isinstance(value, dict) or not isinstance(message := value.get("message"), dict):
        return False
    return "uuid" in value and "sessionId" in value and "role" in message and "type" not in value


def _begins_like_entry(line: bytes) -> bool:
    """Whether the keys of an object that breaks off are those of an entry."""
    path: list[bytes] = []
    seen: set[bytes] = set()
    key = b""
    for token in _TOKEN.finditer(line):
        if token[0] in b"{[":
            path.append(key)
        elif token[0] in b"}]":
            del path[-1:]
        elif token[2]:
            key = token[1]
            if key == b"type" and len(path) == 1:
                return False
            seen.add(b"/".join([*path[1:], key]))
    return line.startswith(b"{") and {b"uuid", b"sessionId", b"message/role"} <= seen


def _holds_programs(head: bytes) -> bool:
    return b'"programType"' in head


def _folder_of(path: str) -> str:
    return path[: path.rfind(os.sep)]


def _programs_in(folder: str) -> tuple[str, ...]:
    """Return the files of programs in a folder, whether they are imported themselves or not."""
    paths = (f"{folder}{os.sep}{name}" for name in PROGRAM_FILES)
    return tuple(path for path in paths if _holds_programs(Candidate(path, 0, 0, 0).head()))
