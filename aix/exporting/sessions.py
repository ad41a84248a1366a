"""Export of sessions: each is read from the ledger and written to a file of its own, in one folder."""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from io import BufferedWriter
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from aix.exporting import ConversationRows, Exporter, LedgerExporter, Row
from aix.reading.export import new_folder

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger
    from aix.reading.result import Result

Change = Callable[[str, Row], Row]
"""Makes a row of a table one that is written, such as one without secrets."""

_LABELS = "select label from sessions where label in (select session_label from session_turns) order by label"
_OWN_TURNS = "select turn_id from session_turns where session_label = $label"
_ANCESTRY = "select h.ancestry from sessions s join threads h on h.turn_id = s.thread_id where s.label = $label"
_TURNS = """
select t.id, t.parent_turn_id, c.situation
from turns t left join turn_context c on c.turn_id = t.id left join threads h on h.turn_id = t.id
where t.id in (select unnest($turns)) order by t.started_at, h.depth, t.id
"""
_REQUEST_COLUMNS = (
    "model",
    "provider",
    "origin_request_id",
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
)
# Where no two messages of a session have the same position, positions count through its log and not only through a
# turn: then they are the order in which it was written, whatever its times say.
_MESSAGES = f"""
with own as (
  select m.*, f.position, t.started_at, h.depth
  from messages m join turns t on t.id = m.turn_id
  left join message_facts f on f.message_id = m.id left join threads h on h.turn_id = m.turn_id
  where m.turn_id in (select unnest($turns))
),
kind as (select count(distinct position) = count(*) as has_log_order from own),
answers as (
  select r.* from requests r semi join own on own.id = r.message_id where r.kind = 'main'
  qualify row_number() over (partition by r.message_id order by r.seq, r.id) = 1
)
select own.* exclude (position, started_at, depth),
  {", ".join(f"r.{column} as request_{column}" for column in _REQUEST_COLUMNS)}
from own cross join kind left join answers r on r.message_id = own.id
order by case when kind.has_log_order then own.position end, own.started_at, own.depth, own.turn_id, own.sequence
"""  # noqa: S608 - made of the names above
_POSITION = "position"
_NO_SESSION = "without-session"
_UNSAFE = re.compile(r"[^a-z0-9._-]")
_LONGEST = 100
_DIGEST_CHARACTERS = 12


def labels_to_export(ledger: "Ledger", name: str | None) -> Iterator[str]:
    """Go through all sessions that have a log of their own, or name the one that is asked for.

    The turns of an abandoned branch stand in the log of the session that left them.
    """
    if name is None:
        return (label for (label,) in ledger.sql(_LABELS))
    return iter([ledger.find_session(name)])


def unchanged(_: str, row: Row) -> Row:
    """Return a row as it is."""
    return row


def read_conversation(ledger: "Ledger", label: str, change: Change = unchanged) -> ConversationRows:
    """Read a session; its messages are fetched as they are gone through."""
    [session] = _rows(ledger.sql("from sessions where label = $label", {"label": label}))
    turns = _turn_ids(ledger, label)
    found = (change("turns", row) for row in _rows(ledger.sql(_TURNS, {"turns": turns})))
    messages = (change("messages", row) for row in _rows(ledger.sql(_MESSAGES, {"turns": turns})))
    return ConversationRows(change("sessions", session), {str(row["id"]): row for row in found}, messages)


def read_table(ledger: "Ledger", table: str) -> Iterator[Row]:
    """Go through the rows of a table in the order of their log, where they have one, else of their keys."""
    from aix.schema import find_table
    from aix.schema.sql import quote_name

    found = find_table(table)
    place = [_POSITION] if _POSITION in found.column_names else []
    order = ", ".join(map(quote_name, [*place, *found.key]))
    return _rows(ledger.sql(f"from {quote_name(table)} order by {order}"))


def _turn_ids(ledger: "Ledger", label: str) -> Sequence[str]:
    own = [turn_id for (turn_id,) in ledger.sql(_OWN_TURNS, {"label": label})]
    if own:
        return own
    return [turn_id for (ancestry,) in ledger.sql(_ANCESTRY, {"label": label}) for turn_id in json.loads(ancestry)]


def _rows(result: "Result") -> Iterator[Row]:
    return (dict(zip(result.columns, row, strict=True)) for row in result)


def export_sessions(
    ledger: "Ledger",
    exporter: Exporter | LedgerExporter,
    target: Path,
    name: str | None = None,
    change: Change = unchanged,
) -> None:
    """Write every session, or the one of that name, and what belongs beside them."""
    if isinstance(exporter, LedgerExporter):
        _export_rows(ledger, exporter, target, None if name is None else ledger.find_session(name), change)
        return
    labels = labels_to_export(ledger, name)
    with new_folder(target) as folder:
        for label in labels:
            conversation = read_conversation(ledger, label, change)
            stem = file_stem(str(conversation.session["label"]))
            with _private_file(folder / f"{stem}{exporter.suffix}") as file:
                exporter.write_session(conversation, file)
        _write_tables(ledger, exporter, folder, change)


def _export_rows(ledger: "Ledger", exporter: LedgerExporter, target: Path, label: str | None, change: Change) -> None:
    """Write all rows, or those of one session, which is then written from its rows whatever its origin."""
    from aix.exporting.session_rows import LedgerRows

    rows = LedgerRows(ledger, exporter.turns_of_tables, label, change)
    with new_folder(target) as folder:
        for session in rows.sessions():
            stem = file_stem(str(session.rows["sessions"][0]["label"])) if session.rows else _NO_SESSION
            with _private_file(folder / f"{stem}{exporter.suffix}") as file:
                exporter.write_whole_session(session, file)
        with _private_file(folder / exporter.others_file) as file:
            exporter.write_others(rows.others(exporter.table_files), file)
        if label is None:
            _write_tables(ledger, exporter, folder, change)


def file_stem(label: str) -> str:
    r"""Return a file name for a session: what is not safe everywhere is left out, and a hash tells such names apart.

    >>> file_stem("session-log:5b1f"), file_stem("session-log:../Etc")
    ('session-log.5b1f', 'session-log...etc~ec093e307934')
    """
    origin, _, rest = label.partition(":")
    plain = f"{origin}.{rest}"
    safe = _UNSAFE.sub("", plain.lower()).lstrip(".")[:_LONGEST]
    if safe == plain and origin and rest and "." not in origin:
        return safe
    return f"{safe}~{sha256(label.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST_CHARACTERS]}"


def _write_tables(ledger: "Ledger", exporter: Exporter | LedgerExporter, folder: Path, change: Change) -> None:
    for file_name, tables in groupby(exporter.table_files.items(), itemgetter(1)):
        with _private_file(folder / file_name) as file:
            for table, _ in tables:
                rows = read_table(ledger, table)
                first = next(rows, None)
                if first is not None:
                    written = (change(table, row) for row in chain([first], rows))
                    exporter.write_table(table, written, file)


@contextmanager
def _private_file(path: Path) -> Iterator[BufferedWriter]:
    """Give a new file that only the user can read; it goes away if nothing is written to it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
    if not path.stat().st_size:
        path.unlink()
