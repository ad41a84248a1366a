"""Transcripts without secrets and names."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from aix.output.transcript.model import Excerpt
from aix.output.transcript.source import Transcript

_T = TypeVar("_T")


def redacted(transcript: Transcript, redact: Callable[[str], str], limit: int) -> Transcript:
    """Return a transcript of which every text is redacted, and only then cut: half a secret would not be found."""
    header = None if transcript.header is None else _redacted(transcript.header, redact, limit)
    return Transcript(header, (_redacted(turn, redact, limit) for turn in transcript.turns))


def _redacted(value: _T, redact: Callable[[str], str], limit: int) -> _T:
    made: object = value
    match value:
        case Excerpt():
            text = redact(value.text)
            made = Excerpt(text[:limit], len(text))
        case str():
            made = redact(value)
        case tuple():
            made = tuple(_redacted(each, redact, limit) for each in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            changed = {field.name: _redacted(getattr(value, field.name), redact, limit) for field in fields(value)}
            made = replace(value, **changed)
    return cast("_T", made)
