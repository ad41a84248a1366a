"""The texts that are searched: which columns of which tables hold them, and the words in JSON."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec


class TextKind(StrEnum):
    """The kinds of texts, in the order of their numbers in the index."""

    PROMPT = "prompt"
    ANSWER = "answer"
    THINKING = "thinking"
    NOTE = "note"
    INPUT = "input"
    RESULT = "result"
    SUMMARY = "summary"
    PATH = "path"


KINDS = tuple(TextKind)
"""The place of a kind in this order is its number in the index."""
KINDS_OF_ROLES = {
    "user": (TextKind.PROMPT,),
    "assistant": (TextKind.ANSWER, TextKind.THINKING, TextKind.INPUT, TextKind.SUMMARY, TextKind.PATH),
    "tool": (TextKind.RESULT,),
    "system": (TextKind.NOTE,),
}
"""The kinds of texts that each role writes."""
WEIGHTS = {
    TextKind.PROMPT: 1.5,
    TextKind.ANSWER: 1.3,
    TextKind.THINKING: 1.0,
    TextKind.NOTE: 0.5,
    TextKind.INPUT: 0.9,
    TextKind.RESULT: 0.7,
    TextKind.SUMMARY: 1.2,
    TextKind.PATH: 0.7,
}
"""How much a text of each kind counts: what people and models write says more than what a tool prints."""
COLUMNS = {
    "messages": ("turn_id", "id", "role", "content", "thinking"),
    "tool_calls": ("turn_id", "id", "tool_name", "status", "params_json", "result_json", "error"),
    "compactions": ("turn_id", "summary"),
    "message_files": ("message_id", "file_path"),
}
"""The tables that hold the texts, with the columns that are read of each; a row is a tuple of their values.

The first says where the row belongs.
"""
_COLUMNS_OF_KINDS = {
    TextKind.PROMPT: ("content",),
    TextKind.ANSWER: ("content",),
    TextKind.THINKING: ("thinking",),
    TextKind.NOTE: ("content",),
    TextKind.INPUT: ("params_json",),
    TextKind.RESULT: ("content", "result_json", "error"),
    TextKind.SUMMARY: ("summary",),
    TextKind.PATH: ("file_path",),
}
TEXT_COLUMNS = frozenset(name for names in _COLUMNS_OF_KINDS.values() for name in names)
"""Those of the columns that hold texts."""
_KINDS_OF_MESSAGES = {
    "user": TextKind.PROMPT,
    "assistant": TextKind.ANSWER,
    "tool": TextKind.RESULT,
    "system": TextKind.NOTE,
}
_Row = tuple[Any, ...]


class _Result(msgspec.Struct):
    """The part of a call's result that the model saw."""

    content: object = None


_RESULT = msgspec.json.Decoder(_Result)
_ANY = msgspec.json.Decoder()


def select_list(table: str, kind: TextKind) -> str:
    """Return SQL for the columns of a table; those with texts of other kinds are NULL, and not read.

    >>> select_list("tool_calls", TextKind.INPUT)
    'turn_id, id, tool_name, status, params_json, null as result_json, null as error'
    """
    others = TEXT_COLUMNS.difference(_COLUMNS_OF_KINDS[kind])
    return ", ".join(f"null as {name}" if name in others else name for name in COLUMNS[table])


def texts_of(table: str, row: _Row) -> Iterator[tuple[TextKind, str]]:
    """Go through the texts of a row, each with its kind; of one kind there is at most one."""
    match table:
        case "messages":
            _, _, role, content, thinking = row
            if content:
                yield _KINDS_OF_MESSAGES[role], content
            if thinking:
                yield TextKind.THINKING, thinking
        case "tool_calls":
            *_, params, result, error = row
            if params:
                yield TextKind.INPUT, input_text(params)
            text = result_text(result) if result else ""
            if error and error not in text:
                text = f"{error}\n{text}" if text else error
            if text:
                yield TextKind.RESULT, text
        case "compactions":
            if row[1]:
                yield TextKind.SUMMARY, row[1]
        case "message_files":
            yield TextKind.PATH, row[1]


def tool_of(table: str, row: _Row) -> tuple[str | None, bool]:
    """Return the tool that got or gave the texts of a row, and whether its call failed."""
    return (row[2], row[3] == "failed") if table == "tool_calls" else (None, False)


def id_of(table: str, row: _Row) -> str:
    """Return the id of the message, the call or, of a summary, the turn that has the texts of a row."""
    return str(row[1] if table in ("messages", "tool_calls") else row[0])


def input_text(json: str) -> str:
    """Return what a call was given, without the names of its parameters."""
    try:
        return _text_in(_ANY.decode(json))
    except (msgspec.DecodeError, RecursionError):
        return json


def result_text(json: str) -> str:
    """Return what the model saw of a result, else all of it: what a tool notes for itself mostly repeats that."""
    try:
        content = _RESULT.decode(json).content
        return _text_in(_ANY.decode(json)) if content is None else _content_text(content)
    except msgspec.ValidationError:  # it is no object
        return input_text(json)
    except (msgspec.DecodeError, RecursionError):
        return json


def _content_text(content: object) -> str:
    """Return the text of a content; of one in blocks, what they say, and not the data of pictures.

    >>> _content_text([{"type": "text", "text": "hello"}, {"type": "image", "data": "R0lGOD"}])
    'hello'
    """
    if not isinstance(content, list) or not all(isinstance(block, dict) and "type" in block for block in content):
        return _text_in(content)
    return "\n".join(
        block["text"] if isinstance(block.get("text"), str) else _block_text(block) for block in content
    ).strip()


def _block_text(block: dict[str, object]) -> str:
    return (
        ""
        if block["type"] == "image"
        else _text_in({name: block[name] for name in block if name not in ("type", "data")})
    )


def _text_in(value: object) -> str:
    """Return the texts and numbers in a value, a line each; the names of its own fields say nothing about it.

    >>> _text_in({"command": "ls", "options": {"depth": 2}}).splitlines()
    ['ls', 'depth', '2']
    """
    if isinstance(value, str):
        return value
    lines: list[str] = []
    waiting = list(reversed(list(value.values()))) if isinstance(value, dict) else [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            lines.append(part)
        elif isinstance(part, dict):
            for name, inner in reversed(part.items()):
                waiting += [inner, name]
        elif isinstance(part, list):
            waiting += reversed(part)
        elif isinstance(part, int | float) and not isinstance(part, bool):
            lines.append(str(part))
    return "\n".join(lines)
