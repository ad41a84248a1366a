"""Records of an agent graph: a line is an event, a node or an edge, or else a problem.

`payload_json` of a record is its canonical JSON (RFC 8785): of an event without `event_id`, of nodes and edges whole.
Where RFC 8785 refuses a value, the record is kept with strings in its place, and a problem says so.
"""

from collections.abc import Container, Iterator, Mapping
from typing import BinaryIO

import msgspec
from msgspec import Struct

from aix.canonical_json import JsonReader, canonical_form, content_hash, exportable
from aix.errors import NotCanonicalError
from aix.events import EVENT_ID, payload_of_event, record_form
from aix.ids import h63
from aix.importing import Problem, Source
from aix_importers.agent_dag.credentials import without_credentials
from aix_importers.common.agent_dag_words import EDGE_TYPES, EVENT_KINDS, NODE_TYPES
from aix_importers.common.json_records import SAMPLE_CHARACTERS, Record, RecordReader
from aix_importers.common.json_text import LARGEST_NUMBER
from aix_importers.common.secrets import credentials_reason
from aix_importers.common.times import read_time

_EDGE_FIELDS = {"edge", "src", "dst", "src_kind", "dst_kind", "valid_from", "valid_to", "attrs"}
_FIELD = msgspec.json.Decoder(dict[str, object])
ROWS = "aix"
"""Every record of an export has an object of this name, with the rows of the ledger that it stands for."""
FORMAT = "format"
"""Inside `aix`: the number of the form of those rows, by which such an object differs from one of another program."""


class Place(Struct, frozen=True):
    """Where a record stands."""

    source: Source
    line: int
    byte_offset: int

    def problem(self, kind: str, reason: str, sample: str | None = None) -> Problem:
        """Return a problem of this place."""
        return Problem(self.source, kind, reason, self.line, self.byte_offset, sample and sample[:SAMPLE_CHARACTERS])


class Event(Struct, frozen=True):
    """An event; `id` is the hash of the payload, which is the whole line without `event_id`."""

    id: str
    claimed_id: str | None
    """The `event_id` of the line."""
    kind: str
    time: int | None
    """`ts` in Unix milliseconds."""
    agent_id: str | None
    run_id: str | None
    correlation_id: str | None
    seq: int | None
    """Place in its run: of a graph that is indexed by `RUN_HAS_EVENT`, else as the event itself states it."""
    payload: dict[str, object]
    payload_json: str
    place: Place


class Node(Struct, frozen=True):
    """A version of a node; the payload is the whole line."""

    kind: str
    id: str
    valid_from: int | None
    valid_to: int | None
    payload: dict[str, object]
    payload_json: str
    place: Place


class Edge(Struct, frozen=True):
    """An edge; the payload is the whole line.

    In a graph that is indexed, ends that name an event by a claimed id have the event's own id instead.
    """

    id: int
    type: str
    src: str
    dst: str
    src_kind: str | None
    dst_kind: str | None
    valid_from: int | None
    valid_to: int | None
    payload: dict[str, object]
    payload_json: str
    place: Place

    @property
    def attrs(self) -> dict[str, object]:
        """Attributes of the edge: those in `attrs`, and all that stand beside them."""
        return edge_attributes(self.payload)


def read_payload(text: str) -> dict[str, object]:
    """Return the fields of a payload."""
    return _FIELD.decode(text)


def rows_format(payload: Mapping[str, object]) -> int | None:
    """Return the form in which a record states rows of the ledger; None where it states none.

    >>> rows_format({"aix": {"format": 1}}), rows_format({"aix": {"host": "n1"}})
    (1, None)
    """
    stated = payload.get(ROWS)
    return whole_number(stated.get(FORMAT)) if isinstance(stated, dict) else None


def edge_attributes(payload: dict[str, object]) -> dict[str, object]:
    """Return the attributes of an edge, which stand at its top level or in `attrs`."""
    inner = payload.get("attrs")
    outer = {name: value for name, value in payload.items() if name not in _EDGE_FIELDS}
    return {**inner, **outer} if isinstance(inner, dict) else outer


def ref_id(value: object) -> str | None:
    """Return the id that a reference names: a bare id, or an object with `event_id` or `id`.

    >>> ref_id("m-1"), ref_id({"event_id": "e"}), ref_id({"kind": "tar", "id": "sha"}), ref_id(None)
    ('m-1', 'e', 'sha', None)
    """
    if isinstance(value, dict):
        value = value.get("event_id") or value.get("id")
    return text_of(value)


def text_of(value: object) -> str | None:
    """Return a text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def ref_ids(value: object) -> list[str]:
    """Return the ids that a list of references names, or a single one.

    >>> ref_ids([{"event_id": "e"}, "m-1", None]), ref_ids("m-1")
    (['e', 'm-1'], ['m-1'])
    """
    return [found for each in (value if isinstance(value, list) else [value]) if (found := ref_id(each))]


def whole_number(value: object) -> int | None:
    """Return a whole number from 0 on that a column can hold; None for anything else.

    >>> [whole_number(value) for value in (3, 3.0, True, -1, "3")]
    [3, 3, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_NUMBER:
        return None
    return int(value) if value == int(value) else None


def read_records(source: Source, file: BinaryIO) -> Iterator[Event | Node | Edge | Problem]:
    """Go through the records and problems of a file, in the order of its lines."""
    reader = _Reader(source)
    for record in RecordReader(source, file, decode=reader.json.read):
        if isinstance(record, Problem):
            yield record
        else:
            yield from reader.read(record)


class _Reader:
    """Reads objects one by one, and notes what is wrong with each."""

    def __init__(self, source: Source) -> None:
        self.json = JsonReader()
        self._source = source
        self._notes: list[tuple[str, str]] = []

    def read(self, record: Record) -> Iterator[Event | Node | Edge | Problem]:
        place = Place(self._source, record.line, record.byte_offset)
        self._notes = list(self.json.notes)
        sample = record.sample
        try:
            line = record.value
            if rows_format(line) is not None:
                places: list[str] = []
                line = {**line, ROWS: without_credentials(line[ROWS], places)}
                if places:
                    sample = None
                    self._notes.append(("credentials", credentials_reason(places)))
            found = self._found(line, place)
        except (NotCanonicalError, RecursionError):
            found = None
            self._notes.append(("too_deep", "The record is nested too deeply to be kept."))
        for kind, reason in self._notes:
            yield place.problem(kind, reason, sample)
        if found:
            yield found

    def _found(self, line: dict[str, object], place: Place) -> Event | Node | Edge | None:
        match record_form(line):
            case "node":
                return self._node(line, place)
            case "edge":
                return self._edge(line, place)
            case "event":
                return self._event(line, place)
        reason = "The object is neither an event (kind, and event_id or ts) nor a node nor an edge; it was skipped."
        self._notes.append(("not_a_record", reason))
        return None

    def _event(self, line: dict[str, object], place: Place) -> Event | None:
        kind = self._name(line, "kind", "event", EVENT_KINDS)
        if kind is None:
            return None
        own, claimed = payload_of_event(line)
        if EVENT_ID in own:
            self._notes.append(("wrong_event_id", "The event_id is not a text; the event was kept under its hash."))
        payload, text = self._canonical(own)
        event_id = content_hash(text)
        if claimed is not None and claimed != event_id:
            reason = f"The event_id is not the hash of the event, which is {event_id}; the event was kept under that."
            self._notes.append(("wrong_event_id", reason))
        time = self._time(line, "ts")
        if time is None and line.get("ts") is None:
            self._notes.append(("no_timestamp", "The event has no ts."))
        return Event(
            id=event_id,
            claimed_id=claimed and str(exportable(claimed)),
            kind=kind,
            time=time,
            agent_id=self._text(line, "agent_id"),
            run_id=self._text(line, "run_id"),
            correlation_id=self._text(line, "correlation_id"),
            seq=whole_number(line.get("seq")),
            payload=payload,
            payload_json=text,
            place=place,
        )

    def _node(self, line: dict[str, object], place: Place) -> Node | None:
        node_id = self._text(line, "id")
        if node_id is None:
            self._notes.append(("no_id", "The node has no id; it was skipped."))
            return None
        kind = self._name(line, "node", "node", NODE_TYPES)
        if kind is None:
            return None
        payload, text = self._canonical(line)
        return Node(
            kind=kind,
            id=node_id,
            valid_from=self._time(line, "valid_from"),
            valid_to=self._time(line, "valid_to"),
            payload=payload,
            payload_json=text,
            place=place,
        )

    def _edge(self, line: dict[str, object], place: Place) -> Edge | None:
        src, dst = self._text(line, "src"), self._text(line, "dst")
        if src is None or dst is None:
            self._notes.append(("no_id", f"The edge has no {'src' if src is None else 'dst'}; it was skipped."))
            return None
        edge_type = self._name(line, "edge", "edge", EDGE_TYPES)
        if edge_type is None:
            return None
        payload, text = self._canonical(line)
        lasting = {name: value for name, value in line.items() if name != "valid_to"}
        return Edge(
            id=h63("dag_edges", text if len(lasting) == len(line) else canonical_form(lasting)[0]),
            type=edge_type,
            src=src,
            dst=dst,
            src_kind=self._text(line, "src_kind"),
            dst_kind=self._text(line, "dst_kind"),
            valid_from=self._time(line, "valid_from"),
            valid_to=self._time(line, "valid_to"),
            payload=payload,
            payload_json=text,
            place=place,
        )

    def _canonical(self, value: dict[str, object]) -> tuple[dict[str, object], str]:
        text, refusal = canonical_form(value)
        if refusal is None:
            return value, text
        self._notes.append(("not_canonical", f"{refusal}; it was kept as a text."))
        return read_payload(text), text

    def _name(self, line: dict[str, object], field: str, what: str, known: Container[str]) -> str | None:
        value = line.get(field)
        name = str(exportable(value)) if isinstance(value, str) and value else None
        if name is None:
            self._notes.append(("not_a_record", f"The {field} of the {what} is not a text; it was skipped."))
        elif name not in known:
            self._notes.append(("unknown_kind", f"The {what} is of an unknown kind, {name}; it was kept."))
        return name

    def _text(self, line: dict[str, object], field: str) -> str | None:
        value = line.get(field)
        found = ref_id(value)
        if found is None and value not in (None, ""):
            self._notes.append(("wrong_type", f"Not usable, and kept only in the payload: {field}."))
        return found if found is None or found.isascii() else str(exportable(found))

    def _time(self, line: dict[str, object], field: str) -> int | None:
        value = line.get(field)
        time = read_time(value)
        if time is None and value is not None:
            self._notes.append(("wrong_type", f"Not a time, and kept only in the payload: {field}."))
        return time
