"""Branches of the tree of turns: their last turns, and the head that a session had at a moment."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aix.reading.conversation import HEAD_OF_SESSION
from aix.reading.names import Kind

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_HEADS = """
    select
      h.session_label, h.thread_id as turn_id, h.changed_at,
      lead(h.changed_at) over movement as left_at,
      lead(h.thread_id) over movement as next_turn_id,
      t.depth as position, h.thread_id = s.thread_id as is_head_now
    from session_history h
    join sessions s on s.label = h.session_label
    join threads t on t.turn_id = h.thread_id
    left join inferred_values i
      on i.table_name = 'turns' and i.row_key = h.thread_id and i.column_name = 'started_at' and i.basis = 'undated'
    where h.session_label = $label and i.row_key is null
    window movement as (order by h.changed_at, h.thread_id = s.thread_id, t.depth, h.thread_id)
    order by h.changed_at, is_head_now, t.depth, h.thread_id
"""
_THROUGH = """
    select w.session_label from v_session_turns w
    left join v_turn_owner o on o.turn_id = w.turn_id and o.session_label = w.session_label
    where w.turn_id = $1
    order by o.session_label nulls last, w.session_label limit 1
"""
_PARTING = """
    with own as (select turn_id, position from v_session_turns where session_label = $1)
    select o.turn_id, w.session_label
    from v_session_turns w
    join own o on o.turn_id = w.turn_id
    where w.session_label <> $1
    qualify row_number() over (partition by w.session_label order by o.position desc) = 1
    order by w.session_label
"""


@dataclass(frozen=True, slots=True)
class Tip:
    """The last turn of a branch, as it was named."""

    name: str
    turn_id: str
    label: str | None
    """The session whose head it is, where a session was named."""


def find_tip(ledger: "Ledger", name: str) -> Tip:
    """Return the turn of that name, or the head of the session."""
    named = ledger.find(name)
    if named.kind is Kind.TURN:
        return Tip(name, named.key, None)
    [(head,)] = ledger.own_sql(HEAD_OF_SESSION, [named.key]).rows()
    return Tip(name, head, named.key)


def session_through(ledger: "Ledger", turn_id: str) -> str | None:
    """Return a session on whose way to its head a turn lies: the one that it counts for, where that is one."""
    found = ledger.own_sql(_THROUGH, [turn_id]).rows()
    return str(found[0][0]) if found else None


def sessions_parting(ledger: "Ledger", label: str) -> dict[str, list[str]]:
    """Return by turn of a session the others that have all turns up to it and none after it."""
    found: dict[str, list[str]] = {}
    for turn_id, other in ledger.own_sql(_PARTING, [label]):
        found.setdefault(turn_id, []).append(other)
    return found


def read_heads(ledger: "Ledger", label: str) -> list[dict[str, Any]]:
    """Return the heads that a session had, in order, each with the time until the next; not those without a time."""
    return ledger.own_sql(_HEADS, {"label": label}).dicts()
