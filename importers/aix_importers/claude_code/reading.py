"""The records of a transcript or of a capture of the SDK, and what could not be read as one."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
from msgspec import Raw, Struct

from aix.importing import Problem, Source
from aix_importers.claude_code.classification import Kind, kind_of_system
from aix_importers.claude_code.records import (
    KNOWN_FIELDS,
    NOTHING,
    UNREADABLE,
    Record,
    decode_loosely,
    decode_object,
    decode_objects,
    decode_record,
    derived_uuid,
    text_of,
)
from aix_importers.common.json_text import leading_values, without_lone_surrogates
from aix_importers.common.jsonl import LONGEST_BYTES, RawLine, raw_lines

_SAMPLE_BYTES = 500
_BOM = b"\xef\xbb\xbf"
_LONE_SURROGATE = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]")
_STREAM_FIELDS = {
    "agents", "apiKeySource", "claude_code_version", "duration_api_ms", "duration_ms", "is_error", "mcp_servers",
    "model", "modelUsage", "num_turns", "output_style", "permission_denials", "plugins", "result", "skills",
    "slash_commands", "subtype", "tools", "total_cost_usd", "usage",
}  # fmt: skip
"""Names of fields that only captures of the SDK have."""


class _Metadata(Struct, gc=False):
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None


class _Denial(Struct, gc=False):
    tool_use_id: str | None = None


class StreamNormaliser:
    """Gives the records of one capture what those of a transcript have.

    The SDK streams records of another spelling, without parents and times. Each follows the one before it in the same
    conversation, and the call that started a subagent shows which conversation is the subagent's.
    """

    def __init__(self) -> None:
        self._last: dict[str | None, str] = {}
        self._cwd: str | None = None
        self._version: str | None = None

    def normalise(self, record: Record, line: int) -> None:
        """Fill in a record, if it is one of a capture."""
        if record.snake_session_id is None or record.session_id is not None:
            return
        record.session_id = record.snake_session_id
        if record.subtype == "init":
            self._cwd, self._version = record.cwd, text_of(_field(record, "claude_code_version"))
        record.cwd, record.version = record.cwd or self._cwd, record.version or self._version
        if record.uuid is None:
            record.uuid = f"stream:{record.session_id}:{line}"
        call = record.snake_parent_tool_use_id
        record.parent_uuid = self._last.get(call)
        record.is_sidechain = call is not None
        self._last[call] = record.uuid
        if record.snake_compact_metadata:
            record.compact_metadata = _metadata(record.snake_compact_metadata)


def tools_of(record: Record) -> list[str]:
    """Return the tools that the beginning of a capture lists."""
    try:
        return msgspec.json.decode(_field(record, "tools"), type=list[str])
    except UNREADABLE:
        return []


def denied_calls(record: Record) -> list[str]:
    """Return the calls that the end of a capture says were denied."""
    denials = decode_objects(_Denial, _field(record, "permission_denials"))
    return [denial.tool_use_id for denial in denials if denial.tool_use_id]


def _field(record: Record, name: str) -> Raw:
    return (record.unknown or {}).get(name, NOTHING)


def _metadata(raw: Raw) -> Raw:
    found = decode_object(_Metadata, raw)
    if found is None:
        return NOTHING
    named = {"trigger": found.trigger, "preTokens": found.pre_tokens, "postTokens": found.post_tokens}
    return Raw(msgspec.json.encode({name: value for name, value in named.items() if value is not None}))


class Located(Struct, gc=False, frozen=True):
    """A record, and where its line stands."""

    record: Record
    line: int
    byte_offset: int


class TranscriptReader:
    """Goes through the records of a transcript; problems lie in between, in the order of the lines."""

    def __init__(self, source: Source, file: BinaryIO, *, from_here: bool = False) -> None:
        self._source = source
        self._file = file
        self._start = file.tell() if from_here else 0
        self._problems: list[Problem] = []
        self._unknown: Counter[str] = Counter()
        self._stream = StreamNormaliser()

    def __iter__(self) -> Iterator[Located | Problem]:
        for line in raw_lines(self._file, self._start):
            data = line.data
            if not data or data.isspace():
                continue
            for record in self._records(line, data):
                self._stream.normalise(record, line.number)
                if not record.uuid:
                    self._name(record, line)
                if record.unknown:
                    unknown = record.unknown.keys() - KNOWN_FIELDS
                    self._unknown.update(unknown - _STREAM_FIELDS if record.snake_session_id is not None else unknown)
                yield Located(record, line.number, line.byte_offset)
            if self._problems:
                yield from self._problems
                self._problems = []
        for name, count in sorted(self._unknown.items()):
            reason = f"{count} records have the field {name}, which is not known; it was kept as metadata."
            yield Problem(self._source, "unknown_field", reason)

    def _name(self, record: Record, line: RawLine) -> None:
        """Give a uuid to a record that should have one."""
        if record.type in ("user", "assistant"):
            content = record.message
            if not content:
                self._note(line, "no_message", "The record has neither a uuid nor a message, and was left out.")
                return
        elif record.type == "system" and kind_of_system(record) is not Kind.OTHER:
            content = Raw(b"%s:%s" % ((record.subtype or "").encode(), bytes(record.content)))
        else:
            return
        record.uuid = derived_uuid(record.session_id, record.timestamp, content)
        if "uuid" not in (record.unknown or {}):  # else it was noted as one of the wrong type
            self._note(line, "no_uuid", "The record has no uuid; what it says stands for one.")

    def _records(self, line: RawLine, data: bytes) -> list[Record]:
        try:
            return self._read(line, data)
        except RecursionError:
            self._note(line, "too_deep", "The line holds JSON that is nested too deeply to be read.")
            return []

    def _read(self, line: RawLine, data: bytes) -> list[Record]:
        try:
            record = decode_record(data)
            return [record] if _is_sound(data) else self._recovered(line)
        except msgspec.ValidationError:
            return self._read_oddly(line, data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._recovered(line)

    def _read_oddly(self, line: RawLine, data: bytes) -> list[Record]:
        """Read a record that is JSON, but has fields or values that others do not have."""
        if not _is_sound(data):
            return self._recovered(line)
        try:
            record, wrong = decode_loosely(data)
        except RecursionError:
            self._note(line, "too_deep", "The line holds JSON that is nested too deeply to be read.")
            return []
        except msgspec.ValidationError:
            self._note(line, "not_an_object", "The line holds JSON that is not an object.")
            return []
        except msgspec.DecodeError:  # an unknown field stands before the place where it stops being JSON
            return self._recovered(line)
        if wrong:
            self._note(line, "wrong_type", f"Not usable, and kept only as metadata: {', '.join(wrong)}.")
        return [record]

    def _recovered(self, line: RawLine) -> list[Record]:
        """Read what can be read of a line that is not JSON, or not text."""
        if line.is_too_long:
            self._note(line, "line_too_long", f"The line has more than {LONGEST_BYTES} bytes and was skipped.")
            return []
        data = line.data.strip(b"\0")
        if not data:
            self._note(line, "nul_bytes", f"The line holds nothing but {len(line.data)} NUL bytes.")
            return []
        if len(data) < len(line.data):
            self._note(line, "nul_bytes", f"{len(line.data) - len(data)} NUL bytes around the line were left out.")
        if data.startswith(_BOM):
            self._note(line, "bom", "The line begins with a byte order mark, which was left out.")
            while data.startswith(_BOM):
                data = data.removeprefix(_BOM)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
            self._note(line, "invalid_utf8", "The line is not UTF-8; what cannot be read was replaced by U+FFFD.")
        return [record for value in self._values(line, text) for record in self._of_value(line, value)]

    def _values(self, line: RawLine, text: str) -> list[object]:
        values, end = leading_values(text)
        if end < len(text) and not line.is_terminated:
            self._note(line, "truncated_line", "The last line breaks off; it may still be being written.")
        elif end < len(text):
            # What looks like an object behind the broken place may be a part of the one that is broken.
            self._note(line, "not_json", f"From character {end + 1} on the line is not JSON, and was skipped.")
        if len(values) > 1:
            self._note(line, "several_values", f"The line holds {len(values)} values instead of one; each was taken.")
        return values

    def _of_value(self, line: RawLine, value: object) -> list[Record]:
        if not isinstance(value, dict):
            self._note(line, "not_an_object", "The line holds JSON that is not an object.")
            return []
        cleaned = without_lone_surrogates(value)
        if cleaned != value:
            self._note(line, "lone_surrogate", "The line holds halves of characters; they were replaced by U+FFFD.")
        data = json.dumps(cleaned, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            return [decode_record(data)]
        except msgspec.ValidationError:
            return self._read_oddly(line, data)

    def _note(self, line: RawLine, kind: str, reason: str) -> None:
        sample = line.data[:_SAMPLE_BYTES].decode("utf-8", "replace")
        self._problems.append(Problem(self._source, kind, reason, line.number, line.byte_offset, sample))


def _is_sound(data: bytes) -> bool:
    """Whether all of a line can be kept as text, also those parts that were not decoded."""
    if b"\\u" in data and (b"\\ud" in data or b"\\uD" in data) and _LONE_SURROGATE.search(data):
        return False
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
