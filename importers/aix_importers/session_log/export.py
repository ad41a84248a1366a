"""Sessions of any origin as session logs.

A message that came from a session log is written as its entry was; any other becomes an entry of its own, with the
parent that puts it into the same turn again.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, ClassVar

import jsonlines

from aix.canonical_json import LARGEST_INTEGER
from aix.exporting import ConversationRows, Exporter, Row
from aix.ids import ulid
from aix_importers.common.times import write_time
from aix_importers.session_log.programs import NODE_FIELDS, TYPES_WITH_A_STATE
from aix_importers.session_log.records import ABSENT

_USAGE = {
    "inputTokens": "request_input_tokens",
    "outputTokens": "request_output_tokens",
    "cacheReadTokens": "request_cache_read_tokens",
    "cacheWriteTokens": "request_cache_write_tokens",
}


class SessionLogExporter(Exporter):
    """Writes session logs, and the programs they refer to."""

    name: ClassVar[str] = "session-log"
    description: ClassVar[str] = (
        "Session logs of JSON lines, one file per session, programs.jsonl and program_events.jsonl."
    )
    suffix: ClassVar[str] = ".jsonl"
    table_files: ClassVar[Mapping[str, str]] = {"programs": "programs.jsonl", "program_events": "program_events.jsonl"}

    def write_session(self, conversation: ConversationRows, file: IO[bytes]) -> None:
        """Write the entries of a session."""
        _write_lines(entries(conversation), file)

    def write_table(self, table: str, rows: Iterable[Row], file: IO[bytes]) -> None:
        """Write the programs, or their events in the order of their log."""
        if table == "programs":
            _write_lines(map(program, rows), file)
        else:
            _write_lines(map(program_event, sorted(rows, key=_place)), file)


def entries(conversation: ConversationRows) -> Iterator[dict[str, object]]:
    """Go through the entries of a session."""
    session_id = conversation.session["origin_session_id"] or conversation.session["label"]
    parents = _Parents(conversation.turns)
    for message in conversation.messages:
        if message["role"] not in ("user", "assistant"):
            continue
        original = _original(conversation.session, message)
        if original is None:
            turn = conversation.turns[str(message["turn_id"])]
            made = _new_entry(message, session_id, parents.parent_of(message), turn["situation"])
        else:
            made = _restored(original, message, session_id)
        parents.add(message, str(made["uuid"]))
        yield made


def program(row: Row) -> dict[str, object]:
    """Return a program as its own tool writes it."""
    stage = "state" if row["program_type"] in TYPES_WITH_A_STATE else "lifecycle"
    config = _read_json(row["config_json"])
    settings = dict(config) if isinstance(config, dict) else {}
    beside = settings.pop(NODE_FIELDS, None)
    made = {"id": row["id"], "type": "program", "programType": row["program_type"], stage: row["lifecycle"]}
    return {**_without_nulls(made), "config": settings, **(beside if isinstance(beside, dict) else {})}


def program_event(row: Row) -> dict[str, object]:
    """Return an event of a program with the id that its source gave it."""
    payload = _read_json(row["payload_json"], _whole)
    fields = payload if isinstance(payload, dict) else {}
    if "id" in fields or "event_id" in fields:  # which then are no ids of the event
        return {"eventId": row["claimed_event_id"], **fields}
    return {**_without_nulls({"id": row["claimed_event_id"]}), **fields}


def _place(row: Row) -> tuple[int, int, str]:
    return int(str(row["position"] or 0)), int(str(row["occurred_at"] or 0)), str(row["event_id"])


class _Parents:
    """The entries written so far, as far as later ones follow them."""

    def __init__(self, turns: Mapping[str, Row]) -> None:
        self._turns = turns
        self._last_queries: dict[str, str] = {}
        self._last_entries: dict[str, str] = {}

    def add(self, message: Row, uuid: str) -> None:
        turn_id = str(message["turn_id"])
        self._last_entries[turn_id] = uuid
        if message["role"] == "user":
            self._last_queries[turn_id] = uuid

    def parent_of(self, message: Row) -> str | None:
        turn_id: object = message["turn_id"]
        found = self._last_queries.get(str(turn_id))
        while found is None and turn_id in self._turns:
            turn_id = self._turns[str(turn_id)]["parent_turn_id"]
            found = self._last_entries.get(str(turn_id))
        return found


def _original(session: Row, message: Row) -> dict[str, object] | None:
    """Return the metadata of a message that an entry gave: its id is made of the entry's uuid."""
    metadata = _read_json(message["metadata_json"])
    if not isinstance(metadata, dict):
        return None
    uuid = metadata.get("uuid")
    is_own = isinstance(uuid, str) and message["id"] == ulid("msg", str(session["origin"]), uuid)
    return metadata if is_own else None


def _restored(original: dict[str, object], message: Row, session_id: object) -> dict[str, object]:
    inner = original.pop("message", {})
    absent = original.pop(ABSENT, [])
    absent_names = absent if isinstance(absent, list) else []
    held = {"sessionId": session_id, "timestamp": write_time(_moment(message))}
    text = {"role": message["role"], "content": message["content"]}
    return {
        **{name: value for name, value in held.items() if name not in absent_names},
        **original,
        "message": {
            **{name: value for name, value in text.items() if name not in absent_names},
            **(inner if isinstance(inner, dict) else {}),
        },
    }


def _new_entry(message: Row, session_id: object, parent: str | None, situation: object) -> dict[str, object]:
    text: dict[str, object] = {"role": message["role"], "content": message["content"] or ""}
    made: dict[str, object] = {
        "uuid": message["id"],
        "parentUuid": parent,
        "sessionId": session_id,
        "timestamp": write_time(_moment(message)),
        "message": text,
    }
    if message["role"] == "assistant":
        counts = _without_nulls({name: message[column] for name, column in _USAGE.items()})
        text.update(_without_nulls({"model": message["request_model"], "usage": counts or None}))
        made.update(
            requestId=message["request_origin_request_id"],
            provider=message["request_provider"],
            latencyMs=message["request_latency_ms"],
            situation=situation,
        )
    return _without_nulls(made)


def _read_json(text: object, parse_int: Callable[[str], object] = int) -> object:
    """Return what a column of JSON holds; NULL when it holds something else, as other origins may write it."""
    try:
        return json.loads(str(text or "null"), parse_int=parse_int)
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int | float:
    """Read a whole number; one that canonical JSON has only for fractions stays one when it is written again."""
    number = int(digits)
    return number if abs(number) <= LARGEST_INTEGER else float(number)


def _moment(message: Row) -> int:
    return int(str(message["created_at"]))


def _without_nulls(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _write_lines(objects: Iterable[dict[str, object]], file: IO[bytes]) -> None:
    with jsonlines.Writer(file, compact=True) as writer:
        writer.write_all(objects)
