"""Records of JSON lines: the objects of the lines, and problems for whatever cannot be read as one."""

from collections.abc import Callable, Iterator
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

SAMPLE_CHARACTERS = 500
_SKIPPED_BY_JSONLINES = "\ufeff\x1e"


@dataclass(frozen=True, slots=True)
class Record:
    """An object of the log, and the line it stands in."""

    value: dict[str, object]
    line: int
    byte_offset: int
    sample: str | None


class RecordReader:
    """Goes through the objects of a log; problems lie in between, in the order of the lines.

    Where lines may hold credentials, records and problems carry no sample of them. `decode` reads the JSON of a whole
    line, and then has to handle lone surrogates too, which are replaced otherwise.
    """

    def __init__(
        self,
        source: Source,
        file: BinaryIO,
        *,
        has_samples: bool = True,
        decode: Callable[[str], object] | None = None,
    ) -> None:
        self._source = source
        self._file = file
        self._decode = decode
        self._sample_characters = SAMPLE_CHARACTERS if has_samples else 0
        self._line = RawLine(0, 0, b"", is_terminated=True)
        self._text = ""
        self._problems: list[Problem] = []

    def __iter__(self) -> Iterator[Record | Problem]:
        reader = jsonlines.Reader(self._texts(), loads=self._loads)
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

    def _loads(self, text: str | bytes) -> object:
        whole = str(text, "utf-8") if isinstance(text, bytes) else text
        return (self._decode or DECODER.decode)(whole)

    def _texts(self) -> Iterator[str]:
        for line in raw_lines(self._file):
            self._line = line
            self._text = ""
            data = line.data.strip(b"\0")
            if line.is_too_long:
                self._text = data[:SAMPLE_CHARACTERS].decode("utf-8", "replace")
                self._note("line_too_long", f"The line has more than {LONGEST_BYTES} bytes and was skipped.")
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
                what = "the whole ones behind it were taken" if whole else "it was skipped"
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
        if self._decode is None and may_hold_surrogates(self._text):
            try:
                cleaned = without_lone_surrogates(value)
            except RecursionError:
                self._note("too_deep", "The line holds JSON that is nested too deeply to be read.")
                return None
            if cleaned != value and isinstance(cleaned, dict):
                self._note("lone_surrogate", "The line holds halves of characters; they were replaced by U+FFFD.")
                value = cleaned
        return Record(value, self._line.number, self._line.byte_offset, self._sample())

    def _note(self, kind: str, reason: str) -> None:
        line = self._line
        self._problems.append(Problem(self._source, kind, reason, line.number, line.byte_offset, self._sample()))

    def _sample(self) -> str | None:
        return self._text[: self._sample_characters] or None

    def _taken_problems(self) -> list[Problem]:
        taken, self._problems = self._problems, []
        return taken
