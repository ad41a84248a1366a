"""Findings of linters that came with a message, or that a call brought back."""

from collections.abc import Iterable, Iterator

from msgspec import Raw

from aix_importers.common.row_writer import Lint
from aix_importers.cursor.paths import absolute_path, normal_path
from aix_importers.cursor.records import Bubble, Result
from aix_importers.cursor.values import ABSENT, count, field, inner_items, is_filled, items, text

_SEVERITIES = {
    1: "error", 2: "warning", 3: "info", 4: "info",
    "ERROR": "error", "WARNING": "warning", "INFORMATION": "info", "INFO": "info", "HINT": "info",
}  # fmt: skip


def distinct(lints: Iterable[Lint], workspace: str | None) -> list[Lint]:
    """Return each finding once, with paths from the root on."""
    found: dict[Lint, None] = {}
    for lint in lints:
        path = absolute_path(lint.file_path, workspace) if lint.file_path else lint.file_path
        found[lint._replace(file_path=path)] = None
    return list(found)


def lints_of_bubble(bubble: Bubble) -> Iterator[Lint]:
    """Go through the findings that came with a message."""
    yield from lints_by_file(bubble.multi_file_linter_errors)
    if is_filled(bubble.lints):
        for item in inner_items(bubble.lints):
            for lint in items(field(item, "lints", "lints")):
                yield _flat(lint, "LineNumberOneIndexed", "ColumnNumberOneIndexed")
    if is_filled(bubble.approximate_lint_errors):
        for lint in inner_items(bubble.approximate_lint_errors):
            if is_filled(field(lint, "message")):
                yield _flat(lint, "Line", "Column")


def lints_by_file(listed: Raw) -> Iterator[Lint]:
    """Go through the findings of a list of files."""
    if is_filled(listed):
        for item in inner_items(listed):
            path = _path(field(item, "relativeWorkspacePath"))
            for error in items(field(item, "errors")):
                yield _lint(error, path)


def lints_of_result(result: Result, path: str | None) -> Iterator[Lint]:
    """Go through the findings that a call brought back."""
    if is_filled(result.linter_errors_by_file):
        yield from lints_by_file(result.linter_errors_by_file)
    elif is_filled(result.linter_errors):
        for error in items(result.linter_errors):
            yield _lint(error, path)


def _lint(error: Raw, path: str | None) -> Lint:
    start, end = (field(error, "range", f"{place}Position") for place in ("start", "end"))
    return _finding(error, path, [field(position, name) for position in (start, end) for name in ("line", "column")])


def _flat(error: Raw, line: str, column: str) -> Lint:
    return _finding(error, None, [field(error, place + name) for place in ("start", "end") for name in (line, column)])


def _finding(error: Raw, path: str | None, positions: Iterable[Raw]) -> Lint:
    start_line, start_col, end_line, end_col = (count(raw) or None for raw in positions)
    return Lint(
        _path(field(error, "relativeWorkspacePath")) or path,
        text(field(error, "message")),
        text(field(error, "source")),
        start_line,
        start_col,
        end_line,
        end_col,
        _severity(error),
    )


def _severity(error: Raw) -> str | None:
    raw = field(error, "severity")
    if raw is ABSENT:
        return None
    word = text(raw)
    key = word.removeprefix("DIAGNOSTIC_SEVERITY_").upper() if word else count(raw)
    return _SEVERITIES.get(key) if key is not None else None


def _path(raw: Raw) -> str | None:
    written = text(raw)
    return normal_path(written) if written else None
