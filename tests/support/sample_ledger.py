"""A small whole ledger: a session with a tool call, a fork, a compaction, and a subagent.

Every derived column holds what AIX derives from the other rows.

Run as a program to write it to a folder, as a fixture of the current schema version:

    python -m tests.support.sample_ledger fixtures/ledgers/schema_N
"""

import json
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aix.ids import h63, ulid
from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import batch_from_columns
from aix.store.manifest import manifest_path

Row = dict[str, Any]

ORIGIN = "session-log"
MAIN = "session-log:s-1"
ABANDONED = "session-log:s-1~0a1b2c3d4e5f"
SUBAGENT = "session-log:s-1/agent-a"


def compact_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _turn(key: str) -> str:
    return ulid("turn", ORIGIN, key)


def _message(key: str) -> str:
    return ulid("msg", ORIGIN, key)


FIRST, SECOND, OTHER, COMPACTION, AFTER, CHILD = map(_turn, ("u-1", "u-2", "u-3", "b-1", "c:a-4", "u-5"))


def _turn_row(key: str, parent: str | None, started_at: int, **values: object) -> Row:
    return {
        "id": _turn(key),
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
        "id": _message(key),
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
            query_message_ids=json.dumps([_message("u-1")]),
            response_message_id=_message("a-1"),
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
            query_message_ids=json.dumps([_message("u-2")]),
            response_message_id=_message("a-2"),
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
            query_message_ids=json.dumps([_message("u-3")]),
        ),
        _turn_row(
            "b-1",
            SECOND,
            3_000,
            turn_type="compaction",
            query_message_ids=json.dumps([_message("b-1")]),
            has_children=1,
        ),
        _turn_row("c:a-4", COMPACTION, 3_600, response_message_id=_message("a-4"), output_tokens=7, total_tokens=7),
        _turn_row(
            "u-5",
            None,
            2_100,
            role="worker",
            query_message_ids=json.dumps([_message("u-5")]),
            response_message_id=_message("a-5"),
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
        _message_row("u-2", SECOND, "user", 0, 2_000, content="Who calls it?", context_json='{"branch":"main"}'),
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
            "message_id": _message("a-1"),
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
            "message_id": _message("a-2"),
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
            "id": h63("message_files", _message("a-1"), "written", "/home/ada/näve/src/a.py", 1),
            "message_id": _message("a-1"),
            "kind": "written",
            "file_path": "/home/ada/näve/src/a.py",
            "line_start": 1,
            "line_end": 2,
        }
    ],
    "message_lints": [
        {
            "id": h63("message_lints", _message("u-2"), 0),
            "message_id": _message("u-2"),
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
            "id": h63("message_codeblocks", _message("a-1"), 0),
            "message_id": _message("a-1"),
            "idx": 0,
            "language": "python",
            "content": "def new(): ...\n",
        }
    ],
}


EXTENSION_ROWS: Mapping[str, list[Row]] = {
    "requests": [
        {
            "id": ulid("req", ORIGIN, "a-1"),
            "turn_id": FIRST,
            "session_label": MAIN,
            "message_id": _message("a-1"),
            "seq": 0,
            "requested_at": 1_100,
            "model": "model-x",
            "provider": "vendor",
            "input_tokens": 10,
            "output_tokens": 20,
            "cache_read_tokens": 300,
            "cache_write_tokens": 40,
            "cache_write_5m_tokens": 40,
            "cache_write_1h_tokens": 0,
            "context_tokens": 350,
            "is_usage_final": True,
            "reported_cost_usd": Decimal("0.000123456789"),
        },
        {
            "id": ulid("req", ORIGIN, "a-2"),
            "turn_id": SECOND,
            "session_label": MAIN,
            "message_id": _message("a-2"),
            "seq": 0,
            "requested_at": 2_050,
            "model": "model-x",
            "input_tokens": 5,
            "output_tokens": 6,
            "is_usage_final": False,
        },
        {
            "id": ulid("req", ORIGIN, "a-4"),
            "turn_id": AFTER,
            "session_label": MAIN,
            "message_id": _message("a-4"),
            "seq": 0,
            "requested_at": 3_600,
            "output_tokens": 7,
        },
        {
            "id": ulid("req", ORIGIN, "a-5"),
            "turn_id": CHILD,
            "session_label": SUBAGENT,
            "message_id": _message("a-5"),
            "seq": 0,
            "requested_at": 2_200,
            "output_tokens": 50,
        },
    ],
    "prices": [
        {
            "id": h63("prices", "vendor", "model-x", "equals", 0, 0, "standard", "input", 0),
            "provider": "vendor",
            "model": "model-x",
            "match_rule": "equals",
            "valid_from": 0,
            "unit": "input",
            "price_usd": Decimal("0.000003000000"),
            "source": "a price list",
            "precedence": 0,
        }
    ],
    "model_prices": [
        {
            "provider": "vendor",
            "model": "model-x",
            "variant": variant,
            "valid_from": 0,
            "valid_to": 2**63 - 1,
            "tier_start_tokens": 0,
            "tier_end_tokens": 2**63 - 1,
            "input_usd": Decimal("0.000003000000"),
            "price_basis": "a price list vendor/model-x"
            + ("; no fast price, standard taken" if variant == "fast" else ""),
        }
        for variant in ("standard", "fast")
    ],
    "turn_context": [
        {
            "turn_id": row["id"],
            "root_turn_id": CHILD if row["id"] == CHILD else FIRST,
            "origin": ORIGIN,
            "turn_key": row["source_event_id"],
            "continues_turn_id": SECOND if row["id"] == AFTER else None,
            "continued_by_turn_id": AFTER if row["id"] == SECOND else None,
            "is_interrupted": row["id"] == OTHER,
            "ended_at": row["started_at"] + 500,
            "stated_model": "model-x",
            "stated_provider": "vendor",
        }
        for row in CANONICAL_ROWS["turns"]
    ],
    "session_turns": [
        {"session_label": label, "turn_id": turn_id}
        for label, turn_id in [(MAIN, turn) for turn in (FIRST, SECOND, OTHER, COMPACTION, AFTER)] + [(SUBAGENT, CHILD)]
    ],
    "session_context": [{"label": MAIN, "title": "Rename a function", "project": "näve"}],
    "tool_call_facts": [{"call_id": "call_1", "params_hash": "5f" * 32, "params_bytes": 43, "is_error": False}],
    "message_facts": [
        {
            "message_id": row["id"],
            "text_chars": len(row.get("content") or ""),
            "position": row["sequence"],
            "is_query": True if row["turn_id"] == COMPACTION else None,
        }
        for row in CANONICAL_ROWS["messages"]
    ],
    "inferred_values": [
        {
            "table_name": "compactions",
            "row_key": COMPACTION,
            "column_name": "model",
            "basis": "model of the turn before",
        }
    ],
    "file_paths": [
        {
            "file_path": "/home/ada/näve/src/a.py",
            "workspace_path": "/home/ada/näve",
            "relative_path": "src/a.py",
        }
    ],
    "permission_decisions": [
        {
            "call_id": "call_1",
            "turn_id": FIRST,
            "mode": "default",
            "class": "write",
            "raw_target": "src/a.py",
            "outcome": "ran",
            "is_inferred": False,
        }
    ],
    "permission_rules": [
        {
            "origin": ORIGIN,
            "scope": "project",
            "file": "/home/ada/näve/settings.json",
            "position": 0,
            "kind": "allow",
            "rule": "Edit(src/**)",
            "first_seen_at": 1_000,
            "last_seen_at": 9_000,
        }
    ],
    "import_runs": [
        {"id": ulid("run", "r-1"), "started_at": 9_000, "tool_version": "0.1.0", "argv": '["import","s-1.jsonl"]'}
    ],
    "import_sources": [
        {
            "source_key": "/home/ada/s-1.jsonl",
            "importer": "session_log",
            "path": "/home/ada/s-1.jsonl",
            "size_bytes": 2_048,
            "mtime_ns": 1_700_000_000_123_456_789,
            "last_run_id": ulid("run", "r-1"),
        }
    ],
    "import_log": [
        {
            "run_id": ulid("run", "r-1"),
            "source_key": "/home/ada/s-1.jsonl",
            "seq": 0,
            "session_label": MAIN,
            "status": "imported",
        }
    ],
    "import_problems": [
        {
            "run_id": ulid("run", "r-1"),
            "source_key": "/home/ada/s-1.jsonl",
            "seq": 0,
            "line": 12,
            "byte_offset": 1_900,
            "kind": "truncated",
            "reason": "The last line ends in the middle of an object.",
            "sample": '{"uuid": "u-6", "mess',
        }
    ],
    "chat_users": [{"id": "user-1", "name": "Ada"}],
    "chat_agents": [{"id": "agent-1", "name": "Helper", "created_by": "user-1", "is_private": True}],
    "chat_participants": [{"id": "part-1", "conversation_id": "conv-1", "kind": "agent", "agent_id": "agent-1"}],
    "chat_mentions": [
        {"message_id": _message("u-2"), "idx": 0, "name": "Helper", "kind": "agent", "target_id": "agent-1"}
    ],
    "dag_events": [{"event_id": "e" * 64, "kind": "run_started", "payload_json": '{"kind":"run_started"}'}],
    "dag_nodes": [{"node_id": "n-1", "kind": "Message", "attrs_json": '{"role":"user"}'}],
    "dag_edges": [
        {"id": h63("dag_edges", "EVENT_PRODUCES", "e", "n-1"), "type": "EVENT_PRODUCES", "src": "e", "dst": "n-1"}
    ],
    "programs": [{"id": "model-x", "program_type": "model", "config_json": '{"modelId":"model-x"}'}],
    "tags": [{"entity_type": "sessions", "entity_id": MAIN, "tag": "refactoring", "added_at": 5_000}],
    "embeddings": [
        {"entity_type": "messages", "entity_id": _message("u-1"), "model": "m", "dim": 2, "vec": [0.5, -1.25]}
    ],
}
SAMPLE_ROWS: Mapping[str, list[Row]] = {**CANONICAL_ROWS, **EXTENSION_ROWS}


def batch_from_rows(table: Table, rows: Iterable[Mapping[str, object]]) -> pa.RecordBatch:
    """Return rows as a batch, with defaults for the columns that a row leaves out."""
    listed = list(rows)
    named = dict.fromkeys(name for row in listed for name in row)
    return batch_from_columns(table, {name: [row.get(name) for row in listed] for name in named})


def write_ledger(folder: Path, rows: Mapping[str, list[Row]]) -> None:
    """Write version 1 of a ledger with these rows."""
    tables = {}
    for name, table_rows in rows.items():
        path = f"data/{name}/part-1.parquet"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        batch = batch_from_rows(TABLES[name], table_rows)
        pq.write_table(pa.Table.from_batches([batch]), folder / path, compression="zstd")
        tables[name] = [{"path": path, "rows": len(table_rows)}]
    manifest = manifest_path(folder, 1)
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"version": 1, "schema_version": SCHEMA_VERSION, "tables": tables}, indent=1) + "\n")


def write_fixture(folder: Path) -> None:
    """Write the sample and, beside it, what a reader of any later version must find in it."""
    folder.mkdir(parents=True)
    write_ledger(folder, SAMPLE_ROWS)
    expected = {name: batch_from_rows(TABLES[name], rows).to_pylist() for name, rows in SAMPLE_ROWS.items()}
    text = json.dumps(expected, ensure_ascii=False, indent=1, default=str)
    (folder / "expected.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    write_fixture(Path(sys.argv[1]))
