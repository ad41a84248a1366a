"""An entry of a session log: what its fields say, and everything else as it came."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeGuard

from aix_importers.common.json_text import OddNumber, compact_json
from aix_importers.common.times import read_time, write_time
from aix_importers.session_log.usage import LARGEST, Usage, read_usage

ABSENT = "aix:absent"
"""The key of the metadata that lists the fields an entry lacks although a column holds a value for them."""


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
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST:
            return min(round(value), LARGEST)
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
