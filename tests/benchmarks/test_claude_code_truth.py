"""The comparison of a ledger with a manifest, on one situation small enough to write down."""

import copy
import json
from pathlib import Path
from typing import Any

from aix.ids import ulid
from benchmarks.claude_code_truth import CHECKS, WHOLE, Difference, differences
from benchmarks.claude_truth.rows import read_ledger
from benchmarks.claude_truth.sums import repeated_files
from tests.support.sample_conversation import Row
from tests.support.sample_ledger import write_ledger

ORIGIN = "claude-code"
LABEL = "claude-code:s-1"
KEY = "u-1"
MESSAGE = "msg_01" + "A" * 22
TURN = ulid("turn", ORIGIN, KEY)
REQUEST = ulid("req", ORIGIN, MESSAGE)
FOLDER = "dotclaude/projects/-home-dev-tiny"
USAGE = {"input": 3, "output": 7, "cache_read": 0, "cache_write": 40, "cache_write_5m": None, "cache_write_1h": None}
BY_MODEL = {"m": {"messages": 1, **{name: value or 0 for name, value in USAGE.items()}}}

SITUATION: dict[str, Any] = {
    "folder": FOLDER,
    "sessions": {LABEL: {"kind": "main", "status": "active", "head": KEY, "parent": None, "spawn_tool_call_id": None}},
    "skipped_sessions": [{"session": "claude-code:s-2", "reason": "empty"}],
    "turns": [
        {
            "key": KEY,
            "id": TURN,
            "session": LABEL,
            "type": "normal",
            "status": "streaming",
            "parent": None,
            "messages": {"user": 1, "assistant": 1},
            "continues": None,
            "started_at": 1_000,
            "has_children": False,
            "tool_calls": 1,
            "requests": 1,
        }
    ],
    "messages": {"user": 1, "assistant": 1, "tool": 0, "system": 0},
    "requests": [
        {
            "id": REQUEST,
            "message_key": MESSAGE,
            "message_id": MESSAGE,
            "model": "m",
            **USAGE,
            "context": 43,
            "final": True,
            "kind": "main",
            "session": LABEL,
            "turn": KEY,
        }
    ],
    "by_model": BY_MODEL,
    "requests_by_kind": {"main": 1},
    "requests_final": 1,
    "tool_calls": {
        "total": 1,
        "with_result": 0,
        "failed": 0,
        "denied": 0,
        "outcomes": {"pending": 1},
        "by_name": {"Bash": 1},
    },
    "calls": [
        {
            "id": "toolu_1",
            "name": "Bash",
            "turn": KEY,
            "session": LABEL,
            "message": MESSAGE,
            "status": "pending",
            "outcome": "pending",
            "form": None,
        }
    ],
    "forks": 0,
    "problems": [{"kind": "bom", "file": "s-1.jsonl", "line": 1, "recovered": True}],
    "permission_modes": {LABEL: ["plan"]},
    "titles": {LABEL: "Tiny"},
    **{name: [] for name in ("microcompactions", "queued_messages", "compactions", "abandoned", "subagents")},
    **{name: [] for name in ("files", "lints", "codeblocks")},
}
TOTALS = {
    "compactions": 0,
    "messages:assistant": 1,
    "messages:user": 1,
    "outcome:pending": 1,
    "requests_by_kind:main": 1,
    "requests_final": 1,
    "sessions_by_kind:main": 1,
    "tool_calls:total": 1,
    "turns_by:normal/streaming": 1,
    **{f"{of}:{name}": value for of in ("requests", "model:m") for name, value in BY_MODEL["m"].items()},
}
MANIFEST = {"situations": {"tiny": SITUATION}, "bulk": None, "totals": TOTALS}


def rows() -> dict[str, list[Row]]:
    """The rows of a ledger of the situation."""
    user, assistant = ulid("msg", ORIGIN, KEY), ulid("msg", ORIGIN, MESSAGE)
    source = f"/logs/{FOLDER}/s-1.jsonl"
    tokens = {"input_tokens": 3, "output_tokens": 7, "cache_read_tokens": 0, "cache_write_tokens": 40}
    return {
        "turns": [
            {
                "id": TURN,
                "status": "streaming",
                "started_at": 1_000,
                "has_children": 0,
                "tool_call_count": 1,
                "workspace_path": "/home/dev/tiny",
                "permissions_granted": '{"mode":"plan"}',
            }
        ],
        "turn_context": [{"turn_id": TURN, "origin": ORIGIN, "turn_key": KEY}],
        "session_turns": [{"session_label": LABEL, "turn_id": TURN}],
        "sessions": [{"label": LABEL, "thread_id": TURN, "persona_id": "p", "created_at": 1_000, "updated_at": 1_000}],
        "session_context": [{"label": LABEL, "title": "Tiny"}],
        "messages": [
            {"id": user, "turn_id": TURN, "role": "user", "source": "human", "sequence": 0, "created_at": 1_000},
            {"id": assistant, "turn_id": TURN, "role": "assistant", "sequence": 1, "created_at": 1_001},
        ],
        "requests": [
            {
                "id": REQUEST,
                "turn_id": TURN,
                "session_label": LABEL,
                "message_id": assistant,
                "requested_at": 1_001,
                "model": "m",
                "origin_message_id": MESSAGE,
                "context_tokens": 43,
                "is_usage_final": True,
                **tokens,
            }
        ],
        "tool_calls": [
            {
                "id": "toolu_1",
                "turn_id": TURN,
                "message_id": assistant,
                "tool_name": "Bash",
                "params_json": "{}",
                "started_at": 1_001,
                "sequence": 0,
            }
        ],
        "permission_decisions": [{"call_id": "toolu_1", "turn_id": TURN, "outcome": "pending"}],
        "import_sources": [{"source_key": source, "importer": "claude_code", "path": source}],
        "import_problems": [
            {
                "run_id": "r",
                "source_key": source,
                "seq": 0,
                "line": 1,
                "kind": "byte_order_mark",
                "reason": "It has one.",
            }
        ],
    }


def differences_of(folder: Path, ledger_rows: dict[str, list[Row]]) -> list[Difference]:
    write_ledger(folder / "ledger", ledger_rows)
    tables = read_ledger(folder / "ledger")
    return list(differences(copy.deepcopy(MANIFEST), tables, folder, {*CHECKS, *WHOLE}))


def test_a_ledger_that_holds_what_the_manifest_says_has_no_differences(tmp_path: Path) -> None:
    assert differences_of(tmp_path, rows()) == []


def test_an_empty_ledger_differs_in_all_it_lacks(tmp_path: Path) -> None:
    kinds = {kind for _, kind, _ in differences_of(tmp_path, {})}
    assert kinds >= {"sessions", "turns", "messages", "requests", "by_model", "calls", "problems", "extras", "totals"}


def test_a_wrong_figure_is_named_with_what_was_expected_and_found(tmp_path: Path) -> None:
    wrong = rows()
    wrong["requests"][0] |= {"output_tokens": 8, "cache_write_1h_tokens": 0}
    found = differences_of(tmp_path, wrong)
    assert ("tiny", "requests", f"request {REQUEST}, output_tokens: expected 7, found 8") in found
    assert ("tiny", "requests", f"request {REQUEST}, cache_write_1h_tokens: expected null, found 0") in found
    assert {kind for _, kind, _ in found} == {"requests", "by_model", "totals"}


def test_what_the_manifest_does_not_know_is_shown(tmp_path: Path) -> None:
    more = rows()
    more["sessions"].append({**more["sessions"][0], "label": "claude-code:s-2"})
    more["turns"].append({"id": "T", "started_at": 1, "workspace_path": "/elsewhere"})
    found = differences_of(tmp_path, more)
    assert ("tiny", "skipped_sessions", "session claude-code:s-2: expected none, found it") in found
    assert ("(no situation)", "unplaced", "turns: expected none, found 1: ['T']") in found


def test_a_file_that_one_message_touches_twice_is_one_row_of_the_ledger(tmp_path: Path) -> None:
    uses = [{"type": "tool_use", "id": call, "name": "Read"} for call in ("a", "b")]
    result = {"file": {"filePath": "/x.py"}}
    lines: list[Row] = [{"message": {"id": MESSAGE, "content": uses}}]
    for call in ("a", "b"):
        block = {"type": "tool_result", "tool_use_id": call}
        lines.append({"message": {"content": [block]}, "toolUseResult": result})
    for name in ("one", "copy"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert repeated_files(tmp_path, ["."]) == {"read": 1}
