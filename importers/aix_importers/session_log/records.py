"""The JSON objects of a log, and what could not be read as one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import jsonlines

from aix.importing import Problem, Source
from aix_importers.common.json_text import (
    DECODER,
    leading_values,
    may_hold_surrogates,
    trailing_objects,
    without_lone_surrogates,
)
from aix_importers.common.jsonl import LONGEST_BYTES, RawLine, raw_lines

_SAMPLE_CHARACTERS = 500
_SKIPPED_BY_JSONLINES = "\ufeff\x1e"


def _decode(text: str | bytes) -> object:
    return DECODER.decode(str(text, "utf-8") if isinstance(text, bytes) else text)


@dataclass(frozen=True, slots=True)
class Record:
    """An object of the log, and the line it stands in."""

    value: dict[str, object]
    line: int
    byte_offset: int
    sample: str


class RecordReader:
    """Goes through the objects of a log; problems lie in between, in the order of the lines."""

    def __init__(self, source: Source, file: BinaryIO) -> None:
        self._source = source
        self._file = file
        self._line = RawLine(0, 0, b"", is_terminated=True)
        self._text = ""
        self._problems: list[Problem] = []

    def __iter__(self) -> Iterator[Record | Problem]:
        reader = jsonlines.Reader(self._texts(), loads=_decode)
        while True:
            values: list[object] = []
            try:
                values = [reader.read(allow_none=True, skip_empty=True)]
            except EOFError:
                yield from self._taken_problems()
                return
            except jsonlines.InvalidLineError:
                values = self._recovered()
            except RecursionError:
                self._note("too_deep", "The line holds JSON that is nested too deeply to be read.")
            records = [record for value in values if (record := self._record(value))]
            yield from self._taken_problems()
            yield from records

    def _texts(self) -> Iterator[str]:
        for line in raw_lines(self._file):
            self._line = line
            self._text = ""
            data = line.data.strip(b"\0")
            if line.is_too_long:
                self._text = data[:_SAMPLE_CHARACTERS].decode("utf-8", "replace")
                self._note("line_too_long", f"The line has more than {LONGEST_BYTES} bytes and was passed over.")
                continue
            if line.data and not data:
                self._note("nul_bytes", f"The line holds nothing but {len(line.data)} NUL bytes.")
                continue
            try:
                self._text = data.decode("utf-8")
            except UnicodeDecodeError:
                self._text = data.decode("utf-8", "replace")
                self._note("invalid_utf8", "The line is not UTF-8; what cannot be read was replaced by U+FFFD.")
            if len(data) < len(line.data):
                self._note("nul_bytes", f"{len(line.data) - len(data)} NUL bytes around the line were left out.")
            yield self._text

    def _recovered(self) -> list[object]:
        text = self._text.lstrip(_SKIPPED_BY_JSONLINES)
        try:
            values, end = leading_values(text)
            if end < len(text) and not self._line.is_terminated:
                self._note("truncated_line", "The last line of the log breaks off; it may still be being written.")
            elif end < len(text):
                whole = trailing_objects(text, end)
                what = "the whole ones behind it were taken" if whole else "it was passed over"
                self._note("not_json", f"From character {end + 1} on the line is not JSON; {what}.")
                values += whole
        except RecursionError:
            self._note("too_deep", "The line holds JSON that is nested too deeply to be read.")
            return []
        if len(values) > 1:
            self._note("several_values", f"The line holds {len(values)} values instead of one; each was taken.")
        return values

    def _record(self, value: object) -> Record | None:
        if not isinstance(value, dict):
            self._note("not_an_object", "The line holds JSON that is not an object.")
            return None
        if may_hold_surrogates(self._text):
            try:
                cleaned = without_lone_surrogates(value)
            except RecursionError:
                self._note("too_deep", "The line holds JSON that is nested too deeply to be read.")
                return None
            if cleaned != value and isinstance(cleaned, dict):
                self._note("lone_surrogate", "The line holds halves of characters; they were replaced by U+FFFD.")
                value = cleaned
        return Record(value, self._line.number, self._line.byte_offset, self._text[:_SAMPLE_CHARACTERS])

    def _note(self, kind: str, reason: str) -> None:
        sample = self._text[:_SAMPLE_CHARACTERS] or None
        self._problems.append(Problem(self._source, kind, reason, self._line.number, self._line.byte_offset, sample))

    def _taken_problems(self) -> list[Problem]:
        taken, self._problems = self._problems, []
        return taken
