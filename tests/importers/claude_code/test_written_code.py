"""The code that calls write, and the blocks of code in answers."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix_importers.claude_code.files import code_of_call
from aix_importers.common.row_writer import Code
from tests.importers.claude_code.odd_json import NOT_OBJECTS, assert_storable, odd_json


def hunk(start: object, lines: object) -> dict[str, object]:
    return {"oldStart": 1, "oldLines": 1, "newStart": start, "newLines": lines, "lines": ["-x", "+y"]}


def code(tool: str, params: Mapping[str, object], result: object = None, cwd: str | None = None) -> list[Code]:
    return code_of_call(tool, json.dumps(params).encode(), None if result is None else json.dumps(result).encode(), cwd)


def test_an_edit_spans_the_lines_from_its_first_hunk_to_its_last() -> None:
    params = {"file_path": "/w/a.py", "old_string": "x", "new_string": "y\nz"}
    result = {"filePath": "/w/a.py", "structuredPatch": [hunk(10, 4), hunk(90, 2)]}
    assert code("Edit", params, result) == [Code("y\nz", None, "/w/a.py", 10, 91)]


@pytest.mark.parametrize(
    "patch", [None, [], 5, [hunk("10", "4")], [hunk(0, 0)], [hunk(10, 0)], [hunk(2**63, 1)], [7, None]]
)
def test_without_a_usable_patch_an_edit_spans_no_lines(patch: object) -> None:
    params = {"file_path": "/w/a.py", "new_string": "y"}
    assert code("Edit", params, {"structuredPatch": patch}) == [Code("y", None, "/w/a.py", None, None)]


def test_a_hunk_that_cannot_be_read_spoils_no_other() -> None:
    result = {"structuredPatch": [hunk("1", 1), 5, hunk(10, 4), hunk(20, 0)]}
    assert code("Edit", {"file_path": "/a", "new_string": "y"}, result) == [Code("y", None, "/a", 10, 13)]


def test_a_created_file_has_no_lines_and_an_updated_one_those_of_its_patch() -> None:
    params = {"file_path": "a.py", "content": "x\n"}
    created = {"type": "create", "content": "x\n", "structuredPatch": []}
    updated = {"type": "update", "content": "x\n", "structuredPatch": [hunk(1, 5)]}
    assert code("Write", params, created, "/w") == [Code("x\n", None, "/w/a.py", None, None)]
    assert code("Write", params, updated, "/w") == [Code("x\n", None, "/w/a.py", 1, 5)]


def test_each_of_several_edits_is_a_block_without_lines() -> None:
    params = {"file_path": "/w/a.py", "edits": [{"new_string": "b"}, 5, {"new_string": ["c"]}, {"new_string": "d"}]}
    result = {"structuredPatch": [hunk(5, 1), hunk(40, 2)]}
    assert [(each.line_start, each.content) for each in code("MultiEdit", params, result)] == [(None, "b"), (None, "d")]


def test_a_cell_of_a_notebook_is_a_block_unless_the_edit_failed() -> None:
    params = {"notebook_path": "/w/n.ipynb", "cell_id": "c", "new_source": "print(1)"}
    assert code("NotebookEdit", params, {"error": "", "language": "python"}) == [
        Code("print(1)", None, "/w/n.ipynb", None, None)
    ]
    assert code("NotebookEdit", params, {"error": "No such cell"}) == []


@pytest.mark.parametrize("tool", ["Write", "Edit", "NotebookEdit", "MultiEdit"])
def test_what_only_removes_text_writes_no_code(tool: str) -> None:
    params = {"file_path": "/a", "content": "", "new_string": "", "new_source": "", "edits": [{"new_string": ""}]}
    assert code(tool, params) == []


def test_other_tools_write_no_code() -> None:
    assert code("Bash", {"command": "echo x > a", "content": "x", "new_string": "x"}) == []


def test_code_without_a_file_is_code() -> None:
    assert code("Write", {"file_path": 5, "content": "x"}) == [Code("x", None, None, None, None)]


@pytest.mark.parametrize("data", NOT_OBJECTS)
def test_what_is_no_object_gives_nothing(data: bytes) -> None:
    assert code_of_call("Write", data, data, None) == []
    assert code_of_call("Write", b'{"content":"x"}', data, None) == [Code("x", None, None, None, None)]


NAMES = (
    "file_path",
    "content",
    "new_string",
    "new_source",
    "edits",
    "structuredPatch",
    "newStart",
    "newLines",
    "error",
)


@given(st.sampled_from(["Write", "Edit", "MultiEdit", "NotebookEdit"]), odd_json(*NAMES), st.none() | odd_json(*NAMES))
def test_no_json_breaks_it(tool: str, params: bytes, structured: bytes | None) -> None:
    assert_storable(code_of_call(tool, params, structured, "/w"))
