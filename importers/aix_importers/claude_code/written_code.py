"""The code that completed calls wrote into files."""

from typing import NamedTuple

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix_importers.claude_code.line_ranges import NO_LINES, LineRange, patched_ranges
from aix_importers.claude_code.paths import absolute_path
from aix_importers.common.json_text import ABSENT, items, read, text


class Code(NamedTuple):
    """A text that was written into a file, and the lines from the first to the last that its patch touches."""

    path: str | None
    line_start: int | None
    line_end: int | None
    language: str | None
    content: str


class _Params(Struct):
    file_path: Raw = ABSENT
    notebook_path: Raw = ABSENT
    content: Raw = ABSENT
    new_string: Raw = ABSENT
    new_source: Raw = ABSENT
    edits: Raw = ABSENT


class _Result(Struct):
    structuredPatch: Raw = ABSENT  # noqa: N815
    error: Raw = ABSENT


class _Edit(Struct):
    new_string: Raw = ABSENT


_PARAMS = Decoder(_Params)
_RESULT = Decoder(_Result)
_EDIT = Decoder(_Edit)
_TOOLS = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))


def code_of_call(tool_name: str, params: bytes, structured: bytes | None, cwd: str | None) -> list[Code]:
    """Return the new text of a completed call, or of each of its edits, as far as there is any."""
    given = read(_PARAMS, params) if tool_name in _TOOLS else None
    if given is None:
        return []
    result = read(_RESULT, structured) or _Result()
    path = text(given.notebook_path if tool_name == "NotebookEdit" else given.file_path)
    path = absolute_path(path, cwd) if path else None
    written: list[str | None] = []
    lines = NO_LINES
    match tool_name:
        case "Write":
            written, lines = [text(given.content)], _span(result)
        case "Edit":
            written, lines = [text(given.new_string)], _span(result)
        case "MultiEdit":
            edits = [read(_EDIT, item) for item in items(given.edits)]
            written = [text(edit.new_string) for edit in edits if edit]
        case "NotebookEdit" if not text(result.error):
            written = [text(given.new_source)]
    return [Code(path, *lines, None, content) for content in written if content]


def _span(result: _Result) -> LineRange:
    """Return the lines from the first to the last hunk of a patch."""
    ranges = [lines for lines in patched_ranges(result.structuredPatch) if lines != NO_LINES]
    return (ranges[0][0], ranges[-1][1]) if ranges else NO_LINES
