"""Findings of linters and compilers, as the editor reported them to the assistant."""

import re
from collections.abc import Iterator

from msgspec import Raw

from aix_importers.claude_code.paths import local_path
from aix_importers.claude_code.prompt_texts import envelopes
from aix_importers.common.json_text import (
    LARGEST_NUMBER,
    content_texts,
    fields,
    fields_if_object,
    items,
    number,
    text,
    whole_characters,
)
from aix_importers.common.row_writer import Lint

_SEVERITIES = {"error": "error", "warning": "warning", "information": "info", "info": "info", "hint": "info"}
_SEVERITY_NUMBERS = {1: "error", 2: "warning", 3: "info", 4: "info"}
_SEVERITY_SIGNS = {"✘": "error", "✖": "error", "⚠": "warning", "ℹ": "info", "★": "info"}
_LISTED = re.compile(r"\s*(\S{1,4}) \[Line (\d{1,18}):(\d{1,18})\] (.*)", re.DOTALL)
_GET_DIAGNOSTICS = "mcp__ide__getDiagnostics"


def lints_of_attachment(attachment: bytes) -> list[Lint]:
    """Return the findings in an attachment of the type `diagnostics`."""
    found = fields(attachment)
    return list(_lints(found.get("files"))) if text(found.get("type")) == "diagnostics" else []


def lints_of_result(tool_name: str, content: bytes | None) -> list[Lint]:
    """Return the findings in the result of the call that asks the editor for them."""
    if tool_name != _GET_DIAGNOSTICS:
        return []
    return [lint for each in content_texts(content) for lint in _lints(each.encode())]


def lints_in_text(text: str) -> list[Lint]:
    """Return the findings that the client put into a text."""
    if "diagnostics>" not in text:
        return []
    text = whole_characters(text)
    as_json = [lint for each in envelopes(text, "ide_diagnostics") for lint in _lints(each.encode())]
    as_list = [lint for each in envelopes(text, "new-diagnostics") for lint in _listed_lints(each)]
    return as_json + as_list


def _lints(files: bytes | Raw | None) -> Iterator[Lint]:
    """Go through the findings of files, or single ones that name their file."""
    for item in items(files):
        found = fields(item)
        path = text(found.get("uri")) or text(found.get("filePath"))
        path = local_path(path) if path else None
        for finding in items(found["diagnostics"]) if "diagnostics" in found else [item]:
            lint = _lint(path, fields(finding))
            if lint:
                yield lint


def _lint(path: str | None, finding: dict[str, Raw]) -> Lint | None:
    message = text(finding.get("message"))
    if message is None:
        return None
    span = fields_if_object(finding.get("range"))
    line, column = number(finding.get("line")) or None, number(finding.get("column")) or None
    start = _from_one(span.get("start")) if span is not None else (line, column)
    end = _from_one(span.get("end")) if span is not None else (None, None)
    severity = _SEVERITIES.get((text(finding.get("severity")) or "").lower())
    severity = severity or _SEVERITY_NUMBERS.get(number(finding.get("severity")) or 0)
    return Lint(path, message, text(finding.get("source")), *start, *end, severity, _code(finding.get("code")))


def _from_one(data: Raw | None) -> tuple[int | None, int | None]:
    """Return line and column of a position in which both count from 0."""
    position = fields(data)
    return _next(number(position.get("line"))), _next(number(position.get("character")))


def _next(value: int | None) -> int | None:
    return None if value is None or value == LARGEST_NUMBER else value + 1


def _code(data: Raw | None) -> str | None:
    nested = fields_if_object(data)
    data = data if nested is None else nested.get("value")
    digits = number(data)
    return text(data) if digits is None else str(digits)


def _listed_lints(listing: str) -> Iterator[Lint]:
    """Go through findings written for people: a line with the file, then one or more lines for each finding."""
    path = None
    finding: list[str] = []
    is_after_blank = True
    for line in [*listing.splitlines(), ""]:
        starts_file = is_after_blank and line.endswith(":") and not line[:1].isspace()
        is_after_blank = not line.strip()
        starts_finding = _LISTED.match(line) is not None
        if finding and (is_after_blank or starts_file or starts_finding):
            yield from _listed_lint(path, "\n".join(finding))
            finding = []
        if starts_file:
            path = line[:-1]
        elif starts_finding or finding:
            finding.append(line)


def _listed_lint(path: str | None, finding: str) -> Iterator[Lint]:
    found = _LISTED.match(finding)
    if found is None:
        return
    sign, line, column, rest = found.groups()
    rest, source = _split_suffix(rest.rstrip(), " (", ")")
    message, code = _split_suffix(rest, " [", "]")
    severity = _SEVERITY_SIGNS.get(sign[:1])
    yield Lint(path, message, source, int(line) or None, int(column) or None, None, None, severity, code)


def _split_suffix(text: str, opening: str, closing: str) -> tuple[str, str | None]:
    """Split what stands in brackets off the end of a text."""
    start = text.rfind(opening)
    if start < 0 or not text.endswith(closing):
        return text, None
    return text[:start], text[start + len(opening) : -len(closing)] or None
