"""The records of sources that are read together, indexed on disk so that a million events need little memory.

`Graph.add` takes all records, `Graph.index` then finds what belongs together, and after it the graph can be asked. An
event that several lines repeat counts once. Events, nodes and edges of an export stand for rows of a ledger (`aix`):
they are in the graph, but their runs are not mapped, so `runs` and `events_of` leave them out.

The index is a private temporary database of SQLite, which goes to disk when it grows and is deleted by itself.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from msgspec import Struct

from aix.importing import Source
from aix_importers.agent_dag.records import Edge, Event, Node, Place, read_payload, ref_id, rows_format, whole_number
from aix_importers.common.agent_dag_words import EDGE_TYPES, EVENT
from aix_importers.common.row_writer import MOST_COPIES

_TABLES = """
create table event (
  n integer primary key, source integer, line integer, byte_offset integer, copy integer default 0,
  is_first integer default 1, is_projected integer, id text, claimed text, kind text, time integer, clock integer,
  agent text, run text, own_seq integer, correlation text, position integer, payload text, alias text, call text,
  refers_to text, run_agent text, in_run text, seq integer
);
create table node (
  n integer primary key, source integer, line integer, byte_offset integer, copy integer default 0,
  is_first integer default 1, is_projected integer, kind text, id text, valid_from integer, valid_to integer,
  payload text, parent text
);
create table edge (
  n integer primary key, source integer, line integer, byte_offset integer, copy integer default 0,
  is_first integer default 1, is_projected integer, id integer, type text, src text, dst text, src_kind text,
  dst_kind text, valid_from integer, valid_to integer, payload text, seq integer, src_id text, dst_id text
);
"""
_INDEXES = """
create index event_id on event (id);
create index event_alias on event (alias) where alias is not null;
create index event_kind on event (kind);
create index node_id on node (id, kind);
create index node_kind on node (kind, id);
create index edge_id on edge (id);
"""
_PLACES = """
create index edge_src on edge (type, src_id);
create index edge_dst on edge (type, dst_id);
update event set
  in_run = coalesce(run, (select min(src_id) from edge where type = 'RUN_HAS_EVENT' and dst_id = event.id))
where id in (select dst_id from edge where type = 'RUN_HAS_EVENT');
update event set
  seq = coalesce((
    select min(seq) from edge
    where type = 'RUN_HAS_EVENT' and dst_id = event.id and src_id = event.in_run and valid_to is null
  ), seq)
where id in (select dst_id from edge where type = 'RUN_HAS_EVENT');
create table agent_of_run as
select in_run as run, min(run_agent) as agent from event where in_run is not null group by 1;
create unique index agent_of_run_run on agent_of_run (run);
update agent_of_run set agent = (select min(src_id) from edge where type = 'AGENT_HAS_RUN' and dst_id = run)
where agent is null;
update event set run_agent = (select agent from agent_of_run where run = in_run)
where in_run is not null and run_agent is null;
create index event_call on event (call, kind, in_run) where call is not null;
create index event_agent on event (run_agent, in_run, clock, seq);
create index event_run on event (in_run, run_agent, seq, clock) where in_run is not null;
create table run as
select run_agent as agent, in_run as run, count(*) = count(seq) as is_sequenced, min(clock) as clock
from event where in_run is not null and is_first and not is_projected group by 1, 2;
create index run_run on run (run, agent);
"""
_EVENT = (
    "select id, claimed, kind, time, run_agent, in_run, correlation, seq, payload, source, line, byte_offset from event"
)
_NODE = "select kind, id, valid_from, valid_to, payload, source, line, byte_offset from node"
_EDGE = (
    "select id, type, src_id, dst_id, src_kind, dst_kind, valid_from, valid_to, payload, source, line, byte_offset"
    " from edge"
)
_LATEST = "order by coalesce(valid_from, 0) desc, length(payload) desc, payload desc"
_REPEATED = {
    "event": ("id", "claimed"),
    "node": ("kind || char(31) || id || char(31) || coalesce(valid_from, 0)", "payload"),
    "edge": ("id", "payload"),
}
"""By table: the key of a row in the ledger, and the column in which statements about one row differ."""
REPEATED = -1
"""The copy of a record that repeats an earlier one of its source."""
_MOST_WAITING = 500
_MOST_CHARACTERS = 2_000_000
_R = TypeVar("_R", Event, Node, Edge)


class Run(Struct, frozen=True):
    """A run that events name; the agent is unknown where none of its events names it."""

    agent_id: str | None
    run_id: str


class Graph:
    """Events, nodes and edges of the sources that are read together."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = list(sources)
        self._numbers = {source: number for number, source in enumerate(self.sources)}
        self._clocks: dict[tuple[object, str | None], int] = {}
        self._positions = [0] * len(self.sources)
        self._waiting: dict[str, list[tuple[object, ...]]] = {"event": [], "node": [], "edge": []}
        self._characters = 0
        self._db = sqlite3.connect("")
        self._db.executescript(f"pragma journal_mode = off; pragma synchronous = off; {_TABLES}")

    def add(self, record: Event | Node | Edge) -> None:
        """Take a record; sources come one after the other, and each in the order of its lines."""
        place = record.place
        number = self._numbers[place.source]
        where = (number, place.line, place.byte_offset, rows_format(record.payload) is not None)
        match record:
            case Event():
                self._put("event", where, self._event_values(record, number))
            case Node():
                times = (record.valid_from, record.valid_to)
                parent = ref_id(record.payload.get("parent_agent_id"))
                self._put("node", where, (record.kind, record.id, *times, record.payload_json, parent))
            case Edge():
                seq = whole_number(record.attrs.get("seq"))
                ends = (record.src, record.dst, record.src_kind, record.dst_kind)
                values = (record.id, record.type, *ends, record.valid_from, record.valid_to, record.payload_json)
                self._put("edge", where, (*values, seq, record.src, record.dst))
        self._characters += len(record.payload_json)
        if self._characters > _MOST_CHARACTERS or len(self._waiting["event"]) >= _MOST_WAITING:
            self._flush()

    def index(self) -> None:
        """Find the events that repeat others, those that ends of edges name, and the place of each in its run."""
        self._flush()
        self._db.executescript(_INDEXES)
        for table, (key, variant) in _REPEATED.items():
            self._number_copies(table, key, variant)
        for edge_type in [row[0] for row in self.rows("select distinct type from edge")]:
            for end in ("src", "dst"):
                self._resolve(edge_type, end)
        self._db.executescript(_PLACES)

    def runs(self) -> Iterator[Run]:
        """Go through the runs that have events, those that began first before others."""
        for agent, run in self.rows("select agent, run from run order by clock, agent, run"):
            yield Run(agent, run)

    def events_of(self, run: Run) -> Iterator[Event]:
        """Go through the events of a run: by `seq` where all have one, else by time and the order of their file."""
        [is_sequenced] = self.row("select is_sequenced from run where agent is ? and run = ?", run.agent_id, run.run_id)
        order = "seq, clock, n" if is_sequenced else "clock, coalesce(seq, 9e18), n"
        where = "where run_agent is ? and in_run = ? and is_first and not is_projected"
        ordered = f"select n from event {where} order by {order}"
        for (n,) in self.rows(ordered, run.agent_id, run.run_id):
            yield self._record(Event, self.row(f"{_EVENT} where n = ?", n))

    def event(self, ref: str, run_id: str | None = None) -> Event | None:
        """Return the event of an id: its own, else the one that its line claims, first of that run."""
        found = next(self.rows(f"{_EVENT} where id = ? and is_first", ref), None)
        claimed = "where is_first and id in (select id from event where alias = ?1)"
        order = "order by ?2 is not null and in_run is not ?2, id limit 1"
        found = found or next(self.rows(f"{_EVENT} {claimed} {order}", ref, run_id), None)
        return self._record(Event, found) if found else None

    def events(self, kind: str) -> Iterator[Event]:
        """Go through the events of a kind, by time and the order of the files."""
        for (n,) in self.rows("select n from event where kind = ? and is_first order by clock, n", kind):
            yield self._record(Event, self.row(f"{_EVENT} where n = ?", n))

    def node(self, kind: str, node_id: str) -> Node | None:
        """Return the newest version of a node."""
        found = next(self.rows(f"{_NODE} where kind = ? and id = ? {_LATEST} limit 1", kind, node_id), None)
        return self._record(Node, found) if found else None

    def nodes(self, kind: str) -> Iterator[Node]:
        """Go through the nodes of a kind by their ids, each in its newest version."""
        for (node_id,) in self.rows("select distinct id from node where kind = ? order by id", kind):
            if node := self.node(kind, node_id):
                yield node

    def edges(self, edge_type: str, src: str | None = None, dst: str | None = None) -> Iterator[Edge]:
        """Go through the edges of a type, those from one node or event, or to one; events by their own ids."""
        given = {"type": edge_type, "src_id": src, "dst_id": dst}
        stated = {column: value for column, value in given.items() if value is not None}
        where = " and ".join(f"{column} = ?" for column in stated)
        for row in self.rows(f"{_EDGE} where {where} and is_first order by n", *stated.values()):
            yield self._record(Edge, row)

    def has_call(self, run_id: str | None, call_id: str) -> bool:
        """Whether an event of a run makes that call."""
        made = "select 1 from event where call = ? and kind = 'tool_call' and in_run is ? limit 1"
        return self.rows(made, call_id, run_id).fetchone() is not None

    def place(self, source: int, line: int, byte_offset: int) -> Place:
        """Return the place of a row of the index."""
        return Place(self.sources[source], line, byte_offset)

    def rows(self, sql: str, *values: object) -> sqlite3.Cursor:
        """Go through the rows that the index has for a statement."""
        return self._db.execute(sql, values)

    def row(self, sql: str, *values: object) -> tuple:  # type: ignore[type-arg]
        """Return the only row that the index has for a statement."""
        [found] = self._db.execute(sql, values)
        return found  # type: ignore[no-any-return]

    def _event_values(self, event: Event, number: int) -> tuple[object, ...]:
        in_file, in_run = (number, event.run_id), (event.agent_id, event.run_id)
        clock = event.time
        if clock is None:
            clock = self._clocks.get(in_file, self._clocks.get(in_run, 0))
        self._clocks[in_file] = self._clocks[in_run] = clock
        position = self._positions[number]
        self._positions[number] += 1
        alias = None if event.claimed_id == event.id else event.claimed_id
        payload = event.payload
        call = ref_id(payload.get("call_id")) if event.kind in ("tool_call", "tool_result") else None
        refers_to = ref_id(payload.get("original_event" if event.kind == "substitution" else "parent"))
        stated = (event.id, event.claimed_id, event.kind, event.time, clock, event.agent_id, event.run_id, event.seq)
        found = (event.correlation_id, position, event.payload_json, alias, call, refers_to)
        return (*stated, *found, event.agent_id, event.run_id, event.seq)

    def _put(self, table: str, where: tuple[object, ...], values: tuple[object, ...]) -> None:
        self._waiting[table].append((*where, *values))

    def _flush(self) -> None:
        for table, waiting in self._waiting.items():
            if waiting:
                columns = [row[1] for row in self.rows(f"pragma table_info({table})")]
                names = [name for name in columns if name not in ("n", "copy", "is_first")]
                marks = ", ".join("?" * len(names))
                self._db.executemany(f"insert into {table} ({', '.join(names)}) values ({marks})", waiting)
                waiting.clear()
        self._characters = 0

    def _number_copies(self, table: str, key: str, variant: str) -> None:
        """Number the records of one key in each source by what they say, and find the first of all."""
        repeated = self.rows(
            f"select {key} as k, n, source, {variant} from {table} where {key} in"
            f" (select {key} from {table} group by 1 having count(*) > 1) order by k, n"
        )
        self._db.execute("create table copies (n integer primary key, copy integer, is_first integer)")
        for _, records in groupby(repeated, itemgetter(0)):
            seen: dict[int, dict[object, int]] = {}
            for number, (_, n, source, said) in enumerate(records):
                variants = seen.setdefault(source, {})
                is_new = said not in variants and len(variants) <= MOST_COPIES
                copy = variants.setdefault(said, len(variants)) if is_new else REPEATED
                self._db.execute("insert into copies values (?, ?, ?)", (n, copy, number == 0))
        self._db.executescript(
            f"update {table} set copy = (select copy from copies where copies.n = {table}.n),"
            f" is_first = (select is_first from copies where copies.n = {table}.n) where n in (select n from copies);"
            " drop table copies;"
        )

    def _resolve(self, edge_type: str, end: str) -> None:
        """Let ends of edges that name an event by the id that its line claims have the event's own id."""
        ends = EDGE_TYPES.get(edge_type)
        allowed = getattr(ends, end) if ends else frozenset()
        if allowed and EVENT not in allowed:
            return
        self._db.execute(
            f"update edge set {end}_id = (select min(id) from event where alias = {end})"
            f" where type = ? and coalesce({end}_kind, '{EVENT}') = '{EVENT}'"
            f" and {end} in (select alias from event where alias is not null) and {end} not in (select id from event)"
            f" and ({end}_kind is not null or {end} not in (select id from node))",
            (edge_type,),
        )

    def _record(self, kind: Callable[..., _R], row: tuple) -> _R:  # type: ignore[type-arg]
        """Return the record of a row, whose columns are in the order of the fields."""
        *values, payload, source, line, byte_offset = row
        return kind(*values, read_payload(payload), payload, self.place(source, line, byte_offset))
