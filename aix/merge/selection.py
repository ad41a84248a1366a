"""Selecting rows to forget: sessions and rules by source, sessions by age, or by a text in them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.derived.tree import Tree, Turn
from aix.paths import absolute_path
from aix.schema import TABLES, Table, Unit
from aix.schema.sql import quote_name, quote_text
from aix.store.manifest import PRICE_TABLES
from aix.store.nodes import in_conversations

if TYPE_CHECKING:
    import duckdb


class Selection(msgspec.Struct, frozen=True):
    """Sessions, turns that stand in no session, a text that no other row may hold, and a place of sources."""

    labels: Sequence[str] = ()
    turns: Sequence[str] = ()
    text: str | None = None
    place: str | None = None
    """A file or folder: the permission rules read from it go, and the problems noted about it."""

    @property
    def other_tables(self) -> list[str]:
        """The tables whose rows are no part of a conversation; marks go with their rows, prices are nobody's text."""
        return [
            table.name
            for table in TABLES.values()
            if not in_conversations(table) and table.name not in ("inferred_values", *PRICE_TABLES)
        ]

    @property
    def spellings(self) -> list[str]:
        """The text as it is, and as JSON writes it."""
        return [] if self.text is None else spellings(self.text)

    def of_place(self) -> dict[str, str]:
        """Return, by table, SQL for the rows that were read from the place and belong to no session."""
        if self.place is None:
            return {}
        # One file may hold the rules of several personas: then its path is followed by `#` and a name.
        persona = f"scope = 'persona' and starts_with(file, {quote_text(self.place + '#')})"
        return {
            "permission_rules": f"{_lies_at('file', self.place)} or ({persona})",
            "import_problems": f"source_key in (select source_key from import_sources"
            f" where {_lies_at('path', self.place)})",
        }

    def of_no_session(self) -> dict[str, str]:
        """Return, by table, SQL for all rows outside of conversations that go: of the place, or with the text."""
        holding = {} if self.text is None else {name: holds(TABLES[name], self.text) for name in self.other_tables}
        return self.of_place() | holding  # a selection has a place or a text


def spellings(text: str) -> list[str]:
    """Return a text as it is, and as JSON writes it."""
    return sorted({text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]})


def select_source(connection: "duckdb.DuckDBPyConnection", path: Path) -> Selection:
    """Find the sessions that were read from a file, or from any file in a folder; its rules go with them."""
    place = str(absolute_path(path))
    query = f"""
        select session_label from import_log where session_label is not null and source_key in (
          select source_key from import_sources where {_lies_at("path", place)})
        union select label from session_context where {_lies_at("raw_path", place)}
    """
    found = connection.execute(query).fetchall()
    return Selection(labels=sorted(label for (label,) in found), place=place)


def count_rules(connection: "duckdb.DuckDBPyConnection", selection: Selection) -> dict[str, int]:
    """Return how many permission rules of each settings file go with the place that was selected."""
    condition = selection.of_place().get("permission_rules", "false")
    query = f"select file, count(*) from permission_rules where {condition} group by file order by file"
    return dict(connection.execute(query).fetchall())


def count_rows_of_no_session(connection: "duckdb.DuckDBPyConnection", selection: Selection) -> dict[str, int]:
    """Return, by table, how many rows go that are no part of a conversation."""
    counts = {
        name: connection.execute(f"select count(*) from {name} where {condition}").fetchall()[0][0]
        for name, condition in selection.of_no_session().items()
    }
    return {name: count for name, count in counts.items() if count}


def _lies_at(column: str, place: str) -> str:
    """Return SQL that says whether a path is the place, or lies below it."""
    return f"({column} = {quote_text(place)} or starts_with({column}, {quote_text(place.rstrip('/') + '/')}))"


_BEFORE = """
    select label from sessions s
    left join inferred_values i
      on i.table_name = 'sessions' and i.row_key = s.label and i.column_name = 'updated_at' and i.basis = 'undated'
    where updated_at < ? and i.row_key is null order by label
"""


def select_before(connection: "duckdb.DuckDBPyConnection", moment_ms: int) -> Selection:
    """Find the sessions whose last activity lies before a moment; of a log without times none is known."""
    found = connection.execute(_BEFORE, [moment_ms]).fetchall()
    return Selection(labels=[label for (label,) in found])


def select_match(connection: "duckdb.DuckDBPyConnection", text: str) -> Selection:
    """Find the sessions that hold a text anywhere, letter for letter."""
    turns: set[str] = set()
    labels: set[str] = set()
    for name, (kind, owner) in _OWNERS.items():
        holding = f"select distinct {owner} from {name} where {holds(TABLES[name], text)}"
        found = {key for (key,) in connection.execute(holding).fetchall() if key is not None}
        (turns if kind == "turn" else labels).update(found)
    all_turns = connection.execute("select id, parent_turn_id, started_at, false, 0 from turns").fetchall()
    tree = Tree(Turn(*turn) for turn in all_turns)
    heads = dict(connection.execute("select label, thread_id from sessions").fetchall())
    own_turns = connection.execute("select session_label, turn_id from session_turns").fetchall()
    found_above = tree.counts_up_to(turns)
    labels.update(label for label, head in heads.items() if found_above.get(head) or head in turns)
    labels.update(label for label, turn_id in own_turns if turn_id in turns)
    in_sessions = tree.ancestors_of_all(heads.values()) | {turn_id for _, turn_id in own_turns}
    return Selection(labels=sorted(labels), turns=sorted(turns - in_sessions), text=text)


_TURN_OF_MESSAGE = "(select turn_id from messages m where m.id = message_id)"
_OWNERS = {
    "turns": ("turn", "id"),
    "threads": ("turn", "turn_id"),
    "turn_context": ("turn", "turn_id"),
    "messages": ("turn", "turn_id"),
    "tool_calls": ("turn", "turn_id"),
    "compactions": ("turn", "turn_id"),
    "permission_decisions": ("turn", "turn_id"),
    "requests": ("turn", "turn_id"),
    "message_files": ("turn", _TURN_OF_MESSAGE),
    "message_lints": ("turn", _TURN_OF_MESSAGE),
    "message_codeblocks": ("turn", _TURN_OF_MESSAGE),
    "message_facts": ("turn", _TURN_OF_MESSAGE),
    "tool_call_facts": ("turn", "(select turn_id from tool_calls c where c.id = call_id)"),
    "sessions": ("session", "label"),
    "session_aliases": ("session", "session_label"),
    "session_context": ("session", "label"),
    "session_turns": ("session", "session_label"),
}
"""How the turn or the session of a row is found."""


_TEXT_UNITS = {Unit.TEXT, Unit.PATH, Unit.JSON, Unit.JSON_ARRAY, Unit.JSON_OBJECT}
_TEXT_NAMES = {"alias", "git_branch", "name", "project", "tag"}
"""Columns of names that people choose; models, tools and vendors are nobody's text."""


def holds(table: Table, text: str) -> str:
    """Return SQL that is true for a row that holds a text."""
    columns = [column.name for column in table if column.unit in _TEXT_UNITS or column.name in _TEXT_NAMES]
    tests = [
        f"contains({quote_name(name)}, {quote_text(spelling)})"
        for name in columns
        if name != "ancestry"
        for spelling in spellings(text)
    ]
    return f"({' or '.join(tests) or 'false'})"
