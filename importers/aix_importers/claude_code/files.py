"""The files that calls, attachments and prompts touch, and which of their lines."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec import Raw, Struct, field
from msgspec.json import Decoder

from aix_importers.claude_code.grep_output import counted_files, found_lines, listed_files
from aix_importers.claude_code.line_ranges import NO_LINES, LineRange, line_count, line_range, patched_ranges
from aix_importers.claude_code.mentions import files_in_editor, mentioned_files
from aix_importers.claude_code.paths import absolute_path
from aix_importers.common.json_text import ABSENT, content_texts, number, read, text, texts, whole_characters


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
