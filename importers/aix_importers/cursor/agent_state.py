"""The state of an agent: what was really sent to the model, in blobs that are called by their hash.

The editor keeps it beside the bubbles, whose results are often empty then; the command line keeps nothing else.
"""

from collections.abc import Callable, Iterator

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix_importers.cursor.protobuf import is_whole, part, parts, whole_number
from aix_importers.cursor.values import ABSENT, base64_bytes, field, items, json_value, read, text

_HASH_BYTES = 32
_ROOT, _TOKENS, _TURNS, _FOLDERS, _ARCHIVES, _CREATED = 1, 5, 8, 9, 13, 26
_CALL_ID, _STARTED, _ENDED = 57, 59, 60
_LEAST_MOMENT, _END_OF_TIME = 10**12, 253_402_300_800_000

FindBlob = Callable[[str], bytes | None]


class RootMessage(Struct, rename="camel", gc=False):
    """One message as it was sent to the model."""

    role: Raw = ABSENT
    content: Raw = ABSENT
    id: Raw = ABSENT
    provider_options: Raw = ABSENT


_MESSAGE = Decoder(RootMessage)


class AgentState:
    """A conversation as the agent has it."""

    def __init__(self, data: bytes, find: FindBlob) -> None:
        self._data = data
        self._find = find
        self._results: dict[str, str] | None = None
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
        return read(_MESSAGE, data) if data is not None and data[:1] == b"{" else None

    def result_of(self, call_id: str) -> str | None:
        """Return what the model was told a call has brought."""
        if self._results is None:
            self._results = {}
            for name, each in self.messages():
                if text(each.role) == "tool":
                    self._results.update((call, name) for item in items(each.content) if (call := _call_id(item)))
        blob = self._results.get(call_id, "")
        message = self.message(blob) if blob else None
        for item in items(message.content) if message else ():
            if _call_id(item) == call_id:
                return result_text(item)
        return None

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
        return moment_of(whole_number(self._data, _CREATED))

    def archived_summaries(self) -> Iterator[str]:
        """Go through the summaries of what was taken out of the conversation."""
        for name in parts(self._data, _ARCHIVES):
            data = self._find(name.hex()) if len(name) == _HASH_BYTES else name
            written = part(data or b"", 2)
            if written:
                yield written.decode("utf-8", "replace")

    def call_times(self) -> dict[str, tuple[int | None, int | None]]:
        """Return by call when it began and when it ended."""
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
    return moment_of(whole_number(data, _STARTED)), moment_of(whole_number(data, _ENDED))


def moment_of(value: int | None) -> int | None:
    """Return a time in milliseconds, where a number is one."""
    return value if value is not None and _LEAST_MOMENT <= value < _END_OF_TIME else None


def _call_id(item: Raw) -> str | None:
    return text(field(item, "toolCallId"))


def result_text(item: Raw) -> str | None:
    """Return what a result says."""
    whole = text(field(item, "result"))
    if whole is not None:
        return whole
    pieces = [text(field(piece, "text")) for piece in items(field(item, "experimental_content"))]
    return "\n".join(filter(None, pieces)) or None
