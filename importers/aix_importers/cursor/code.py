"""Blocks of code in an answer: those that the log lists, and the fences of its text that the list leaves out."""

import re
from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from msgspec import Raw

from aix_importers.common.row_writer import Code
from aix_importers.cursor.paths import normal_path, uri_key, uri_path
from aix_importers.cursor.values import ABSENT, count, field, fields, inner, items, text

_FENCE = re.compile(r"[ \t]*(?:(`{3,})([^`]*)|(~{3,})(.*))")
_CITATION = re.compile(r"(\d{1,18}):(\d{1,18}):(.+)")
_LANGUAGE_AND_PATH = re.compile(r"([^\s:]+):(\S.*)")


def fences(content: str) -> list[Code]:
    r"""Return the fenced blocks of a text; one that nothing closes runs to the end.

    >>> [code.file_path for code in fences("```ts:src/a.ts\nx\n```\n```1:2:b.py\ny")]
    ['src/a.ts', 'b.py']
    """
    if "```" not in content and "~~~" not in content:
        return []
    return list(_fences(content.split("\n")))


def _fences(lines: list[str]) -> Iterator[Code]:
    if lines and not lines[-1]:
        lines.pop()
    place = 0
    while place < len(lines) - 1:
        opening = _FENCE.fullmatch(lines[place].rstrip("\r"))
        place += 1
        if opening is None:
            continue
        fence = opening[1] or opening[3]
        begin = place
        while place < len(lines) and not _closes(lines[place], fence):
            place += 1
        yield _code("\n".join(lines[begin:place]), (opening[2] if opening[1] else opening[4]).strip())
        place += 1


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and mark == fence[0] * len(mark)


def _code(content: str, info: str) -> Code:
    if citation := _CITATION.fullmatch(info):
        start, end = int(citation[1]), int(citation[2])
        is_range = 0 < start <= end
        return Code(content, None, normal_path(citation[3]), start if is_range else None, end if is_range else None)
    if named := _LANGUAGE_AND_PATH.fullmatch(info):
        return Code(content, named[1], normal_path(named[2]))
    return Code(content, info.split()[0] if info else None)


class CodeBlockData:
    """Data of a composer about blocks of code, by file and version."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw

    def find(self, uri: str | None, version: int | None) -> Raw:
        """Return what is known of a block."""
        return self._blocks.get((uri or "", version or 0), ABSENT)

    @cached_property
    def _blocks(self) -> dict[tuple[str, int], Raw]:
        found: dict[tuple[str, int], Raw] = {}
        for uri, listed in fields(self._raw).items():
            for place, item in enumerate(items(listed) or fields(listed).values()):
                version = count(field(item, "version"))
                found.setdefault((uri, place if version is None else version), item)
        return found


class ListedCode(NamedTuple):
    """The blocks of an answer."""

    blocks: list[Code]
    statuses: list[dict[str, object]]
    """Decisions of the user about edits, by the place of their block."""
    unknown: int
    """How many entries have no content anywhere."""


def code_of(listed: Raw, content: str | None, data: CodeBlockData) -> ListedCode:
    """Return the blocks of an answer in their order."""
    fenced = fences(content or "")
    placed: list[tuple[int, int, Code]] = []
    statuses: list[dict[str, object]] = []
    taken: set[int] = set()
    unknown = 0
    for number, raw in enumerate(items(listed)):
        entry = inner(raw)
        place = count(field(entry, "codeBlockIdx"))
        uri = field(entry, "uri")
        known = data.find(uri_key(uri), count(field(entry, "version")))
        code = text(field(entry, "content"))
        if code is None:
            code = text(field(known, "content"))
        if place is None:
            place = number
        else:
            taken.add(place)
            if code is None and place < len(fenced):
                code = fenced[place].content
        if status := text(field(known, "status")):
            statuses.append({"idx": place, "status": status})
        if code is None:
            unknown += 1
            continue
        language = text(field(entry, "languageId")) or text(field(known, "languageId")) or None
        placed.append((place, 0, Code(code, language, uri_path(uri))))
    placed += [(place, 1, fence) for place, fence in enumerate(fenced) if place not in taken]
    placed.sort(key=itemgetter(0, 1))
    return ListedCode([code for _, _, code in placed], statuses, unknown)
