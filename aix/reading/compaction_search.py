"""Compactions narrowed down, and what else there is to say about those that were found."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aix.library.values import bind
from aix.library.views import library_views
from aix.reading.session_search import first_prompts, names_to_type

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

COUNTED = "v_counted_compactions"
"""The view whose parameters narrow compactions down."""
COMPACTIONS = f"""
    select *
    from {COUNTED}
    where cast($1 as varchar) is null or coalesce("trigger", 'unknown') = $1
    order by compacted_at desc, turn_id
"""  # noqa: S608 - made of the name above
# A message that says that results of tools were taken out of the context, with nothing written in their place.
_MICROCOMPACTIONS = """
    select count(*)
    from messages m
    join turns t on t.id = m.turn_id
    left join v_turn_owner o on o.turn_id = m.turn_id
    left join sessions s on s.label = o.session_label
    left join session_context x on x.label = o.session_label
    left join v_workspaces w on w.workspace_path = t.workspace_path
    where m.role = 'system' and contains(m.metadata_json, '"microcompact"')
"""
_CONDITIONS = {
    "since": "m.created_at >= $since",
    "until": "m.created_at < $until",
    "origin": "s.origin = $origin",
    "session": "o.session_label = $session",
    "model": "contains(lower(t.model), lower($model))",
    "project": "contains(lower(coalesce(w.project, t.workspace_path, x.project)), lower($project))",
    "tag": """exists (
        select 1 from tags g
        where g.tag = $tag and (
          (g.entity_type = 'turns' and g.entity_id = m.turn_id)
          or (g.entity_type = 'sessions' and g.entity_id = o.session_label)
        )
    )""",
}
_TITLES = "select label, left(title, 1000) from session_context where label in (select unnest($1)) and title <> ''"


def count_microcompactions(ledger: "Ledger", parameters: Mapping[str, object]) -> int:
    """Count what took results of tools out of a context without a summary, narrowed down as compactions are."""
    bound = {each.name: each.value for each in bind(library_views()[COUNTED], parameters)}
    if "session" in bound:
        bound["session"] = ledger.find_session(str(bound["session"]))
    sql = " and ".join([_MICROCOMPACTIONS, *(_CONDITIONS[name] for name in bound)])
    [(count,)] = ledger.sql(sql, bound or None)
    return int(count)


def names_of_sessions(ledger: "Ledger", labels: list[str]) -> dict[str, str]:
    """Return what people call these sessions: the title, else the first prompt, else the shortest name to type."""
    to_type = names_to_type(ledger)
    names = {label: to_type.get(label, label) for label in labels}
    return names | first_prompts(ledger, labels) | dict(ledger.sql(_TITLES, [labels]).rows())
