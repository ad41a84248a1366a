"""Running text for people: wrapped and coloured on a terminal, line by line elsewhere."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from aix.output.terminal import has_colours
from aix.output.text import escape_unsafe

_NARROWEST = 20
_NARROWEST_QUOTATION = 8


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One line of text that may be wrapped."""

    text: str = ""
    style: str = ""
    mark: str = ""
    """The prefix of the text."""
    is_quote: bool = False
    """Whether the mark stands before every line of it; else the others are indented as deep."""
    is_one_line: bool = False
    """Whether a narrow terminal cuts it, within its first quotation or at its end, instead of wrapping it."""
    mark_style: str | None = None
    """The style of the mark; by default that of the text."""
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

    console = Console(file=stream, highlight=False, color_system="auto" if has_colours() else None)
    for paragraph in paragraphs:
        before = Text(paragraph.mark, style=paragraph.style if paragraph.mark_style is None else paragraph.mark_style)
        shown = escape_unsafe(paragraph.text)
        if paragraph.is_one_line:
            room = console.width - before.cell_len - Text(escape_unsafe(paragraph.tail)).cell_len
            shown = fitted(shown, max(room, _NARROWEST))
        text = Text.assemble((shown, paragraph.style), (escape_unsafe(paragraph.tail), paragraph.tail_style))
        for line in text.wrap(console, max(console.width - before.cell_len, _NARROWEST)) or [Text()]:
            line.rstrip()
            console.print(before + line, soft_wrap=True)
            if not paragraph.is_quote:
                before = Text(" " * before.cell_len)


def fitted(text: str, width: int) -> str:
    """Cut a text to the cells of one line: within its first quotation in backticks, else at its end.

    >>> fitted("Command ran: `rm -rf build/output` (mill, 2 times)", 42)
    'Command ran: `rm -rf bui…` (mill, 2 times)'
    >>> fitted("A sentence without a quotation", 12)
    'A sentence …'
    """
    from rich.cells import cell_len

    from aix.output.tables import shortened

    start = text.find("`")
    end = text.find("`", start + 1)
    quoted = text[start + 1 : end]
    room = width - cell_len(text) + cell_len(quoted)
    if 0 <= start < end and cell_len(text) > width and room >= _NARROWEST_QUOTATION:
        text = f"{text[: start + 1]}{shortened(quoted, room, 'end')}{text[end:]}"
    return shortened(text, width, "end")
