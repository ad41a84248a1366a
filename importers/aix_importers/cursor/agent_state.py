"""The state of an agent: what was really sent to the model, in blobs that are called by their hash.

The editor keeps it beside the bubbles, whose results are often empty then; the command line keeps nothing else.
"""

import dataclasses
from collections.abc import Callable, Iterator
from functools import cached_property

from msgspec import Raw

from aix_importers.cursor.records import known_model
from aix_importers.cursor.values import ABSENT, Record, as_moment, base64_bytes, field, items, json_value, text

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_VARINT_BYTES = 10
_HASH_BYTES = 32
_ROOT, _TOKENS, _TURNS, _FOLDERS, _ARCHIVES, _CREATED = 1, 5, 8, 9, 13, 26
_CALL_ID, _STARTED, _ENDED = 57, 59, 60
_QUERY = "<user_query>"

FindBlob = Callable[[str], bytes | None]


def wire_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Go through the fields of a protocol buffer's message; it ends where the data is no message any more.

    >>> list(wire_fields(bytes([8, 150, 1, 18, 2, 104, 105])))
    [(1, 150), (2, b'hi')]
    """
    return ((number, value) for number, value, _ in _scan(data))


def _scan(data: bytes) -> Iterator[tuple[int, int | bytes, int]]:
    """Go through the fields of a message, each with the place of its end."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind, number = tag & 7, tag >> 3
        if at < 0 or number == 0:
            return
        if kind == _VARINT:
            value, at = _varint(data, at)
            if at < 0:
                return
            yield number, value, at
            continue
        if kind == _BYTES:
            length, at = _varint(data, at)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
        if at < 0 or length < 0 or at + length > len(data):
            return
        yield number, data[at : at + length], at + length
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends; a place before the start when no number can be read."""
    value = 0
    for shift in range(_MOST_VARINT_BYTES):
        if at + shift >= len(data):
            return 0, -1
        byte = data[at + shift]
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    return 0, -1


def parts(data: bytes, number: int) -> list[bytes]:
    """Return all fields of one number that hold bytes."""
    return [value for each, value in wire_fields(data) if each == number and isinstance(value, bytes)]


def part(data: bytes, number: int) -> bytes:
    """Return the last field of one number that holds bytes; empty where no such field exists."""
    return (parts(data, number) or [b""])[-1]


def whole_number(data: bytes, number: int) -> int | None:
    """Return the last field of one number that holds a whole number."""
    found = [value for each, value in wire_fields(data) if each == number and isinstance(value, int)]
    return found[-1] if found else None


def is_whole(data: bytes) -> bool:
    """Whether data is a message up to its last byte.

    >>> is_whole(bytes([8, 150, 1])), is_whole(bytes([8, 150, 1, 18, 9]))
    (True, False)
    """
    return max((end for *_, end in _scan(data)), default=0) == len(data)


class RootMessage(Record):
    """One message as it was sent to the model."""

    role: Raw = ABSENT
    content: Raw = ABSENT
    provider_options: Raw = ABSENT


class AgentState:
    """A conversation as the agent has it."""

    def __init__(self, data: bytes, find: FindBlob) -> None:
        self._data = data
        self._find = find
        self.missing = 0
        """Blobs that are referred to and gone."""

    @property
    def is_whole(self) -> bool:
        """Whether the state can be read up to its end."""
        return is_whole(self._data)

    @property
    def message_ids(self) -> list[str]:
        """The blobs of the messages, in their order."""
        return [blob.hex() for blob in parts(self._data, _ROOT) if len(blob) == _HASH_BYTES]

    def messages(self) -> Iterator[tuple[str, RootMessage]]:
        """Go through the messages, each with the name of its blob."""
        self.missing = 0
        for name in self.message_ids:
            message = self.message(name)
            if message is None:
                self.missing += 1
            else:
                yield name, message

    def message(self, name: str) -> RootMessage | None:
        """Return one message."""
        data = json_value(self._find(name))
        return RootMessage.read(data) if data is not None and data[:1] == b"{" else None

    def result_of(self, call_id: str) -> str | None:
        """Return what the model was told a call has brought."""
        message = self.message(self._results[call_id]) if call_id in self._results else None
        for item in items(message.content) if message else ():
            if text(field(item, "toolCallId")) == call_id:
                return result_text(item)
        return None

    @cached_property
    def _results(self) -> dict[str, str]:
        """By call, the blob of the message that has its result."""
        found: dict[str, str] = {}
        for name, message in self.messages():
            if text(message.role) == "tool":
                calls = (text(field(item, "toolCallId")) for item in items(message.content))
                found.update((call, name) for call in calls if call)
        return found

    @property
    def tokens(self) -> tuple[int | None, int | None]:
        """How much of the context window was in use, and how large it is."""
        details = part(self._data, _TOKENS)
        return whole_number(details, 1) or None, whole_number(details, 2) or None

    @property
    def folders(self) -> list[str]:
        """The folders that were open, as URIs."""
        return [each.decode("utf-8", "replace") for each in parts(self._data, _FOLDERS)]

    @property
    def began_at(self) -> int | None:
        """When the conversation began."""
        return as_moment(whole_number(self._data, _CREATED))

    def archived_summaries(self) -> Iterator[str]:
        """Go through the summaries of what was taken out of the conversation."""
        for name in parts(self._data, _ARCHIVES):
            data = self._find(name.hex()) if len(name) == _HASH_BYTES else name
            written = part(data or b"", 2)
            if written:
                yield written.decode("utf-8", "replace")

    @cached_property
    def call_times(self) -> dict[str, tuple[int | None, int | None]]:
        """By call, when it began and when it ended."""
        found: dict[str, tuple[int | None, int | None]] = {}
        for name in parts(self._data, _TURNS):
            turn = part(self._find(name.hex()) or b"", 1)
            for step in parts(turn, 2):
                call = part(self._find(step.hex()) or b"", 2) if len(step) == _HASH_BYTES else b""
                call_id = part(call, _CALL_ID).decode("utf-8", "replace")
                times = times_of_call(call)
                if call_id and any(times):
                    found[call_id] = times
        return found


def read_state(written: str | None, find: FindBlob) -> AgentState | None:
    """Return the state that a composer holds: `~` and base64."""
    if not written or not written.startswith("~"):
        return None
    data = base64_bytes(written[1:])
    return AgentState(data, find) if data else None


def times_of_call(data: bytes) -> tuple[int | None, int | None]:
    """Return when a call began and ended."""
    return as_moment(whole_number(data, _STARTED)), as_moment(whole_number(data, _ENDED))


def result_text(item: Raw) -> str | None:
    """Return what a result says."""
    whole = text(field(item, "result"))
    if whole is not None:
        return whole
    pieces = [text(field(piece, "text")) for piece in items(field(item, "experimental_content"))]
    return "\n".join(filter(None, pieces)) or None


@dataclasses.dataclass(slots=True)
class HiddenContext:
    """Facts that only the agent's own state holds."""

    system_prompt: str | None = None
    model: str | None = None
    injected: list[str] = dataclasses.field(default_factory=list)
    """Texts that the tool put in between."""
    archives: list[str] = dataclasses.field(default_factory=list)
    missing: int = 0


def hidden_context(state: AgentState) -> HiddenContext:
    """Return what the state of an agent knows beyond the bubbles."""
    hidden = HiddenContext(archives=list(state.archived_summaries()))
    for _, message in state.messages():
        role = text(message.role)
        if role == "system" and hidden.system_prompt is None:
            hidden.system_prompt = content_text(message)
        elif role == "user":
            said = content_text(message)
            if said and _QUERY not in said:
                hidden.injected.append(said)
        elif role == "assistant":
            hidden.model = model_of(message) or hidden.model
    hidden.missing = state.missing
    return hidden


def content_text(message: RootMessage) -> str | None:
    """Return the text of a message, which is one text or a list of parts."""
    whole = text(message.content)
    if whole is not None:
        return whole
    said = (text(field(part, "text")) for part in items(message.content) if text(field(part, "type")) == "text")
    return "\n".join(filter(None, said)) or None


def model_of(message: RootMessage) -> str | None:
    """Return the model that wrote a message."""
    options = (message.provider_options, *(field(part, "providerOptions") for part in items(message.content)))
    named = (text(field(each, "cursor", "modelName")) for each in options)
    return known_model(next(filter(None, named), None))
