"""Records of a log: the JSON objects of its lines, what could not be read as one, and the entries that they hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import BinaryIO, TypeGuard

import jsonlines

from aix.importing import Problem, Source
from aix_importers.common.json_text import (
    DECODER,
    LARGEST_NUMBER,
    OddNumber,
    compact_json,
    leading_values,
    may_hold_surrogates,
    trailing_objects,
    without_lone_surrogates,
)
from aix_importers.common.jsonl import LONGEST_BYTES, RawLine, raw_lines
from aix_importers.common.times import read_time, write_time

_SAMPLE_CHARACTERS = 500
_SKIPPED_BY_JSONLINES = "\ufeff\x1e"
_SPELLINGS = {
    "input": ("inputTokens", "input_tokens"),
    "output": ("outputTokens", "output_tokens"),
    "cache_read": ("cacheReadTokens", "cache_read_tokens", "cacheReadInputTokens", "cache_read_input_tokens"),
    "cache_write": (
        "cacheWriteTokens",
        "cache_write_tokens",
        "cacheCreationInputTokens",
        "cache_creation_input_tokens",
    ),
}
ABSENT = "aix:absent"
"""The key of the metadata that lists the fields an entry lacks although a column holds a value for them."""


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


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts; what is not said is not known."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether anything is said at all."""
        return (self.input, self.output, self.cache_read, self.cache_write) != (None, None, None, None)

    @property
    def context(self) -> int | None:
        """The whole input, where the uncached part of it is known."""
        if self.input is None:
            return None
        whole = self.input + (self.cache_read or 0) + (self.cache_write or 0)
        return whole if whole <= LARGEST_NUMBER else None

    def exclusive(self) -> "Usage":
        """Return the same usage, where the input that was stated includes what was read from the cache."""
        if self.input is None or self.cache_read is None:
            return self
        uncached = self.input - self.cache_read
        return Usage(uncached if uncached >= 0 else None, self.output, self.cache_read, self.cache_write)


def read_usage(stated: Mapping[str, object]) -> tuple[Usage, list[str]]:
    """Return the usage, and the names of values that are no counts."""
    counts: dict[str, int] = {}
    wrong: list[str] = []
    for name, spellings in _SPELLINGS.items():
        for spelling in spellings:
            value = stated.get(spelling)
            count = read_count(value)
            if count is not None:
                counts.setdefault(name, count)
            elif value is not None:
                wrong.append(spelling)
    return Usage(**counts), wrong


def read_count(value: object) -> int | None:
    """Return a whole number that a column can hold; NULL for anything else.

    >>> [read_count(value) for value in (3, 3.0, True, -1, 2**63, 3.5, "3")]
    [3, 3, None, None, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return None
    return int(value) if 0 <= value <= LARGEST_NUMBER else None


class UnusableEntryError(Exception):
    """An object that cannot be a message of a conversation."""

    def __init__(self, kind: str, reason: str) -> None:
        self.kind = kind
        self.reason = reason


@dataclass(slots=True)
class Entry:
    """One message of the log. What has a wrong type is NULL here, and as it came in the metadata."""

    uuid: str
    role: str
    parent_uuid: str | None
    session_id: str | None
    time: int | None
    content: str | None
    model: str | None
    provider: str | None
    request_id: str | None
    situation: str | None
    latency_ms: int | None
    usage: Usage
    metadata_json: str
    digest: bytes
    """The same for entries that say the same, in whichever session."""
    wrong: list[str] = field(default_factory=list)
    """Names of the fields whose values cannot be used."""


def read_entry(raw: Mapping[str, object]) -> Entry:
    """Read an entry, or raise `UnusableEntryError`."""
    message = raw.get("message")
    if not isinstance(message, dict):
        raise UnusableEntryError("no_message", "The entry holds no message.")
    role = message.get("role")
    if role not in ("user", "assistant"):
        raise UnusableEntryError("unknown_role", "The role of the message is neither user nor assistant.")
    reader = _FieldReader()
    uuid = reader.text(raw, "uuid")
    if uuid is None:
        raise UnusableEntryError("no_uuid", "The entry has no uuid.")
    is_assistant = role == "assistant"
    session_id = reader.text(raw, "sessionId")
    time = read_time(raw.get("timestamp"))
    content = reader.content(message)
    metadata_json = _metadata(raw, message, time)
    everything = "\x1f".join((role, str(time), metadata_json, content or ""))
    return Entry(
        uuid=uuid,
        role=role,
        parent_uuid=reader.text(raw, "parentUuid"),
        session_id=session_id,
        time=time,
        content=content,
        model=reader.text(message, "model") if is_assistant else None,
        provider=reader.text(raw, "provider"),
        request_id=reader.text(raw, "requestId"),
        situation=reader.text(raw, "situation"),
        latency_ms=reader.duration(raw, "latencyMs"),
        usage=reader.usage(message) if is_assistant else Usage(),
        metadata_json=metadata_json,
        digest=sha256(everything.encode()).digest(),
        wrong=reader.wrong,
    )


class _FieldReader:
    """Reads fields one by one and remembers those that hold something else than they should."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def text(self, fields: Mapping[str, object], name: str) -> str | None:
        value = fields.get(name)
        if is_text(value):
            return value or None
        self._expect_nothing(name, value)
        return None

    def content(self, message: Mapping[str, object]) -> str | None:
        value = message.get("content")
        if is_text(value):
            return value
        self.wrong.append("content")
        return None

    def duration(self, fields: Mapping[str, object], name: str) -> int | None:
        value = fields.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER:
            return min(round(value), LARGEST_NUMBER)
        self._expect_nothing(name, value)
        return None

    def usage(self, message: Mapping[str, object]) -> Usage:
        value = message.get("usage")
        if not isinstance(value, dict):
            self._expect_nothing("usage", value)
            return Usage()
        usage, wrong = read_usage(value)
        self.wrong.extend(f"usage.{name}" for name in wrong)
        return usage

    def _expect_nothing(self, name: str, value: object) -> None:
        if value is not None:
            self.wrong.append(name)


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value is text; a number that only looks like text here is not."""
    return isinstance(value, str) and not isinstance(value, OddNumber)


def _metadata(raw: Mapping[str, object], message: Mapping[str, object], time: int | None) -> str:
    """Return everything that has no column which holds it exactly, as JSON."""
    rest = {name: value for name, value in raw.items() if name not in ("message", ABSENT)}
    inner = {name: value for name, value in message.items() if name != "role"}
    absent = []
    for name, fields, is_held in (
        ("content", inner, is_text(inner.get("content"))),
        ("sessionId", rest, is_text(rest.get("sessionId")) and rest["sessionId"] != ""),
        ("timestamp", rest, time is not None and rest.get("timestamp") == write_time(time)),
    ):
        if is_held:
            del fields[name]
        elif name not in fields:
            absent.append(name)
    if inner:
        rest["message"] = inner
    if absent:
        rest[ABSENT] = absent
    return compact_json(rest)
