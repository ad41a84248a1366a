"""The rows of a ledger, parted by the situations of a generated tree of Claude Code logs."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aix

Row = dict[str, Any]

NOWHERE = "(no situation)"
BULK = "(bulk)"

_QUERIES = {
    "turns": """
        select t.id, t.parent_turn_id, t.turn_type, t.status, t.started_at, t.has_children, t.tool_call_count,
            t.toolset_name, t.tools_available, t.permissions_granted, t.workspace_path,
            c.turn_key, c.continues_turn_id, c.continued_by_turn_id
        from turns t left join turn_context c on c.turn_id = t.id""",
    "sessions": """
        select s.label, s.thread_id, s.is_subagent, s.parent_session_label, s.parent_turn_id, s.spawn_tool_call_id,
            s.origin_session_id, s.status, c.title
        from sessions s left join session_context c on c.label = s.label""",
    "session_turns": "select session_label, turn_id from session_turns",
    "messages": "select id, turn_id, role, source, content, context_json, metadata_json from messages",
    "requests": "select * from requests",
    "calls": """
        select c.id, c.turn_id, c.message_id, c.tool_name, c.status, c.result_json, c.spawned_session_label,
            d.outcome, d.evidence
        from tool_calls c left join permission_decisions d on d.call_id = c.id""",
    "compactions": "select * from compactions",
    "files": "select message_id, kind, file_path, line_start, line_end from message_files",
    "lints": "select message_id, file_path, start_line, start_col, severity, message from message_lints",
    "codeblocks": "select message_id, file_path, line_start, line_end, language, content from message_codeblocks",
    "problems": """
        select distinct p.kind, p.line, coalesce(s.path, p.source_key) as path
        from import_problems p left join import_sources s using (source_key)""",
    "counts": """
        select l.counts_json, coalesce(s.path, l.source_key) as path
        from import_log l left join import_sources s using (source_key)
        where s.last_run_id is null or l.run_id = s.last_run_id""",
    "rules": "select scope, file, kind, rule from permission_rules",
}


@dataclass(frozen=True)
class Rows:
    """Rows of a ledger, by their keys where they have one of their own."""

    turns: dict[str, Row] = field(default_factory=dict)
    sessions: dict[str, Row] = field(default_factory=dict)
    messages: dict[str, Row] = field(default_factory=dict)
    requests: dict[str, Row] = field(default_factory=dict)
    calls: dict[str, Row] = field(default_factory=dict)
    compactions: dict[str, Row] = field(default_factory=dict)
    session_turns: set[tuple[str, str]] = field(default_factory=set)
    files: list[Row] = field(default_factory=list)
    lints: list[Row] = field(default_factory=list)
    codeblocks: list[Row] = field(default_factory=list)
    problems: list[Row] = field(default_factory=list)
    counts: list[Row] = field(default_factory=list)
    rules: list[Row] = field(default_factory=list)


def read_ledger(path: Path) -> dict[str, list[Row]]:
    """Return what is compared of a ledger, by the names of `Rows`."""
    with aix.open(path) as ledger:
        tables = {}
        for name, query in _QUERIES.items():
            result = ledger.sql(query)
            tables[name] = [dict(zip(result.columns, row, strict=True)) for row in result]
    return tables


class Places:
    """Which situation a row belongs to: by its id where the manifest names it, else by folder or session."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._ids: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._slugs: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        for name, situation in manifest["situations"].items():
            for row in [*situation["turns"], *situation["requests"], *situation["calls"]]:
                self._ids[row["id"]] = name
            labels = [*situation["sessions"], *(skipped["session"] for skipped in situation["skipped_sessions"])]
            self._labels.update((_main_label(label), name) for label in labels)
            self._add_folder(situation["folder"], name)
        for folder in (manifest.get("bulk") or {}).get("folders", ()):
            self._add_folder(folder, BULK)

    def _add_folder(self, folder: str, name: str) -> None:
        self._folders[f"/{folder}/"] = name
        self._slugs[folder.rpartition("/")[2]] = name

    def of_id(self, row_id: str | None) -> str | None:
        """Return the situation that names this id."""
        return None if row_id is None else self._ids.get(row_id)

    def of_label(self, label: str | None) -> str | None:
        """Return the situation of a session, by that of the main session it is named after."""
        return None if label is None else self._labels.get(_main_label(label))

    def of_workspace(self, path: str | None) -> str | None:
        """Return the situation that worked in a folder."""
        return None if path is None else self._slugs.get(slug(path))

    def of_path(self, path: str) -> str | None:
        """Return the situation whose logs lie in the same folder as a file."""
        return next((name for folder, name in self._folders.items() if folder in path), None)


def slug(path: str) -> str:
    """Return the name that Claude Code gives to the folder of a workspace's logs."""
    return re.sub("[^A-Za-z0-9]", "-", path)


def _main_label(label: str) -> str:
    return re.split("[/~]", label, maxsplit=1)[0]


def part(tables: Mapping[str, list[Row]], places: Places) -> dict[str, Rows]:
    """Give each situation its rows; what belongs to none is kept apart, and rules go to all."""
    parts: defaultdict[str, Rows] = defaultdict(lambda: Rows(rules=tables["rules"]))
    labels = defaultdict(list)
    for pair in tables["session_turns"]:
        labels[pair["turn_id"]].append(pair["session_label"])
    turns: dict[str, str] = {}
    for row in tables["turns"]:
        found = places.of_id(row["id"]) or places.of_workspace(row["workspace_path"])
        turns[row["id"]] = found or _first(map(places.of_label, labels[row["id"]])) or NOWHERE
        parts[turns[row["id"]]].turns[row["id"]] = row
    sessions = {
        row["label"]: places.of_label(row["label"]) or turns.get(row["thread_id"], NOWHERE)
        for row in tables["sessions"]
    }
    for row in tables["sessions"]:
        parts[sessions[row["label"]]].sessions[row["label"]] = row
    for pair in tables["session_turns"]:
        parts[turns.get(pair["turn_id"], NOWHERE)].session_turns.add((pair["session_label"], pair["turn_id"]))
    _part_contents(tables, places, parts, turns, sessions)
    return parts


def _part_contents(
    tables: Mapping[str, list[Row]],
    places: Places,
    parts: Mapping[str, Rows],
    turns: Mapping[str, str],
    sessions: Mapping[str, str],
) -> None:
    messages = {row["id"]: turns.get(row["turn_id"], NOWHERE) for row in tables["messages"]}
    for row in tables["messages"]:
        parts[messages[row["id"]]].messages[row["id"]] = row
    for row in tables["requests"]:
        of_session = sessions.get(row["session_label"]) or places.of_label(row["session_label"])
        ways = (places.of_id(row["id"]), turns.get(row["turn_id"]), of_session, places.of_workspace(row["cwd"]))
        parts[_first(ways) or NOWHERE].requests[row["id"]] = row
    for row in tables["calls"]:
        parts[places.of_id(row["id"]) or turns.get(row["turn_id"], NOWHERE)].calls[row["id"]] = row
    for row in tables["compactions"]:
        parts[turns.get(row["turn_id"], NOWHERE)].compactions[row["turn_id"]] = row
    for name in ("files", "lints", "codeblocks"):
        for row in tables[name]:
            getattr(parts[messages.get(row["message_id"], NOWHERE)], name).append(row)
    for name in ("problems", "counts"):
        for row in tables[name]:
            getattr(parts[places.of_path(row["path"]) or NOWHERE], name).append(row)


def _first(ways: Iterable[str | None]) -> str | None:
    return next((way for way in ways if way is not None), None)
