"""Sessions and compactions narrowed down and put in order, with the names that people know them by."""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aix.errors import UnknownNameError, UnknownProjectError, UnknownToolError
from aix.query.packs import find_query
from aix.reading.names import NAMES_OF_SESSIONS, short_names
from aix.schema.canonical import BY_HAND

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger
    from aix.reading.result import Result

ORDERS = {
    "updated": ("updated_at", "desc"),
    "created": ("created_at", "desc"),
    "tokens": ("total_tokens", "desc"),
    "cost": ("cost_usd", "desc"),
    "turns": ("turns", "desc"),
    "label": ("label", "asc"),
}
"""The columns that sessions can be sorted by, and which end comes first."""
_FIRST_PROMPT = """
    select s.label, m.content
    from sessions s
    join threads h on h.turn_id = s.thread_id
    join messages m on m.turn_id = regexp_extract(h.ancestry, '"([^"]+)"', 1)
    where m.role = 'user' and m.content is not null
    qualify row_number() over (partition by s.label order by m.sequence) = 1
"""
_TITLES = """
    select session_label, title from v_session_titles
    where session_label in (select unnest($1)) and title is not null
"""
_SHARED_TURNS = """
    select count(*)
    from (
      select turn_id from v_session_turns group by turn_id
      having count(*) > 1 and count(case when list_contains($1, session_label) then 1 end) > 0
    )
"""
_OWNERS = """
    select o.session_label, count(*)
    from v_session_turns s
    join v_turn_owner o on o.turn_id = s.turn_id
    where s.session_label = $1
    group by o.session_label
    order by count(*) desc, o.session_label
"""
_WITHOUT_OWN_TURNS = """
    select s.session_label, list(distinct o.session_label)
    from v_session_turns s
    join v_turn_owner o on o.turn_id = s.turn_id
    where s.session_label not in (select session_label from v_turn_owner)
    group by s.session_label
"""
_CONDITIONS = {
    "origin": "origin = $origin",
    "project": "(contains(lower(project), lower($project)) or contains(lower(workspace_path), lower($project)))",
    "since_ms": "updated_at >= $since_ms",
    "until_ms": "created_at < $until_ms",
    "model": "contains(lower(models), lower($model))",
    "is_subagent": "is_subagent = $is_subagent",
    "status": "status = $status",
    "tag": "label in (select entity_id from v_work_tags where entity_type = 'sessions' and tag = $tag)",
    "turn": "label in (select session_label from v_session_turns where turn_id = $turn)",
    "text": f"""(
        contains(lower(label), lower($text)) or contains(lower(title), lower($text))
        or label in (select label from ({_FIRST_PROMPT}) where contains(lower(content), lower($text)))
    )""",  # noqa: S608 - made of the text above
}
TURNS_COUNTED = "v_counted_turns"
"""The view whose parameters narrow turns down."""
TURNS = f"""
    select turn_id
    from {TURNS_COUNTED}
    where ($since_ms is null or started_at >= $since_ms) and ($until_ms is null or started_at < $until_ms)
"""  # noqa: S608 - made of the name above
COUNTED = "v_counted_compactions"
"""The view whose parameters narrow compactions down."""
_MICROCOMPACTIONS = "compaction_impact/micro_compactions"
COMPACTIONS = f"""
    select *
    from {COUNTED}
    where cast($1 as varchar) is null or coalesce("trigger", 'unknown') = $1
    order by compacted_at desc, turn_id
"""  # noqa: S608 - made of the name above


_ALIASES = f"""
    select a.alias, a.session_label, case when a.reason = '{BY_HAND}' then 'by hand' else 'log' end as "from", t.title
    from session_aliases a
    left join v_session_titles t on t.session_label = a.session_label
    where coalesce(a.session_label = $label, true) and (a.reason = '{BY_HAND}' or not $is_by_hand)
    order by coalesce(a.reason = '{BY_HAND}', false) desc, a.alias
"""  # noqa: S608
_CALL_CHARACTERS = 14
_SHARED_BEGINNINGS = """
    select left(id, $size) from tool_calls where left(id, $size) in (select unnest($beginnings))
    group by 1 having count(distinct id) > 1
"""
_OF_PROJECT = "select 1 from v_counted_turns where contains(lower(project), lower($1)) limit 1"
_PROJECTS = "select distinct project from v_counted_turns where project is not null"
_PARTS_OF_PROJECTS = 2
_ORIGINS = "select distinct origin from sessions where origin is not null order by 1"
_TOOLS = "select distinct tool_name from tool_calls where tool_name is not null order by 1"


@dataclass(frozen=True, kw_only=True)
class SessionSearch:
    """Conditions that a session must meet; a condition that is None holds for all."""

    origin: str | None = None
    project: str | None = None
    """A part of the project's name or of the workspace's path."""
    since_ms: int | None = None
    """The last activity is not before that moment."""
    until_ms: int | None = None
    """The first activity is before that moment."""
    model: str | None = None
    """A part of the name of a model that answered."""
    is_subagent: int | None = None
    status: str | None = None
    tag: str | None = None
    text: str | None = None
    """A part of the label, the title or the first prompt."""
    turn: str | None = None
    """The id of a turn that leads to the head, or is it."""


def search_sessions(
    ledger: "Ledger", search: SessionSearch, *, order: str = "updated", reverse: bool = False, limit: int | None = None
) -> "Result":
    """Return the rows of `ledger.sessions()` that are searched for."""
    wanted = {name: value for name, value in vars(search).items() if value is not None}
    conditions = " and ".join(_CONDITIONS[name] for name in wanted) or "true"
    column, direction = ORDERS[order]
    if reverse:
        direction = "asc" if direction == "desc" else "desc"
    sessions = find_query("overview/sessions").sql
    sql = f"""
        select * from (
        {sessions}
        ) where {conditions} order by {column} {direction} nulls last, label {"" if limit is None else "limit $limit"}
    """  # noqa: S608 - made of the texts above
    return ledger.sql(sql, wanted | ({} if limit is None else {"limit": limit}) or None)


def names_to_type(ledger: "Ledger", labels: Container[str] | None = None) -> dict[str, str]:
    """Return the shortest name by which each session is found, or each of these."""
    return short_names(ledger.own_sql(NAMES_OF_SESSIONS).rows(), labels)


def list_aliases(ledger: "Ledger", *, session: str | None = None, is_by_hand: bool = False) -> "Result":
    """Return the aliases of a session, or of all: first those given by hand, or only these."""
    return ledger.own_sql(_ALIASES, {"label": session, "is_by_hand": is_by_hand})


def count_shared_turns(ledger: "Ledger", labels: list[str]) -> int:
    """Count the turns of these sessions that other sessions have as well."""
    [(count,)] = ledger.own_sql(_SHARED_TURNS, [labels]).rows()
    return int(count)


def owners_of_turns(ledger: "Ledger", label: str) -> dict[str, int]:
    """Return the sessions that the turns of a session count for, each with the number of these turns."""
    return dict(ledger.own_sql(_OWNERS, [label]).rows())


def sessions_without_own_turns(ledger: "Ledger") -> dict[str, list[str]]:
    """Return the sessions whose turns all count for others, with those others."""
    return dict(ledger.own_sql(_WITHOUT_OWN_TURNS).rows())


def short_calls(ledger: "Ledger", calls: Iterable[str]) -> dict[str, str]:
    """Return the beginning of the id of each of these calls, or all of it where another call begins so."""
    beginnings = {call: call[:_CALL_CHARACTERS] for call in calls}
    wanted = {"beginnings": sorted(set(beginnings.values())), "size": _CALL_CHARACTERS}
    shared = {beginning for (beginning,) in ledger.own_sql(_SHARED_BEGINNINGS, wanted).rows()} if beginnings else set()
    return {call: call if beginning in shared else beginning for call, beginning in beginnings.items()}


def require_project(ledger: "Ledger", parameters: Mapping[str, object]) -> None:
    """Raise an error with near names when no turn is of the project that is asked for."""
    project = parameters.get("project")
    if project is None or ledger.own_sql(_OF_PROJECT, [project]).rows():
        return
    known = sorted(str(path) for (path,) in ledger.own_sql(_PROJECTS).rows())
    names = {part for path in known for part in re.split(r"[/\\]+", path)[-_PARTS_OF_PROJECTS:] if part}
    raise UnknownProjectError(str(project), tuple(sorted(names)))


def require_origin(ledger: "Ledger", parameters: Mapping[str, object]) -> None:
    """Raise an error with all origins when no session is of the origin that is asked for."""
    origin = parameters.get("origin")
    known = tuple(str(each) for (each,) in ledger.own_sql(_ORIGINS).rows()) if origin is not None else ()
    if origin is not None and origin not in known:
        raise UnknownNameError("origin", str(origin), known)


def require_tool(ledger: "Ledger", name: str) -> None:
    """Raise an error with near names when no call is of a tool of that name, whose capitals make no difference."""
    known = tuple(str(tool) for (tool,) in ledger.own_sql(_TOOLS).rows())
    if name.lower() not in {tool.lower() for tool in known}:
        raise UnknownToolError(name, known)


def count_microcompactions(ledger: "Ledger", parameters: Mapping[str, object]) -> int:
    """Count what took results of tools out of a context without a summary, narrowed down as compactions are."""
    return len(ledger.query(_MICROCOMPACTIONS, **parameters).rows())


def names_of_sessions(ledger: "Ledger", labels: list[str]) -> dict[str, str]:
    """Return the title of each of these sessions, else the shortest name to type."""
    to_type = names_to_type(ledger)
    names = {label: to_type.get(label, label) for label in labels}
    return names | titles_of_sessions(ledger, labels)


def titles_of_sessions(ledger: "Ledger", labels: list[str]) -> dict[str, str]:
    """Return the title of each of these sessions that has one."""
    return dict(ledger.own_sql(_TITLES, [labels]).rows())
