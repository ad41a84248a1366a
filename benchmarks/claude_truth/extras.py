"""Compare what only some situations have, each under a name of its own in the manifest."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.claude_truth.case import Case, compare, compare_bags, json_of, message_id, objects_in
from benchmarks.claude_truth.rows import Row

_SUMMED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_SCOPES = {
    "settings.json": "user",
    "repo/.claude/settings.json": "project",
    "repo/.claude/settings.local.json": "local",
}


def extras(case: Case) -> list[str]:
    """Compare every figure that the situation has besides the usual ones."""
    checks = {name: check for name, check in EXTRAS.items() if name in case.expected}
    return [f"{name}: {d}" for name, check in checks.items() for d in check(case, case.expected[name])]


def _advisor_requests(case: Case, expected: Row) -> list[str]:
    rows = [row for row in case.found.requests.values() if row["kind"] == "advisor"]
    found = {
        "n": len(rows),
        "model": ", ".join(sorted({str(row["model"]) for row in rows})),
        "input": sum(row["input_tokens"] or 0 for row in rows),
        "output": sum(row["output_tokens"] or 0 for row in rows),
    }
    return compare("requests", expected, found)


def _unseen_children(case: Case, expected: list[Row]) -> list[str]:
    """Check for agents that nothing but a total is known of: no session, and a total that no sum holds."""
    differences = []
    for child in expected:
        call = case.found.calls.get(child["call"], {})
        differences += compare(f"session that call {child['call']} started", None, call.get("spawned_session_label"))
        labels = [label for label in case.found.sessions if child["agent_id"] in label]
        differences += compare(f"sessions of agent {child['agent_id']}", [], labels)
        side = [row for row in case.found.requests.values() if row["kind"] == "side" and not row["origin_message_id"]]
        named = [
            row for row in side if child["total_tokens"] in (row["context_tokens"], row["estimated_output_tokens"])
        ]
        summed = [row["id"] for row in side if any(row[column] is not None for column in _SUMMED)]
        differences += compare(f"side requests with the {child['total_tokens']} tokens of the agent", 1, len(named))
        differences += compare("side requests of such agents that sums would hold", [], summed)
    return differences


def _titles(case: Case, expected: dict[str, str]) -> list[str]:
    return [
        d
        for label, title in expected.items()
        for d in compare(f"title of {label}", title, case.found.sessions.get(label, {}).get("title"))
    ]


def _cost_usd(case: Case, expected: float) -> list[str]:
    costs = [row["reported_cost_usd"] for row in case.found.requests.values() if row["reported_cost_usd"] is not None]
    return compare("reported cost", round(expected, 9), round(float(sum(costs)), 9))


def _tools_available(case: Case, expected: list[str]) -> list[str]:
    first = case.found.turns.get(str(case.turn(case.expected["turns"][0]["key"])), {})
    found = json_of(first.get("tools_available"))
    return compare("tools of the first turn", sorted(expected), sorted(found) if isinstance(found, list) else None)


def _settings(case: Case, expected: dict[str, Row]) -> list[str]:
    wanted: Counter[tuple[str, str, str, str]] = Counter()
    for file, permissions in expected.items():
        for kind in ("allow", "ask", "deny"):
            wanted.update((file, _SCOPES[file], kind, rule) for rule in permissions.get(kind, ()))
        wanted.update((file, _SCOPES[file], "directory", path) for path in permissions.get("additionalDirectories", ()))
        if "defaultMode" in permissions:
            wanted[file, _SCOPES[file], "mode", permissions["defaultMode"]] += 1
    found: Counter[tuple[str, str, str, str]] = Counter()
    for row in case.found.rules:
        file = next((name for name in reversed(expected) if row["file"].endswith(f"/{name}")), row["file"])
        found[file, row["scope"], row["kind"], row["rule"]] += 1
    return compare_bags("rule", wanted, found)


def _counted(kind: str) -> Callable[[Case, int], list[str]]:
    """Compare what imports count: in the log of imports, else as problems of that kind."""

    def check(case: Case, expected: int) -> list[str]:
        counts = [number for row in case.found.counts for number in [json_of(row["counts_json"]).get(kind)] if number]
        noted = sum(row["kind"] == kind for row in case.found.problems)
        return compare("counted by the import", expected, sum(counts) or noted)

    return check


def _chosen(case: Case, expected: dict[str, str]) -> list[str]:
    """Check which of several copies gave the text; answers are named by their message, so theirs is looked for."""
    texts = {row["content"] for row in case.found.messages.values()}
    differences = []
    for uuid, text in expected.items():
        row = case.found.messages.get(message_id(uuid))
        if row is not None:
            differences += compare(f"text of record {uuid}", text, row["content"])
        elif text not in texts:
            differences.append(f"text of record {uuid}: expected {text!r}, found no message with it")
    return differences


def _images(case: Case, expected: Row) -> list[str]:
    """Check that images are described and their data is not kept."""

    def described(value: object) -> int:
        wanted = {expected["bytes_each"], expected["media_type"]}
        return sum(wanted <= {v for v in each.values() if isinstance(v, str | int)} for each in objects_in(value))

    of_role: Counter[str] = Counter()
    for row in case.found.messages.values():
        of_role[row["role"]] += described([json_of(row["metadata_json"]), json_of(row["context_json"])])
    in_results = sum(described(json_of(row["result_json"])) > 0 for row in case.found.calls.values())
    found = of_role["user"] + max(of_role["tool"], in_results)
    texts = [str(row) for row in [*case.found.messages.values(), *case.found.calls.values()]]
    data = sum("iVBORw0KGgo" in text for text in texts)
    return compare("images with their type and size", expected["n"], found) + compare("rows with their data", 0, data)


def _spilled(case: Case, expected: dict[str, int]) -> list[str]:
    """Check that a result whose text lies in another file says which, and how big that is."""
    results = [row["result_json"] or "" for row in case.found.calls.values()]
    differences = []
    for path, size in expected.items():
        naming = [result for result in results if path in result]
        differences += compare(f"results that name {path}", 1, len(naming))
        differences += compare(f"results that say its {size} bytes", 1, sum(str(size) in result for result in naming))
    return differences


def _agent_source_prompts(case: Case, expected: int) -> list[str]:
    rows = [row for row in case.found.messages.values() if row["role"] == "user" and row["source"] == "agent"]
    return compare("prompts from agents", expected, len(rows))


def _result_messages(case: Case, expected: list[Row]) -> list[str]:
    differences = []
    for message in expected:
        row = case.found.messages.get(message_id(message["key"]), {})
        wanted = {"role": "assistant", "turn_id": case.turn(message["turn"])}
        differences += compare(f"message {message['key']}", wanted, {name: row.get(name) for name in wanted})
    return differences


def _pure_copies(case: Case, expected: list[str]) -> list[str]:
    """Check that a copy is a second label on a head that another session has."""
    differences = []
    for label in expected:
        head = case.found.sessions.get(label, {}).get("thread_id")
        others = [row for row in case.found.sessions.values() if row["thread_id"] == head and row["label"] != label]
        differences += compare(f"another session has the head of {label}", True, bool(others))
    return differences


def _non_object_lines(case: Case, expected: int) -> list[str]:
    noted = len(case.found.problems)
    return [] if noted >= expected else [f"lines that are no object: expected {expected} problems, found {noted}"]


EXTRAS: dict[str, Callable[[Case, Any], list[str]]] = {
    "advisor_requests": _advisor_requests,
    "unseen_children": _unseen_children,
    "titles": _titles,
    "cost_usd": _cost_usd,
    "tools_available": _tools_available,
    "settings": _settings,
    "replayed": _counted("replayed"),
    "held_back": _counted("held_back"),
    "copies_differ": _counted("copies_differ"),
    "chosen": _chosen,
    "images": _images,
    "spilled": _spilled,
    "agent_source_prompts": _agent_source_prompts,
    "result_messages": _result_messages,
    "pure_copies": _pure_copies,
    "non_object_lines": _non_object_lines,
}
