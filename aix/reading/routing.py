"""Routing: every target leads to one thread, the turn that a message would be appended to.

A target is a thread, a turn, a session, a persona or free text. Each form says so with its word and a colon, as
`session:billing`; without that, names are tried from the exact to the vague. Nothing is sent anywhere.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from aix.errors import (
    AmbiguousNameError,
    AmbiguousTargetError,
    SearchTextError,
    UnknownNameError,
    UnknownSessionError,
    UnknownTextError,
    UsageError,
)
from aix.reading.names import (
    SESSION_BEGINNING,
    SESSION_LOOKUPS,
    SHORTEST_TURN_BEGINNING,
    TURN_BEGINNING,
    TURN_LOOKUPS,
    is_text,
)
from aix.search.search import Hit, SearchRequest, search

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_MOST_HITS = 30
_MOST_CANDIDATES = 5
_CLOSE = 0.9
"""Of the best score: a thread of this share or more fits about as well."""
_HEADS = "select label, thread_id from sessions where label in (select unnest($1)) order by label"
_PARENTS = """
    select s.label, s.parent_session_label from sessions s join sessions p on p.label = s.parent_session_label
    where s.is_subagent = 1
"""
_OF_TURNS = """
    select turn_id, session_label, is_head from (
      select s.thread_id as turn_id, s.label as session_label, true as is_head, s.status = 'active' as is_active,
        coalesce(s.is_subagent, 0) = 0 as is_main, s.updated_at
      from sessions s where s.thread_id in (select unnest($1))
      union all
      select turn_id, session_label, false, true, true, 0 from v_turn_owner where turn_id in (select unnest($1))
    )
    qualify row_number() over (
      partition by turn_id order by is_head desc, is_active desc, is_main desc, updated_at desc, session_label
    ) = 1
"""
_PERSONAS = """
    select persona_id from personas
    union select persona_id from v_session_personas
    union select persona_id from threads where persona_id is not null
"""
_SESSIONS_OF_PERSONA = "select count(*) from v_session_personas where persona_id = $1"
_MAIN_SESSIONS = "select persona_id, session_label, thread_id from v_main_sessions order by persona_id"


class Form(StrEnum):
    """The forms of a target; the value is the word before the colon."""

    THREAD = "thread"
    TURN = "turn"
    SESSION = "session"
    PERSONA = "persona"
    TEXT = "text"


@dataclass(frozen=True)
class Route:
    """A thread that a target leads to."""

    thread_id: str
    session_label: str | None
    """The session that stands at the thread, else the one whose log holds it."""
    is_head: bool
    """Whether the session stands there; else the thread is an earlier state of it."""
    reason: str
    score: float | None = None
    """How well it fits free text."""


@dataclass(frozen=True)
class Resolution:
    """The routes of a target: one that it leads to, or none where several fit alike, and then these."""

    target: str
    route: Route | None
    candidates: tuple[Route, ...] = ()
    """Other threads that the target may mean, the best first."""

    def only(self) -> Route:
        """Return the route; raise an error where there are several."""
        if self.route is None:
            found = tuple(f"{route.thread_id} ({route.session_label or 'no session'})" for route in self.candidates)
            raise AmbiguousTargetError(self.target, found)
        return self.route


def resolve(ledger: "Ledger", target: str, prepare: Callable[[], None] = lambda: None) -> Resolution:
    """Return the thread that a target leads to, or several that it may mean; raise an error when nothing fits it.

    `prepare` is called before texts are searched, which takes a while where they were not searched before.
    """
    word, colon, rest = target.partition(":")
    form = Form(word) if colon and word in list(Form) else None
    name = rest if form else target
    if form is Form.PERSONA:
        return _one_of(target, [_main_session(ledger, name)])
    if form is not Form.TEXT:
        for routes in _by_name(ledger, name, form):
            if routes:
                return _one_of(target, routes)
    if form in (None, Form.TEXT) and name:
        prepare()
        if found := _best_fitting(ledger, name, must_have_words=form is Form.TEXT):
            return _best_of(target, found)
    if form is Form.TEXT:
        raise UnknownTextError(name)
    raise _unknown(ledger, form, name)


def resolve_trigger(ledger: "Ledger", persona_id: str | None = None) -> Resolution:
    """Return where a trigger routes that names no thread: to the main session of its persona, which decides the rest.

    Without a persona, it is that of the only one that has a main session.
    """
    if persona_id is not None:
        return _one_of(persona_id, [_main_session(ledger, persona_id)])
    routes = _main_sessions(ledger)
    if not routes:
        raise UsageError("no persona has a main session, so a trigger leads nowhere")
    return _one_of("a trigger", list(routes.values()))


def _unknown(ledger: "Ledger", form: Form | None, name: str) -> UnknownSessionError:
    """Return the error that names the sessions nearest to a name, or those that have it, of a turn that is missing."""
    kind = "thread, session or text" if form is None else str(form)
    try:
        known: tuple[str, ...] = (ledger.find_session(name),)
    except UnknownSessionError as error:
        known = error.known
    except AmbiguousNameError as error:
        known = error.found
    return UnknownSessionError(kind, name, known)


def _one_of(target: str, routes: Sequence[Route]) -> Resolution:
    if len({route.thread_id for route in routes}) == 1:
        return Resolution(target, routes[0])
    return Resolution(target, None, tuple(routes))


def _best_of(target: str, routes: Sequence[Route]) -> Resolution:
    """Choose the thread that fits best, unless another fits about as well."""
    first, *others = routes
    if others and (others[0].score or 0) >= _CLOSE * (first.score or 0):
        return Resolution(target, None, tuple(routes))
    return Resolution(target, first, tuple(others))


def _best_fitting(ledger: "Ledger", text: str, *, must_have_words: bool) -> list[Route]:
    """Return the sessions with the turns that fit a text best: those with all of its words, else with any of them."""
    try:
        found = search(ledger, SearchRequest(text=text), _MOST_HITS)
    except SearchTextError:
        if must_have_words:
            raise
        return []
    why = "text that fits best"
    if not found.hits and len(found.terms) > 1:
        any_of = " OR ".join(f'"{term.text}"' for term in found.terms)
        found = search(ledger, SearchRequest(text=any_of), _MOST_HITS)
        why = "text with some of the words"
    parents = dict(ledger.sql(_PARENTS).rows())
    best: dict[str, Hit] = {}
    for hit in found.hits:
        if hit.session_label is not None:
            best.setdefault(_started_by_people(hit.session_label, parents), hit)
    chosen = list(best.items())[:_MOST_CANDIDATES]
    heads = {route.session_label: route for route in _session_routes(ledger, [label for label, _ in chosen], "")}
    return [
        replace(heads[label], reason=f"{why}: turn {hit.turn_id} of the session {hit.session_label}", score=hit.score)
        for label, hit in chosen
        if label in heads
    ]


def _started_by_people(label: str, parents: Mapping[str, str]) -> str:
    """Return the session that a subagent works for, by way of others: nobody writes to a subagent."""
    seen = {label}
    while (parent := parents.get(label)) is not None and parent not in seen:
        seen.add(label := parent)
    return label


def _by_name(ledger: "Ledger", name: str, form: Form | None) -> Iterator[list[Route]]:
    """Give what a name fits: exact names first, ids before sessions, and then beginnings."""
    if not name or not is_text(name):
        return
    if form is not Form.SESSION:
        for part, lookup in TURN_LOOKUPS.items():
            yield _turn_routes(ledger, _keys(ledger, lookup, name), f"{part} of the turn")
    if form in (None, Form.SESSION):
        for part, lookup in SESSION_LOOKUPS.items():
            yield _session_routes(ledger, _keys(ledger, lookup, name), f"{part} of the session")
        yield _session_routes(ledger, _cut_names(ledger, name), "shortened name of the session")
    beginnings: list[Route] = []
    if form in (None, Form.SESSION):
        sessions = _keys(ledger, SESSION_BEGINNING, name)
        beginnings += _session_routes(ledger, sessions, "beginning of a name of the session")
    if form is not Form.SESSION and len(name) >= SHORTEST_TURN_BEGINNING:
        beginnings += _turn_routes(ledger, _keys(ledger, TURN_BEGINNING, name), "beginning of the id of the turn")
    yield beginnings


def _keys(ledger: "Ledger", lookup: str, name: str) -> list[str]:
    return [key for (key,) in ledger.sql(lookup, [name]).rows()]


def _cut_names(ledger: "Ledger", name: str) -> list[str]:
    """Return the sessions that a table shows as … and an ending."""
    if not name.startswith("…"):
        return []
    try:
        return [ledger.find_session(name)]
    except AmbiguousNameError as error:
        return list(error.found)
    except UnknownSessionError:
        return []


def _session_routes(ledger: "Ledger", labels: Sequence[str], why: str) -> list[Route]:
    heads = ledger.sql(_HEADS, [labels]).rows() if labels else []
    return [
        Route(head, label, is_head=True, reason=f"{why} {label}, whose head is the turn {head}")
        for label, head in heads
    ]


def _turn_routes(ledger: "Ledger", turn_ids: Sequence[str], why: str) -> list[Route]:
    sessions = _sessions_of_turns(ledger, turn_ids)
    return [_turn_route(turn_id, sessions.get(turn_id, (None, False)), f"{why} {turn_id}") for turn_id in turn_ids]


def _turn_route(turn_id: str, session: tuple[str | None, bool], why: str) -> Route:
    label, is_head = session
    if label is None:
        place = "which stands in no session"
    else:
        place = f"the head of the session {label}" if is_head else f"an earlier turn of the session {label}"
    return Route(turn_id, label, is_head=is_head, reason=f"{why}, {place}")


def _sessions_of_turns(ledger: "Ledger", turn_ids: Sequence[str]) -> Mapping[str, tuple[str | None, bool]]:
    """Return by turn the session that stands there, else the one that it counts for, and whether it stands there."""
    found = ledger.sql(_OF_TURNS, [turn_ids]).rows() if turn_ids else []
    return {turn_id: (label, is_head) for turn_id, label, is_head in found}


def _main_sessions(ledger: "Ledger") -> dict[str, Route]:
    """Return by persona its main session."""
    return {
        persona: Route(head, label, is_head=True, reason=f"main session of the persona {persona}, {label}")
        for persona, label, head in ledger.sql(_MAIN_SESSIONS)
    }


def known_personas(ledger: "Ledger") -> tuple[str, ...]:
    """Return the ids of all personas that the file describes or logs name."""
    return tuple(sorted(persona for (persona,) in ledger.sql(_PERSONAS)))


def _main_session(ledger: "Ledger", persona_id: str) -> Route:
    routes = _main_sessions(ledger)
    if persona_id in routes:
        return routes[persona_id]
    known = known_personas(ledger)
    if persona_id not in known:
        raise UnknownNameError("persona", persona_id, known)
    [(sessions,)] = ledger.sql(_SESSIONS_OF_PERSONA, [persona_id]).rows()
    reason = "its sessions are archived, or of subagents" if sessions else "no session is its own"
    raise UsageError(f"the persona {persona_id} has no main session: {reason}")
