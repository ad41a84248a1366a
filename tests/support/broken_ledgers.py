"""Ledgers that break an invariant: the sample with a few changes, and the rows that each check must name."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from aix.ids import h63
from aix.schema import TABLES
from tests.support.sample_conversation import (
    ABANDONED,
    AFTER,
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
)
from tests.support.sample_ledger import SAMPLE_ROWS

NOWHERE = "7" * 26
MESSAGES = {row["id"]: row for row in SAMPLE_ROWS["messages"]}
[QUESTION, ANSWER] = [key for key, row in MESSAGES.items() if row["turn_id"] == FIRST]
[_, OTHER_ANSWER] = [key for key, row in MESSAGES.items() if row["turn_id"] == SECOND]

Rows = dict[str, list[Row]]
Change = Callable[[Rows], object]


def put(table: str, key: str | int, /, **values: object) -> Change:
    """Change columns of the row with that key, the first part of it where there are several."""

    def change(rows: Rows) -> None:
        [row] = [row for row in rows[table] if row[TABLES[table].key[0]] == key]
        row.update(values)

    return change


def add(table: str, **values: object) -> Change:
    return lambda rows: rows[table].append(values)


def drop(table: str, **values: object) -> Change:
    def change(rows: Rows) -> None:
        kept = [row for row in rows[table] if not values.items() <= row.items()]
        assert len(kept) < len(rows[table])
        rows[table] = kept

    return change


def changed(*changes: Change) -> Rows:
    """The sample, changed."""
    rows = {name: copy.deepcopy(table_rows) for name, table_rows in SAMPLE_ROWS.items()}
    for change in changes:
        change(rows)
    return rows


def movement(label: str, thread_id: str, changed_at: int) -> int:
    return h63("session_history", label, thread_id, changed_at)


def thread(*ancestry: str, **values: object) -> Row:
    return {"ancestry": compact_json(ancestry), "depth": len(ancestry), **values}


@dataclass(frozen=True)
class Case:
    """A ledger that breaks something: by check, the rows it must name."""

    claim: str
    changes: tuple[Change, ...]
    broken: Mapping[str, set[str]]
    lost: Mapping[str, list[Row]] = field(default_factory=dict)
    """Rows of the version before that this one has not."""
    forbidden: Sequence[str] = ()
    """Calls that the only rule of the ledger denies."""


FORBID = put("permission_rules", ORIGIN, kind="deny")
MESSAGE: Row = {"turn_id": OTHER, "role": "user", "source": "human", "sequence": 1, "created_at": 2_600}

CASES = [
    Case("a lost turn", (), {"append_only": {NOWHERE}}, {"turns": [{"id": NOWHERE, "started_at": 1}]}),
    Case("a lost message", (), {"append_only": {NOWHERE}}, {"messages": [{**MESSAGE, "id": NOWHERE}]}),
    Case(
        "a lost call",
        (),
        {"append_only": {"call_3"}},
        {"tool_calls": [{**SAMPLE_ROWS["tool_calls"][0], "id": "call_3"}]},
    ),
    Case(
        "a parent that is not there",
        (put("turns", OTHER, parent_turn_id=NOWHERE), put("threads", OTHER, **thread(OTHER, total_tokens=None))),
        {"parent_exists": {OTHER}},
    ),
    Case("a root that is deep", (put("threads", CHILD, depth=2),), {"acyclic": {CHILD}}),
    Case("a leaf that is not deep enough", (put("threads", AFTER, depth=3),), {"acyclic": {AFTER}}),
    Case("a thread without depth", (put("threads", AFTER, depth=None),), {"acyclic": {AFTER}}),
    Case(
        "a turn that is its own parent",
        (put("turns", CHILD, parent_turn_id=CHILD, has_children=1),),
        {"acyclic": {CHILD}, "ancestry": {CHILD}, "total_tokens": {CHILD}},
    ),
    Case(
        "turns that are each other's ancestors",
        (put("turns", FIRST, parent_turn_id=AFTER), put("turns", AFTER, has_children=1)),
        {"acyclic": {FIRST}, "ancestry": {FIRST}, "total_tokens": {FIRST}, "parent_starts_first": {FIRST}},
    ),
    Case(
        "a cycle without depths",
        (
            put("turns", CHILD, parent_turn_id=CHILD, has_children=1),
            put("threads", CHILD, depth=None, ancestry=None),
        ),
        {"acyclic": {CHILD}, "ancestry": {CHILD}, "total_tokens": {CHILD}},
    ),
    Case("a turn before its parent", (put("turns", OTHER, started_at=999),), {"parent_starts_first": {OTHER}}),
    Case("children denied", (put("turns", FIRST, has_children=0),), {"has_children": {FIRST}}),
    Case("children claimed", (put("turns", AFTER, has_children=1),), {"has_children": {AFTER}}),
    Case("a thread without a turn", (add("threads", turn_id=NOWHERE),), {"thread_per_turn": {NOWHERE}}),
    Case(
        "a turn without a thread",
        (drop("threads", turn_id=OTHER),),
        {
            "thread_per_turn": {OTHER},
            "session_pointer": {ABANDONED},
            "history_logged": {str(movement(label, OTHER, 2_500)) for label in (MAIN, ABANDONED)},
        },
    ),
    Case(
        "the ancestry of a turn that was moved",
        (put("threads", AFTER, **thread(FIRST, OTHER, COMPACTION, AFTER)),),
        {"ancestry": {AFTER}},
    ),
    Case(
        "an ancestry that skips a turn but ends as it should",
        (put("threads", AFTER, ancestry=compact_json([FIRST, COMPACTION, AFTER])),),
        {"ancestry": {AFTER}},
    ),
    Case(
        "an ancestry that ends in another turn",
        (put("threads", AFTER, ancestry=compact_json([FIRST, SECOND, COMPACTION, OTHER])),),
        {"ancestry": {AFTER}},
    ),
    Case("a root with ancestors", (put("threads", CHILD, **thread(FIRST, CHILD, depth=1)),), {"ancestry": {CHILD}}),
    Case("no ancestry", (put("threads", AFTER, ancestry=None),), {"ancestry": {AFTER}}),
    Case("an empty ancestry", (put("threads", AFTER, ancestry=""),), {"ancestry": {AFTER}}),
    Case(
        "a wrong ancestry in the middle",
        (put("threads", SECOND, ancestry=compact_json([OTHER, SECOND])),),
        {"ancestry": {SECOND, COMPACTION}},
    ),
    Case("a total that is not the sum", (put("threads", AFTER, total_tokens=387),), {"total_tokens": {AFTER}}),
    Case("a total that is not known", (put("threads", AFTER, total_tokens=None),), {"total_tokens": {AFTER}}),
    Case(
        "a total too large for its column",
        (
            put("turns", CHILD, total_tokens=2**63 - 1, output_tokens=2**63 - 1),
            put("turns", CHILD, parent_turn_id=AFTER, started_at=4_000),
            put("turns", AFTER, has_children=1),
            put("threads", CHILD, **thread(FIRST, SECOND, COMPACTION, AFTER, CHILD, total_tokens=2**63 - 2)),
            drop("requests", turn_id=CHILD),
        ),
        {"total_tokens": {CHILD}},
    ),
    Case(
        "a session without a head",
        (
            add("sessions", label="s", thread_id=NOWHERE, persona_id="ada", created_at=1, updated_at=1),
            add("session_history", id=1, session_label="s", thread_id=NOWHERE, changed_at=1),
        ),
        {"session_pointer": {"s"}, "history_logged": {"1"}},
    ),
    Case("a gap between messages", (put("messages", ANSWER, sequence=2),), {"ordered_messages": {FIRST}}),
    Case("two messages in one place", (put("messages", ANSWER, sequence=0),), {"ordered_messages": {FIRST}}),
    Case(
        "messages that start at 1",
        (put("messages", QUESTION, sequence=1), put("messages", ANSWER, sequence=2)),
        {"ordered_messages": {FIRST}},
    ),
    Case(
        "a call from a message of another turn",
        (put("tool_calls", "call_1", message_id=OTHER_ANSWER),),
        {"calls_in_turn": {"call_1"}},
    ),
    Case(
        "a decision about a turn that is not there",
        (put("permission_decisions", "call_1", turn_id=NOWHERE),),
        {"references_to_turns": {"call_1"}},
    ),
    Case(
        "a call of a message that is not there",
        (put("tool_calls", "call_1", message_id=NOWHERE),),
        {"references_to_messages": {"call_1"}},
    ),
    Case(
        "facts of a call that is not there",
        (put("tool_call_facts", "call_1", call_id="call_3"),),
        {"references_to_tool_calls": {"call_3"}},
    ),
    Case(
        "a call that spawned a session that is not there",
        (put("tool_calls", "call_1", spawned_session_label="nowhere"),),
        {"references_to_sessions": {"call_1"}},
    ),
    Case(
        "a request of a session that is not there",
        (put("requests", SAMPLE_ROWS["requests"][0]["id"], session_label="nowhere"),),
        {"loose_references": {SAMPLE_ROWS["requests"][0]["id"]}},
    ),
    Case("an open call", (put("tool_calls", "call_1", status="running"),), {"complete_tool_calls": {"call_1"}}),
    Case(
        "a call without result", (put("tool_calls", "call_1", result_json=None),), {"complete_tool_calls": {"call_1"}}
    ),
    Case("a call too many", (put("turns", FIRST, tool_call_count=2),), {"tool_call_count": {FIRST}}),
    Case("calls that are not counted", (put("turns", FIRST, tool_call_count=None),), {"tool_call_count": {FIRST}}),
    Case(
        "a summary of another branch",
        (put("compactions", COMPACTION, summarized_through_turn_id=OTHER),),
        {"history_walkable": {COMPACTION}},
    ),
    Case(
        "a kept turn of another branch",
        (put("compactions", COMPACTION, first_kept_turn_id=OTHER),),
        {"history_walkable": {COMPACTION}},
    ),
    Case(
        "a summary of itself",
        (put("compactions", COMPACTION, summarized_through_turn_id=COMPACTION),),
        {"history_walkable": {COMPACTION}},
    ),
    Case("a compaction without details", (drop("compactions"),), {"compaction_details": {COMPACTION}}),
    Case(
        "details of an exchange",
        (add("compactions", turn_id=SECOND, summary="", summarized_through_turn_id=FIRST, model="m"),),
        {"compaction_details": {SECOND}},
    ),
    Case(
        "a head that is not the last movement",
        (put("session_history", movement(MAIN, AFTER, 3_600), changed_at=2_999),),
        {"history_logged": {MAIN}},
    ),
    Case(
        "a session that never moved",
        (drop("session_history", session_label=ABANDONED),),
        {"history_logged": {ABANDONED}},
    ),
    Case(
        "an end that no session names",
        (drop("sessions", label=ABANDONED), drop("session_history", session_label=ABANDONED)),
        {"leaf_is_session": {OTHER}},
    ),
    Case(
        "a head with children that nobody goes on from",
        (put("sessions", MAIN, thread_id=COMPACTION), drop("session_history", thread_id=AFTER)),
        {"leaf_is_session": {AFTER}},
    ),
    Case("a question as answer", (put("turns", FIRST, response_message_id=QUESTION),), {"ids_resolve": {FIRST}}),
    Case("another turn's answer", (put("turns", FIRST, response_message_id=OTHER_ANSWER),), {"ids_resolve": {FIRST}}),
    Case(
        "another turn's question",
        (put("turns", SECOND, query_message_ids=compact_json([QUESTION])),),
        {"ids_resolve": {SECOND}},
    ),
    *(
        Case(f"queries that are {text!r}", (put("turns", FIRST, query_message_ids=text),), {"ids_resolve": {FIRST}})
        for text in ("{", '{"a":1}', "[1]", '[""]', f'["{QUESTION}",null]')
    ),
    Case("an answer with a source", (put("messages", ANSWER, source="human"),), {"source_role": {ANSWER}}),
    Case("a question without a source", (put("messages", QUESTION, source=None),), {"source_role": {QUESTION}}),
    Case(
        "a call that does not name what it spawned",
        (put("tool_calls", "call_2", spawned_session_label=None),),
        {"subagent_links": {SUBAGENT}},
    ),
    Case(
        "a call of another turn",
        (put("sessions", SUBAGENT, parent_turn_id=FIRST),),
        {"subagent_links": {SUBAGENT}},
    ),
    Case(
        "a subagent whose parent is not there",
        (put("sessions", SUBAGENT, parent_session_label="nowhere"),),
        {"subagent_parents": {SUBAGENT}},
    ),
    Case(
        "a subagent whose parent is not known",
        (put("sessions", SUBAGENT, parent_session_label=None),),
        {"subagent_parents": {SUBAGENT}},
    ),
    Case("an alias that hides a session", (put("session_aliases", "s-1", alias=SUBAGENT),), {"aliases": {SUBAGENT}}),
    Case(
        "an alias of an alias",
        (add("session_aliases", alias="s-2", session_label="s-1", created_at=1),),
        {"aliases": {"s-2"}},
    ),
    Case("tokens of no request", (put("turns", FIRST, input_tokens=11),), {"tokens_sum": {FIRST}}),
    Case("a zero for unknown tokens", (put("turns", SECOND, reasoning_tokens=0),), {"tokens_sum": {SECOND}}),
    Case(
        "a total that is not that of the requests",
        (put("turns", CHILD, total_tokens=51), put("threads", CHILD, total_tokens=51)),
        {"tokens_sum": {CHILD}},
    ),
    *(
        Case(f"the id {key!r}", (add("messages", id=key, **MESSAGE),), {"ulid_form": {key}})
        for key in ("", "x", "8" * 26, "I" * 26, "7" * 27, "7" * 26 + "\n", "\x1b[31m")
    ),
    Case(
        "a tag that was given twice",
        (lambda rows: rows["tags"].append(dict(rows["tags"][0])),),
        {"unique_keys": {compact_json(["sessions", MAIN, "refactoring"])}},
    ),
    Case("another persona", (put("sessions", SUBAGENT, persona_id="bo"),), {"persona_inherited": {SUBAGENT}}),
    Case("a denied call that ran", (FORBID,), {"deny_wins": {"call_1"}}, forbidden=("call_1",)),
    Case(
        "a call that ran before a rule denied it",
        (FORBID, put("permission_rules", ORIGIN, first_seen_at=1_401)),
        {},
        forbidden=("call_1",),
    ),
    Case(
        "a denied call that did not run",
        (FORBID, put("permission_decisions", "call_1", outcome="denied_rule")),
        {},
        forbidden=("call_1",),
    ),
]
