"""The kind of access that a call asks for, and its target."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix_importers.claude_code.calls import Access, access_of
from tests.importers.claude_code.odd_json import NOT_OBJECTS, assert_storable, odd_json


@pytest.mark.parametrize(
    ("tool", "params", "access"),
    [
        ("Bash", {"command": "make test | tail", "description": "Run"}, ("exec", "make test | tail")),
        ("PowerShell", {"command": "ls"}, ("exec", "ls")),
        ("Monitor", {"command": "tail -f log"}, ("exec", "tail -f log")),
        ("Read", {"file_path": "/w/a.py", "limit": 3}, ("read", "/w/a.py")),
        ("NotebookRead", {"notebook_path": "/w/a.ipynb"}, ("read", "/w/a.ipynb")),
        ("Glob", {"pattern": "**/*.py"}, ("read", "**/*.py")),
        ("Glob", {"pattern": "**/*.py", "path": "/w"}, ("read", "/w")),
        ("Grep", {"pattern": "x", "path": ""}, ("read", "x")),
        ("LS", {"path": "/w"}, ("read", "/w")),
        ("LSP", {"operation": "hover", "filePath": "/w/a.py"}, ("read", "/w/a.py")),
        ("Write", {"file_path": "/w/a.py", "content": "x"}, ("write", "/w/a.py")),
        ("Edit", {"file_path": "/w/a.py"}, ("write", "/w/a.py")),
        ("MultiEdit", {"file_path": "/w/a.py", "edits": []}, ("write", "/w/a.py")),
        ("NotebookEdit", {"notebook_path": "/w/a.ipynb"}, ("write", "/w/a.ipynb")),
        (
            "WebFetch",
            {"url": "https://me:secret@Docs.example.com:8443/a?b", "prompt": "x"},
            ("net", "docs.example.com"),
        ),
        ("WebFetch", {"url": "docs.example.com/a"}, ("net", "docs.example.com")),
        ("WebFetch", {"url": "http://[broken"}, ("net", None)),
        ("WebSearch", {"query": "parquet"}, ("net", "parquet")),
        ("mcp__issue_tracker__list__all", {}, ("mcp", "issue_tracker")),
        ("mcp__plugin_docs_docs__query-docs", {}, ("mcp", "plugin_docs_docs")),
        ("mcp____x", {}, ("mcp", None)),
        ("ListMcpResourcesTool", {"server": "wiki"}, ("mcp", "wiki")),
        ("ListMcpResourcesTool", {}, ("mcp", None)),
        ("ReadMcpResourceTool", {"server": "wiki", "uri": "x://y"}, ("mcp", "wiki")),
        ("Task", {"subagent_type": "Explore", "prompt": "x"}, ("spawn", "Explore")),
        ("Agent", {"prompt": "x"}, ("spawn", None)),
        ("AskUserQuestion", {"questions": []}, ("ask", None)),
        ("ExitPlanMode", {"plan": "x"}, ("ask", None)),
        ("TodoWrite", {"todos": []}, ("meta", None)),
        ("TaskUpdate", {"taskId": "1"}, ("meta", None)),
        ("Skill", {"skill": "pdf"}, ("meta", "pdf")),
        ("Skill", {"command": "pdf"}, ("meta", "pdf")),
        ("SlashCommand", {"command": "/review 5"}, ("meta", "/review 5")),
        ("SendMessage", {"to": "reviewer", "message": "x"}, ("meta", "reviewer")),
        ("ToolSearch", {"query": "x"}, ("meta", None)),
        ("Frobnicate", {"command": "x"}, (None, None)),
        ('Task" >\n<parameter name="description', {}, (None, None)),
        ("", {}, (None, None)),
    ],
)
def test_class_and_target_follow_from_tool_and_parameters(
    tool: str, params: dict[str, object], access: tuple[str | None, str | None]
) -> None:
    assert access_of(tool, json.dumps(params).encode()) == access


@pytest.mark.parametrize("value", [None, 5, True, ["ls"], {"a": "ls"}, ""])
def test_a_target_of_the_wrong_type_is_not_there(value: object) -> None:
    assert access_of("Bash", json.dumps({"command": value}).encode()) == Access("exec", None)


@pytest.mark.parametrize("params", NOT_OBJECTS)
def test_without_parameters_the_class_is_known_all_the_same(params: bytes) -> None:
    assert access_of("Write", params) == Access("write", None)


def test_a_target_is_text_that_files_can_hold() -> None:
    assert access_of("Bash", b'{"command":"echo \\ud83d\\ude00\\ud800","timeout":NaN}').target == "echo 😀\ufffd"
    assert access_of("Bash", b'{"command":"a\tb"}').target == "a\tb"
    assert access_of("mcp__\ud800__x", b"{}").target == "\ufffd"


_TOOLS = st.sampled_from(["Bash", "Glob", "WebFetch", "Task", "mcp__a__b", "TodoWrite"]) | st.text()


@given(_TOOLS, odd_json("command", "path", "pattern", "url", "subagent_type"))
def test_no_parameters_break_it(tool: str, params: bytes) -> None:
    assert_storable([access_of(tool, params)])
