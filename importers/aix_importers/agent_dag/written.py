"""Records that an export has written, for later records that name or repeat them.

They are kept in a temporary SQLite database, which goes to disk when it is large.
"""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from aix.ids import h63

_TABLES = """
create table agents (id text primary key) without rowid;
create table files (path text primary key) without rowid;
create table runs (label text primary key, agent text, head text) without rowid;
create table turns (id text primary key, label text, parent text, last_event text) without rowid;
create table forks (label text primary key, agent text, time text, turn text, is_written integer) without rowid;
create table spawned (label text primary key, parent text) without rowid;
create table records (hash integer primary key);
create table nodes (hash integer primary key, characters integer);
"""
# From the head of a branch back to the first turn that leads to the head of the run as well.
_FORK_POINT = """
with recursive main(id) as (
  select head from runs where label = (select label from turns where id = :head)
  union select t.parent from turns t join main m on m.id = t.id where t.parent is not null
),
line(id, place) as (
  select :head, 0
  union all select t.parent, l.place + 1 from turns t join line l on l.id = t.id
  where t.parent is not null and l.place < 1000000 and l.id not in (select id from main)
)
select t.last_event from line l join turns t on t.id = l.id
where l.id in (select id from main) order by l.place limit 1
"""
_TURN = "select label, last_event from turns where id = :head"


class Fork(NamedTuple):
    """A session that began with the history of another one."""

    label: str
    agent: str
    time: str
    run: str
    """The session that it left."""
    event: str | None
    """The last event that they share; None where a branch shares no turn with the run that left it."""
    is_written: bool
    """Whether its Branch node was written."""


class Written:
    """Agents, files, runs, turns, forks and subagents that were written, and hashes of all records."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")
        self._database.executescript(_TABLES)

    def add_agent(self, agent: str) -> None:
        """Note an agent."""
        self._database.execute("insert or ignore into agents values (?)", (agent,))

    def add_file(self, path: str) -> None:
        """Note a file that a message read or wrote."""
        self._database.execute("insert or ignore into files values (?)", (path,))

    def add_run(self, label: str, agent: str, head: str) -> None:
        """Note a session with a log of its own."""
        self.add_agent(agent)
        self._database.execute("insert or ignore into runs values (?, ?, ?)", (label, agent, head))

    def add_turn(self, turn_id: str, label: str | None, parent: object, last_event: str) -> None:
        """Note a turn with its last event."""
        self._database.execute("insert or ignore into turns values (?, ?, ?, ?)", (turn_id, label, parent, last_event))

    def add_fork(self, label: str, agent: str, time: str, turn_id: str, *, is_written: bool) -> None:
        """Note a session that goes on from a turn, or leads to it, and that may be of another session."""
        self.add_agent(agent)
        row = (label, agent, time, turn_id, is_written)
        self._database.execute("insert or ignore into forks values (?, ?, ?, ?, ?)", row)

    def add_spawned(self, label: str, parent: str) -> None:
        """Note the session that spawned another."""
        self._database.execute("insert or ignore into spawned values (?, ?)", (label, parent))

    def add_record(self, name: str) -> None:
        """Note an event by its id, or an edge by its line."""
        self._database.execute("insert or ignore into records values (?)", (h63(name),))

    def add_node(self, kind: str, node_id: str, line: str) -> None:
        """Note a node with the length of its line."""
        row = (h63(kind, node_id), len(line))
        self._database.execute("insert into nodes values (?, ?) on conflict do nothing", row)

    def has_record(self, name: str) -> bool:
        """Whether an event of that id or an edge of that line was written."""
        found = self._database.execute("select 1 from records where hash = ?", (h63(name),))
        return found.fetchone() is not None

    def node_characters(self, kind: str, node_id: str) -> int | None:
        """Return the length of the line of a node; None where it was not written."""
        found = self._database.execute("select characters from nodes where hash = ?", (h63(kind, node_id),)).fetchone()
        return None if found is None else int(found[0])

    def last_event(self, turn_id: object) -> str | None:
        """Return the last event of a turn that was written."""
        found = self._database.execute("select last_event from turns where id = ?", (turn_id,)).fetchone()
        return found and str(found[0])

    def agents(self) -> Iterator[str]:
        """Go through all agents."""
        return (agent for (agent,) in self._database.execute("select id from agents order by id"))

    def files(self) -> Iterator[str]:
        """Go through all files."""
        return (path for (path,) in self._database.execute("select path from files order by path"))

    def take_file(self, path: str) -> None:
        """Remove a file, whose node was written."""
        self._database.execute("delete from files where path = ?", (path,))

    def spawned(self) -> Iterator[tuple[str, str]]:
        """Go through subagents whose parent was written, with that."""
        return self._database.execute(
            "select label, parent from spawned where parent in (select label from runs) order by label"
        )

    def forks(self) -> Iterator[Fork]:
        """Go through the sessions that share history with another that was written."""
        noted = self._database.execute("select label, agent, time, turn, is_written from forks order by label")
        for label, agent, time, turn_id, is_written in noted:
            found = self._database.execute(_TURN, {"head": turn_id}).fetchone()
            if found is None or found[0] in (None, label):
                continue
            run, event = found
            if is_written:  # a branch: the turn is its head
                point = self._database.execute(_FORK_POINT, {"head": turn_id}).fetchone()
                event = point and point[0]
            yield Fork(label, agent, time, run, event, bool(is_written))
