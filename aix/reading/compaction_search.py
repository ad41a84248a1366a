"""Compactions narrowed down, and what else there is to say about those that were found."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aix.reading.session_search import first_prompts, names_to_type

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

COUNTED = "v_counted_compactions"
"""The view whose parameters narrow compactions down."""
_MICROCOMPACTIONS = "compaction_impact/micro_compactions"
COMPACTIONS = f"""
    select *
    from {COUNTED}
    where cast($1 as varchar) is null or coalesce("trigger", 'unknown') = $1
    order by compacted_at desc, turn_id
"""  # noqa: S608 - made of the name above
_TITLES = "select label, left(title, 1000) from session_context where label in (select unnest($1)) and title <> ''"


def count_microcompactions(ledger: "Ledger", parameters: Mapping[str, object]) -> int:
    """Count what took results of tools out of a context without a summary, narrowed down as compactions are."""
    return len(ledger.query(_MICROCOMPACTIONS, **parameters).rows())


def names_of_sessions(ledger: "Ledger", labels: list[str]) -> dict[str, str]:
    """Return what people call these sessions: the title, else the first prompt, else the shortest name to type."""
    to_type = names_to_type(ledger)
    names = {label: to_type.get(label, label) for label in labels}
    return names | first_prompts(ledger, labels) | dict(ledger.sql(_TITLES, [labels]).rows())
