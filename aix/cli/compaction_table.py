"""`aix compactions` for people: one line for each, with a bar for how much of the context it freed."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Any

from aix.output import Listing, ListingColumn
from aix.output.humanise import bar, local_time, one_line, per_cent, short_count
from aix.reading.compaction_search import count_microcompactions, names_of_sessions
from aix.reading.ledger import Ledger

_NOTHING = "–"
_TURN_CHARACTERS = 8
_TITLE_CHARACTERS = 40
_COLUMNS = (
    ListingColumn("turn"),
    ListingColumn("when"),
    ListingColumn("session"),
    ListingColumn("trigger"),
    ListingColumn("evidence"),
    ListingColumn("before", "BIGINT"),
    ListingColumn("after", "BIGINT"),
    ListingColumn("freed", "DOUBLE"),
    ListingColumn(""),
    ListingColumn("turns", "BIGINT"),
    ListingColumn("requests after", "BIGINT"),
    ListingColumn("cut"),
)

Row = dict[str, Any]


def compaction_table(ledger: Ledger, rows: Sequence[Row], zone: tzinfo) -> Listing:
    """Return the rows in short."""
    return Listing(_COLUMNS, _lines(ledger, rows, zone))


def compaction_notes(ledger: Ledger, rows: Sequence[Row], parameters: dict[str, object]) -> Iterator[str]:
    """Say what the rows do not: how many are without their history, and what is no compaction of this kind."""
    if not rows:
        yield "no compaction in the ledger matches that"
    unresolved = sum(row["is_unresolved"] for row in rows)
    if unresolved:
        yield f"{unresolved} unresolved: the history that {_they(unresolved)} is in no log that was imported"
    last = sum(not row["requests_after"] for row in rows)
    if last:
        yield f"{last} with no request before the next one or the end: `after` is a later request's, stated, or unknown"
    micro = count_microcompactions(ledger, parameters)
    if micro:
        things = "micro-compaction" if micro == 1 else "micro-compactions"
        yield f"{micro} {things} apart: they took results of tools out of the context and summarised nothing"


def _they(count: int) -> str:
    return "it summarises" if count == 1 else "they summarise"


def _lines(ledger: Ledger, rows: Sequence[Row], zone: tzinfo) -> Iterator[Sequence[object]]:
    labels = sorted({row["session_label"] for row in rows if row["session_label"]})
    names = names_of_sessions(ledger, labels)
    for row in rows:
        before, after = row["tokens_before"], row["tokens_after"]
        freed = None if not before or after is None else (before - after) / before
        yield (
            row["turn_id"][:_TURN_CHARACTERS],
            local_time(row["compacted_at"], zone),
            ("↳ " if row["is_subagent"] else "")
            + one_line(names.get(row["session_label"], _NOTHING), _TITLE_CHARACTERS),
            row["trigger"] or "unknown",
            row["evidence"] + (", unresolved" if row["is_unresolved"] else ""),
            None if before is None else short_count(before),
            None if after is None else short_count(after),
            None if freed is None else per_cent(freed),
            bar(freed, 1),
            row["turns_summarized"],
            row["requests_after"],
            "mid-task" if row["is_mid_task"] else _NOTHING,
        )
