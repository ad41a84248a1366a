"""Fenced blocks of code in Markdown.

Of CommonMark it follows the rules for fences, their indentation and list items. Block quotes and HTML blocks are not
known: a fence in a quote is none, one in HTML is one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPENING = re.compile(r"( *)(?:(`{3,})([^`]*)|(~{3,})(.*))", re.DOTALL)
_LIST_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)])( +)(?=\S)")
_MOST_INDENT = 3
_LINE_END = re.compile(r"\r\n|\n|\r")
_LAST_LINE_END = re.compile(r"(\r\n|\n|\r)\Z")


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A block of code."""

    language: str | None
    """The first word behind the fence."""
    content: str
    """The lines between the fences, each with its end."""


def fenced_blocks(text: str) -> Iterator[FencedBlock]:
    r"""Go through the fenced blocks of a text; one that nothing closes runs to the end.

    >>> [*fenced_blocks("Run:\n```sh -x\nls\n```\n")]
    [FencedBlock(language='sh', content='ls\n')]
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
            words = (opening[3] if opening[2] else opening[5]).split()
            content = "".join(f"{each}\n" for each in _content(lines, fence, len(opening[1]), margin))
            yield FencedBlock(words[0] if words else None, content)


def _content(lines: Iterator[str], fence: str, indent: int, margin: int) -> Iterator[str]:
    closing = re.compile(rf" {{{margin},{margin + _MOST_INDENT}}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    for line in lines:
        if closing.fullmatch(line):
            return
        blanks = len(line) - len(line.lstrip(" "))
        yield line[min(blanks, indent) :]
