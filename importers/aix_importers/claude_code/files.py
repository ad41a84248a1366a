"""The files that calls, attachments and prompts touch, and which of their lines."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from msgspec import Raw, Struct, field
from msgspec.json import Decoder

from aix_importers.claude_code.paths import absolute_path
from aix_importers.claude_code.prompt_texts import files_in_editor, mentioned_files
from aix_importers.common.json_text import (
    ABSENT,
    LARGEST_NUMBER,
    content_texts,
    items,
    number,
    read,
    text,
    texts,
    whole_characters,
)

LineRange = tuple[int | None, int | None]
NO_LINES: LineRange = (None, None)


class _Hunk(Struct):
    newStart: Raw = ABSENT  # noqa: N815
    newLines: Raw = ABSENT  # noqa: N815


_HUNK = Decoder(_Hunk)


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


def patched_ranges(patch: Raw) -> list[LineRange]:
    """Return the lines that each hunk of a patch left in the file; a hunk may leave none."""
    hunks = [read(_HUNK, item) for item in items(patch)]
    return [line_range(number(hunk.newStart), number(hunk.newLines)) for hunk in hunks if hunk]


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


class FileUse(NamedTuple):
    """A file that was read, written, referenced or attached; the last line is included."""

    kind: str
    path: str
    line_start: int | None = None
    line_end: int | None = None


class _Params(Struct):
    file_path: Raw = ABSENT
    notebook_path: Raw = ABSENT
    offset: Raw = ABSENT
    limit: Raw = ABSENT
    content: Raw = ABSENT
    path: Raw = ABSENT
    output_mode: Raw = ABSENT
    has_line_numbers: Raw = field(default=ABSENT, name="-n")


class _Result(Struct):
    type: Raw = ABSENT
    filePath: Raw = ABSENT  # noqa: N815
    notebook_path: Raw = ABSENT
    structuredPatch: Raw = ABSENT  # noqa: N815
    content: Raw = ABSENT
    error: Raw = ABSENT
    mode: Raw = ABSENT
    filenames: Raw = ABSENT


class _File(Struct):
    filePath: Raw = ABSENT  # noqa: N815
    startLine: Raw = ABSENT  # noqa: N815
    numLines: Raw = ABSENT  # noqa: N815


class _FileResult(Struct):
    file: _File


class _Attachment(Struct):
    type: Raw = ABSENT
    filename: Raw = ABSENT
    path: Raw = ABSENT
    planFilePath: Raw = ABSENT  # noqa: N815
    content: Raw = ABSENT


class _Call(NamedTuple):
    params: _Params
    structured: bytes | None
    content: bytes | None
    cwd: str | None


_PARAMS = Decoder(_Params)
_RESULT = Decoder(_Result)
_FILE_RESULT = Decoder(_FileResult)
_ATTACHMENT = Decoder(_Attachment)


def files_of_call(
    tool_name: str, params: bytes, structured: bytes | None, content: bytes | None, cwd: str | None
) -> list[FileUse]:
    """Return the files that a completed call touched."""
    files = _FILES.get(tool_name)
    if files is None:
        return []
    return _distinct(files(_Call(read(_PARAMS, params) or _Params(), structured, content, cwd)))


def files_of_attachment(attachment: bytes, cwd: str | None) -> list[FileUse]:
    """Return the files that an attachment carries; one that only mentions a file carries no file."""
    found = read(_ATTACHMENT, attachment)
    name = _ATTACHED.get(text(found.type) or "") if found else None
    path = text(getattr(found, name)) if name else None
    if found is None or not path:
        return []
    content = read(_FILE_RESULT, found.content)
    return [FileUse("attached", absolute_path(path, cwd), *(_lines_shown(content.file) if content else NO_LINES))]


def files_in_prompt(text: str, cwd: str | None) -> list[FileUse]:
    """Return the files that a prompt names, or that the editor named with it."""
    text = whole_characters(text)
    named = [("referenced", each) for each in files_in_editor(text)]
    named += [("attached", each) for each in mentioned_files(text)]
    return _distinct(FileUse(kind, absolute_path(path, cwd), *lines) for kind, (path, *lines) in named)


def _read_file(call: _Call) -> Iterator[FileUse]:
    result = read(_FILE_RESULT, call.structured)
    file = result.file if result else _File()
    path = text(file.filePath) or text(call.params.file_path) or text(call.params.notebook_path)
    if path:
        is_shown = number(file.startLine) is not None and number(file.numLines) is not None
        lines = _lines_shown(file) if is_shown else _lines_asked_for(call.params)
        yield FileUse("read", absolute_path(path, call.cwd), *lines)


def _lines_shown(file: _File) -> LineRange:
    return line_range(number(file.startLine), number(file.numLines))


def _lines_asked_for(params: _Params) -> LineRange:
    offset, limit = number(params.offset), number(params.limit)
    if offset is None and limit is None:
        return NO_LINES
    start = max(offset or 1, 1)
    return (start, None) if limit is None else line_range(start, limit)


def _written_file(call: _Call) -> Iterator[FileUse]:
    result = read(_RESULT, call.structured) or _Result()
    path = text(result.filePath) or text(call.params.file_path)
    if not path:
        return
    ranges = patched_ranges(result.structuredPatch)
    if not ranges and text(result.type) == "create":
        content = text(result.content) or text(call.params.content) or ""
        ranges = [line_range(1, line_count(content))]
    for lines in ranges or [NO_LINES]:
        yield FileUse("written", absolute_path(path, call.cwd), *lines)


def _written_notebook(call: _Call) -> Iterator[FileUse]:
    result = read(_RESULT, call.structured) or _Result()
    path = text(call.params.notebook_path) or text(result.notebook_path)
    if path and not text(result.error):
        yield FileUse("written", absolute_path(path, call.cwd))


def _matching_files(call: _Call) -> Iterator[FileUse]:
    result = read(_RESULT, call.structured) or _Result()
    listed = texts(result.filenames)
    for name in listed:
        if name:
            yield FileUse("referenced", absolute_path(name, call.cwd))
    output = text(result.content)
    if output is None:
        output = "" if listed else "\n".join(content_texts(call.content))
    mode = text(result.mode) or text(call.params.output_mode)
    if mode == "content":
        if bytes(call.params.has_line_numbers) != b"false":
            for path, line in found_lines(output, text(call.params.path), call.cwd):
                yield FileUse("referenced", path, *line_range(line, 1))
    else:
        named = counted_files if mode == "count" else listed_files
        yield from (FileUse("referenced", path) for path in named(output, call.cwd))


def _distinct(uses: Iterable[FileUse]) -> list[FileUse]:
    found: dict[tuple[str, str, int | None], FileUse] = {}
    for use in uses:
        found.setdefault((use.kind, use.path, use.line_start), use)
    return list(found.values())


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


class Code(NamedTuple):
    """A text that was written into a file, and the lines from the first to the last that its patch touches."""

    path: str | None
    line_start: int | None
    line_end: int | None
    language: str | None
    content: str


class _WrittenParams(Struct):
    file_path: Raw = ABSENT
    notebook_path: Raw = ABSENT
    content: Raw = ABSENT
    new_string: Raw = ABSENT
    new_source: Raw = ABSENT
    edits: Raw = ABSENT


class _WrittenResult(Struct):
    structuredPatch: Raw = ABSENT  # noqa: N815
    error: Raw = ABSENT


class _Edit(Struct):
    new_string: Raw = ABSENT


_WRITTEN_PARAMS = Decoder(_WrittenParams)
_WRITTEN_RESULT = Decoder(_WrittenResult)
_EDIT = Decoder(_Edit)
_TOOLS = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))


def code_of_call(tool_name: str, params: bytes, structured: bytes | None, cwd: str | None) -> list[Code]:
    """Return the new text of a completed call, or of each of its edits, as far as there is any."""
    given = read(_WRITTEN_PARAMS, params) if tool_name in _TOOLS else None
    if given is None:
        return []
    result = read(_WRITTEN_RESULT, structured) or _WrittenResult()
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


def _span(result: _WrittenResult) -> LineRange:
    """Return the lines from the first to the last hunk of a patch."""
    ranges = [lines for lines in patched_ranges(result.structuredPatch) if lines != NO_LINES]
    return (ranges[0][0], ranges[-1][1]) if ranges else NO_LINES
