"""Messages of a graph: their nodes, and the parts of their contents.

A content is a list of parts of five types, or plain text. Texts and reasoning become columns, uses of tools and their
results become calls, and images are described; a part of another type is kept among the metadata.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from aix_importers.agent_dag.records import Node
from aix_importers.common.times import read_time

ROLES = ("system", "user", "assistant", "tool")
_DATA_URL = re.compile(r"data:([^;,]*)[^,]*,")
_OWN_FIELDS = {"node", "id", "role", "content", "created_at", "valid_from", "valid_to"}


class ToolUse(NamedTuple):
    """A part by which a model asks for a tool."""

    call_id: str
    name: str
    input: object


class ToolOutput(NamedTuple):
    """A part that has the result of a call."""

    call_id: str
    output: object
    is_error: bool


@dataclass(slots=True)
class Content:
    """The parts of a content, by what they become."""

    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    uses: list[ToolUse] = field(default_factory=list)
    outputs: list[ToolOutput] = field(default_factory=list)
    images: list[dict[str, object]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """Images that lie in files, by path."""
    others: list[object] = field(default_factory=list)
    """Parts that nothing else keeps."""

    @property
    def text(self) -> str | None:
        """All texts, or NULL."""
        return "\n".join(self.texts) if self.texts else None


class Message:
    """A message, as its node has it."""

    __slots__ = ("content", "created_at", "extra", "id", "node", "role")

    def __init__(self, node: Node) -> None:
        self.id = node.id
        self.node = node
        payload = node.payload
        role = payload.get("role")
        self.role = role if isinstance(role, str) and role in ROLES else None
        self.created_at = read_time(payload.get("created_at"))
        self.content = read_content(payload.get("content"))
        self.extra = {name: value for name, value in payload.items() if name not in _OWN_FIELDS}


def read_content(value: object) -> Content:
    """Read the parts of a content.

    >>> read_content([{"type": "text", "text": "Hi"}, {"type": "reasoning", "text": "Greet."}]).texts
    ['Hi']
    """
    found = Content()
    for part in value if isinstance(value, list) else [] if value is None else [value]:
        if isinstance(part, str):
            found.texts.append(part)
        elif not isinstance(part, dict) or not _take(found, part):
            found.others.append(part)
    return found


def _take(found: Content, part: Mapping[str, object]) -> bool:
    """Take a part, and say whether it is one that is known."""
    match part:
        case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            found.texts.append(text)
        case {"type": "reasoning", "text": str(text)}:
            found.reasoning.append(text)
        case {"type": "tool_use", "id": str(call_id), "name": str(name)}:
            found.uses.append(ToolUse(call_id, name, part.get("input")))
        case {"type": "tool_result", "tool_call_id": str(call_id)}:
            found.outputs.append(ToolOutput(call_id, part.get("output"), part.get("is_error") is True))
        case {"type": "image_url", "url": str(url)}:
            found.images.append(_image(url, part))
            if (path := file_of(url)) is not None:
                found.files.append(path)
        case _:
            return False
    return True


def _image(url: str, part: Mapping[str, object]) -> dict[str, object]:
    """Describe an image, without its data."""
    rest = {name: value for name, value in part.items() if name != "url"}
    data = _DATA_URL.match(url)
    if data is None:
        return {**rest, "url": url}
    written = url[data.end() :].encode("utf-8", "replace")
    return {**rest, "media_type": data[1], "bytes": len(written), "sha256": sha256(written).hexdigest()}


def file_of(url: str) -> str | None:
    """Return the path of an image that lies in a file."""
    if url.startswith("/"):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return unquote(parts.path) or None if parts.scheme == "file" else None


def texts_in(value: object, depth: int = 4) -> Iterator[str]:
    """Go through the texts in a value, to a bounded depth."""
    match value:
        case str():
            yield value
        case dict() if depth:
            for inner in value.values():
                yield from texts_in(inner, depth - 1)
        case list() if depth:
            for inner in value:
                yield from texts_in(inner, depth - 1)
