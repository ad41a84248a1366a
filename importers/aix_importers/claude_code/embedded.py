"""Files that are embedded in results: what they are is kept, their data is not."""

import hashlib
from base64 import b64decode

import msgspec

from aix_importers.claude_code.records import UNREADABLE

_MARK = b'"base64"'
_LEAST_CHARACTERS = 64


def without_embedded_files(data: bytes) -> bytes:
    """Replace the data of images and documents in JSON by its size and hash."""
    if _MARK not in data:
        return data
    try:
        return msgspec.json.encode(_described(msgspec.json.decode(data)))
    except UNREADABLE:
        return data


def _described(value: object) -> object:
    match value:
        case {"type": "base64", "data": str(data), **rest}:
            return {"type": "base64", **{str(name): each for name, each in rest.items()}, **description(data)}
        case {"base64": str(data), **rest} if len(data) >= _LEAST_CHARACTERS:
            return {**{str(name): _described(each) for name, each in rest.items()}, **description(data)}
        case dict():
            return {name: _described(each) for name, each in value.items()}
        case list():
            return [_described(each) for each in value]
        case _:
            return value


def description(data: str) -> dict[str, object]:
    """Say how large a file is that is written in base 64, and what its hash is."""
    try:
        content = b64decode(data)
    except ValueError:
        content = data.encode()
    return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
