"""Text for people: escaped where it could act on a terminal, in cells, and in wrapped paragraphs."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import IO

NULL = "NULL"

# Control characters drive terminals, bidirectional marks and invisible tags make text look like other text, lone
# surrogates cannot be encoded, and the line separators start a new line in some readers.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\u3164\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

_NARROWEST = 20


def is_safe(text: str) -> bool:
    """Whether the text can be shown as it is."""
    return _UNSAFE.search(text) is None


def escape_unsafe(text: str) -> str:
    r"""Replace every unsafe character by its JSON escape.

    >>> print(escape_unsafe("\x1b[31mred"))
    \u001b[31mred
    """
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def to_json(value: object) -> str:
    """Write a value as JSON: integers and decimals with all their digits, no character that could act.

    >>> from decimal import Decimal
    >>> to_json({"cost": Decimal("0.000000000001"), "ratio": float("inf"), "seen": [True, None]})
    '{"cost":0.000000000001,"ratio":"Infinity","seen":[true,null]}'
    """
    match value:
        case str():
            return escape_unsafe(json.dumps(value, ensure_ascii=False))
        case None | bool() | int():
            return json.dumps(value)
        case float():
            return json.dumps(value) if isfinite(value) else f'"{json.dumps(value)}"'
        case Decimal():
            return format(value, "f") if value.is_finite() else f'"{value}"'
        case dict() | list() | tuple() if (plain := _plain_json(value)) is not None:
            return plain
        case dict():
            return "{" + ",".join(f"{to_json(str(name))}:{to_json(inner)}" for name, inner in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(to_json, value)) + "]"
        case _:
            return to_json(to_text(value))


def _plain_json(value: object) -> str | None:
    """Write what JSON holds as it is, many times faster than piece by piece; None for anything else."""
    try:
        return escape_unsafe(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError):
        return None


def to_text(value: object) -> str:
    """Write a value that is not NULL as text that is exact and otherwise left as it is."""
    match value:
        case str():
            return value
        case None | bool() | int() | float() | Decimal() | dict() | list() | tuple():
            return to_json(value)
        case bytes():
            return value.hex()
        case _:
            return str(value)


def to_cell(value: object) -> str:
    r"""Write a value on one line for people: bare where that is unmistakable, else as a JSON string.

    >>> [to_cell(value) for value in (None, "NULL", "", "C:\\new", "two\nlines", 12)]
    ['NULL', '"NULL"', '""', 'C:\\new', '"two\\nlines"', '12']
    """
    if value is None:
        return NULL
    text = to_text(value)
    ambiguous = text in ("", NULL) or text[0] == '"' or text != text.strip() or not is_safe(text)
    return to_json(text) if ambiguous else text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One line of text that may be wrapped."""

    text: str = ""
    style: str = ""
    mark: str = ""
    """The prefix of the text."""
    is_quote: bool = False
    """Whether the mark stands before every line of it; else the others are indented as deep."""
    tail: str = ""
    """The suffix of the text, in a style of its own."""
    tail_style: str = "dim"


def paragraph_lines(paragraphs: Iterable[Paragraph]) -> Iterator[str]:
    """Give each paragraph as one line, nothing cut: for pipes and files."""
    for paragraph in paragraphs:
        yield f"{paragraph.mark}{escape_unsafe(paragraph.text)}{escape_unsafe(paragraph.tail)}".rstrip()


def write_paragraphs(paragraphs: Iterable[Paragraph], stream: IO[str]) -> None:
    """Write paragraphs as they come, wrapped at the width of the terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    for paragraph in paragraphs:
        text = Text.assemble(
            (escape_unsafe(paragraph.text), paragraph.style), (escape_unsafe(paragraph.tail), paragraph.tail_style)
        )
        before = Text(paragraph.mark, style=paragraph.style)
        for line in text.wrap(console, max(console.width - before.cell_len, _NARROWEST)) or [Text()]:
            line.rstrip()
            console.print(before + line, soft_wrap=True)
            if not paragraph.is_quote:
                before = Text(" " * before.cell_len)
