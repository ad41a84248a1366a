"""The files that a message read, wrote, named or carried. Lines are counted from 1, as Cursor counts them."""

from collections.abc import Iterable, Iterator

from msgspec import Raw

from aix_importers.common.row_writer import FileUse, distinct_files
from aix_importers.cursor.paths import absolute_path, normal_path, uri_path
from aix_importers.cursor.records import Bubble, Result
from aix_importers.cursor.tools import Params, is_reading, is_writing
from aix_importers.cursor.values import ABSENT, count, field, fields, flag, inner, inner_items, is_filled, items, text


def distinct(uses: Iterable[FileUse], workspace: str | None) -> list[FileUse]:
    """Return each use once, with paths from the root on."""
    return distinct_files(use._replace(file_path=absolute_path(use.file_path, workspace)) for use in uses)


def files_of_bubble(bubble: Bubble) -> Iterator[FileUse]:
    """Go through the files that came with a message."""
    context = fields(bubble.context) if is_filled(bubble.context) else {}
    for name, top in (
        ("fileSelections", bubble.file_selections),
        ("folderSelections", bubble.folder_selections),
        ("selections", bubble.selections),
    ):
        for item in (*items(context.get(name)), *items(top)):
            path = uri_path(field(item, "uri")) or _path(field(item, "relativePath"))
            if path:
                yield FileUse("attached", path, *(_selected(item) if name == "selections" else (None, None)))
    for item in (*items(context.get("selectedImages")), *items(bubble.selected_images)):
        if path := _path(field(item, "path")):
            yield FileUse("attached", path)
    yield from _attached_chunks(bubble)
    yield from _referenced(bubble)


def _attached_chunks(bubble: Bubble) -> Iterator[FileUse]:
    for item in inner_items(bubble.attached_code_chunks):
        path, start = _path(field(item, "relativeWorkspacePath")), _line(field(item, "startLineNumber"))
        if path:
            length = len(items(field(item, "lines")))
            yield FileUse("attached", path, start, start + length - 1 if start and length else None)
    for raw in (bubble.attached_file_code_chunks_uris, bubble.attached_file_code_chunks_metadata_only):
        for item in inner_items(raw):
            path = uri_path(item) or _path(field(item, "relativeWorkspacePath")) or uri_path(field(item, "uri"))
            if path:
                yield FileUse("attached", path)


def _referenced(bubble: Bubble) -> Iterator[FileUse]:
    for item in items(bubble.relevant_files):
        if path := _path(item):
            yield FileUse("referenced", path)
    located = (
        *((item, "lineNumber") for item in inner_items(bubble.recent_locations_history)),
        (inner(bubble.current_file_location_data), "lineNumber"),
        *((item, None) for item in inner_items(bubble.file_links)),
        *((item, "roughLineNumber") for item in inner_items(bubble.symbol_links)),
    )
    for item, line in located:
        if path := _path(field(item, "relativeWorkspacePath")):
            start = _line(field(item, line)) if line else None
            yield FileUse("referenced", path, start, start)


def files_of_call(name: str, number: int | None, params: Params, result: Result) -> Iterator[FileUse]:
    """Go through the files of a call that has ended well."""
    if is_reading(name, number):
        if path := path_of(params):
            yield FileUse("read", path, *_lines_read(params, result))
    elif is_writing(name, number):
        if path := path_of(params):
            yield FileUse("written", path, *_lines_written(result))
    else:
        yield from _found(result)


def path_of(params: Params) -> str | None:
    """Return the file that a call works on."""
    named = (params.target_file, params.relative_workspace_path, params.effective_uri, params.file_path, params.path)
    return next((path for raw in named if raw is not ABSENT and (path := _path(raw))), None)


def _lines_read(params: Params, result: Result) -> tuple[int | None, int | None]:
    if flag(params.read_entire_file):
        return None, None
    start, end = _line(result.start_line_one_indexed), _line(result.end_line_one_indexed_inclusive)
    if start is None:
        start, end = _line(params.start_line_one_indexed), _line(params.end_line_one_indexed_inclusive)
    if start is None:
        start, limit = _line(params.offset), _line(params.limit)
        end = start + limit - 1 if start and limit else None
    total = _line(result.total_lines_in_file)
    return start, min(end, total) if end and total else end


def _lines_written(result: Result) -> tuple[int | None, int | None]:
    ranges = [
        (start, start + (count(field(chunk, "newLines")) or 0) - 1)
        for chunk in items(field(result.diff, "chunks"))
        if (start := _line(field(chunk, "newStart")))
    ]
    if not ranges:
        return None, None
    start, end = min(start for start, _ in ranges), max(end for _, end in ranges)
    return start, max(start, end)


def _found(result: Result) -> Iterator[FileUse]:
    """Go through the files that a search hit."""
    for root, found in fields(field(result.success, "workspaceResults")).items():
        hits = [field(item, "file") for item in items(field(found, "content", "matches"))]
        hits += items(field(found, "files", "files"))
        hits += [field(item, "file") for item in items(field(found, "count", "counts"))]
        for raw in hits:
            if path := _path(raw):
                yield FileUse("referenced", absolute_path(path, normal_path(root)))
    for folder in items(result.directories):
        root_path = _path(field(folder, "absPath"))
        for item in items(field(folder, "files")):
            if path := _path(field(item, "relPath")):
                yield FileUse("referenced", absolute_path(path, root_path))
    for item in items(result.code_results):
        block = field(item, "codeBlock")
        if path := _path(field(block, "relativeWorkspacePath")):
            start, end = (_line(field(block, "range", each, "line")) for each in ("startPosition", "endPosition"))
            yield FileUse("referenced", path, start, end)


def _selected(item: Raw) -> tuple[int | None, int | None]:
    lines = field(item, "range")
    start, end = _line(field(lines, "selectionStartLineNumber")), _line(field(lines, "positionLineNumber"))
    return (end, start) if start and end and end < start else (start, end)


def _line(raw: Raw) -> int | None:
    return (count(raw) or None) if raw is not ABSENT else None


def _path(raw: Raw) -> str | None:
    written = text(raw)
    return uri_path(raw) if written and "://" in written else normal_path(written) if written else None
