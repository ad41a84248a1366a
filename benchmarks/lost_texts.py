"""The texts of a log that its rows hold: a mutant must still give those of the lines that it leaves as they are."""

from collections.abc import Iterator, Mapping
from typing import Any

from aix.importing import Rows
from aix_importers.common.claude_code_record_types import COUNTED_TYPES
from benchmarks.record_balance import WHOLE_FILE, Line, Outcome, decode, lines_of, name_of

_SEPARATOR = "\x1f"
_LEAST_CHARACTERS = 3
_SPOKEN = ("message", "attachment", "content")
"""Fields of a record whose texts are what was said or done; the others may be stated by several records."""
_UNSPOKEN = {
    "id", "uuid", "type", "role", "model", "timestamp", "stop_reason", "stop_sequence", "service_tier", "signature",
    "requestId", "agentId", "tool_use_id", "media_type", "speed", "inference_geo", "data",
}  # fmt: skip


class RowTexts:
    """All texts of some rows."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._joined: str | None = None

    def add(self, rows: Rows) -> None:
        """Take the texts of rows, and those in their JSON."""
        for name, values in rows.columns.items():
            is_json = name.endswith("_json")
            for value in values:
                if isinstance(value, str):
                    self._texts += texts_in(decode(value)) if is_json else [value]
        self._joined = None

    def __contains__(self, text: str) -> bool:
        if self._joined is None:
            self._joined = _SEPARATOR.join(self._texts)
        return text in self._joined


def texts_in(value: object) -> Iterator[str]:
    """Go through the texts in a value."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                if name not in _UNSPOKEN:
                    yield from texts_in(inner)
        case list():
            for inner in value:
                yield from texts_in(inner)
        case _:
            pass


def spoken_texts(record: dict[str, Any]) -> list[str]:
    """Return what a record says, without names and times."""
    if record.get("type") in COUNTED_TYPES:
        return []
    data = record.get("data")
    fields = [record[name] for name in _SPOKEN if name in record]
    fields += [data["message"]] if isinstance(data, dict) and "message" in data else []
    return [text for text in texts_in(fields) if len(text) >= _LEAST_CHARACTERS]


def kept_texts(content: bytes, texts: RowTexts) -> dict[bytes, list[str]]:
    """Return by line of a log the texts of the line that rows hold."""
    lines = content.split(b"\n")
    found: dict[bytes, list[str]] = {}
    for line in lines_of(content):
        if line.record is not None:
            kept = [text for text in spoken_texts(line.record) if text in texts]
            if kept:
                found[lines[line.number - 1]] = kept
    return found


def lost_texts(
    logs: Mapping[str, bytes], kept: Mapping[bytes, list[str]], texts: RowTexts, outcome: Outcome
) -> Iterator[tuple[str, Line, str]]:
    """Go through the texts that rows of logs should hold, of records that no problem names: path, line and text."""
    open_texts: list[tuple[str, Line, str]] = []
    explained: set[str | None] = set()
    for path, content in logs.items():
        problems = outcome.problems[path]
        lines = content.split(b"\n")
        for line in lines_of(content):
            if problems.get(line.number) or WHOLE_FILE & problems.get(None, set()):
                explained.add(name_of(line))
            else:
                expected = kept.get(lines[line.number - 1], ())
                open_texts += ((path, line, text) for text in expected if text not in texts)
    for path, line, text in open_texts:
        if name_of(line) is None or name_of(line) not in explained:
            yield path, line, text
