"""The rows of one turn, as they are written into a graph: each row is taken once."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from aix.exporting import Row, RowsByTable

_TURN_TABLES = ("turns", "threads", "turn_context", "session_turns")
_DETAIL_KEYS = {
    "message_facts": "message_id",
    "message_files": "message_id",
    "message_lints": "message_id",
    "message_codeblocks": "message_id",
    "tool_call_facts": "call_id",
    "permission_decisions": "call_id",
}
_MARKS = "inferred_values"
_DENIED = ("denied", "not_granted")


class TurnContents:
    """The messages, calls and requests of a turn in their order, and the rows that belong to each."""

    def __init__(self, rows: RowsByTable) -> None:
        self.rows = rows
        self.id = str(rows["turns"][0]["id"]) if rows else None
        self.messages = rows.get("messages", ())
        self.unread_messages: list[str] = []
        """Messages that no request has had as its input yet."""
        self._details = _by(rows, _DETAIL_KEYS)
        self._marks: dict[tuple[object, object], list[Row]] = {}
        for mark in rows.get(_MARKS, ()):
            self._marks.setdefault((mark["table_name"], mark["row_key"]), []).append(mark)
        own = {str(message["id"]) for message in self.messages}
        self._calls, loose_calls = _by_message(rows.get("tool_calls", ()), own)
        self._requests, loose_requests = _by_message(rows.get("requests", ()), own)
        self._loose_calls = deque(sorted(loose_calls, key=lambda row: moment(row["started_at"])))
        self._loose_requests = deque(sorted(loose_requests, key=lambda row: moment(row["requested_at"])))
        self._results: list[tuple[int, Row, str]] = []
        self._own_rows = self._rows_of_turn()

    def take_rows(self) -> dict[str, Sequence[Row]]:
        """Return the rows of the turn itself, at the first call."""
        taken, self._own_rows = self._own_rows, {}
        return taken

    def marks(self, key: object, *tables: str) -> list[Row]:
        """Return the marks of inferred values in rows of that key."""
        return [mark for table in tables for mark in self._marks.get((table, key), ())]

    def requests_of(self, message_id: str) -> Sequence[Row]:
        """Return the requests that gave a message."""
        return self._requests.get(message_id, ())

    def calls_of(self, message_id: str) -> Sequence[Row]:
        """Return the calls that a message made."""
        return self._calls.get(message_id, ())

    def rows_of_message(self, message: Row) -> dict[str, Sequence[Row]]:
        """Return a message with its details."""
        tables = ("message_facts", "message_files", "message_lints", "message_codeblocks")
        return self._with_details("messages", message, tables)

    def rows_of_call(self, call: Row) -> dict[str, Sequence[Row]]:
        """Return a call with its details."""
        return self._with_details("tool_calls", call, ("tool_call_facts", "permission_decisions"))

    def rows_of_request(self, request: Row) -> dict[str, Sequence[Row]]:
        """Return a request with the marks of its values."""
        return self._with_details("requests", request, ())

    def outcome(self, call_id: object) -> str | None:
        """Return what became of the permission of a call."""
        decisions = self._details.get(("permission_decisions", call_id), ())
        return next((str(each["outcome"]) for each in decisions), None)

    def is_denied(self, call_id: object) -> bool:
        """Whether a call was refused."""
        return (self.outcome(call_id) or "").startswith(_DENIED)

    def add_result(self, call: Row, event_id: str) -> None:
        """Note the result of a call that the event of that id made."""
        time = call["started_at"] if call["completed_at"] is None else call["completed_at"]
        self._results.append((moment(time), call, event_id))

    def take_results(self, until: int | None) -> Iterator[tuple[Row, str]]:
        """Go through the results that came until a moment, or all, in the order of their times."""
        due = [each for each in self._results if until is None or each[0] <= until]
        self._results = [each for each in self._results if until is not None and each[0] > until]
        for _, call, event_id in sorted(due, key=lambda each: each[0]):
            yield call, event_id

    def take_loose_calls(self, until: int | None) -> Iterator[Row]:
        """Go through the calls of no message that were made until a moment, or all."""
        return _take(self._loose_calls, "started_at", until)

    def take_loose_requests(self, until: int | None) -> Iterator[Row]:
        """Go through the requests that gave no message, made until a moment, or all."""
        return _take(self._loose_requests, "requested_at", until)

    def _rows_of_turn(self) -> dict[str, Sequence[Row]]:
        rows = {table: self.rows[table] for table in _TURN_TABLES if table in self.rows}
        marks = self.marks(self.id, *_TURN_TABLES)
        return {**rows, _MARKS: marks} if marks else rows

    def _with_details(self, table: str, row: Row, details: Sequence[str]) -> dict[str, Sequence[Row]]:
        key = row["id"]
        rows = {table: [row], **{name: self._details.get((name, key), ()) for name in details}}
        rows[_MARKS] = self.marks(key, table, *details)
        return {name: listed for name, listed in rows.items() if listed}


def moment(value: object) -> int:
    """Return a time or duration of a row; 0 where it has none."""
    return value if isinstance(value, int) else 0


def _by(rows: RowsByTable, columns: Mapping[str, str]) -> dict[tuple[str, object], list[Row]]:
    found: dict[tuple[str, object], list[Row]] = {}
    for table, column in columns.items():
        for row in rows.get(table, ()):
            found.setdefault((table, row[column]), []).append(row)
    return found


def _by_message(rows: Sequence[Row], known: set[str]) -> tuple[dict[str, list[Row]], list[Row]]:
    """Return rows by their message, and those that have none in this turn."""
    found: dict[str, list[Row]] = {}
    loose = []
    for row in rows:
        if row["message_id"] in known:
            found.setdefault(str(row["message_id"]), []).append(row)
        else:
            loose.append(row)
    return found, loose


def _take(rows: deque[Row], column: str, until: int | None) -> Iterator[Row]:
    while rows and (until is None or moment(rows[0][column]) <= until):
        yield rows.popleft()
