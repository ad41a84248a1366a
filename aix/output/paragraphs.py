"""Running text for people: wrapped and coloured on a terminal, line by line elsewhere."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from aix.output.text import escape_unsafe

_NARROWEST = 20


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
