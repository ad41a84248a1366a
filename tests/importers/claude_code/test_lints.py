"""Findings of linters, from each of the ways in which the client tells them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix_importers.claude_code.lints import lints_in_text, lints_of_attachment, lints_of_result
from aix_importers.common.row_writer import Lint
from tests.importers.claude_code.odd_json import NOT_OBJECTS, assert_storable, odd_json

RANGE = {"start": {"line": 41, "character": 8}, "end": {"line": 42, "character": 0}}


def finding(**fields: object) -> dict[str, object]:
    return {"message": "unused", "severity": "Error", "range": RANGE, "source": "vet", "code": "U1"} | fields


def attached(*findings: object, uri: object = "file:///w/a%20b.go") -> list[Lint]:
    files = [{"uri": uri, "diagnostics": list(findings)}]
    return lints_of_attachment(json.dumps({"type": "diagnostics", "files": files, "isNew": True}).encode())


def test_an_attachment_counts_lines_and_columns_from_0() -> None:
    assert attached(finding()) == [Lint("/w/a b.go", "unused", "vet", 42, 9, 43, 1, "error", "U1")]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Error", "error"),
        ("WARNING", "warning"),
        ("Info", "info"),
        ("Information", "info"),
        ("Hint", "info"),
        (1, "error"),
        (2, "warning"),
        (3, "info"),
        (4, "info"),
        (5, None),
        ("fatal", None),
        (None, None),
        (True, None),
        (["Error"], None),
    ],
)
def test_a_severity_is_one_of_three(given: object, kept: str | None) -> None:
    assert [lint.severity for lint in attached(finding(severity=given))] == [kept]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("U1", "U1"), (2304, "2304"), ({"value": "S1", "target": "https://x"}, "S1"), ({"value": 7}, "7"), (None, None)],
)
def test_a_code_is_text_whatever_form_it_has(given: object, kept: str | None) -> None:
    assert [lint.code for lint in attached(finding(code=given))] == [kept]


@pytest.mark.parametrize(
    ("span", "place"),
    [
        (None, (None, None, None, None)),
        ("41:8", (None, None, None, None)),
        ({"start": {"line": "41", "character": 2**63 - 1}}, (None, None, None, None)),
        ({"start": {"line": -1, "character": 0}, "end": [1]}, (None, 1, None, None)),
    ],
)
def test_a_place_is_known_as_far_as_it_can_be_read(span: object, place: tuple[int | None, ...]) -> None:
    (lint,) = attached(finding(range=span))
    assert (lint.start_line, lint.start_col, lint.end_line, lint.end_col) == place


def test_a_finding_without_a_message_is_none_and_spoils_no_other() -> None:
    assert [lint.message for lint in attached(5, finding(message=None), finding(message="kept"), uri=7)] == ["kept"]


def test_the_result_of_asking_the_editor_is_read_like_an_attachment() -> None:
    listing = json.dumps([{"uri": "file:///w/a.go", "linesInFile": 63, "diagnostics": [finding()]}])
    expected = [Lint("/w/a.go", "unused", "vet", 42, 9, 43, 1, "error", "U1")]
    for content in (listing, [{"type": "text", "text": listing}]):
        assert lints_of_result("mcp__ide__getDiagnostics", json.dumps(content).encode()) == expected
        assert lints_of_result("mcp__wiki__get", json.dumps(content).encode()) == []


def test_what_a_hook_adds_to_a_text_counts_from_1_and_names_files_as_written() -> None:
    found = [{"filePath": "/c:/x.md", "line": 199, "column": 1, "message": "MD029", "code": "o", "severity": "Warning"}]
    text = f"Hook: <ide_diagnostics>{json.dumps(found)}</ide_diagnostics> and <ide_diagnostics>broken</ide_diagnostics>"
    assert lints_in_text(text) == [Lint("/c:/x.md", "MD029", None, 199, 1, None, None, "warning", "o")]


def test_a_listing_for_people_is_read_too() -> None:
    text = """<system-reminder>
<new-diagnostics>The following new diagnostic issues were detected:

a.ts:
  ✘ [Line 12:5] Cannot find name x [2304] (typescript)
  ⚠ [Line 13:1] unused (see [docs]) [6133]
  ℹ [Line 14:1] Type 'A' is not
    assignable to 'B'. [2322] (typescript)

src/b c.ts:
  ★ [Line 1:2] simplify
  ? [Line 0:99999999999999999999] no place
</new-diagnostics>
</system-reminder>"""
    assert lints_in_text(text) == [
        Lint("a.ts", "Cannot find name x", "typescript", 12, 5, None, None, "error", "2304"),
        Lint("a.ts", "unused (see [docs])", None, 13, 1, None, None, "warning", "6133"),
        Lint("a.ts", "Type 'A' is not\n    assignable to 'B'.", "typescript", 14, 1, None, None, "info", "2322"),
        Lint(
            "src/b c.ts", "simplify\n  ? [Line 0:99999999999999999999] no place", None, 1, 2, None, None, "info", None
        ),
    ]


def test_a_text_without_the_end_of_the_tag_has_no_findings() -> None:
    assert lints_in_text("<new-diagnostics>a.ts:\n  ✘ [Line 1:1] x") == []
    assert lints_in_text("<ide_diagnostics>" * 50_000) == []


@pytest.mark.parametrize("data", NOT_OBJECTS)
def test_what_is_no_attachment_has_no_findings(data: bytes) -> None:
    assert lints_of_attachment(data) == []
    assert lints_of_result("mcp__ide__getDiagnostics", data) == []


NAMES = (
    "type",
    "files",
    "uri",
    "diagnostics",
    "message",
    "range",
    "start",
    "line",
    "character",
    "code",
    "value",
    "text",
)


@given(odd_json(*NAMES))
def test_no_json_breaks_it(data: bytes) -> None:
    assert_storable(lints_of_attachment(data))
    assert_storable(lints_of_attachment(b'{"type":"diagnostics","files":' + data + b"}"))
    assert_storable(lints_of_attachment(b'{"type":"diagnostics","files":[{"diagnostics":[' + data + b"]}]}"))
    assert_storable(lints_of_result("mcp__ide__getDiagnostics", data))
    assert_storable(lints_in_text(f"<ide_diagnostics>[{data.decode('utf-8', 'surrogateescape')}]</ide_diagnostics>"))


_LINES = st.sampled_from(
    ["", "a.ts:", "  ✘ [Line 1:2] x [3] (y)", "  more (z)", "  ⚠ [Line 9:9] \ud800", ":", " :", "(", " ["]
)


@given(st.lists(_LINES))
def test_no_listing_breaks_it(lines: list[str]) -> None:
    assert_storable(lints_in_text("<new-diagnostics>" + "\n".join(lines) + "</new-diagnostics>"))
