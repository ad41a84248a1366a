"""Findings of linters and compilers, as the editor reported them to the assistant."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix_importers.claude_code.paths import local_path
from aix_importers.claude_code.prompt_texts import envelopes
from aix_importers.common.json_text import (
    ABSENT,
    LARGEST_NUMBER,
    content_texts,
    items,
    number,
    read,
    text,
    whole_characters,
)

_SEVERITIES = {"error": "error", "warning": "warning", "information": "info", "info": "info", "hint": "info"}
_SEVERITY_NUMBERS = {1: "error", 2: "warning", 3: "info", 4: "info"}
_SEVERITY_SIGNS = {"✘": "error", "✖": "error", "⚠": "warning", "ℹ": "info", "★": "info"}
_LISTED = re.compile(r"\s*(\S{1,4}) \[Line (\d{1,18}):(\d{1,18})\] (.*)", re.DOTALL)
_GET_DIAGNOSTICS = "mcp__ide__getDiagnostics"


class Lint(NamedTuple):
    """One finding; lines and columns count from 1, and the end column is the first one that is not part of it."""

    file_path: str | None
    message: str
    lint_source: str | None
    start_line: int | None
    start_col: int | None
    end_line: int | None
    end_col: int | None
    severity: str | None
    code: str | None
    """The linter's code of the rule, for which the table has no column."""


class _Attachment(Struct):
    type: Raw = ABSENT
    files: Raw = ABSENT


class _Findings(Struct):
    """Those of a file, or a single one that names its file."""

    uri: Raw = ABSENT
    filePath: Raw = ABSENT  # noqa: N815
    diagnostics: Raw = ABSENT


class _Finding(Struct):
    message: Raw = ABSENT
    severity: Raw = ABSENT
    source: Raw = ABSENT
    code: Raw = ABSENT
    range: Raw = ABSENT
    line: Raw = ABSENT
    column: Raw = ABSENT


class _Code(Struct):
    value: Raw = ABSENT


class _Range(Struct):
    start: Raw = ABSENT
    end: Raw = ABSENT


class _Position(Struct):
    line: Raw = ABSENT
    character: Raw = ABSENT


_ATTACHMENT = Decoder(_Attachment)
_FINDINGS = Decoder(_Findings)
_FINDING = Decoder(_Finding)
_CODE = Decoder(_Code)
_RANGE = Decoder(_Range)
_POSITION = Decoder(_Position)


def lints_of_attachment(attachment: bytes) -> list[Lint]:
    """Return the findings in an attachment of the type `diagnostics`."""
    found = read(_ATTACHMENT, attachment)
    return list(_lints(found.files)) if found and text(found.type) == "diagnostics" else []


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


def _lints(files: bytes | Raw) -> Iterator[Lint]:
    for item in items(files):
        findings = read(_FINDINGS, item)
        if findings is None:
            continue
        path = text(findings.uri) or text(findings.filePath)
        path = local_path(path) if path else None
        for finding in items(findings.diagnostics) if findings.diagnostics is not ABSENT else [item]:
            lint = _lint(path, finding)
            if lint:
                yield lint


def _lint(path: str | None, data: Raw) -> Lint | None:
    finding = read(_FINDING, data)
    message = text(finding.message) if finding else None
    if finding is None or message is None:
        return None
    span = read(_RANGE, finding.range)
    line, column = number(finding.line) or None, number(finding.column) or None
    start = _from_one(span.start) if span else (line, column)
    end = _from_one(span.end) if span else (None, None)
    severity = _SEVERITIES.get((text(finding.severity) or "").lower())
    severity = severity or _SEVERITY_NUMBERS.get(number(finding.severity) or 0)
    return Lint(path, message, text(finding.source), *start, *end, severity, _code(finding.code))


def _from_one(data: Raw) -> tuple[int | None, int | None]:
    """Return line and column of a position in which both count from 0."""
    position = read(_POSITION, data)
    if position is None:
        return None, None
    line, column = number(position.line), number(position.character)
    return _next(line), _next(column)


def _next(value: int | None) -> int | None:
    return None if value is None or value == LARGEST_NUMBER else value + 1


def _code(data: Raw) -> str | None:
    nested = read(_CODE, data)
    data = nested.value if nested else data
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
