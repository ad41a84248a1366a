"""Golden cases in a few words: their turns, sessions and problems.

The uuids of the cases end in a number. A turn is named by that of the record it begins with (`c:7` is a continuation),
a session by that of its id, and a branch that was left by its first turn:

    5<1 failed uas         turn 5, which follows turn 1: a message of the user, an answer, one of the system
    4<1 cut completed ss   a compaction
    S1~5 -> 9 archived     a branch of session 1 that was left, from turn 5 to turn 9
    S1/agent-a1 -> 3 by 2 in 1 completed    a subagent that call 2 of turn 1 started, with the status of its task
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests import ROOT

FIXTURES = ROOT / "fixtures" / "claude_code"
SITUATIONS = sorted(path.name for path in FIXTURES.iterdir())
Tables = Mapping[str, Sequence[Mapping[str, Any]]]

_UUID = re.compile(r"[0-9a-f]{8}-0000-4000-8000-0*(\d+)")
_SESSION = re.compile(r"claude-code:[0-9a-f]{8}-5e55-4000-8000-0*(\d+)")
_CALL = re.compile(r"toolu_01[0-9a-f]{8}0*(\d+)")


@dataclass(frozen=True)
class Outline:
    """The outline of a case: as its author wrote it, or as its ledger has it."""

    turns: Sequence[str]
    sessions: Sequence[str]
    problems: Sequence[str] = ()


def expected_tables(name: str) -> Tables:
    found: Tables = json.loads((FIXTURES / name / "expected.json").read_text("utf-8"))
    return found


def outline_of(tables: Tables) -> Outline:
    keys = {row["turn_id"]: row["turn_key"] for row in tables.get("turn_context", [])}
    messages: dict[str, list[tuple[int, str]]] = {}
    for row in tables.get("messages", []):
        messages.setdefault(row["turn_id"], []).append((row["sequence"], row["role"][0]))
    turns = []
    for turn in sorted(tables.get("turns", []), key=lambda turn: (turn["started_at"], _number(keys[turn["id"]]))):
        parent = f"<{short(keys[turn['parent_turn_id']])}" if "parent_turn_id" in turn else ""
        cut = "cut " if turn["turn_type"] == "compaction" else ""
        roles = "".join(role for _, role in sorted(messages.get(turn["id"], [])))
        turns.append(f"{short(keys[turn['id']])}{parent} {cut}{turn['status']} {roles}".strip())
    sessions = [_session(row, keys) for row in sorted(tables.get("sessions", []), key=lambda row: str(row["label"]))]
    problems = sorted(row["kind"] for row in tables.get("problems", []))
    return Outline(turns, sorted(sessions), problems or ())


def short(name: str) -> str:
    """Leave of an id of a case the number that it ends in."""
    for pattern, put in ((_SESSION, r"S\1"), (_UUID, r"\1"), (_CALL, r"\1")):
        name = pattern.sub(put, name)
    return name


def _session(row: Mapping[str, Any], keys: Mapping[str, str]) -> str:
    label = short(row["label"])
    base, mark, digest = label.rpartition("~")
    if mark:
        label = f"{base}~{short(next(key for key in keys.values() if _digest(key, 12) == digest))}"
    base, mark, digest = label.rpartition("/side-")
    if mark:
        roots = (key.removeprefix("c:") for key in keys.values())
        label = f"{base}/side-{short(next(root for root in roots if _digest(root, 8) == digest))}"
    words = [label, "->", short(keys[row["thread_id"]])]
    if row["status"] != "active":
        words.append(row["status"])
    if "spawn_tool_call_id" in row:
        words += ["by", short(row["spawn_tool_call_id"]), "in", short(keys[row["parent_turn_id"]]), row["task_status"]]
    return " ".join(words)


def _number(key: str) -> int:
    found = _UUID.search(key)
    return int(found[1]) if found else 0


def _digest(key: str, digits: int) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:digits]
