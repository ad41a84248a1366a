"""The files that calls, attachments and prompts touch."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix_importers.claude_code.files import files_in_prompt, files_of_attachment, files_of_call
from aix_importers.common.row_writer import FileUse
from tests.importers.claude_code.odd_json import NOT_OBJECTS, assert_storable, odd_json

CWD = "/w"


def as_json(value: object) -> bytes | None:
    return None if value is None else json.dumps(value).encode()


def files(
    tool: str, params: Mapping[str, object], result: object = None, content: object = None, cwd: str | None = CWD
) -> list[FileUse]:
    return files_of_call(tool, json.dumps(params).encode(), as_json(result), as_json(content), cwd)


def hunk(start: object, lines: object) -> dict[str, object]:
    return {"oldStart": 1, "oldLines": 1, "newStart": start, "newLines": lines, "lines": ["-x", "+y"]}


def shown(path: object, start: object, lines: object) -> dict[str, object]:
    file = {"filePath": path, "content": "x", "startLine": start, "numLines": lines, "totalLines": 400}
    return {"type": "text", "file": file}


@pytest.mark.parametrize(
    ("params", "result", "lines"),
    [
        ({}, shown("/w/a.py", 1, 30), (1, 30)),
        ({"offset": 120, "limit": 99}, shown("/w/a.py", 120, 15), (120, 134)),
        ({"offset": 30, "limit": 10}, None, (30, 39)),
        ({"offset": 30}, None, (30, None)),
        ({"limit": 10}, None, (1, 10)),
        ({"offset": 0, "limit": 10}, None, (1, 10)),
        ({}, None, (None, None)),
        ({}, "File unchanged", (None, None)),
        ({}, {"type": "file_unchanged", "file": {"filePath": "/w/a.py"}}, (None, None)),
        ({}, {"type": "image", "file": {"base64": "x", "type": "image/png", "originalSize": 9}}, (None, None)),
        ({}, {"type": "notebook", "file": {"filePath": "/w/a.py", "cells": []}}, (None, None)),
        ({"pages": "1-3"}, {"type": "pdf", "file": {"filePath": "/w/a.py", "base64": "x"}}, (None, None)),
        ({}, shown("/w/a.py", 1, 0), (None, None)),
        ({}, shown("/w/a.py", "1", "30"), (None, None)),
        ({}, shown("/w/a.py", 2**63 - 1, 2), (None, None)),
        ({}, shown("/w/a.py", 2**70, 2), (None, None)),
        ({"offset": "30", "limit": 10.5}, None, (None, None)),
        ({"offset": -3}, None, (None, None)),
        ({}, {"file": ["/w/a.py"]}, (None, None)),
    ],
)
def test_a_file_is_read_from_the_lines_shown_or_else_asked_for(
    params: dict[str, object], result: object, lines: tuple[int | None, int | None]
) -> None:
    assert files("Read", {"file_path": "/w/a.py"} | params, result) == [("read", "/w/a.py", *lines)]


def test_a_notebook_is_read_too() -> None:
    assert files("NotebookRead", {"notebook_path": "n.ipynb"}) == [("read", "/w/n.ipynb", None, None)]


def test_a_file_is_written_where_each_hunk_of_its_patch_left_lines() -> None:
    result = {"filePath": "/w/a.py", "structuredPatch": [hunk(10, 4), hunk(90, 2), hunk(10, 9), 5, hunk(100, 0)]}
    written = [("written", "/w/a.py", 10, 13), ("written", "/w/a.py", 90, 91), ("written", "/w/a.py", None, None)]
    assert files("Edit", {"file_path": "/w/a.py"}, result) == written
    assert files("MultiEdit", {"file_path": "/w/a.py", "edits": []}, result) == written
    assert files("Write", {"file_path": "/w/a.py"}, result | {"type": "update"}) == written


@pytest.mark.parametrize(("content", "end"), [("a\nb", 2), ("a\nb\n", 2), ("a", 1), ("\n", 1), ("", None)])
def test_a_created_file_is_written_from_its_first_line_to_its_last(content: str, end: int | None) -> None:
    params = {"file_path": "/w/a.py", "content": content}
    result = {"type": "create", "filePath": "/w/a.py", "content": content, "structuredPatch": []}
    assert files("Write", params, result) == [("written", "/w/a.py", 1 if end else None, end)]
    assert files("Write", params, {"type": "create"}) == [("written", "/w/a.py", 1 if end else None, end)]


@pytest.mark.parametrize(
    "result", [None, {}, {"structuredPatch": []}, {"type": "update", "structuredPatch": "x"}, "ok"]
)
def test_a_file_is_written_even_where_no_lines_are_known(result: object) -> None:
    params = {"file_path": "/w/a.py", "content": "x", "new_string": "x"}
    assert files("Edit", params, result) == files("Write", params, result) == [("written", "/w/a.py", None, None)]


def test_a_notebook_is_written_unless_its_edit_failed() -> None:
    params = {"notebook_path": "/w/n.ipynb", "new_source": "x"}
    assert files("NotebookEdit", params, {"error": ""}) == [("written", "/w/n.ipynb", None, None)]
    assert files("NotebookEdit", params) == [("written", "/w/n.ipynb", None, None)]
    assert files("NotebookEdit", params, {"error": "No such cell"}) == []


@pytest.mark.parametrize("mode", ["files_with_matches", None])
def test_a_search_refers_to_the_files_it_lists(mode: str | None) -> None:
    result = {"mode": mode, "filenames": ["/w/a.py", "b.py", "b.py", 5, ""], "numFiles": 2}
    expected = [("referenced", "/w/a.py", None, None), ("referenced", "/w/b.py", None, None)]
    assert files("Grep", {"pattern": "x"}, result, "Found 2 files\n/w/a.py\nc.py") == expected
    assert files("Glob", {"pattern": "*"}, result) == expected


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        ("Found 2 files\na.py\n/x/b c.py", ["/w/a.py", "/x/b c.py"]),
        (
            "a.py\r\nb.py\n(Results are truncated. Consider using a more specific path or pattern.)",
            ["/w/a.py", "/w/b.py"],
        ),
        ("No files found", []),
        ("<persisted-output>\nOutput too large (77.3KB). Full output saved to: /x\n", []),
        ("a.py\n\n<system-reminder>x</system-reminder>", ["/w/a.py"]),
        ([{"type": "text", "text": "a.py"}, {"type": "image"}, 5], ["/w/a.py"]),
        (7, []),
    ],
)
def test_without_a_structured_result_a_search_refers_to_the_files_in_its_text(
    content: object, paths: list[str]
) -> None:
    for tool in ("Grep", "Glob"):
        assert [use.file_path for use in files(tool, {"pattern": "x"}, None, content)] == paths


def found(output: str, **params: object) -> list[tuple[str, int | None]]:
    """Return paths and lines that a search for lines refers to, alike from its result and from its text alone."""
    given = {"pattern": "x", "output_mode": "content"} | params
    result = {"mode": "content", "filenames": [], "content": output}
    uses = files("Grep", given, result)
    assert uses == files("Grep", given, None, output)
    assert all(use.kind == "referenced" and use.line_start == use.line_end for use in uses)
    return [(use.file_path, use.line_start) for use in uses]


def test_a_search_for_lines_refers_to_each_line_once() -> None:
    output = "a.py:7:x\na.py:9:x: y:3:z\n/w/a.py:9:x\r\nsub/b.py:1:\nNo line\n"
    assert found(output) == [("/w/a.py", 7), ("/w/a.py", 9), ("/w/sub/b.py", 1)]


def test_lines_around_what_was_found_are_not_referred_to() -> None:
    output = "a.py-6-before:5:\na.py:7:x\n/w/a.py-8-after:12:y\n--\nb-1-c.py-2-y\nb-1-c.py:3:x\nb-1-c.py-4-at 5:6:7\n--"
    assert found(output, **{"-C": 1}) == [("/w/a.py", 7), ("/w/b-1-c.py", 3)]


def test_the_search_of_one_file_names_no_path() -> None:
    output = "6-before:5:\n7:x\n8-after\n--\n20:2:3\n\n[Showing results with pagination = limit: 10, offset: 0]"
    assert found(output, path="src/a.py") == [("/w/src/a.py", 7), ("/w/src/a.py", 20)]
    assert found(output) == []


def test_names_that_begin_with_a_number_are_names() -> None:
    assert found("2026-01-15.md:3:x\n2026-01-16.md:4:x", path="notes") == [
        ("/w/2026-01-15.md", 3),
        ("/w/2026-01-16.md", 4),
    ]


def test_the_letter_of_a_drive_belongs_to_the_path() -> None:
    output = "C:\\w\\a.py:7:x\nC:\\w\\a.py-8-y:9:z\nc:/w/b.py:3:x\nsrc\\c.py:4:x"
    params = b'{"output_mode":"content"}'
    content = json.dumps(output).encode()
    assert [use[1:3] for use in files_of_call("Grep", params, None, content, "C:\\w")] == [
        ("C:\\w\\a.py", 7),
        ("c:/w/b.py", 3),
        ("C:\\w\\src\\c.py", 4),
    ]


def test_a_search_without_line_numbers_refers_to_no_lines() -> None:
    assert found("a.py:8080:80", **{"-n": False}) == []


def test_lines_beyond_all_numbers_are_none() -> None:
    assert found("a.py:99999999999999999999:x\na.py:0:x") == [("/w/a.py", None)]


def test_a_count_refers_to_the_files_that_it_counts_in() -> None:
    result = {"mode": "count", "filenames": [], "content": "a.py:3\nC:\\b.py:1\n7\n", "numMatches": 4}
    assert [use.file_path for use in files("Grep", {"output_mode": "count"}, result)] == ["/w/a.py", "C:\\b.py"]


@pytest.mark.parametrize("tool", ["Bash", "LS", "WebFetch", "TodoWrite", "mcp__a__b", ""])
def test_other_tools_touch_no_files(tool: str) -> None:
    params = {"file_path": "/w/a.py", "path": "/w", "notebook_path": "/w/n"}
    assert files(tool, params, {"filenames": ["a"]}, "a") == []


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("a.py", "/w", "/w/a.py"),
        ("./src/../a.py", "/w/", "/w/a.py"),
        ("a.py", None, "a.py"),
        ("a.py", "", "a.py"),
        ("~/a.py", "/w", "~/a.py"),
        ("/x/../a.py", "/w", "/x/../a.py"),
        ("C:\\x\\a.py", "/w", "C:\\x\\a.py"),
        ("c:/x/a.py", "/w", "c:/x/a.py"),
        ("\\\\host\\a.py", "/w", "\\\\host\\a.py"),
        ("src\\a.py", "C:\\w", "C:\\w\\src\\a.py"),
        ("src/a.py", "c:/w", "c:\\w\\src\\a.py"),
        ("file:///x/a%20b.py", "/w", "/x/a b.py"),
        ("file:///C%3A/x/a.py", "/w", "C:/x/a.py"),
        ("a%20b.py", "/w", "/w/a%20b.py"),
        ("a.py", "/\ud800", "/\ufffd/a.py"),
    ],
)
def test_a_path_is_absolute_where_the_folder_is_known(path: str, cwd: str | None, expected: str) -> None:
    assert files("Read", {"file_path": path}, cwd=cwd) == [("read", expected, None, None)]


@pytest.mark.parametrize(
    ("attachment", "uses"),
    [
        ({"type": "file", "filename": "/w/a.py", "content": shown("/w/a.py", 1, 2)}, [("/w/a.py", 1, 2)]),
        ({"type": "file", "filename": "a.py", "content": "x"}, [("/w/a.py", None, None)]),
        ({"type": "file", "filename": "/w/a.png", "content": {"type": "image"}}, [("/w/a.png", None, None)]),
        ({"type": "already_read_file", "filename": "/w/a.py"}, [("/w/a.py", None, None)]),
        ({"type": "compact_file_reference", "filename": "/w/a.py"}, [("/w/a.py", None, None)]),
        ({"type": "edited_image_file", "filename": "/w/a.png"}, [("/w/a.png", None, None)]),
        ({"type": "pdf_reference", "filename": "/w/a.pdf", "pageCount": 9}, [("/w/a.pdf", None, None)]),
        ({"type": "directory", "path": "/w/src", "content": "a.py"}, [("/w/src", None, None)]),
        ({"type": "nested_memory", "path": "/w/CLAUDE.md", "content": {}}, [("/w/CLAUDE.md", None, None)]),
        ({"type": "plan_file_reference", "planFilePath": "/h/x.md"}, [("/h/x.md", None, None)]),
        ({"type": "edited_text_file", "filename": "/w/a.py", "snippet": "x"}, []),
        ({"type": "opened_file_in_ide", "filename": "/w/a.py"}, []),
        ({"type": "selected_lines_in_ide", "filename": "/w/a.py", "lineStart": 3, "lineEnd": 9}, []),
        ({"type": "plan_mode", "planFilePath": "/h/x.md"}, []),
        ({"type": "file", "filename": 5}, []),
        ({"type": "file", "filename": ""}, []),
        ({"type": ["file"], "filename": "/w/a.py"}, []),
    ],
)
def test_an_attachment_carries_files_unless_it_only_tells_of_them(
    attachment: dict[str, object], uses: list[tuple[object, ...]]
) -> None:
    found = files_of_attachment(json.dumps(attachment).encode(), CWD)
    assert [use[1:] for use in found] == uses
    assert all(use.kind == "attached" for use in found)


def test_what_the_editor_had_open_or_selected_is_referred_to() -> None:
    text = (
        "<ide_opened_file>The user opened the file c:\\u\\x y.md in the IDE. It may be related.</ide_opened_file>"
        "<ide_selection>The user selected the lines 3 to 9 from /w/a:b.py:\n@c.py\n\nIt may be related.</ide_selection>"
        "<ide_selection>Other words</ide_selection>\nFix it"
    )
    assert files_in_prompt(text, CWD) == [
        ("referenced", "c:\\u\\x y.md", None, None),
        ("referenced", "/w/a:b.py", 3, 9),
    ]


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("Look at @src/a.py, @b.md. And (c) @.env", [("/w/src/a.py",), ("/w/b.md",), ("/w/.env",)]),
        ("@src/a.py", [("/w/src/a.py",)]),
        ('Move @"my notes/a b.md" there', [("/w/my notes/a b.md",)]),
        ("In @src/components/ and @./scripts/run", [("/w/src/components",), ("/w/scripts/run",)]),
        ("@~/notes/todo @/etc/hosts.conf @C:\\x\\run", [("~/notes/todo",), ("/etc/hosts.conf",), ("C:\\x\\run",)]),
        ("@app/[id]/(x)/page.tsx?", [("/w/app/[id]/(x)/page.tsx",)]),
        ("@src/a.py#L10-20 @b.py#L7", [("/w/src/a.py", 10, 20), ("/w/b.py", 7, 7)]),
        ("@src/a.py#L0 @b.py#L9-3", [("/w/src/a.py",), ("/w/b.py",)]),
        ("@a.py and @a.py again", [("/w/a.py",)]),
        ("@Makefile @docker/Dockerfile", [("/w/Makefile",), ("/w/docker/Dockerfile",)]),
        ("<command-name>/x</command-name><command-args>@a.py now</command-args>", [("/w/a.py",)]),
        ("@node_modules/@types/x.d.ts", [("/w/node_modules/@types/x.d.ts",)]),
    ],
)
def test_a_mentioned_path_is_attached(text: str, uses: list[tuple[object, ...]]) -> None:
    found = files_in_prompt(text, CWD)
    assert [use[1:] if use.line_start else use[1:2] for use in found] == uses
    assert all(use.kind == "attached" for use in found)


@pytest.mark.parametrize(
    "text",
    [
        "Write to ada@example.md or git@host:a/b.py",
        "@ada @ada.lovelace @example.com @app.route('/') @pytest.mark.skip @functools.cache",
        "@types/node @types/lodash.merge @babel/core @org/team @/components/button",
        "npm i @scope/pkg@1.2.3",
        "import x from '@/a.ts' and \"@scope/x.js\"",
        "@https://example.com/a.md @docs:page://a/b.md @user@host.md",
        '@"code-reviewer (agent)" @"Hello" @""',
        "@ @@ @. @.. @/ @... @//",
        "@@ -1,3 +1,3 @@ a.py",
        "<system-reminder>See @a.py</system-reminder>",
        "<bash-stdout>@a.py</bash-stdout>",
    ],
)
def test_what_may_be_something_else_is_no_mention_of_a_file(text: str) -> None:
    assert files_in_prompt(text, CWD) == []


@pytest.mark.parametrize(
    "piece", ["<ide_selection>", "<ide_opened_file>", "@a ", "@", '@"', "@a/", "<system-reminder> @a "]
)
def test_a_prompt_of_nothing_but_beginnings_is_read_in_no_time(piece: str) -> None:
    assert len(files_in_prompt(piece * 50_000, CWD)) <= 1


@pytest.mark.parametrize("data", NOT_OBJECTS)
@pytest.mark.parametrize("tool", ["Read", "Edit", "NotebookEdit", "Grep"])
def test_what_is_no_object_touches_nothing(tool: str, data: bytes) -> None:
    assert files_of_call(tool, data, data, None, CWD) == []
    assert files_of_attachment(data, CWD) == []


NAMES = (
    "file_path", "notebook_path", "offset", "limit", "content", "path", "output_mode", "-n", "type", "file", "filePath",
    "startLine", "numLines", "structuredPatch", "newStart", "newLines", "mode", "filenames", "filename", "text",
)  # fmt: skip
_TOOLS = st.sampled_from(["Read", "NotebookRead", "Write", "Edit", "MultiEdit", "NotebookEdit", "Grep", "Glob", "Bash"])
_FOLDERS = st.sampled_from([None, "", "/w", "C:\\w", "\ud800"])


@given(_TOOLS, odd_json(*NAMES), st.none() | odd_json(*NAMES), st.none() | odd_json(*NAMES), _FOLDERS)
def test_no_call_breaks_it(
    tool: str, params: bytes, structured: bytes | None, content: bytes | None, cwd: str | None
) -> None:
    uses = files_of_call(tool, params, structured, content, cwd)
    assert_storable(uses)
    assert len({use[:3] for use in uses}) == len(uses)


@given(odd_json(*NAMES), _FOLDERS)
def test_no_attachment_breaks_it(attachment: bytes, cwd: str | None) -> None:
    assert_storable(files_of_attachment(attachment, cwd))


_OUTPUT_LINES = st.sampled_from(
    ["a.py:3:x", "a.py-4-y:5:z", "5:x", "6-y", "--", "", ":1:", "a:b:1:2", "C:\\a:1:", "1-2-3:4:"]
)


@given(st.lists(_OUTPUT_LINES | st.text(st.characters(codec=None), max_size=9)), _FOLDERS)
def test_no_output_breaks_it(lines: list[str], cwd: str | None) -> None:
    result = json.dumps({"mode": "content", "content": "\n".join(lines)}).encode()
    assert_storable(files_of_call("Grep", b'{"path":"p"}', result, None, cwd))


_WORDS = st.sampled_from(
    ["@", '"', "a.py", "/", "\\", " ", "\n", "#L1-2", "<ide_selection>", "</ide_selection>", "\ud800"]
)


@given(st.lists(_WORDS).map("".join) | st.text(st.characters(codec=None)), _FOLDERS)
def test_no_prompt_breaks_it(text: str, cwd: str | None) -> None:
    assert_storable(files_in_prompt(text, cwd))
