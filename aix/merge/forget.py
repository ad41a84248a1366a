"""Forgetting: rows of sessions and rules leave the newest version, and every older version goes with them.

A turn that a session which stays shares with one that goes stays as well. Where a row that stays names one that goes,
the name becomes NULL.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from aix.derived.derived_data import DerivedData
from aix.derived.tree import Tree, Turn
from aix.merge.conflicts import add_joined
from aix.merge.gone_graph import conditions_of_gone_graphs
from aix.merge.groups import Groups
from aix.merge.rewriting import add_part, nodes_of, settle, write_remaining_rows
from aix.merge.selection import Selection
from aix.merge.user_rows import require_groups
from aix.merge.workspace import MergeWorkspace, open_workspace
from aix.schema import TABLES, Join, Table
from aix.schema.canonical import BY_HAND
from aix.schema.entities import entity_key
from aix.schema.sql import quote_name, quote_text
from aix.store.commit import Change, Stage, commit
from aix.store.durable import remove, sync_folder
from aix.store.garbage import DEFAULT_GRACE_SECONDS, check_removable, collect
from aix.store.manifest import FINDINGS_FILE, REPORTS_FOLDER, STATUS_FILE, Manifest
from aix.store.nodes import INFERRED_VALUES, namespace, node_expressions
from aix.store.raw_copies import holds_any, kept_digests, raw_path
from aix.store.sources import SourceTies, read_ties, source_id
from aix.store.views import create_views

if TYPE_CHECKING:
    import duckdb

_OWNERS = ("turn_id", "message_id", "session_label")
"""Columns that say what a row is part of, beside its key."""


class Going(msgspec.Struct, frozen=True):
    """Sessions and turns that go with a selection, and the sessions that stay with turns of them."""

    sessions: list[str]
    turns: set[str]
    sharing_sessions: dict[str, int]
    """Sessions that stay, with the number of turns which they share with those that go."""


class Forgotten(msgspec.Struct):
    """The rows and files that were removed."""

    sessions: list[str] = msgspec.field(default_factory=list)
    rows: dict[str, int] = msgspec.field(default_factory=dict)
    """By table, how many of the newest version."""
    sharing_sessions: dict[str, int] = msgspec.field(default_factory=dict)
    """Sessions that stay, with the number of turns which they share with those that went."""
    raw_copies: int = 0
    """Copies of sources that held them."""
    files: int = 0
    """Files of older versions, and files left behind, that were removed."""


def forget(ledger: Path, selection: Selection) -> Forgotten:
    """Remove what was selected from a ledger, and from its older versions."""
    check_removable(ledger)  # before the commit, after which all older versions must go
    require_groups(ledger)
    copies = set(kept_digests(ledger))
    selected = Selected(selection)
    forgotten = commit(ledger, Change(leaves=[selected], derived=DerivedData())).result(selected)
    forgotten.raw_copies = len(copies.difference(kept_digests(ledger)))
    for name in (STATUS_FILE, FINDINGS_FILE):  # they count what is gone; whoever asks for them makes them again
        remove(ledger / name)
    pages = ledger / REPORTS_FOLDER
    for page in () if pages.is_symlink() else pages.glob("*.html"):  # they show texts of sessions
        remove(page)
    # Even when there is nothing to forget now, an earlier attempt may have been stopped before this point.
    forgotten.files = len(collect(ledger, 0 if forgotten.rows else DEFAULT_GRACE_SECONDS))
    return forgotten


class Selected(msgspec.Struct, frozen=True):
    """Rows that are to be forgotten."""

    selection: Selection

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, Forgotten]:
        """Return a version without them, and what is gone."""
        forgotten = Forgotten()
        with open_workspace(stage.ledger) as workspace:
            groups = Groups(base, stage)
            create_views(workspace.connection, stage.ledger, base)
            remove_conversations(workspace, groups, self.selection, forgotten)
            _remove_other_rows(workspace, groups, self.selection, forgotten)
            if not forgotten.rows and not base.dead:
                return base, forgotten
            ties = base.ties
            if forgotten.rows:
                # Before the commit: were it to end here, the sessions would still be there to be forgotten.
                _remove_raw_copies(stage.ledger, workspace, self.selection)
                ties = stage.write_ties(base, _cut_ties(stage.ledger, base, workspace))
            # Also what earlier changes left dead: it may be an older form of what is to be forgotten.
            groups.drop_dead_rows(leave_none=True)
            return msgspec.structs.replace(groups.version(), ties=ties, oldest=base.version + 1), forgotten


def _column(workspace: MergeWorkspace, query: str) -> pa.Array:
    return workspace.fetch(query).column(0).combine_chunks()


def remove_conversations(
    workspace: MergeWorkspace,
    groups: Groups,
    selection: Selection,
    forgotten: Forgotten,
    *,
    coming_back: Collection[str] | None = None,
) -> None:
    """Remove sessions and turns with all rows that belong to them.

    Where the sources of the sessions are read again, `coming_back` are the sessions that they give now. Other rows may
    go on naming what they give, and people's own aliases of these sessions stay.
    """
    is_read_again = coming_back is not None
    workspace.connection.execute("create temp table gone (name varchar, key varchar)")
    nodes = pa.concat_arrays(
        [
            nodes_of(workspace, TABLES["sessions"], "label", selection.labels),
            nodes_of(workspace, TABLES["turns"], "id", selection.turns),
        ]
    )
    touched = groups.holding(nodes, nodes)
    for name, part in touched.items():
        add_part(workspace, groups, name, part)
    settle(workspace)
    going = find_going(workspace.connection, selection, workspace.kept_rows, with_subagents=not is_read_again)
    forgotten.sessions, forgotten.sharing_sessions = going.sessions, going.sharing_sessions
    _mark_gone(workspace, "sessions.label", going.sessions)
    _mark_gone(workspace, "turns.id", going.turns)
    with workspace.temporary("label", pa.array(coming_back or (), pa.string())) as given:
        workspace.connection.execute(f"create temp table coming_back as select label from {given}")
    tables = [table for table in TABLES.values() if workspace.has(table)]
    for table in sorted(tables, key=lambda table: table is INFERRED_VALUES):
        _delete(workspace, table, forgotten)
    for table in tables:
        if not is_read_again:
            _clear_references(workspace, table)
    write_remaining_rows(workspace, groups, touched)


def find_going(
    connection: "duckdb.DuckDBPyConnection",
    selection: Selection,
    rows_of: Callable[[Table], str] = lambda table: f"from {table.name}",
    *,
    with_subagents: bool = True,
) -> Going:
    """Find the sessions and turns that go with a selection, in the rows that some SQL gives for each table."""
    sessions = connection.execute(
        f"select label, thread_id, parent_session_label from ({rows_of(TABLES['sessions'])})"
    ).fetchall()
    turns = connection.execute(
        f"select id, parent_turn_id, started_at, false, 0 from ({rows_of(TABLES['turns'])})"
    ).fetchall()
    own_turns = connection.execute(
        f"select session_label, turn_id from ({rows_of(TABLES['session_turns'])})"
    ).fetchall()
    parents = {label: parent for label, _, parent in sessions}
    going = _with_subagents(set(selection.labels), parents) if with_subagents else set(selection.labels) & set(parents)
    tree = Tree(Turn(*turn) for turn in turns)
    heads = {label: head for label, head, _ in sessions}
    staying = {label: head for label, head in heads.items() if label not in going}
    held = tree.ancestors_of_all(staying.values()) | set(staying.values())
    if not with_subagents:
        left_behind = {turn_id for label, turn_id in own_turns if label in staying}
        held |= tree.ancestors_of_all(left_behind) | left_behind
    gone_heads = [heads[label] for label in going]
    wanted = {*tree.ancestors_of_all(gone_heads), *gone_heads, *selection.turns}
    wanted.update(turn_id for label, turn_id in own_turns if label in going)
    shared = tree.counts_up_to(wanted & held)
    return Going(
        sessions=sorted(going),
        turns=(tree.descendants(wanted) | wanted) - held,
        sharing_sessions={label: shared[head] for label, head in sorted(staying.items()) if shared.get(head, 0)},
    )


def _with_subagents(labels: set[str], parents: Mapping[str, str | None]) -> set[str]:
    going = labels & parents.keys()
    while more := {label for label, parent in parents.items() if parent in going} - going:
        going |= more
    return going


def _mark_gone(workspace: MergeWorkspace, name: str, keys: Collection[str]) -> None:
    with workspace.temporary("key", pa.array(keys, pa.string())) as given:
        workspace.connection.execute(f"insert into gone select {quote_text(name)}, key from {given}")


def _is_gone(column: str, name: str) -> str:
    return f"{column} in (select key from gone where name = {quote_text(name)})"


_OF_GONE_SESSION = _is_gone("session_label", "sessions.label")


def _delete(workspace: MergeWorkspace, table: Table, forgotten: Forgotten) -> None:
    """Let go of the rows that belong to what is gone; tables come after those that their rows belong to."""
    workspace.connection.execute(
        f"create temp table leaving_{table.name} as select _place, _key from ({workspace.kept_rows(table)})"
        f" where {_belongs_to_gone(table)}"
    )
    places = _column(workspace, f"select _place from leaving_{table.name}")
    if not len(places):
        return
    forgotten.rows[table.name] = forgotten.rows.get(table.name, 0) + len(places)
    workspace.drop(table, places)
    workspace.connection.execute(
        f"insert into gone select {quote_text(f'{table.name}.{table.key[0]}')}, _key from leaving_{table.name}"
    )


def _belongs_to_gone(table: Table) -> str:
    if table.name in ("turns", "sessions"):
        return _is_gone(quote_name(table.key[0]), f"{table.name}.{table.key[0]}")
    if table.name == "requests":
        session = _is_gone("session_label", "sessions.label")
        return f"{_is_gone('turn_id', 'turns.id')} or (turn_id is null and {session})"
    if table is INFERRED_VALUES:
        cases = [
            f"table_name = {quote_text(other.name)} and {_is_gone('row_key', f'{other.name}.{other.key[0]}')}"
            for other in TABLES.values()
            if other is not INFERRED_VALUES
        ]
        return " or ".join(f"({case})" for case in cases)
    owners = [
        column
        for column in table
        if column.references and not column.nullable and (column.name in table.key or column.name in _OWNERS)
    ]
    is_gone = " or ".join(_is_gone(quote_name(owner.name), namespace(table, owner)) for owner in owners) or "false"
    if table.name == "session_aliases":
        return f"({is_gone}) and not (reason = {quote_text(BY_HAND)} and session_label in (from coming_back))"
    return is_gone


def _clear_references(workspace: MergeWorkspace, table: Table) -> None:
    """Set to NULL what names something that is gone."""
    names = {
        column.name: _is_gone(quote_name(column.name), namespace(table, column))
        for column in table
        if column.references and column.nullable and column.join is not Join.DERIVED
    }
    if not names:
        return
    places = workspace.fetch(
        f"select _place, {', '.join(f'coalesce({test}, false) as {quote_name(name)}' for name, test in names.items())}"
        f" from ({workspace.kept_rows(table)}) where {' or '.join(names.values())} order by _place"
    )
    if not places.num_rows:
        return
    old = places.column("_place").combine_chunks()
    rows = pa.concat_tables(workspace.copy(table, old)).to_pylist()
    cleared = [
        {name: None if tests.get(name) else value for name, value in row.items()}
        for row, tests in zip(rows, places.to_pylist(), strict=True)
    ]
    workspace.drop(table, old)
    add_joined(workspace, table, iter(cleared))


def _cut_ties(ledger: Path, base: Manifest, workspace: MergeWorkspace) -> dict[str, SourceTies]:
    """Tie sources of what is gone to nothing: it would come back as soon as another source that has changed is read."""
    sources = workspace.fetch(f"select distinct source_key from import_log where {_OF_GONE_SESSION}")
    ids = {source_id(name) for name in sources.column(0).to_pylist()}
    return {source: SourceTies() for source in read_ties(ledger, base.ties) if source in ids}


def _remove_raw_copies(ledger: Path, workspace: MergeWorkspace, selection: Selection) -> None:
    sources = workspace.fetch(
        "select distinct fingerprint from import_sources where fingerprint is not null"
        f" and source_key in (select source_key from import_log where {_OF_GONE_SESSION})"
    )
    of_sources = set(sources.column(0).to_pylist())
    for digest in kept_digests(ledger):
        if digest in of_sources or holds_any(ledger, digest, selection.spellings):
            remove(raw_path(ledger, digest))
            sync_folder(raw_path(ledger, digest).parent)


def _remove_other_rows(workspace: MergeWorkspace, groups: Groups, selection: Selection, forgotten: Forgotten) -> None:
    """Remove rows outside conversations: notes about one that goes, rules of the place, rows that hold the text."""
    for name, condition in _conditions(workspace.connection, selection, anything_gone=bool(forgotten.rows)).items():
        table = TABLES[name]
        found = workspace.fetch(f"select distinct {node_expressions(table)[0]} as node from {name} where {condition}")
        groups.remove_rows(found.column(0).combine_chunks())
        if found.num_rows:
            forgotten.rows[name] = forgotten.rows.get(name, 0) + found.num_rows


def _conditions(
    connection: "duckdb.DuckDBPyConnection", selection: Selection, *, anything_gone: bool
) -> dict[str, str]:
    """Return SQL that says, by table, which rows go."""
    conditions = _of_gone(connection) if anything_gone else {}
    going = selection.of_no_session()
    about_going = " or ".join(_is_about(name, condition) for name, condition in going.items())
    for name, condition in [*going.items(), *((name, about_going) for name in _ABOUT_OTHERS if going)]:
        conditions[name] = f"({conditions[name]}) or {condition}" if name in conditions else condition
    return conditions


_ABOUT_OTHERS = ("tags", "embeddings")
"""Tables of rows about rows of any table."""


def _is_about(name: str, condition: str) -> str:
    """Return SQL that says whether a row is about one of those rows of a table."""
    ids = f"select {entity_key(TABLES[name])} from {name} where {condition}"
    return f"(entity_type = {quote_text(name)} and entity_id in ({ids}))"


_IS_GONE_LABEL = _is_gone("label", "sessions.label")


def _of_gone(connection: "duckdb.DuckDBPyConnection") -> dict[str, str]:
    still_named = f"(select file_path from message_files where not ({_is_gone('message_id', 'messages.id')}))"
    of_gone = {
        **conditions_of_gone_graphs(connection),
        **{
            table.name: f"{quote_text(f'{column.session_origin}:')} || {quote_name(column.name)}"
            f" in (select label from sessions where {_IS_GONE_LABEL})"
            for table in TABLES.values()
            for column in table
            if column.session_origin
        },
        "program_events": _OF_GONE_PROGRAM,
    }
    about_gone = " or ".join(
        [
            "exists (select 1 from gone g where g.key = entity_id and g.name like entity_type || '.%')",
            *(_is_about(name, condition) for name, condition in of_gone.items()),
        ]
    )
    return {
        **dict.fromkeys(_ABOUT_OTHERS, about_gone),
        **of_gone,
        "import_problems": f"source_key in (select source_key from import_log where {_OF_GONE_SESSION})",
        "import_log": _OF_GONE_SESSION,
        "file_paths": f"file_path not in {still_named}",
    }


# A session's program has its id. One that the ledger lacks may be that of anything, so the whole label has to name it.
_OF_GONE_PROGRAM = f"""
    program_id in (
      select origin_session_id from sessions s left join programs p on p.id = s.origin_session_id
      where {_IS_GONE_LABEL}
        and (p.program_type = 'session' or p.id is null and ends_with(label, ':' || origin_session_id))
      except
      select origin_session_id from sessions where not ({_IS_GONE_LABEL})
    )
"""
