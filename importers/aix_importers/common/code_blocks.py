"""Fenced blocks of code in Markdown.

Of CommonMark it follows the rules for fences, their indentation and list items. Block quotes and HTML blocks are not
known: a fence in a quote is ignored, a fence in HTML counts.
"""

import re
from collections.abc import Iterator

import msgspec

_OPENING = re.compile(r"( *)(?:(`{3,})([^`]*)|(~{3,})(.*))", re.DOTALL)
_LIST_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)])( +)(?=\S)")
_MOST_INDENT = 3
_LINE_END = re.compile(r"\r\n|\n|\r")
_LAST_LINE_END = re.compile(r"(\r\n|\n|\r)\Z")


_LANGUAGE_AND_PATH = re.compile(r"([^\s:]+):(\S+)")
_LINES_AND_PATH = re.compile(r"(\d{1,18}):(\d{1,18}):(\S.*)", re.DOTALL)
_PATH_ATTRIBUTE = re.compile(r"""(?:title|file|filename|path)=(?:"([^"]+)"|'([^']+)'|(\S+))""")
_ENDING = re.compile(r"\.[A-Za-z]\w*\Z")


class FencedBlock(msgspec.Struct, frozen=True):
    """A block of code."""

    language: str | None
    """The first word behind the fence, without a path in it."""
    content: str
    """The lines between the fences, each with its end."""
    path: str | None = None
    """The file that is named behind the fence: ```ts src/a.ts, ```ts:src/a.ts, ```ts title="src/a.ts"."""
    line_start: int | None = None
    """Where the block begins in that file: ```12:14:src/a.ts."""
    line_end: int | None = None

    @property
    def code(self) -> str:
        """The lines between the fences, without the end of the last."""
        return self.content.removesuffix("\n")


def fenced_blocks(text: str) -> Iterator[FencedBlock]:
    r"""Go through the fenced blocks of a text; one that nothing closes runs to the end.

    >>> [(block.language, block.content, block.path) for block in fenced_blocks("Run:\n```sh bin/run.sh\nls\n```\n")]
    [('sh', 'ls\n', 'bin/run.sh')]
    """
    lines = iter(_LINE_END.split(_LAST_LINE_END.sub("", text)))
    margin = 0
    for line in lines:
        item = _LIST_ITEM.match(line)
        indent = len(line) - len(line.lstrip(" "))
        if item and indent <= margin + _MOST_INDENT:
            margin = item.end() if len(item[1]) <= _MOST_INDENT + 1 else item.end() - len(item[1]) + 1
            line = " " * margin + line[margin:]
        elif line.strip() and indent < margin:
            margin = 0
        opening = _OPENING.fullmatch(line)
        if opening and 0 <= len(opening[1]) - margin <= _MOST_INDENT:
            fence = opening[2] or opening[4]
            content = "".join(f"{each}\n" for each in _content(lines, fence, len(opening[1]), margin))
            yield _block(opening[3] if opening[2] else opening[5], content)


def _block(info: str, content: str) -> FencedBlock:
    words = info.split()
    if not words:
        return FencedBlock(None, content)
    part = _LINES_AND_PATH.fullmatch(info.strip())
    if part:
        start, end = int(part[1]), int(part[2])
        return FencedBlock(None, content, part[3], *((start, end) if 0 < start <= end else (None, None)))
    language = words[0]
    joined = _LANGUAGE_AND_PATH.fullmatch(language)
    if joined and _is_path(joined[2]):
        return FencedBlock(joined[1], content, joined[2])
    named = _PATH_ATTRIBUTE.search(info, len(language))
    hints = [named[1] or named[2] or named[3]] if named else words[1:2]
    return FencedBlock(language, content, next(filter(_is_path, hints), None))


def _is_path(text: str) -> bool:
    """Whether a word is a path rather than an option of the block."""
    return not re.search(r"://|[={}]", text) and ("/" in text or "\\" in text or _ENDING.search(text) is not None)


def _content(lines: Iterator[str], fence: str, indent: int, margin: int) -> Iterator[str]:
    closing = re.compile(rf" {{{margin},{margin + _MOST_INDENT}}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    for line in lines:
        if closing.fullmatch(line):
            return
        blanks = len(line) - len(line.lstrip(" "))
        yield line[min(blanks, indent) :]
