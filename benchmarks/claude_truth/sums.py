"""Sums over the rows of a ledger, as manifests have them: for situations, for bulk sessions, and for whole trees."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.claude_truth.case import compare, compare_keyed
from benchmarks.claude_truth.rows import Row, Rows

_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "cache_write_5m": "cache_write_5m_tokens",
    "cache_write_1h": "cache_write_1h_tokens",
}
_ROLES = ("user", "assistant", "tool", "system")


def counted_requests(rows: Iterable[Row]) -> list[Row]:
    """Return the requests that sums are made of: not advisors, and not agents whose messages nobody kept."""
    return [row for row in rows if row["kind"] != "advisor" and row["origin_message_id"] is not None]


def by_kind(rows: Iterable[Row], column: str) -> dict[str, int]:
    """Count rows by the word in a column."""
    return dict(sorted(Counter(row[column] for row in rows).items()))


def by_model(rows: Rows) -> dict[str, dict[str, int]]:
    """Return messages and tokens of each model; unknown counts as nothing."""
    sums: dict[str, dict[str, int]] = {}
    for row in counted_requests(rows.requests.values()):
        of_model = sums.setdefault(str(row["model"]), dict.fromkeys(["messages", *_USAGE], 0))
        of_model["messages"] += 1
        for name, column in _USAGE.items():
            of_model[name] += row[column] or 0
    return sums


def call_sums(rows: Iterable[Row]) -> dict[str, Any]:
    """Return how many calls there are, by what became of them and by tool."""
    calls = list(rows)
    outcomes = Counter(str(row["outcome"]) for row in calls)
    denied = sum(n for word, n in outcomes.items() if word.startswith("denied_") or word == "not_granted")
    return {
        "total": len(calls),
        "with_result": sum(row["status"] in ("completed", "failed") for row in calls),
        "failed": sum(row["status"] == "failed" for row in calls),
        "denied": denied,
        "outcomes": dict(outcomes),
        "by_name": by_kind(calls, "tool_name"),
    }


def sums(rows: Rows) -> dict[str, Any]:
    """Return every sum that a manifest has for bulk sessions."""
    roles = Counter(row["role"] for row in rows.messages.values())
    children = Counter(row["parent_turn_id"] for row in rows.turns.values() if row["parent_turn_id"])
    calls = call_sums(rows.calls.values())
    counted = counted_requests(rows.requests.values())
    return {
        "sessions_by_kind": dict(sorted(Counter(map(_session_kind, rows.sessions.values())).items())),
        "turns_by": dict(sorted(Counter(f"{row['turn_type']}/{row['status']}" for row in rows.turns.values()).items())),
        "messages": {role: roles[role] for role in _ROLES},
        "requests_final": sum(row["is_usage_final"] is True for row in counted),
        "requests_by_kind": by_kind(counted, "kind"),
        "tool_calls": {name: calls[name] for name in ("total", "with_result", "failed", "denied", "outcomes")},
        "compactions": len(rows.compactions),
        "forks": sum(number > 1 for number in children.values()),
        "files_by_kind": by_kind(rows.files, "kind"),
        "codeblocks": len(rows.codeblocks),
    }


def _session_kind(row: Row) -> str:
    if row["status"] == "archived":
        return "abandoned"
    return "subagent" if row["is_subagent"] else "main"


def compare_bulk(expected: Mapping[str, Any], found: Rows, tree: Path) -> list[str]:
    """Compare the bulk sessions, of which a manifest has sums only."""
    wanted = {**expected, "codeblocks": sum(expected["codeblocks_by_origin"].values())}
    wanted["files_by_kind"] = dict(Counter(wanted["files_by_kind"]) - repeated_files(tree, expected["folders"]))
    has = sums(found)
    differences = [d for name in has for d in compare(name, wanted[name], has[name])]
    return differences + compare_keyed("model", expected["by_model"], by_model(found))


def compare_totals(manifest: Mapping[str, Any], found: Rows, tree: Path) -> list[str]:
    """Compare the sums over the whole tree; bytes, lines and files are not in a ledger."""
    has = sums(found)
    files = Counter(has["files_by_kind"])
    if manifest.get("bulk"):
        files += repeated_files(tree, manifest["bulk"]["folders"])
    flat = {"compactions": has["compactions"], "forks": has["forks"], "requests_final": has["requests_final"]}
    flat["lints"] = len(found.lints)
    for name in ("turns_by", "messages", "sessions_by_kind", "requests_by_kind"):
        flat.update({f"{name}:{word}": number for word, number in has[name].items()})
    flat.update({f"files_by_kind:{word}": number for word, number in files.items()})
    flat.update({f"tool_calls:{word}": n for word, n in has["tool_calls"].items() if isinstance(n, int)})
    flat.update({f"outcome:{word}": number for word, number in has["tool_calls"]["outcomes"].items()})
    for model, row in by_model(found).items():
        flat.update({f"model:{model}:{name}": number for name, number in row.items()})
        for name, number in row.items():
            flat[f"requests:{name}"] = flat.get(f"requests:{name}", 0) + number
    wanted = {
        name: n for name, n in manifest["totals"].items() if name not in ("bytes", "lines", "jsonl_files", "bad_lines")
    }
    blocks = [wanted.pop(name) for name in list(wanted) if name.startswith("codeblocks_by_origin:")]
    names = dict.fromkeys([*wanted, *flat])
    differences = [d for name in names for d in compare(name, wanted.get(name, 0), flat.get(name, 0))]
    return differences + compare("codeblocks", sum(blocks), has["codeblocks"])


def repeated_files(tree: Path, folders: Iterable[str]) -> Counter[str]:
    """Count what bulk sessions touch again in the same message: a ledger has one row for it, a manifest several."""
    calls: dict[tuple[str, str, str, str], set[str]] = {}
    for folder in folders:
        for path in (tree / folder).rglob("*.jsonl"):
            for touched, call in _touched_files(path):
                calls.setdefault(touched, set()).add(call)
    repeated: Counter[str] = Counter()
    for (_, _, kind, _), same in calls.items():
        repeated[kind] += len(same) - 1
    return repeated


def _touched_files(path: Path) -> Iterator[tuple[tuple[str, str, str, str], str]]:
    """Give message, tool, kind and file of each file that a bulk session touched, and the call."""
    callers: dict[str, tuple[str, str]] = {}
    for line in path.read_text("utf-8", "replace").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        content = (record.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_use":
                callers[block["id"]] = (record["message"]["id"], block["name"])
            elif block["type"] == "tool_result" and not block.get("is_error"):
                message, tool = callers[block["tool_use_id"]]
                for kind, file in _files_of(tool, record["toolUseResult"]):
                    yield (message, tool, kind, file), block["tool_use_id"]


def _files_of(tool: str, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    match tool:
        case "Read":
            return [("read", result["file"]["filePath"])]
        case "Edit" | "Write":
            return [("written", result["filePath"])]
        case "Grep":
            return [("referenced", name) for name in result["filenames"]]
        case _:
            return []
