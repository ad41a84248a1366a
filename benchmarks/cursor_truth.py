"""Compare a ledger with the manifest of a generated tree of Cursor's data, figure by figure.

    python benchmarks/cursor_truth.py TREE LEDGER

TREE holds databases and transcripts, and `manifest.json`, which says what a ledger of them must hold. LEDGER is one
into which TREE, and nothing else, was imported. Every difference is a sentence; the exit code is 1 when there are any.
"""

import argparse
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from aix.store.manifest import read_latest
from aix.store.views import create_views

Figures = dict[str, Any]
Difference = tuple[str, str]

_LISTED_IN_WORKSPACES = ("G2", "G3", "G4", "G5")
"""Generations whose conversations know their workspace only if it lists them; some that are generated do not."""
_TABLES = ("files", "turns", "tool_status")
_PLAIN = ("user", "assistant", "system", "tool_calls", "thinking", "lints", "compactions", "rejected", "codeblocks")
_STATUSES = {"completed": "completed", "failed": "failed", "pending": "open", "running": "open"}


class LedgerFigures:
    """Figures of a ledger, by session."""

    def __init__(self, tree: Path, ledger: Path) -> None:
        self.listed = _listed_in_workspaces(tree)
        self._connection = duckdb.connect()
        create_views(self._connection, ledger, read_latest(ledger))
        self.sessions = {row["origin_session_id"]: row for row in self._rows("from sessions")}
        self.titles = {row["label"]: row for row in self._rows("from session_context")}
        self._turns: dict[str, list[str]] = {}
        for row in self._rows("from session_turns"):
            self._turns.setdefault(row["session_label"], []).append(row["turn_id"])
        self._figures = self._by_turn()
        self.orphans = {
            row["session_id"]: row["orphans"]
            for row in self._rows(
                "select split_part(source_key, '#composer:', 2) as session_id,"
                " cast(regexp_extract(reason, '(\\d+) bubbles', 1) as bigint) as orphans"
                " from import_problems where kind = 'orphan_bubbles' and source_key like '%#composer:%'"
            )
        }

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        result = self._connection.execute(sql)
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def turns_of(self, label: str) -> set[str]:
        """Return the turns that stand in the log of a session."""
        return set(self._turns.get(label, ()))

    def _by_turn(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}

        def count(sql: str) -> None:
            for turn, name, number in self._connection.execute(sql).fetchall():
                found.setdefault(turn, Counter())[name] += number

        count("select turn_id, role, count(*) from messages group by all")
        count("select turn_id, 'thinking', count(*) from messages where thinking <> '' group by all")
        count("select turn_id, 'tool_calls', count(*) from tool_calls group by all")
        count("select turn_id, 'status:' || status, count(*) from tool_calls group by all")
        count(
            "select turn_id, 'rejected', count(*) from permission_decisions where outcome like 'denied%' group by all"
        )
        count("select turn_id, 'compactions', count(*) from compactions group by all")
        for table in ("message_lints", "message_codeblocks"):
            name = table.removeprefix("message_")
            count(
                f"select turn_id, '{name}', count(*) from {table} t join messages m on m.id = message_id group by all"
            )
        count(
            "select turn_id, 'file:' || kind, count(*) from message_files"
            " join messages m on m.id = message_id group by all"
        )
        count(
            "select t.id, 'turn:' || case when turn_type = 'compaction' then 'compaction'"
            " when continues_turn_id is not null then 'continuation' else 'normal' end, 1"
            " from turns t join turn_context c on c.turn_id = t.id"
        )
        return found

    def figures(self, turns: set[str]) -> Figures:
        """Return the figures of some turns, in the manifest's words."""
        whole: Counter[str] = Counter()
        for turn in turns:
            whole.update(self._figures.get(turn, {}))
        found: Figures = {name: whole[name] for name in _PLAIN}
        found["tool"] = whole["tool"]
        found["files"] = {kind: whole[f"file:{kind}"] for kind in ("attached", "referenced", "read", "written")}
        found["turns"] = {kind: whole[f"turn:{kind}"] for kind in ("normal", "continuation", "compaction")}
        found["tool_status"] = dict.fromkeys(("completed", "failed", "open"), 0)
        for status, word in _STATUSES.items():
            found["tool_status"][word] += whole[f"status:{status}"]
        return found

    def problems(self) -> Counter[str]:
        """Return how many problems of each kind were noted."""
        rows = self._connection.execute("select kind, count(*) from import_problems group by all").fetchall()
        return Counter(dict(rows))


def _listed_in_workspaces(tree: Path) -> set[str]:
    found: set[str] = set()
    for path in tree.rglob("workspaceStorage/*/state.vscdb"):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            rows = database.execute("select value from ItemTable where key = 'composer.composerData'").fetchall()
        found.update(head["composerId"] for (value,) in rows for head in json.loads(value).get("allComposers", ()))
    return found


def differences(tree: Path, manifest: Mapping[str, Any], ledger: LedgerFigures) -> Iterator[Difference]:
    """Give all differences."""
    is_cut = "corrupt" in manifest and not manifest["corrupt"]["backup"]
    if is_cut:
        yield from _at_most(manifest, ledger)
        return
    seen: set[str] = set()
    for entry in manifest["composers"].values():
        seen.add(entry["session_id"])
        yield from _composer(entry, ledger)
    for session_id, lines in manifest["transcripts"].items():
        seen.add(session_id)
        yield from _transcript(session_id, lines, ledger)
    for session_id, store in manifest["stores"].items():
        seen.add(session_id)
        yield from _store(session_id, store["reachable"], ledger)
    seen.update(path.stem for path in tree.rglob("agent-transcripts/*.txt"))
    for session_id in ledger.sessions.keys() - seen:
        yield session_id, "is a session and should be none"
    yield from _totals(manifest, ledger)
    yield from _orphans(manifest, ledger)
    yield from _links(manifest, ledger)


def _composer(entry: Mapping[str, Any], ledger: LedgerFigures) -> Iterator[Difference]:
    session_id = entry["session_id"]
    session = ledger.sessions.get(session_id)
    if session is None:
        yield session_id, f"is no session and should be one ({entry['gen']})"
        return
    turns = ledger.turns_of(session["label"])
    owner = entry.get("shares_all_with") or entry.get("shares_prefix_with")
    if owner:
        shared = ledger.turns_of(ledger.sessions[owner]["label"])
        if not turns & shared:
            yield session_id, f"shares no turn with {owner}"
        turns = turns - shared
    found = ledger.figures(turns)
    for name in (*_PLAIN, *_TABLES):
        if found[name] != entry[name]:
            yield session_id, f"{entry['gen']} {name}: expected {entry[name]}, found {found[name]}"
    title = ledger.titles[session["label"]]["title"]
    if entry.get("name") and title != entry["name"]:
        yield session_id, f"title: expected {entry['name']!r}, found {title!r}"
    is_linked = entry["gen"] not in _LISTED_IN_WORKSPACES or session_id in ledger.listed
    if entry.get("workspace") and is_linked and not ledger.titles[session["label"]]["project"]:
        yield session_id, f"workspace: expected {entry['workspace']}, found none"
    if "parent" in entry:
        expected = (f"cursor:{entry['parent']}", entry["spawn_tool_call_id"])
        given = (session["parent_session_label"], session["spawn_tool_call_id"])
        if expected != given:
            yield session_id, f"spawned by: expected {expected}, found {given}"


def _transcript(session_id: str, lines: int, ledger: LedgerFigures) -> Iterator[Difference]:
    session = ledger.sessions.get(session_id)
    if session is None:
        yield session_id, "is no session and should be one (transcript)"
        return
    found = ledger.figures(ledger.turns_of(session["label"]))
    expected = (2, 4, 3) if lines == 8 else (1, 1, 2)
    given = (found["user"] + found["system"], found["assistant"], found["tool_calls"])
    if given != expected:
        yield session_id, f"transcript, prompts, answers and calls: expected {expected}, found {given}"


def _store(session_id: str, reachable: int, ledger: LedgerFigures) -> Iterator[Difference]:
    session = ledger.sessions.get(session_id)
    if session is None:
        yield session_id, "is no session and should be one (store)"
        return
    found = ledger.figures(ledger.turns_of(session["label"]))
    given = (found["user"], found["assistant"], found["tool_calls"], found["thinking"])
    if given != (1, 2, 1, 1):
        yield session_id, f"store, prompts, answers, calls and thoughts: expected (1, 2, 1, 1), found {given}"
    messages = found["user"] + found["assistant"] + found["system"] + found["tool"]
    if messages != reachable:
        yield session_id, f"store, messages: expected {reachable}, found {messages}"


def _totals(manifest: Mapping[str, Any], ledger: LedgerFigures) -> Iterator[Difference]:
    totals = manifest["totals"]
    ids = {entry["session_id"] for entry in manifest["composers"].values()}
    labels = [ledger.sessions[each]["label"] for each in ids if each in ledger.sessions]
    turns = set().union(*(ledger.turns_of(label) for label in labels)) if labels else set()
    found = ledger.figures(turns)
    for name in (*_PLAIN, *_TABLES):
        if found[name] != totals[name]:
            yield "totals", f"{name}: expected {totals[name]}, found {found[name]}"
    if len(labels) != totals["sessions"]:
        yield "totals", f"sessions: expected {totals['sessions']}, found {len(labels)}"
    subagents = sum(ledger.sessions[each]["is_subagent"] for each in ids if each in ledger.sessions)
    if subagents != totals["subagent_sessions"]:
        yield "totals", f"subagent sessions: expected {totals['subagent_sessions']}, found {subagents}"


def _orphans(manifest: Mapping[str, Any], ledger: LedgerFigures) -> Iterator[Difference]:
    """Compare how many replaced attempts were counted; those without any conversation are counted apart."""
    for entry in manifest["composers"].values():
        found = ledger.orphans.get(entry["session_id"], 0)
        if found != entry["orphan_bubbles"]:
            yield entry["session_id"], f"orphan bubbles: expected {entry['orphan_bubbles']}, found {found}"


def _links(manifest: Mapping[str, Any], ledger: LedgerFigures) -> Iterator[Difference]:
    """Compare links that are found only through a replaced attempt: they name the parent, and no call."""
    cases = (manifest["hard_cases"].get(name) for name in ("orphan_task_dispatch_bubble", "task_subagent_newline_id"))
    for parent, _ in filter(None, cases):
        label = f"cursor:{parent}"
        children = [each for each in ledger.sessions.values() if each["parent_session_label"] == label]
        if len(children) != 1 or children[0]["spawn_tool_call_id"] or children[0]["parent_turn_id"]:
            yield parent, f"expected one child without a call, found {[each['label'] for each in children]}"


def _at_most(manifest: Mapping[str, Any], ledger: LedgerFigures) -> Iterator[Difference]:
    """Compare what is left of a damaged database: something, and never more than there was."""
    ids = {entry["session_id"] for entry in manifest["composers"].values()}
    labels = [row["label"] for session_id, row in ledger.sessions.items() if session_id in ids]
    found = ledger.figures(set().union(*(ledger.turns_of(label) for label in labels)) if labels else set())
    totals = manifest["totals"]
    if not found["assistant"]:
        yield "damaged", "nothing was read"
    for name in _PLAIN:
        if found[name] > totals[name]:
            yield "damaged", f"{name}: expected at most {totals[name]}, found {found[name]}"
    if not ledger.problems()["damaged"]:
        yield "damaged", "no problem says that the database is damaged"


def secrets(manifest: Mapping[str, Any], folder: Path) -> Iterator[Difference]:
    """Look for what must never be imported, in every byte of the ledger."""
    needles = [each.encode() for each in manifest["must_not_import"]]
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield from ((path.name, f"holds {needle!r}") for needle in needles if needle in data)


def main() -> int:
    """Print every difference and how many there are; return 1 when there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("ledger", type=Path)
    arguments = parser.parse_args()
    manifest = json.loads((arguments.tree / "manifest.json").read_text("utf-8"))
    found = list(differences(arguments.tree, manifest, LedgerFigures(arguments.tree, arguments.ledger)))
    found += secrets(manifest, arguments.ledger)
    for where, difference in found:
        print(f"{where}: {difference}")
    print(f"{len(found):7,} differences in {len({where for where, _ in found})} places")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
