"""Random sets of rows about the same few turns, sessions and messages, so that almost everything meets."""

from collections.abc import Mapping
from functools import partial

from hypothesis import strategies as st

from aix.ids import h63
from aix.schema import TABLES
from tests.support.sample_conversation import Row

Source = dict[str, list[Row]]

TURNS = [f"T{number}" for number in range(5)]
MESSAGES = [f"M{number}" for number in range(5)]
CALLS = [f"C{number}" for number in range(3)]
LABELS = ["one", "two"]

_TIMES = st.integers(1, 6)
_MAYBE = st.sampled_from([None, True, False])
_TURN = st.sampled_from(TURNS)
_MAYBE_TURN = st.none() | _TURN
_MESSAGE = st.sampled_from(MESSAGES)
_TOKENS = st.none() | st.integers(0, 3)
_TEXTS = st.sampled_from(["", "a", "b", "ab", "ba"])
_JSON = st.sampled_from([None, '{"a":1}', '{"a":2}', '{"b":[1]}', '{"b":[2]}'])

_COLUMNS: Mapping[str, Mapping[str, st.SearchStrategy[object]]] = {
    "turns": {
        "id": _TURN,
        "parent_turn_id": _MAYBE_TURN,
        "turn_type": st.sampled_from(["normal", "normal", "normal", "compaction"]),
        "started_at": _TIMES,
        "role": st.sampled_from(["unified", "manager", "worker"]),
        "workspace_path": st.none() | _TEXTS,
    },
    "threads": {"turn_id": _TURN, "persona_id": st.none() | _TEXTS},
    "turn_context": {
        "turn_id": _TURN,
        "origin": st.just("test"),
        "turn_key": st.just("key"),
        "continues_turn_id": _MAYBE_TURN,
        "is_interrupted": _MAYBE,
        "ended_at": st.none() | _TIMES,
        "stated_model": st.none() | _TEXTS,
    },
    "sessions": {
        "label": st.sampled_from(LABELS),
        "thread_id": _TURN,
        "persona_id": st.just("p"),
        "is_subagent": st.integers(0, 1),
        "task_status": st.sampled_from([None, "pending", "running", "completed", "failed"]),
        "created_at": _TIMES,
        "updated_at": _TIMES,
        "status": st.sampled_from(["active", "active", "archived"]),
    },
    "session_turns": {"session_label": st.sampled_from(LABELS), "turn_id": _TURN},
    "session_aliases": {"alias": _TEXTS, "session_label": st.sampled_from(LABELS), "created_at": _TIMES},
    "messages": {
        "id": _MESSAGE,
        "turn_id": _TURN,
        "role": st.sampled_from(["user", "assistant", "assistant", "system", "tool"]),
        "content": st.none() | _TEXTS,
        "sequence": st.integers(0, 3),
        "created_at": _TIMES,
        "metadata_json": _JSON,
    },
    "message_facts": {
        "message_id": _MESSAGE,
        "position": st.none() | st.integers(0, 3),
        "is_query": _MAYBE,
        "is_response": _MAYBE,
        "is_error": _MAYBE,
    },
    "tool_calls": {
        "id": st.sampled_from(CALLS),
        "turn_id": _TURN,
        "message_id": st.none() | _MESSAGE,
        "tool_name": st.sampled_from(["Edit", "Bash"]),
        "params_json": st.sampled_from(["{}", '{"x":1}']),
        "result_json": st.none() | st.just("1"),
        "error": st.none() | st.just("no"),
        "status": st.sampled_from(["pending", "running", "completed", "failed"]),
        "started_at": _TIMES,
        "completed_at": st.none() | _TIMES,
        "sequence": st.integers(0, 2),
    },
    "permission_decisions": {
        "call_id": st.sampled_from(CALLS),
        "turn_id": _TURN,
        "class": st.sampled_from([None, "write", "exec"]),
        "raw_target": st.none() | _TEXTS,
        "outcome": st.sampled_from(["unknown", "ran", "failed", "denied_user"]),
        "evidence": st.none() | _TEXTS,
        "is_inferred": _MAYBE,
    },
    "compactions": {
        "turn_id": _TURN,
        "summary": _TEXTS,
        "summarized_through_turn_id": _TURN,
        "model": st.sampled_from(["unknown", "m", "mm"]),
    },
    "requests": {
        "id": st.sampled_from(["R1", "R2", "R3"]),
        "turn_id": _MAYBE_TURN,
        "session_label": st.none() | st.sampled_from(LABELS),
        "requested_at": _TIMES,
        "model": st.none() | _TEXTS,
        "provider": st.none() | _TEXTS,
        "input_tokens": _TOKENS,
        "output_tokens": _TOKENS,
        "cache_read_tokens": _TOKENS,
    },
    "message_codeblocks": {
        "message_id": _MESSAGE,
        "idx": st.integers(0, 2),
        "content": _TEXTS,
    },
    "tags": {"entity_type": st.just("turns"), "entity_id": _TURN, "tag": _TEXTS, "added_at": _TIMES},
    "message_files": {
        "message_id": _MESSAGE,
        "kind": st.sampled_from(["read", "written"]),
        "file_path": _TEXTS,
    },
    "session_context": {"label": st.sampled_from(LABELS), "title": st.none() | _TEXTS, "context_tokens_used": _TOKENS},
    "tool_call_facts": {"call_id": st.sampled_from(CALLS), "params_bytes": _TOKENS, "is_error": _MAYBE},
    "embeddings": {
        "entity_type": st.just("turns"),
        "entity_id": _TURN,
        "model": st.just("m"),
        "dim": st.just(1),
        "vec": st.lists(st.sampled_from([0.0, -0.0, 1.5]), min_size=1, max_size=1),
    },
    "inferred_values": {
        "mark": st.sampled_from(
            [
                *(("turns", turn, column) for turn in TURNS for column in ("started_at", "workspace_path")),
                *(("compactions", turn, "model") for turn in TURNS),
                *(("threads", turn, "persona_id") for turn in TURNS),
                *(("messages", message, column) for message in MESSAGES for column in ("content", "created_at")),
                *(("session_context", label, "title") for label in LABELS),
            ]
        ),
        "basis": st.none() | _TEXTS,
    },
}


def _key_of(name: str, row: Row) -> tuple[object, ...]:
    return tuple(row[column] for column in TABLES[name].key)


def _finished(name: str, row: Row) -> Row:
    if name == "message_codeblocks":
        return {"id": h63(name, row["message_id"], row["idx"]), **row}
    if name == "message_files":
        return {"id": h63(name, row["message_id"], row["kind"], row["file_path"], None), **row}
    if name == "inferred_values":
        table, key, column = row["mark"]
        return {"table_name": table, "row_key": key, "column_name": column, "basis": row["basis"]}
    return row


def sources() -> st.SearchStrategy[Source]:
    """Make what one source says: a few rows of each table, each at most once."""
    tables = {
        name: st.lists(
            st.fixed_dictionaries(dict(columns)).map(partial(_finished, name)),
            max_size=4,
            unique_by=partial(_key_of, name),
        )
        for name, columns in _COLUMNS.items()
    }
    return st.fixed_dictionaries(tables).map(lambda tables: {name: rows for name, rows in tables.items() if rows})
