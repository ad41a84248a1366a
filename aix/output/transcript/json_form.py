"""A transcript as JSON: one array with an object per turn, its messages and calls inside, every text whole."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from aix.output.text import to_json
from aix.output.transcript.model import Excerpt
from aix.output.transcript.source import Transcript
from aix.output.transcript.view import View


def json_lines(transcript: Transcript, view: View) -> Iterator[str]:
    """Give a transcript line by line, a turn a line."""
    yield "["
    previous = None
    for turn in transcript.turns:
        if previous is not None:
            yield f"{previous},"
        previous = to_json(plain(view.of(turn)))
    if previous is not None:
        yield previous
    yield "]"


def plain(value: object) -> object:
    """Return what JSON can hold of a value: objects for dataclasses, every text as far as it was fetched."""
    if isinstance(value, Excerpt):
        return value.text
    if isinstance(value, tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value
