"""The files that calls, attachments and prompts touch, and which of their lines."""

import re
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from msgspec import Raw

from aix_importers.claude_code.paths import absolute_path
from aix_importers.claude_code.prompt_texts import files_in_editor, mentioned_files
from aix_importers.common.json_text import (
    ABSENT,
    LARGEST_NUMBER,
    content_texts,
    fields,
    fields_if_object,
    items,
    number,
    text,
    texts,
    whole_characters,
)
from aix_importers.common.row_writer import Code, FileUse, distinct_files

LineRange = tuple[int | None, int | None]
NO_LINES: LineRange = (None, None)

_PATH = r"((?:[A-Za-z]:(?=[\\/]))?[^:\n]+)"
_FOUND = re.compile(rf"{_PATH}:(\d{{1,18}}):")
_AROUND = re.compile(r"-\d+-")
_COUNTED = re.compile(rf"{_PATH}:\d+\r?")
_FOUND_IN_FILE = re.compile(r"(\d{1,18}):")
_NUMBERED = re.compile(r"\d+[:-]")
_SEPARATOR = "--"
_FOOTER = "[Showing results with pagination"
_HEADING = re.compile(r"Found \d+ |No (?:files|matches) found|\(Results are truncated|\[Showing ")
_NOTICE = "<persisted-output>"
_MOST_TRIES = 16

_ATTACHED = {
    "file": "filename",
    "already_read_file": "filename",
    "compact_file_reference": "filename",
    "edited_image_file": "filename",
    "pdf_reference": "filename",
    "directory": "path",
    "nested_memory": "path",
    "plan_file_reference": "planFilePath",
}
_WRITTEN_TEXTS = {"Write": "content", "Edit": "new_string", "NotebookEdit": "new_source"}


def line_range(start: int | None, count: int | None) -> LineRange:
    """Return the range of so many lines, or no lines where there are none or too little is known.

    >>> line_range(10, 3), line_range(10, 0), line_range(None, 3)
    ((10, 12), (None, None), (None, None))
    """
    if not start or not count or start + count - 1 > LARGEST_NUMBER:
        return NO_LINES
    return start, start + count - 1


def line_count(content: str) -> int:
    r"""Return the number of lines of a file.

    >>> line_count("a\nb"), line_count("a\nb\n"), line_count("")
    (2, 2, 0)
    """
    return content.count("\n") + (not content.endswith("\n")) if content else 0


def patched_ranges(patch: Raw | None) -> list[LineRange]:
    """Return the lines that each hunk of a patch left in the file; a hunk may leave none."""
    hunks = [hunk for item in items(patch) if (hunk := fields_if_object(item)) is not None]
    return [line_range(number(hunk.get("newStart")), number(hunk.get("newLines"))) for hunk in hunks]


class FoundLine(NamedTuple):
    """A line that was found."""

    path: str
    line: int


def found_lines(output: str, searched: str | None, cwd: str | None) -> Iterator[FoundLine]:
    r"""Go through the lines that were found, but not those around them.

    >>> [*found_lines("a.py-6-at 5:9:1\na.py:7:now\n--\nb-1-c.py:3:now", None, "/w")]
    [FoundLine(path='/w/a.py', line=7), FoundLine(path='/w/b-1-c.py', line=3)]
    """
    lines = [line for line in output.split("\n") if line and line != _SEPARATOR and not line.startswith(_FOOTER)]
    in_file = [_FOUND_IN_FILE.match(line) for line in lines]
    if any(in_file) and all(map(_NUMBERED.match, lines)):
        path = absolute_path(searched, cwd) if searched else None
        yield from (FoundLine(path, int(match[1])) for match in in_file if match and path)
        return
    matches = [match for line in lines if (match := _FOUND.match(line))]
    known = {absolute_path(match[1], cwd) for match in matches if not _AROUND.search(match[1])}
    for match in matches:
        if not _is_around(match[1], known, cwd):
            path = absolute_path(match[1], cwd)
            known.add(path)
            yield FoundLine(path, int(match[2]))


def counted_files(output: str, cwd: str | None) -> Iterator[str]:
    """Go through the files of an output that says how often each of them matches."""
    return (absolute_path(match[1], cwd) for line in output.split("\n") if (match := _COUNTED.fullmatch(line)))


def listed_files(output: str, cwd: str | None) -> Iterator[str]:
    """Go through the files of an output that lists them, one on a line; one that was too large is only a notice."""
    lines = takewhile(bool, [] if output.startswith(_NOTICE) else output.split("\n"))
    return (absolute_path(line.rstrip("\r"), cwd) for line in lines if not _HEADING.match(line))


def _is_around(prefix: str, known: set[str], cwd: str | None) -> bool:
    """Whether a line that looks like one that was found only holds a colon, a number and a colon in its text."""
    dashes = islice(_AROUND.finditer(prefix), _MOST_TRIES)
    return any(absolute_path(prefix[: match.start()], cwd) in known for match in dashes)


class _Call(NamedTuple):
    params: dict[str, Raw]
    result: dict[str, Raw]
    content: bytes | None
    cwd: str | None


def files_of_call(
    tool_name: str, params: bytes, structured: bytes | None, content: bytes | None, cwd: str | None
) -> list[FileUse]:
    """Return the files that a completed call touched."""
    files = _FILES.get(tool_name)
    if files is None:
        return []
    return distinct_files(files(_Call(fields(params), fields(structured), content, cwd)))


def files_of_attachment(attachment: bytes, cwd: str | None) -> list[FileUse]:
    """Return the files that an attachment carries; one that only mentions a file carries no file."""
    found = fields(attachment)
    name = _ATTACHED.get(text(found.get("type")) or "")
    path = text(found.get(name)) if name else None
    shown = fields(fields(found.get("content")).get("file")) if path else {}
    return [FileUse("attached", absolute_path(path, cwd), *_lines_shown(shown))] if path else []


def files_in_prompt(text: str, cwd: str | None) -> list[FileUse]:
    """Return the files that a prompt names, or that the editor named with it."""
    text = whole_characters(text)
    named = [("referenced", each) for each in files_in_editor(text)]
    named += [("attached", each) for each in mentioned_files(text)]
    return distinct_files(FileUse(kind, absolute_path(path, cwd), *lines) for kind, (path, *lines) in named)


def _read_file(call: _Call) -> Iterator[FileUse]:
    file, params = fields(call.result.get("file")), call.params
    path = text(file.get("filePath")) or text(params.get("file_path")) or text(params.get("notebook_path"))
    if path:
        is_shown = number(file.get("startLine")) is not None and number(file.get("numLines")) is not None
        lines = _lines_shown(file) if is_shown else _lines_asked_for(params)
        yield FileUse("read", absolute_path(path, call.cwd), *lines)


def _lines_shown(file: dict[str, Raw]) -> LineRange:
    return line_range(number(file.get("startLine")), number(file.get("numLines")))


def _lines_asked_for(params: dict[str, Raw]) -> LineRange:
    offset, limit = number(params.get("offset")), number(params.get("limit"))
    if offset is None and limit is None:
        return NO_LINES
    start = max(offset or 1, 1)
    return (start, None) if limit is None else line_range(start, limit)


def _written_file(call: _Call) -> Iterator[FileUse]:
    result, params = call.result, call.params
    path = text(result.get("filePath")) or text(params.get("file_path"))
    if not path:
        return
    ranges = patched_ranges(result.get("structuredPatch"))
    if not ranges and text(result.get("type")) == "create":
        content = text(result.get("content")) or text(params.get("content")) or ""
        ranges = [line_range(1, line_count(content))]
    for lines in ranges or [NO_LINES]:
        yield FileUse("written", absolute_path(path, call.cwd), *lines)


def _written_notebook(call: _Call) -> Iterator[FileUse]:
    path = text(call.params.get("notebook_path")) or text(call.result.get("notebook_path"))
    if path and not text(call.result.get("error")):
        yield FileUse("written", absolute_path(path, call.cwd))


def _matching_files(call: _Call) -> Iterator[FileUse]:
    result, params = call.result, call.params
    listed = texts(result.get("filenames"))
    for name in listed:
        if name:
            yield FileUse("referenced", absolute_path(name, call.cwd))
    output = text(result.get("content"))
    if output is None:
        output = "" if listed else "\n".join(content_texts(call.content))
    mode = text(result.get("mode")) or text(params.get("output_mode"))
    if mode == "content":
        if bytes(params.get("-n", ABSENT)) != b"false":
            for path, line in found_lines(output, text(params.get("path")), call.cwd):
                yield FileUse("referenced", path, *line_range(line, 1))
    else:
        named = counted_files if mode == "count" else listed_files
        yield from (FileUse("referenced", path) for path in named(output, call.cwd))


_FILES: dict[str, Callable[[_Call], Iterator[FileUse]]] = {
    "Read": _read_file,
    "NotebookRead": _read_file,
    "Write": _written_file,
    "Edit": _written_file,
    "MultiEdit": _written_file,
    "NotebookEdit": _written_notebook,
    "Grep": _matching_files,
    "Glob": _matching_files,
}


def code_of_call(tool_name: str, params: bytes, structured: bytes | None, cwd: str | None) -> list[Code]:
    """Return the new text of a completed call, or of each of its edits, as far as there is any."""
    if tool_name != "MultiEdit" and tool_name not in _WRITTEN_TEXTS:
        return []
    given, result = fields(params), fields(structured)
    is_notebook = tool_name == "NotebookEdit"
    if is_notebook and text(result.get("error")):
        return []
    path = text(given.get("notebook_path" if is_notebook else "file_path"))
    path = absolute_path(path, cwd) if path else None
    lines = _span(result.get("structuredPatch")) if tool_name in ("Write", "Edit") else NO_LINES
    if tool_name == "MultiEdit":
        written = [text(fields(edit).get("new_string")) for edit in items(given.get("edits"))]
    else:
        written = [text(given.get(_WRITTEN_TEXTS[tool_name]))]
    return [Code(content, None, path, *lines) for content in written if content]


def _span(patch: Raw | None) -> LineRange:
    """Return the lines from the first to the last hunk of a patch."""
    ranges = [lines for lines in patched_ranges(patch) if lines != NO_LINES]
    return (ranges[0][0], ranges[-1][1]) if ranges else NO_LINES
