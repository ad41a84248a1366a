"""The canonical rows of the sample ledger: a session with a tool call, a fork, a compaction, and a subagent."""

import json
from collections.abc import Mapping
from typing import Any

from aix.ids import h63, ulid

Row = dict[str, Any]

ORIGIN = "session-log"
MAIN = "session-log:s-1"
ABANDONED = "session-log:s-1~0a1b2c3d4e5f"
SUBAGENT = "session-log:s-1/agent-a"


def compact_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def turn_of(key: str) -> str:
    return ulid("turn", ORIGIN, key)


def message_of(key: str) -> str:
    return ulid("msg", ORIGIN, key)


FIRST, SECOND, OTHER, COMPACTION, AFTER, CHILD = map(turn_of, ("u-1", "u-2", "u-3", "b-1", "c:a-4", "u-5"))


def _turn_row(key: str, parent: str | None, started_at: int, **values: object) -> Row:
    return {
        "id": turn_of(key),
        "parent_turn_id": parent,
        "status": "completed",
        "started_at": started_at,
        "completed_at": started_at + 500,
        "model": "model-x",
        "provider": "vendor",
        "query_message_ids": "[]",
        "permissions_used": "[]",
        "source_event_id": key,
        "workspace_path": "/home/ada/näve",
        **values,
    }


def _thread_row(*ancestry: str, total_tokens: int, key: str) -> Row:
    return {
        "turn_id": ancestry[-1],
        "ancestry": compact_json(ancestry),
        "total_tokens": total_tokens,
        "depth": len(ancestry),
        "persona_id": "ada",
        "thread_key": f"{ORIGIN}:{key}",
    }


def _message_row(key: str, turn_id: str, role: str, sequence: int, created_at: int, **values: object) -> Row:
    return {
        "id": message_of(key),
        "turn_id": turn_id,
        "role": role,
        "sequence": sequence,
        "created_at": created_at,
        "source": None if role == "assistant" else "human",
        **values,
    }


def _movement_row(label: str, thread_id: str, changed_at: int) -> Row:
    return {
        "id": h63("session_history", label, thread_id, changed_at),
        "session_label": label,
        "thread_id": thread_id,
        "changed_at": changed_at,
    }


CANONICAL_ROWS: Mapping[str, list[Row]] = {
    "turns": [
        _turn_row(
            "u-1",
            None,
            1_000,
            query_message_ids=json.dumps([message_of("u-1")]),
            response_message_id=message_of("a-1"),
            input_tokens=10,
            output_tokens=20,
            cached_input_tokens=300,
            cache_write_tokens=40,
            total_tokens=370,
            has_children=1,
            tool_call_count=1,
            permissions_used=compact_json(
                [
                    {
                        "tool": "Edit",
                        "class": "write",
                        "target": "src/a.py",
                        "n": 1,
                        "ok": 1,
                        "failed": 0,
                        "denied": 0,
                        "calls": ["call_1"],
                    }
                ]
            ),
        ),
        _turn_row(
            "u-2",
            FIRST,
            2_000,
            completed_at=2_600,
            role="manager",
            query_message_ids=json.dumps([message_of("u-2")]),
            response_message_id=message_of("a-2"),
            input_tokens=5,
            output_tokens=6,
            total_tokens=11,
            has_children=1,
            tool_call_count=1,
            permissions_used=compact_json(
                [
                    {
                        "tool": "Task",
                        "class": None,
                        "target": None,
                        "n": 1,
                        "ok": 0,
                        "failed": 1,
                        "denied": 0,
                        "calls": ["call_2"],
                    }
                ]
            ),
        ),
        _turn_row(
            "u-3",
            FIRST,
            2_500,
            status="failed",
            query_message_ids=json.dumps([message_of("u-3")]),
        ),
        _turn_row(
            "b-1",
            SECOND,
            3_000,
            turn_type="compaction",
            query_message_ids=json.dumps([message_of("b-1")]),
            has_children=1,
        ),
        _turn_row("c:a-4", COMPACTION, 3_600, response_message_id=message_of("a-4"), output_tokens=7, total_tokens=7),
        _turn_row(
            "u-5",
            None,
            2_100,
            role="worker",
            query_message_ids=json.dumps([message_of("u-5")]),
            response_message_id=message_of("a-5"),
            total_tokens=50,
            output_tokens=50,
        ),
    ],
    "threads": [
        _thread_row(FIRST, total_tokens=370, key="u-1"),
        _thread_row(FIRST, SECOND, total_tokens=381, key="u-2"),
        _thread_row(FIRST, OTHER, total_tokens=370, key="u-3"),
        _thread_row(FIRST, SECOND, COMPACTION, total_tokens=381, key="b-1"),
        _thread_row(FIRST, SECOND, COMPACTION, AFTER, total_tokens=388, key="c:a-4"),
        _thread_row(CHILD, total_tokens=50, key="u-5"),
    ],
    "sessions": [
        {
            "label": MAIN,
            "thread_id": AFTER,
            "persona_id": "ada",
            "origin": ORIGIN,
            "origin_session_id": "s-1",
            "created_at": 1_000,
            "updated_at": 4_100,
        },
        {
            "label": ABANDONED,
            "thread_id": OTHER,
            "persona_id": "ada",
            "origin": ORIGIN,
            "origin_session_id": "s-1",
            "created_at": 1_000,
            "updated_at": 3_000,
            "status": "archived",
        },
        {
            "label": SUBAGENT,
            "thread_id": CHILD,
            "persona_id": "ada",
            "is_subagent": 1,
            "parent_session_label": MAIN,
            "parent_turn_id": SECOND,
            "spawn_tool_call_id": "call_2",
            "task_description": "Look for callers",
            "task_status": "completed",
            "origin": ORIGIN,
            "origin_session_id": "a",
            "created_at": 2_100,
            "updated_at": 2_600,
        },
    ],
    "messages": [
        _message_row("u-1", FIRST, "user", 0, 1_000, content="Rename the function. 日本語 🚀"),
        _message_row("a-1", FIRST, "assistant", 1, 1_400, content="```python\ndef new(): ...\n```", thinking="Simple."),
        _message_row(
            "u-2",
            SECOND,
            "user",
            0,
            2_000,
            content="Who calls it, @[Helper](agent:agent-1)?",
            context_json='{"branch":"main"}',
        ),
        _message_row("a-2", SECOND, "assistant", 1, 2_400, content=""),
        _message_row("u-3", OTHER, "user", 0, 2_500, content="Stop \x1b[31mnow\x1b[0m\n"),
        _message_row("b-1", COMPACTION, "system", 0, 3_000, source="event"),
        _message_row("a-4", AFTER, "assistant", 0, 3_600, content="Done.", metadata_json='{"stop_reason":"end_turn"}'),
        _message_row("u-5", CHILD, "user", 0, 2_100, content="Look for callers", source="agent"),
        _message_row("a-5", CHILD, "assistant", 1, 2_500, content="None."),
    ],
    "tool_calls": [
        {
            "id": "call_1",
            "turn_id": FIRST,
            "message_id": message_of("a-1"),
            "tool_name": "Edit",
            "params_json": '{"file":"src/a.py","new":"def new(): ..."}',
            "result_json": '{"ok":true}',
            "status": "completed",
            "started_at": 1_400,
            "completed_at": 1_450,
            "sequence": 0,
        },
        {
            "id": "call_2",
            "turn_id": SECOND,
            "message_id": message_of("a-2"),
            "tool_name": "Task",
            "params_json": '{"prompt":"Look for callers"}',
            "error": "the agent gave up",
            "status": "failed",
            "spawned_session_label": SUBAGENT,
            "started_at": 2_050,
            "completed_at": 2_600,
            "sequence": 0,
        },
    ],
    "compactions": [
        {
            "turn_id": COMPACTION,
            "summary": "A function was renamed.",
            "summarized_through_turn_id": SECOND,
            "turns_summarized": 2,
            "compaction_type": "summary",
            "model": "model-x",
            "tokens_before": 9_007_199_254_740_993,
            "tokens_after": 32_473,
            "trigger": "context_limit",
            "metadata_json": '{"model_inferred":true}',
        }
    ],
    "session_history": [
        _movement_row(MAIN, FIRST, 1_000),
        _movement_row(MAIN, SECOND, 2_000),
        _movement_row(MAIN, OTHER, 2_500),
        _movement_row(MAIN, COMPACTION, 3_000),
        _movement_row(MAIN, AFTER, 3_600),
        _movement_row(ABANDONED, OTHER, 2_500),
        _movement_row(SUBAGENT, CHILD, 2_100),
    ],
    "session_aliases": [{"alias": "s-1", "session_label": MAIN, "created_at": 1_000, "reason": "manual"}],
    "message_files": [
        {
            "id": h63("message_files", message_of("a-1"), "written", "/home/ada/näve/src/a.py", 1),
            "message_id": message_of("a-1"),
            "kind": "written",
            "file_path": "/home/ada/näve/src/a.py",
            "line_start": 1,
            "line_end": 2,
        }
    ],
    "message_lints": [
        {
            "id": h63("message_lints", message_of("u-2"), 0),
            "message_id": message_of("u-2"),
            "file_path": "src/b.py",
            "message": "undefined name 'old'",
            "lint_source": "pyflakes",
            "start_line": 3,
            "start_col": 1,
            "severity": "error",
        }
    ],
    "message_codeblocks": [
        {
            "id": h63("message_codeblocks", message_of("a-1"), 0),
            "message_id": message_of("a-1"),
            "idx": 0,
            "language": "python",
            "content": "def new(): ...\n",
        }
    ],
}
