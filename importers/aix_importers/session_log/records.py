"""Entries of a log: the messages that its records hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from aix_importers.common.json_text import LARGEST_NUMBER, compact_json, is_text
from aix_importers.common.secrets import without_secrets
from aix_importers.common.times import read_time, write_time
from aix_importers.session_log.principals import Principal, read_principal

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
_IDS = frozenset(["uuid", "parentUuid", "sessionId", "requestId"])
"""Fields that are no credentials, however random they look."""
ABSENT = "aix:absent"
"""The key of the metadata that lists the fields an entry lacks although a column holds a value for them."""


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
    principal: Principal | None
    usage: Usage
    metadata_json: str
    digest: bytes
    """The same for entries that say the same, in whichever session."""
    wrong: list[str] = field(default_factory=list)
    """Names of the fields whose values cannot be used."""
    left_out: list[str] = field(default_factory=list)
    """Places of what looks like credentials."""


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
    left_out: list[str] = []
    fields = _without_credentials(raw, left_out)
    metadata_json = _metadata(fields, message, time)
    everything = "\x1f".join((role, str(time), metadata_json, content or ""))
    return Entry(
        uuid=uuid,
        role=role,
        parent_uuid=reader.text(raw, "parentUuid"),
        session_id=session_id,
        time=time,
        content=content,
        model=reader.text(message, "model") if is_assistant else None,
        provider=reader.text(fields, "provider"),
        request_id=reader.text(raw, "requestId"),
        situation=reader.text(fields, "situation"),
        latency_ms=reader.duration(raw, "latencyMs"),
        principal=read_principal(fields),
        usage=reader.usage(message) if is_assistant else Usage(),
        metadata_json=metadata_json,
        digest=sha256(everything.encode()).digest(),
        wrong=reader.wrong,
        left_out=left_out,
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


def _without_credentials(raw: Mapping[str, object], left_out: list[str]) -> dict[str, object]:
    """Return the fields beside the message without credentials, whose places are noted."""
    kept: dict[str, object] = {}
    for name, value in raw.items():
        if name in _IDS:
            kept[name] = value
        elif name not in ("message", ABSENT):
            kept |= without_secrets({name: value}, left_out.append)
    return kept


def _metadata(fields: Mapping[str, object], message: Mapping[str, object], time: int | None) -> str:
    """Return everything that has no column which holds it exactly, as JSON."""
    rest = dict(fields)
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
