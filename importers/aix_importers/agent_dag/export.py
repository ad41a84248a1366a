"""Histories of any origin as an agent graph, and graphs that were imported as they came."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from operator import itemgetter
from typing import IO, ClassVar

from aix.canonical_json import JsonReader, canonical_form, canonical_json
from aix.exporting import LedgerExporter, Row, SessionRows
from aix.schema import TABLES
from aix_importers.agent_dag.history_records import Record, RunRecords, edge, event, generation, node, row_node
from aix_importers.agent_dag.projection import UnusableRow, rows_of_record
from aix_importers.agent_dag.records import ROWS, read_payload, rows_format
from aix_importers.agent_dag.written import Fork, Written

_MAY_STATE_ROWS = f'"{ROWS}":{{'
_RULES_FILE = itemgetter("origin", "scope", "file")


class AgentDagExporter(LedgerExporter):
    """Writes agent graphs: a file for each session, one for what sessions share, and the graphs that were imported."""

    name: ClassVar[str] = "agent-dag"
    description: ClassVar[str] = "An agent graph of events, nodes and edges, which can be imported without loss."
    suffix: ClassVar[str] = ".jsonl"
    turns_of_tables: ClassVar[str] = """
        select turn_id from turn_context where origin = 'agent-dag' and (
          turn_key in (select event_id from dag_events)
          or turn_key in (select 'summary:' || node_id from dag_nodes where kind = 'Summary')
        )
    """
    others_file: ClassVar[str] = "shared.jsonl"
    table_files: ClassVar[Mapping[str, str]] = dict.fromkeys(("dag_nodes", "dag_edges", "dag_events"), "graph.jsonl")

    def __init__(self) -> None:
        self._written = Written()

    def write_whole_session(self, session: SessionRows, file: IO[bytes]) -> None:
        """Write the records of a session."""
        _write(self._lines(RunRecords(session, self._written).records()), file)

    def write_others(self, rows: Iterator[tuple[str, Row]], file: IO[bytes]) -> None:
        """Write nodes and edges that several sessions share, and the rows of none."""
        _write(self._lines(chain(self._rows(rows), self._shared())), file)

    def write_table(self, table: str, rows: Iterable[Row], file: IO[bytes]) -> None:
        """Write records of imported graphs as they came, but for those that were generated from rows already."""
        del table
        _write(self._verbatim(rows), file)

    def _lines(self, records: Iterable[Record]) -> Iterator[bytes]:
        """Go through the lines of records that are generated, and note each."""
        for record in records:
            text, _ = canonical_form(record)
            if "node" in record:
                self._written.add_node(str(record["node"]), str(record["id"]), text)
            else:
                self._written.add_record(str(record.get("event_id", text)))
            yield text.encode()

    def _verbatim(self, rows: Iterable[Row]) -> Iterator[bytes]:
        """Go through the lines of records as they came; an event has the id again that its line had."""
        reader = JsonReader()
        for row in rows:
            text, claimed = str(row["payload_json"]), row.get("claimed_event_id")
            if _MAY_STATE_ROWS in text and self._follows_from_rows(row, text):
                continue
            if claimed is not None:
                record = reader.read(text)
                text = canonical_json({**record, "event_id": claimed} if isinstance(record, dict) else record)
            yield text.encode()

    def _follows_from_rows(self, row: Row, text: str) -> bool:
        """Whether a record was generated, an import would take the generated one instead, or its rows are gone."""
        if "node_id" in row:
            characters = self._written.node_characters(str(row["kind"]), str(row["node_id"]))
            if characters is None:
                return _states_rows(read_payload(text))
            return row["valid_from"] == 0 and characters >= len(text)
        event_id = row.get("event_id")
        if event_id is None:
            return self._written.has_record(text)
        return row["claimed_event_id"] in (None, event_id) and self._written.has_record(str(event_id))

    def _shared(self) -> Iterator[Record]:
        for path in self._written.files():
            yield _file_node(path, [])
        for agent in self._written.agents():
            yield node("Agent", agent, {})
        for label, parent in self._written.spawned():
            yield edge("FORKED_FROM", ("Subagent", label), ("Run", parent))
        for fork in self._written.forks():
            yield from _fork_records(fork)

    def _rows(self, rows: Iterator[tuple[str, Row]]) -> Iterator[Record]:
        for table, listed in groupby(rows, itemgetter(0)):
            own = (row for _, row in listed)
            match table:
                case "permission_rules":
                    for (origin, scope, file), rules in groupby(own, _RULES_FILE):
                        fields = {"kind": "active", "path_or_uri": {"path": file}}
                        yield node("Policy", canonical_json([origin, scope, file]), fields, {table: list(rules)})
                case "file_paths":
                    for path, paths in groupby(own, itemgetter("file_path")):
                        self._written.take_file(str(path))
                        yield _file_node(str(path), list(paths))
                case "requests":
                    for request in own:
                        yield generation(request, {table: [request]})
                case _:
                    for row in own:
                        key = canonical_form([row[name] for name in TABLES[table].key])[0]
                        yield row_node(table, key, {table: [row]})


def _file_node(path: str, rows: list[Row]) -> Record:
    fields = {"kind": "file", "name": path, "capabilities": []}
    return node("Resource", path, fields, {"file_paths": rows} if rows else {})


def _fork_records(fork: Fork) -> Iterator[Record]:
    if not fork.is_written:
        yield node("Branch", fork.label, {"agent_id": fork.agent})
    branch = ("Branch", fork.label)
    if fork.event is None:
        yield edge("FORKED_FROM", branch, ("Run", fork.run))
        return
    branches = {"from_branch": fork.run, "to_branch": fork.label, "at_event": {"event_id": fork.event}}
    yield event({"kind": "agent_forked", "ts": fork.time, "agent_id": fork.agent, **branches})
    yield edge("FORKED_FROM", branch, ("Event", fork.event))


def _states_rows(record: dict[str, object]) -> bool:
    """Whether a record states rows of the ledger, of which none was refused."""
    if rows_format(record) is None:
        return False
    rows = list(rows_of_record(record))
    return bool(rows) and not any(isinstance(each, UnusableRow) for each in rows)


def _write(lines: Iterable[bytes], file: IO[bytes]) -> None:
    for line in lines:
        file.write(line)
        file.write(b"\n")
