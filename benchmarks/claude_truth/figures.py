"""Compare each kind of figure of a situation; every function returns the differences as sentences."""

from collections import Counter, defaultdict

from benchmarks.claude_truth.case import (
    Case,
    compare,
    compare_bags,
    compare_keyed,
    json_of,
    message_id,
    show,
    values_of,
)
from benchmarks.claude_truth.rows import Row, slug
from benchmarks.claude_truth.sums import by_kind, by_model, call_sums, counted_requests

_TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "cache_write_5m": "cache_write_5m_tokens",
    "cache_write_1h": "cache_write_1h_tokens",
    "context": "context_tokens",
}


def sessions(case: Case) -> list[str]:
    """Labels, whether they are subagents, status, head and spawning call; parents are compared with the subagents."""
    expected = {
        str(case.label(label)): {
            "is_subagent": int(session["kind"] == "subagent"),
            "status": session["status"],
            "thread_id": case.turn(session["head"]),
            "spawn_tool_call_id": session.get("spawn_tool_call_id"),
        }
        for label, session in case.expected["sessions"].items()
    }
    differences = compare_keyed("session", expected, case.found.sessions)
    for label, session in case.expected["sessions"].items():
        row = case.found.sessions.get(label)
        if row is not None and session["kind"] == "main":
            differences += compare(f"session {label}, parent_session_label", None, row["parent_session_label"])
    return differences


def skipped_sessions(case: Case) -> list[str]:
    """Sessions without any model activity must not be there."""
    labels = [skipped["session"] for skipped in case.expected["skipped_sessions"]]
    return [f"session {label}: expected none, found it" for label in labels if label in case.found.sessions]


def turns(case: Case) -> list[str]:
    """Each turn: its place in the tree, how far it came, and how much it holds."""
    expected = {str(case.turn(turn["key"])): _expected_turn(case, turn) for turn in case.expected["turns"]}
    return compare_keyed(
        "turn", expected, {turn_id: _found_turn(case, row) for turn_id, row in case.found.turns.items()}
    )


def _expected_turn(case: Case, turn: Row) -> Row:
    figures = {
        "turn_type": turn["type"],
        "status": turn["status"],
        "parent_turn_id": case.turn(turn["parent"]),
        "has_children": int(turn["has_children"]),
        "continues_turn_id": case.turn(turn.get("continues")),
        "continued_by_turn_id": case.turn(turn.get("continued_by")),
        "messages": {role: number for role, number in sorted(turn["messages"].items()) if number},
        "tool_call_count": turn["tool_calls"],
        "calls": turn["tool_calls"],
        "requests": turn["requests"],
    }
    if not turn.get("key_open"):
        figures |= {"turn_key": turn["key"], "folder": case.expected["folder"].rpartition("/")[2]}
        figures["role of the first record"] = _role_of_first(turn)
        if turn["started_at"] is not None:
            figures["started_at"] = turn["started_at"]
    return figures


def _role_of_first(turn: Row) -> str | None:
    """Return the role of the message that has the key of its turn; a continuation has none."""
    if turn["key"].startswith("c:"):
        return None
    return "user" if turn["type"] == "normal" else "system"


def _found_turn(case: Case, row: Row) -> Row:
    roles = Counter(message["role"] for message in case.found.messages.values() if message["turn_id"] == row["id"])
    requests = counted_requests(case.found.requests.values())
    first = case.found.messages.get(message_id(row["turn_key"])) if row["turn_key"] else None
    return {
        **row,
        "folder": slug(row["workspace_path"] or ""),
        "role of the first record": first and first["role"],
        "messages": dict(sorted(roles.items())),
        "calls": sum(call["turn_id"] == row["id"] for call in case.found.calls.values()),
        "requests": sum(request["turn_id"] == row["id"] for request in requests),
    }


def session_turns(case: Case) -> list[str]:
    """Each turn stands in the log of the session that it was born in."""
    differences = []
    for turn in case.expected["turns"]:
        pair = (str(case.label(turn["session"])), str(case.turn(turn["key"])))
        if pair not in case.found.session_turns:
            differences.append(f"turn {pair[1]}: expected it in the log of {pair[0]}, found it is not")
    return differences


def messages(case: Case) -> list[str]:
    """How many messages there are of each role."""
    roles = Counter(row["role"] for row in case.found.messages.values())
    expected = case.expected["messages"]
    return compare("by role", expected, {role: roles[role] for role in [*expected, *(roles.keys() - expected.keys())]})


def requests(case: Case) -> list[str]:
    """Each request to a model: model, every count of tokens, and whose it was."""
    expected, found = {}, {row["id"]: row for row in counted_requests(case.found.requests.values())}
    for request in case.expected["requests"]:
        expected[request["id"]] = {
            "origin_message_id": request["message_id"],
            "model": request["model"],
            **{column: request[name] for name, column in _TOKENS.items()},
            "is_usage_final": request["final"],
            "kind": request["kind"],
            "turn_id": case.turn(request["turn"]),
            "message_id": message_id(request["message_key"]) if request["kind"] == "main" else None,
        }
        if request["session"] is not None:
            expected[request["id"]]["session_label"] = case.label(request["session"])
    return compare_keyed("request", expected, found)


def models(case: Case) -> list[str]:
    """Messages and tokens of each model."""
    return compare_keyed("model", case.expected["by_model"], by_model(case.found))


def request_kinds(case: Case) -> list[str]:
    """How many requests there are of each kind, and how many with a final count of output."""
    counted = counted_requests(case.found.requests.values())
    final = sum(row["is_usage_final"] is True for row in counted)
    return [
        *compare("by kind", dict(case.expected["requests_by_kind"]), by_kind(counted, "kind")),
        *compare("with final usage", case.expected["requests_final"], final),
    ]


def calls(case: Case) -> list[str]:
    """Each tool call, and what became of it."""
    expected = {
        call["id"]: {
            "tool_name": call["name"],
            "turn_id": case.turn(call["turn"]),
            "message_id": message_id(call["message"]),
            "status": call["status"],
            "outcome": call["outcome"],
        }
        for call in case.expected["calls"]
    }
    differences = compare_keyed("call", expected, case.found.calls)
    for call in case.expected["calls"]:
        row = case.found.calls.get(call["id"])
        if call["form"] and row is not None and not row["evidence"]:
            differences.append(f"call {call['id']}: expected evidence of {call['form']}, found none")
    return differences


def call_counts(case: Case) -> list[str]:
    """How many calls there are: in all, with a result, failed, denied, by outcome and by tool."""
    found = call_sums(case.found.calls.values())
    return [d for name in found for d in compare(name, case.expected["tool_calls"][name], found[name])]


def microcompactions(case: Case) -> list[str]:
    """System messages that say what a micro-compaction saved."""
    expected = {
        message_id(micro["uuid"]): {
            "turn_id": case.turn(micro["turn"]),
            "role": "system",
            "source": "event",
            "preTokens": micro["pre_tokens"],
            "tokensSaved": micro["tokens_saved"],
        }
        for micro in case.expected["microcompactions"]
    }
    found = {}
    for row in case.found.messages.values():
        metadata = json_of(row["metadata_json"])
        if "microcompact" in metadata:
            found[row["id"]] = {**row, **metadata["microcompact"]}
    return compare_keyed("message", expected, found)


def queued_messages(case: Case) -> list[str]:
    """Prompts that only a queue holds."""
    wanted = {message_id(queued["key"]): queued for queued in case.expected["queued_messages"]}
    expected = {
        key: {"turn_id": case.turn(queued["turn"]), "role": "user", "content": queued["text"], "queued": True}
        for key, queued in wanted.items()
    }
    rows = {key: case.found.messages[key] for key in wanted if key in case.found.messages}
    found = {key: {**row, "queued": json_of(row["metadata_json"]).get("queued")} for key, row in rows.items()}
    return compare_keyed("message", expected, found)


def compactions(case: Case) -> list[str]:
    """Each compaction, with every column that the manifest knows."""
    expected = {str(case.turn(row["turn"])): _expected_compaction(case, row) for row in case.expected["compactions"]}
    found = {}
    for turn_id, row in case.found.compactions.items():
        metadata = json_of(row["metadata_json"])
        unresolved = metadata.get("unresolved") is True
        found[turn_id] = {
            **row,
            "unresolved": unresolved,
            "postTokens": (values_of("postTokens", metadata) or [None])[0],
        }
    differences = compare_keyed("compaction", expected, found)
    for row in case.expected["compactions"]:
        text = (case.found.compactions.get(str(case.turn(row["turn"]))) or {}).get("metadata_json") or ""
        lost = [uuid for uuid in row.get("kept_uuids", ()) if uuid not in text]
        differences += compare(f"compaction {case.turn(row['turn'])}, kept records that its metadata lacks", [], lost)
    return differences


def _expected_compaction(case: Case, row: Row) -> Row:
    figures = {
        "compaction_type": row["type"],
        "trigger": row["trigger"],
        "tokens_before": row["tokens_before"],
        "tokens_after": row["tokens_after"],
        "summary": row["summary"],
        "first_kept_turn_id": case.turn(row["first_kept_turn"]),
        "summarized_through_turn_id": case.turn(row["summarized_through"]),
        "unresolved": bool(row.get("unresolved")),
        "postTokens": row.get("post_tokens"),
        "summarization_input_tokens": None,
        "summarization_output_tokens": None,
    }
    if row.get("duration_ms") is not None:  # else it is estimated
        figures["duration_ms"] = row["duration_ms"]
    if summariser := row.get("summariser"):
        inputs = [summariser[name] or 0 for name in ("input", "cache_read", "cache_write")]
        figures |= {
            "model": summariser["model"],
            "summarization_input_tokens": sum(inputs),
            "summarization_output_tokens": summariser["output"],
            "summary_tokens": summariser["output"],
        }
    return figures


def forks(case: Case) -> list[str]:
    """How many turns have several children."""
    children = Counter(row["parent_turn_id"] for row in case.found.turns.values() if row["parent_turn_id"])
    return compare("turns with several children", case.expected["forks"], sum(n > 1 for n in children.values()))


def abandoned(case: Case) -> list[str]:
    """Which sessions stand for branches that were left."""
    archived = sorted(label for label, row in case.found.sessions.items() if row["status"] == "archived")
    return compare("archived sessions", sorted(case.expected["abandoned"]), archived)


def subagents(case: Case) -> list[str]:
    """Each subagent, with the call that spawned it, and that call with the subagent."""
    expected, found = {}, {}
    for agent in case.expected["subagents"]:
        label, call = str(case.label(agent["session"])), agent["spawn_tool_call_id"]
        expected[label] = {
            "spawn_tool_call_id": call,
            "parent_session_label": agent["parent_session"],
            "parent_turn_id": case.turn(agent["parent_turn"]),
            "named by its call": call is not None,
            "call in the log of": agent["spawn_session"] and case.label(agent["spawn_session"]),
            "toolsets": [f"claude-code/agent:{agent['agent_type']}"] if agent["agent_type"] else [],
            "id of the agent": agent["agent_id"],
        }
        if label in case.found.sessions:
            found[label] = _found_subagent(case, label, agent)
    unexpected = {label: row for label, row in case.found.sessions.items() if row["is_subagent"] and label not in found}
    return compare_keyed("subagent", expected, {**unexpected, **found})


def _found_subagent(case: Case, label: str, agent: Row) -> Row:
    row, call = case.found.sessions[label], case.found.calls.get(agent["spawn_tool_call_id"], {})
    own = {turn for session, turn in case.found.session_turns if session == label}
    toolsets = {case.found.turns[turn]["toolset_name"] for turn in own if turn in case.found.turns}
    holder = case.label(agent["spawn_session"])
    is_held = (holder, call.get("turn_id")) in case.found.session_turns
    is_known = agent["agent_id"] is None or agent["agent_id"] in str(row["origin_session_id"])
    return {
        **row,
        "named by its call": call.get("spawned_session_label") == label,
        "call in the log of": holder if is_held else None,
        "toolsets": sorted(name for name in toolsets if name) if agent["agent_type"] else [],
        "id of the agent": agent["agent_id"] if is_known else row["origin_session_id"],
    }


def files(case: Case) -> list[str]:
    """Each file that was touched; those of a call hang on the message that made it."""
    owners = {call["id"]: message_id(call["message"]) for call in case.expected["calls"]}
    of_calls: Counter[tuple[object, ...]] = Counter()
    others: Counter[tuple[object, ...]] = Counter()
    for row in case.expected["files"]:
        touched = (row["kind"], row["path"], row["line_start"], row["line_end"])
        if row["call"] is None:
            others[touched] += 1
        else:
            of_calls[(*touched, owners[row["call"]])] += 1
    found: Counter[tuple[object, ...]] = Counter(
        (row["kind"], row["file_path"], row["line_start"], row["line_end"], row["message_id"])
        for row in case.found.files
    )
    rest: defaultdict[tuple[object, ...], int] = defaultdict(int)
    for key, number in (found - of_calls).items():
        rest[key[:4]] += number
    missing = [f"{show(key)}: expected {number} more, found none" for key, number in (of_calls - found).items()]
    return missing + compare_bags("outside of calls", others, Counter(rest))


def lints(case: Case) -> list[str]:
    """Each finding of a linter; its code and the place it was read from have no column."""
    names = ("path", "line", "column", "severity", "message")
    columns = ("file_path", "start_line", "start_col", "severity", "message")
    expected = Counter(tuple(row[name] for name in names) for row in case.expected["lints"])
    return compare_bags("lint", expected, Counter(tuple(row[name] for name in columns) for row in case.found.lints))


def codeblocks(case: Case) -> list[str]:
    """Each block of code; whether it came from a fence or a tool has no column."""
    names = ("path", "line_start", "line_end", "language", "content")
    columns = ("file_path", "line_start", "line_end", "language", "content")
    expected = Counter(tuple(row[name] for name in names) for row in case.expected["codeblocks"])
    found = Counter(tuple(row[name] for name in columns) for row in case.found.codeblocks)
    return compare_bags("block", expected, found)


def problems(case: Case) -> list[str]:
    """A problem is noted for each odd line; importers have words of their own for the kind."""
    differences = []
    for problem in case.expected["problems"]:
        path = f"{case.expected['folder']}/{problem['file']}"
        if not any(row["path"].endswith(path) and row["line"] == problem["line"] for row in case.found.problems):
            differences.append(
                f"{problem['file']} line {problem['line']}: expected {problem['kind']}, found no problem"
            )
    return differences


def permission_modes(case: Case) -> list[str]:
    """Per session the modes of its turns, one after the other."""
    differences = []
    for label, modes in case.expected["permission_modes"].items():
        own = [case.turn(turn["key"]) for turn in case.expected["turns"] if turn["session"] == label]
        rows = [case.found.turns[turn] for turn in own if turn in case.found.turns]
        seen = [mode for row in rows if (mode := json_of(row["permissions_granted"]).get("mode")) is not None]
        changes = [mode for place, mode in enumerate(seen) if place == 0 or seen[place - 1] != mode]
        differences += compare(f"modes of {label}", modes, changes)
    return differences
