"""From files of a graph that are read together to rows and problems.

Every record becomes a row of `dag_events`, `dag_nodes` or `dag_edges` as it came; then come the rows that records
of an export state, and those of each other run.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from msgspec.structs import replace

from aix.importing import Problem, RowBuffer, Rows, Source, Ties
from aix_importers.agent_dag.consistency import problems_of
from aix_importers.agent_dag.graph import REPEATED, Graph
from aix_importers.agent_dag.history_rows import Histories
from aix_importers.agent_dag.projection import rows_of_graph
from aix_importers.agent_dag.records import read_records
from aix_importers.agent_dag.ties import TieNumbers
from aix_importers.common.recognition import unread_form

_PART_ROWS = 150_000
_ROWS = {
    "dag_events": """
        select source, copy, id as event_id, claimed as claimed_event_id, kind, time as occurred_at, agent as agent_id,
          run as run_id, own_seq as seq, position, correlation as correlation_id, payload as payload_json
        from event where copy <> ? order by n
    """,
    "dag_nodes": """
        select source, copy, kind, id as node_id, coalesce(valid_from, 0) as valid_from, valid_to,
          payload as payload_json
        from node where copy <> ? order by n
    """,
    "dag_edges": """
        select source, copy, id, type, src_kind, src, dst_kind, dst, valid_from, valid_to, payload as payload_json
        from edge where copy <> ? order by n
    """,
}


def extract_graph(sources: Sequence[Source], origin: str) -> Iterator[Rows | Problem | Ties]:
    """Go through the rows, problems and ties of files that are read together."""
    graph = Graph(sorted(sources, key=lambda source: source.path))
    for source in graph.sources:
        yield from _read(graph, source)
    graph.index()
    parts = _Parts()
    for table in _ROWS:
        for rows in _rows_as_they_came(graph, table):  # each of which stands alone
            yield from parts.numbered([rows])
            parts.end_if_large()
    yield from parts.numbered(rows_of_graph(graph))
    yield from problems_of(graph)
    histories = Histories(graph, origin)
    yield from histories.problems()
    for run in graph.runs():
        parts.end_if_large()
        yield from parts.numbered(histories.rows_of_run(run))


class _Parts:
    """Numbers the parts of a graph that can be joined one after the other."""

    def __init__(self) -> None:
        self._part = 0
        self._rows = 0

    def numbered(self, pieces: Iterable[Rows | Problem]) -> Iterator[Rows | Problem]:
        """Go through pieces, of which rows get the number of the part."""
        for piece in pieces:
            if isinstance(piece, Rows):
                self._rows += len(next(iter(piece.columns.values())))
                yield replace(piece, part=self._part) if self._part else piece
            else:
                yield piece

    def end_if_large(self) -> None:
        """Begin another part when this one has many rows."""
        if self._rows >= _PART_ROWS:
            self._part += 1
            self._rows = 0


def _read(graph: Graph, source: Source) -> Iterator[Problem | Ties]:
    ties = TieNumbers()
    if problem := unread_form(source):
        yield problem
    else:
        with Path(source.path).open("rb") as file:
            for record in read_records(source, file):
                if isinstance(record, Problem):
                    yield record
                    continue
                graph.add(record)
                ties.add(record)
                yield from (Ties(source, numbers) for numbers in ties.take())
    yield from (Ties(source, numbers) for numbers in ties.take(everything=True))


def _rows_as_they_came(graph: Graph, table: str) -> Iterator[Rows]:
    found = graph.rows(_ROWS[table], REPEATED)
    names = [column[0] for column in found.description[2:]]
    for number, rows in groupby(found, itemgetter(0)):
        buffer = RowBuffer(graph.sources[number])
        for _, copy, *values in rows:
            buffer.put(table, dict(zip(names, values, strict=True)), copy)
            if buffer.is_full():
                yield from buffer.drain()
        yield from buffer.drain()
