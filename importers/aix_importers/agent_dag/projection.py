"""Rows of the ledger inside the records of a graph: the object `aix`.

A record of an export stands for rows of the ledger. Its object `aix` has, by table, every column that the other fields
of the record do not give back exactly, so that reading the record gives the very same rows. Writer and reader use one
function, `implied_values`, for the values that follow from the other fields.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import groupby
from operator import itemgetter

from aix.canonical_json import LARGEST_INTEGER
from aix.importing import Problem, RowBuffer, Rows
from aix.schema import TABLES, Column, Join, Type
from aix_importers.agent_dag.graph import REPEATED, Graph
from aix_importers.agent_dag.records import FORMAT, ROWS, read_payload, rows_format
from aix_importers.common.row_writer import MOST_COPIES
from aix_importers.common.times import read_time

FORM = 1
"""The form in which records state rows, which each names; rows of another form cannot be read."""
CARRIED_TABLES = frozenset(
    {
        *("turns", "threads", "sessions", "messages", "tool_calls", "compactions", "session_aliases"),
        *("message_files", "message_lints", "message_codeblocks", "requests", "turn_context", "session_context"),
        *("session_turns", "tool_call_facts", "message_facts", "permission_decisions", "permission_rules"),
        *("inferred_values", "file_paths", "programs", "program_events", "tags"),
        *("chat_users", "chat_agents", "chat_agent_changes", "chat_conversations", "chat_participants"),
    }
)
"""The only tables of which records may state rows."""
_ORDER = "member_order"
"""Inside `aix`: how the members of the record's JSON value were ordered, which canonical JSON does not keep."""
_WRAPPED = "value"
_UNUSABLE = "unusable_row"
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = re.compile(r"-?\d{1,19}")
_INT64 = 2**63
_STATED = "create table stated (source integer, name text, key text, copies integer, primary key (source, name, key))"
_RECORDS = """
select source, line, byte_offset, payload from {table} where is_projected and copy <> ? order by n
"""
_COUNT = """
insert into stated values (?, ?, ?, 1) on conflict do update set copies = copies + 1 returning copies
"""

Row = Mapping[str, object]
Order = list[list[object]]


class InexactError(ValueError):
    """Canonical JSON would write the value in another way."""


@dataclass(frozen=True)
class UnusableRow:
    """A row that a record states and the ledger cannot hold."""

    reason: str


def carry(record: dict[str, object], rows: Mapping[str, Sequence[Row]], order: Order | None = None) -> None:
    """Put rows into a record, without the values that its other fields imply."""
    carried: dict[str, object] = {FORMAT: FORM, **({_ORDER: order} if order else {})}
    record[ROWS] = carried
    implied = implied_values(record)
    for table, listed in rows.items():
        given = implied.get(table, {})
        carried[table] = [_differences(table, row, given) for row in listed]


def rows_of_record(record: Row) -> Iterator[tuple[str, dict[str, object]] | UnusableRow]:
    """Go through the rows that a record states, each with its table; what cannot be a row is returned as such."""
    carried = record.get(ROWS)
    form = rows_format(record)
    if form != FORM or not isinstance(carried, dict):
        yield UnusableRow(f"The rows in `aix` are of the form {form}, and this AIX reads only the form {FORM}.")
        return
    implied = implied_values(record)
    for table, listed in carried.items():
        if table in (FORMAT, _ORDER):
            continue
        if table == "tool_calls" and not _is_order_sound(record):
            yield UnusableRow(f"`aix.{_ORDER}` is not the order of the members of `args` or `result`.")
        elif table not in CARRIED_TABLES or table not in TABLES:
            yield UnusableRow(f"`aix` names {table!r}, which is not a table that records can state rows of.")
        elif not isinstance(listed, list):
            yield UnusableRow(f"`aix.{table}` is not a list.")
        else:
            for stated in listed:
                yield _read_row(table, stated, implied.get(table, {}))


def rows_of_graph(graph: Graph) -> Iterator[Rows | Problem]:
    """Go through the rows that the records of a graph state, and problems of those that cannot be rows."""
    graph.rows(_STATED)
    for table in ("event", "node", "edge"):
        found = graph.rows(_RECORDS.format(table=table), REPEATED)
        for number, records in groupby(found, itemgetter(0)):
            buffer = RowBuffer(graph.sources[number])
            for _, line, byte_offset, payload in records:
                place = graph.place(number, line, byte_offset)
                yield from (
                    place.problem(_UNUSABLE, reason, payload) for reason in _put(buffer, graph, number, payload)
                )
                if buffer.is_full():
                    yield from buffer.drain()
            yield from buffer.drain()


def _put(buffer: RowBuffer, graph: Graph, source: int, payload: str) -> Iterator[str]:
    """Put the rows of a record into a buffer; return the reasons why some are not rows.

    Where records of a source state one row several times, each is a copy; the rows of a record stay together.
    """
    rows = []
    for each in rows_of_record(read_payload(payload)):
        if isinstance(each, UnusableRow):
            yield each.reason
        else:
            rows.append(each)
    copy = max((_count(graph, source, *each) for each in rows), default=0)
    if copy > MOST_COPIES:
        yield f"{MOST_COPIES} other records state the same row; this one was skipped."
        return
    for table, row in rows:
        buffer.put(table, row, copy)


def _count(graph: Graph, source: int, table: str, row: Row) -> int:
    """Return how many rows of this key the records of a source stated before."""
    key = json.dumps([row[name] for name in TABLES[table].key])
    [copies] = graph.row(_COUNT, source, table, key)
    return int(copies) - 1


def implied_values(record: Row) -> dict[str, dict[str, object]]:
    """Return, by table, the columns that the fields of a record give."""
    node = record.get("node")
    kind = node if isinstance(node, str) else record.get("kind")
    match kind:
        case "Message":
            return _message(record)
        case "Generation":
            model, time = _text(record, "model"), _time(record, "created_at")
            return {"requests": {"id": _text(record, "id"), "model": model, "requested_at": time}}
        case "Summary":
            return {"compactions": {"turn_id": _text(record, "id"), "summary": _text(record, "text")}}
        case "Run" | "Branch":
            return _session(record)
        case "tool_call" | "tool_result":
            return {**_turn(record), **_call(record)}
        case _ if node is None:
            return _turn(record)
        case _:
            return {}


def _turn(event: Row) -> dict[str, dict[str, object]]:
    turn_id, label = _text(event, "correlation_id"), _text(event, "run_id")
    return {
        "turns": {"id": turn_id, "started_at": _time(event, "ts")},
        "threads": {"turn_id": turn_id, "persona_id": _text(event, "agent_id")},
        "turn_context": {"turn_id": turn_id},
        "session_turns": {"session_label": label, "turn_id": turn_id},
    }


def _session(node: Row) -> dict[str, dict[str, object]]:
    label, persona = _text(node, "id"), _text(node, "agent_id")
    created_at, updated_at = _time(node, "started_at"), _time(node, "updated_at")
    return {
        "sessions": {"label": label, "persona_id": persona, "created_at": created_at, "updated_at": updated_at},
        "session_context": {"label": label},
        "session_aliases": {"session_label": label, "created_at": created_at},
    }


def _message(node: Row) -> dict[str, dict[str, object]]:
    parts = node.get("content")
    listed = parts if isinstance(parts, list) else []
    texts = {_text(part, "type"): part.get("text") for part in listed if isinstance(part, dict)}
    text, thinking = _string(texts.get("text")), _string(texts.get("reasoning"))
    own: dict[str, object] = {"message_id": _text(node, "id")}
    return {
        "messages": {
            "id": _text(node, "id"),
            "role": _text(node, "role"),
            "content": text,
            "thinking": thinking,
            "created_at": _time(node, "created_at"),
        },
        "message_facts": {
            **own,
            "text_chars": None if text is None else len(text),
            "thinking_chars": None if thinking is None else len(thinking),
        },
        **dict.fromkeys(("message_files", "message_lints", "message_codeblocks"), own),
    }


def _call(event: Row) -> dict[str, dict[str, object]]:
    call_id, turn_id, time = _text(event, "call_id"), _text(event, "correlation_id"), _time(event, "ts")
    call: dict[str, object] = {"id": call_id, "turn_id": turn_id}
    if event.get("kind") == "tool_call":
        call |= {"started_at": time, "tool_name": _text(event, "tool"), "params_json": _json(event, "args")}
    else:
        error = event.get("error")
        call |= {
            "completed_at": time,
            "result_json": _json(event, "result"),
            "error": _text(error, "message") if isinstance(error, dict) else None,
            "status": "completed" if event.get("status") == "ok" else "failed",
        }
    decision: dict[str, object] = {"call_id": call_id, "turn_id": turn_id}
    return {"tool_calls": call, "tool_call_facts": {"call_id": call_id}, "permission_decisions": decision}


def _text(fields: Row, name: str) -> str | None:
    return _string(fields.get(name))


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _time(fields: Row, name: str) -> int | None:
    return read_time(fields.get(name)) if isinstance(fields.get(name), str) else None


def _json(event: Row, name: str) -> str | None:
    """Return the text of a JSON value in the order of members that the record notes."""
    if name not in event:
        return None
    try:
        return _written(_unwrapped(_reordered(event[name], _noted_order(event))))
    except (InexactError, RecursionError, TypeError, ValueError, IndexError):
        return None


def _noted_order(event: Row) -> object:
    carried = event.get(ROWS)
    return carried.get(_ORDER, []) if isinstance(carried, dict) else []


def _is_order_sound(event: Row) -> bool:
    """Whether the noted order, if there is one, is that of the value which the event has."""
    order = _noted_order(event)
    names = [name for name in ("args", "result") if name in event]
    return order == [] or (bool(names) and all(_json(event, name) is not None for name in names))


def structured(text: str) -> tuple[dict[str, object], Order | None]:
    """Return JSON text as the object that an event has for it, and the order of its members.

    The order is None where the object does not give the text back. Any value that is not an object becomes the member
    `value` of one.
    """
    try:
        value = json.loads(text)
        wrapped = value if isinstance(value, dict) and value.keys() != {_WRAPPED} else {_WRAPPED: value}
        order = _order(wrapped)
        is_exact = _written(value) == text
    except InexactError:
        return wrapped, None
    except (ValueError, RecursionError):
        return {_WRAPPED: text}, None
    return wrapped, order if is_exact else None


def _unwrapped(value: object) -> object:
    return value[_WRAPPED] if isinstance(value, dict) and value.keys() == {_WRAPPED} else value


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _order(value: object) -> Order:
    """Return the objects in a value whose members are not in canonical order: number, and places of the members."""
    found: Order = []
    for number, members in enumerate(_objects(value)):
        names = list(members)
        ranked = _canonical_names(members)
        if names != ranked:
            places = {name: place for place, name in enumerate(ranked)}
            found.append([number, [places[name] for name in names]])
    return found


def _objects(value: object) -> Iterator[dict[str, object]]:
    """Go through the objects of several members in a value, in canonical order."""
    match value:
        case dict():
            if len(value) > 1:
                yield value
            for name in _canonical_names(value):
                _check_text(name)
                yield from _objects(value[name])
        case list():
            for inner in value:
                yield from _objects(inner)
        case str():
            _check_text(value)
        case float():
            raise InexactError
        case int() if abs(value) > LARGEST_INTEGER:
            raise InexactError


def _check_text(text: str) -> None:
    if not text.isascii() and _SURROGATE.search(text):
        raise InexactError


def _canonical_names(members: Mapping[str, object]) -> list[str]:
    return sorted(members, key=_utf16)


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _reordered(value: object, order: object) -> object:
    """Return a value with the members of its objects in the noted order."""
    places = dict(order) if isinstance(order, list) else {}
    numbers = iter(range(LARGEST_INTEGER))

    def restore(part: object) -> object:
        match part:
            case dict():
                number = next(numbers) if len(part) > 1 else None
                members = {name: restore(part[name]) for name in _canonical_names(part)}
                if number not in places:
                    return members
                names = list(members)
                if sorted(places[number]) != list(range(len(names))):
                    raise ValueError
                return {names[place]: members[names[place]] for place in places[number]}
            case list():
                return [restore(inner) for inner in part]
            case float():
                raise InexactError
            case int() if abs(part) > LARGEST_INTEGER:
                raise InexactError
            case _:
                return part

    return restore(value)


def _differences(table: str, row: Row, implied: Row) -> dict[str, object]:
    """Return the columns of a row that are not implied; NULL where NULL is meant and a value is implied."""
    stated = {}
    for column in _stated_columns(table):
        value = row.get(column)
        given = implied.get(column)
        if value is given or (value == given and type(value) is type(given)):
            continue
        stated[column] = _writable(value)
    return stated


def _writable(value: object) -> object:
    """Return a value of a column as canonical JSON can hold it."""
    match value:
        case Decimal():
            return format(value, "f")
        case int() if abs(value) > LARGEST_INTEGER:
            return str(value)
        case _:
            return value


@cache
def _stated_columns(table: str) -> tuple[str, ...]:
    return tuple(column.name for column in TABLES[table] if column.join is not Join.DERIVED)


def _read_row(table: str, stated: object, implied: Row) -> tuple[str, dict[str, object]] | UnusableRow:
    if not isinstance(stated, dict):
        return UnusableRow(f"A row in `aix.{table}` is not an object.")
    columns = {column.name: column for column in TABLES[table] if column.join is not Join.DERIVED}
    row: dict[str, object] = {}
    for name, value in {**implied, **stated}.items():
        if name not in columns:
            return UnusableRow(f"`aix.{table}` has a column {name!r}, which records cannot state.")
        if value is None:
            continue
        try:
            row[name] = _value(columns[name], value)
        except ValueError as error:
            return UnusableRow(f"`aix.{table}.{name}`: {error}")
    missing = [name for name, each in columns.items() if not each.nullable and each.default is None and name not in row]
    if missing:
        return UnusableRow(f"A row in `aix.{table}` has no {', '.join(missing)}.")
    if table == "inferred_values" and not _can_be_marked(row):
        return UnusableRow(f"`aix.{table}` marks {row['table_name']}.{row['column_name']}, which cannot be inferred.")
    return table, row


def _value(column: Column, value: object) -> object:
    if column.words and value not in column.words:
        raise ValueError(f"{_shown(value)} is not one of {', '.join(column.words)}.")
    match column.type, value:
        case Type.VARCHAR, str():
            return value
        case Type.BOOLEAN, bool():
            return value
        case Type.BIGINT, int() if not isinstance(value, bool) and -_INT64 <= value < _INT64:
            return value
        case Type.BIGINT, str() if _DIGITS.fullmatch(value) and -_INT64 <= int(value) < _INT64:
            return int(value)
        case ((Type.COST | Type.PRICE), str() | int()) if not isinstance(value, bool):
            return _amount(value)
    raise ValueError(f"{_shown(value)} is not {column.type}.")


def _amount(value: str | int) -> Decimal:
    try:
        amount = Decimal(value)
        if amount.is_finite() and amount == round(amount, 12) and abs(amount) < Decimal(10) ** 26:
            return amount
    except InvalidOperation:
        pass
    raise ValueError(f"{_shown(value)} is not an amount.")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _can_be_marked(row: Row) -> bool:
    table, column = TABLES.get(str(row["table_name"])), row["column_name"]
    if table is None or table.name not in CARRIED_TABLES or column not in table.column_names:
        return False
    return table.column(str(column)).join not in (Join.KEY, Join.DERIVED, Join.SET)
