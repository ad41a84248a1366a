"""A glance at a transcript: the records, agents and session that its beginning and end name.

Files that continue, copy or belong to one another nearly always show it there. Each name is one that reading the file
takes as a tie.
"""

import os
import re
from array import array
from collections import defaultdict
from pathlib import Path

from aix.importing import Source
from aix_importers.claude_code.scan import Ties
from aix_importers.claude_code.source_file import FileKind, source_file

_HEAD_BYTES = 64 * 2**10
_TAIL_BYTES = 16 * 2**10
_RECORDS = ("uuid", "parentUuid", "logicalParentUuid", "leafUuid")
_NAMED = re.compile(rf'"({"|".join(_RECORDS)}|agentId|sessionId|session_id|slug)":\s?"([\w-]{{1,100}})"'.encode())


def likely_ties(source: Source) -> "array[int]":
    """Return the numbers of what a transcript names at its beginning and end."""
    found: dict[str, list[str]] = defaultdict(list)
    for field, name in _NAMED.findall(_ends_of(source.path)):
        found[field.decode()].append(name.decode())
    file = source_file(source)
    sessions = found["sessionId"] + found["session_id"]
    names = {name for field in _RECORDS for name in found[field]}
    names |= {f"agent:{name}" for name in (*found["agentId"], file.agent_id) if name}
    if file.kind is FileKind.MAIN:
        names |= {f"session:{name}" for name in ([file.stem] if file.stem in sessions else sessions[-1:])}
        names |= {f"name:{source.path.rpartition(os.sep)[0]}:{name}" for name in found["slug"][:1]}
    else:
        names |= {f"session:{name}" for name in sessions[:1]}
    ties = Ties()
    for name in names:
        ties.add(name)
    return ties.numbers


def _ends_of(path: str) -> bytes:
    with Path(path).open("rb") as file:
        head = file.read(_HEAD_BYTES)
        size = os.fstat(file.fileno()).st_size
        file.seek(max(len(head), size - _TAIL_BYTES))
        return head + b"\n" + file.read(_TAIL_BYTES)
