"""The rows of the sample ledger in its extension tables."""

from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256

from aix.ids import h63, ulid
from tests.support.sample_conversation import (
    AFTER,
    CANONICAL_ROWS,
    CHILD,
    COMPACTION,
    FIRST,
    MAIN,
    ORIGIN,
    OTHER,
    SECOND,
    SUBAGENT,
    Row,
    compact_json,
    message_of,
)

_RUN_STARTED = sha256(b'{"kind":"run_started"}').hexdigest()

EXTENSION_ROWS: Mapping[str, list[Row]] = {
    "requests": [
        {
            "id": ulid("req", ORIGIN, "a-1"),
            "turn_id": FIRST,
            "session_label": MAIN,
            "message_id": message_of("a-1"),
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
            "message_id": message_of("a-2"),
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
            "message_id": message_of("a-4"),
            "seq": 0,
            "requested_at": 3_600,
            "output_tokens": 7,
        },
        {
            "id": ulid("req", ORIGIN, "a-5"),
            "turn_id": CHILD,
            "session_label": SUBAGENT,
            "message_id": message_of("a-5"),
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
    "chat_agents": [
        {"id": "agent-1", "name": "Helper", "created_by": "user-1", "is_private": True, "invited_users": '["user-2"]'}
    ],
    "chat_agent_changes": [
        {"id": "change-1", "agent_id": "agent-1", "action": "edited", "changed_by": "user-1", "changed_at": 1_500}
    ],
    "chat_conversations": [{"id": "conv-1", "title": "Renaming", "created_by": "user-1", "last_message_at": 4_100}],
    "chat_participants": [{"id": "part-1", "conversation_id": "conv-1", "kind": "agent", "agent_id": "agent-1"}],
    "dag_events": [
        {
            "event_id": _RUN_STARTED,
            "claimed_event_id": _RUN_STARTED,
            "kind": "run_started",
            "payload_json": '{"kind":"run_started"}',
        }
    ],
    "dag_nodes": [
        {
            "kind": "Policy",
            "node_id": "n-1",
            "valid_from": since,
            "payload_json": compact_json({"id": "n-1", "kind": kind, "node": "Policy"}),
        }
        for kind, since in (("proposal", 0), ("active", 2_000))
    ],
    "dag_edges": [
        {
            "id": h63("dag_edges", "PROPOSES_POLICY", _RUN_STARTED, "n-1"),
            "type": "PROPOSES_POLICY",
            "src": _RUN_STARTED,
            "dst_kind": "Policy",
            "dst": "n-1",
            "payload_json": compact_json(
                {"dst": "n-1", "dst_kind": "Policy", "edge": "PROPOSES_POLICY", "src": _RUN_STARTED}
            ),
        }
    ],
    "programs": [{"id": "model-x", "program_type": "model", "config_json": '{"modelId":"model-x"}'}],
    "program_events": [
        {
            "event_id": sha256(b'{"type":"MODEL_CREATED"}').hexdigest(),
            "kind": "MODEL_CREATED",
            "program_id": "model-x",
            "principal_type": "human",
            "principal": "user-1",
            "on_behalf_of": "[]",
            "payload_json": '{"type":"MODEL_CREATED"}',
        }
    ],
    "tags": [{"entity_type": "sessions", "entity_id": MAIN, "tag": "refactoring", "added_at": 5_000}],
    "embeddings": [
        {"entity_type": "messages", "entity_id": message_of("u-1"), "model": "m", "dim": 2, "vec": [0.5, -1.25]}
    ],
}
