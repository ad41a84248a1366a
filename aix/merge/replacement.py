"""Replacing what sources gave: when they are read again, rows that they no longer give must go.

Rows do not say which source they are from, but the log of imports says which sessions a source gave, and when. A
session is replaced when every source that ever gave it is read again, all of them together, and still holds what it
held when it gave it; otherwise what is new is joined to what is there, because the other source may be gone from disk.
Turns that stand in the log of a session which stays are joined as well. Problems follow the rows.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa

from aix.merge.forget import Forgotten, remove_conversations
from aix.merge.groups import Groups
from aix.merge.rewriting import nodes_of
from aix.merge.row_batches import Files
from aix.merge.selection import Selection
from aix.merge.workspace import Delivered, MergeWorkspace, open_workspace, scan
from aix.schema import TABLES, Table
from aix.store.commit import Stage
from aix.store.engine import engine
from aix.store.index import are_all_in, concatenated
from aix.store.manifest import Manifest, has_groups
from aix.store.nodes import node_expressions, row_key
from aix.store.views import create_views

_NEVER_LOST = ("turns", "messages", "tool_calls")
"""Tables whose rows are missed when they are gone: the check `append_only` looks for them."""


class ReadTogether(msgspec.Struct, frozen=True):
    """Sources that were read together, and from when on what they gave is replaced by what they give now."""

    since: Mapping[str, int]
    """By the name of a source: what it gave in earlier runs may be from something it no longer holds."""
    given_anew: Collection[str] = ()
    """Sessions that another version of the importer gives now: they are replaced whenever they were given."""

    def without(self, sources: Collection[str]) -> "ReadTogether":
        """Return the same without some of the sources: what the others give is still theirs to replace."""
        since = {source: time for source, time in self.since.items() if source not in sources}
        return ReadTogether(since, self.given_anew)

    def replaces(self, label: str, first_given: Mapping[str, int]) -> bool:
        """Whether a session is replaced, given when each of its sources first gave it."""
        if not first_given.keys() <= self.since.keys():
            return False
        return label in self.given_anew or all(time >= self.since[source] for source, time in first_given.items())


class SessionsGivenAgain(msgspec.Struct, frozen=True):
    """The sessions that sources gave before and give again, by these rows."""

    read: Sequence[ReadTogether]
    rows: Delivered

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        """Return a version without them."""
        sources = {source for each in self.read for source in each.since}
        known = _given_so_far(stage.ledger, base, sources) if sources and has_groups(base) else {}
        labels = [label for label, first in known.items() if any(each.replaces(label, first) for each in self.read)]
        return without_sessions(base, stage, labels, self.rows) if labels else base, None


class ProblemsNotedAgain(msgspec.Struct, frozen=True):
    """The problems that runs noted before, of sources that still hold what they held."""

    since: Mapping[str, int]
    """By the name of a source: problems that runs noted from then on are noted again."""

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        """Return a version without them."""
        if not self.since or not has_groups(base) or not base.tables.get("import_problems"):
            return base, None
        with open_workspace(stage.ledger) as workspace:
            create_views(workspace.connection, stage.ledger, base, ["import_problems", "import_runs"])
            found = workspace.connection.execute(
                f"select distinct {node_expressions(TABLES['import_problems'])[0]} from import_problems"
                " join (select unnest($names) as source_key, unnest($times) as since) using (source_key)"
                " where (select started_at from import_runs where id = run_id) >= since",
                {"names": list(self.since), "times": list(self.since.values())},
            ).fetchall()
        groups = Groups(base, stage)
        groups.remove_rows(pa.array([node for (node,) in found], pa.uint64()))
        return groups.version() if found else base, None


def _given_so_far(ledger: Path, base: Manifest, sources: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the sessions that these sources ever gave, with every source that gave each, and when it first did."""
    with engine(ledger) as connection:
        create_views(connection, ledger, base, ["import_log", "import_runs"])
        found = connection.execute(
            "with given as (select distinct session_label from import_log"
            " where source_key in (select unnest($sources)) and session_label is not null)"
            " select l.session_label, l.source_key, min(coalesce(r.started_at, 0)) from import_log l"
            " semi join given using (session_label) left join import_runs r on r.id = l.run_id group by 1, 2",
            {"sources": list(sources)},
        ).fetchall()
    known: dict[str, dict[str, int]] = {}
    for label, source, time in found:
        known.setdefault(label, {})[source] = time
    return known


def without_sessions(base: Manifest, stage: Stage, labels: Sequence[str], rows: Delivered) -> Manifest:
    """Return a version without the rows of sessions whose sources are about to give them again, in this delivery.

    Other rows may name them: they will be there again.
    """
    with open_workspace(stage.ledger) as workspace:
        groups = Groups(base, stage)
        if _drop_given_whole(workspace, groups, labels, rows):
            return groups.version()
        given = _given_sessions(workspace, rows)
        remove_conversations(workspace, groups, Selection(labels=labels), Forgotten(), coming_back=given)
        files = {table.name: file.path for table, file in rows}
        is_any_lost = any(_is_any_lost(workspace, TABLES[name], files) for name in _NEVER_LOST)
        return msgspec.structs.replace(groups.version(), replaces_rows=is_any_lost)


def _drop_given_whole(workspace: MergeWorkspace, groups: Groups, labels: Sequence[str], rows: Delivered) -> bool:
    """Drop the families of these sessions unread, if no row of them could be missed; returns whether that was done.

    All sessions of such a family are replaced; the new rows give each of its turns, messages and calls, and name
    whatever else its rows name, which the index knows.
    """
    given = dict.fromkeys(_NEVER_LOST, pa.array([], pa.uint64()))
    named: list[pa.ChunkedArray] = []
    for (table, _), entries in zip(rows, workspace.read(rows), strict=True):
        given[table.name] = concatenated([entries.named.column(0)])
        named += entries.named.columns
    replaced = nodes_of(workspace, TABLES["sessions"], "label", labels)
    expected = {"sessions": replaced, **{name: given[name] for name in _NEVER_LOST}}
    all_named = concatenated(named)
    touched = groups.holding(replaced, replaced)
    for name, part in touched.items():
        if not are_all_in(part.nodes, all_named):
            return False
        for table, _, stored in groups.entries(workspace, name, part, expected):
            if not are_all_in(stored.column("node"), expected[table.name]):
                return False
    for name, part in touched.items():
        groups.remove(name, part)
    return True


def _given_sessions(workspace: MergeWorkspace, rows: Delivered) -> list[str]:
    """Return the labels of the sessions that a delivery gives, in one portion or in several."""
    files = [file.path for table, file in rows if table.name == "sessions"]
    return sorted(
        {
            label
            for path in files
            for (label,) in workspace.connection.execute(f"select label from {scan(path)}").fetchall()
        }
    )


def _is_any_lost(workspace: MergeWorkspace, table: Table, delivery: Files) -> bool:
    """Whether a row that leaves does not come back with the delivery."""
    if not workspace.has(table):
        return False
    is_given = table.name in delivery
    given = f"select {row_key(table)} as key from {scan(delivery[table.name])}" if is_given else "select null as key"
    return bool(
        workspace.count(f"leaving_{table.name} left_behind anti join ({given}) given on given.key = left_behind._key")
    )
