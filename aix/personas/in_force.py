"""The persona, model and permissions with which a thread would go on, and those that a router may give it instead."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from aix.personas.persona_tables import LISTED

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_PERSONA = """
    select s.persona_id, s.basis, s.mapping, p.name, p.model, p.thinking, p.max_tokens, p.temperature,
      p.has_tool_list, p.has_credential_list, p.has_read_list, p.has_write_list, p.has_host_list,
      p.persona_id is not null as is_described
    from v_session_personas s
    left join personas p on p.persona_id = s.persona_id
    where s.session_label = $session
"""
_PERMISSIONS = "select kind, value from persona_permissions where persona_id = $persona order by kind, position"
# Of a thread, the last turn that names a model.
_LAST_MODEL = """
    select t.model
    from (
      select unnest(from_json(ancestry, '["VARCHAR"]')) as turn_id, unnest(generate_series(1, depth)) as place
      from threads where turn_id = $thread
    ) a
    join turns t on t.id = a.turn_id
    where t.model is not null
    order by a.place desc
    limit 1
"""
_GRANTED = "select permissions_granted from turns where id = $thread"
_RULE_KINDS = ("deny", "ask", "allow")
_KINDS = ("mode", *_RULE_KINDS, "credential", "read", "write", "host")
_BASES = {"parent": "the session that started it", "log": "log"}


@dataclass(frozen=True)
class Overrides:
    """A router's own choice for the next turn: a model, and rules on tools."""

    model: str | None = None
    allow: Sequence[str] = ()
    """Takes the place of the persona's list of what is allowed; what is denied stays denied."""
    ask: Sequence[str] = ()
    deny: Sequence[str] = ()


@dataclass(frozen=True)
class Holding:
    """One thing that holds for the next turn, and where it comes from."""

    setting: str
    value: str | None
    source: str | None


class _Granted(msgspec.Struct):
    mode: str | None = None
    allow: list[str] | None = None
    ask: list[str] | None = None
    deny: list[str] | None = None


def holdings(ledger: "Ledger", thread_id: str, session_label: str | None, overrides: Overrides) -> list[Holding]:
    """Return what holds for the next turn of a thread that counts for a session.

    A model is the router's, else the persona's, else that of the thread. Deny rules of all add up and win over ask,
    which wins over allow.
    """
    found = ledger.sql(_PERSONA, {"session": session_label}).dicts()
    persona = found[0] if found else None
    listed: dict[str, list[Holding]] = {}
    if persona and persona["is_described"]:
        for kind, value in ledger.sql(_PERMISSIONS, {"persona": persona["persona_id"]}):
            listed.setdefault(kind, []).append(Holding(kind, value, "persona"))
        for kind, column in LISTED.items():
            if persona[column]:
                listed.setdefault(kind, [Holding(kind, "nothing", "persona")])
    else:
        for holding in _granted_by_log(ledger, thread_id):
            listed.setdefault(holding.setting, []).append(holding)
    if overrides.allow:
        listed["allow"] = []
    for kind in _RULE_KINDS:
        given: Sequence[str] = getattr(overrides, kind)
        known = {holding.value for holding in listed.get(kind, ())}
        listed.setdefault(kind, []).extend(Holding(kind, rule, "override") for rule in given if rule not in known)
    return [
        *_identity(persona),
        *_model(ledger, thread_id, persona, overrides),
        *(holding for kind in _KINDS for holding in listed.get(kind, ())),
    ]


def _identity(persona: dict[str, object] | None) -> Iterator[Holding]:
    if persona is None:
        yield Holding("persona", None, None)
        return
    mapping = persona["mapping"]
    source = f"mapping {int(str(mapping)) + 1}" if mapping is not None else _BASES[str(persona["basis"])]
    yield Holding("persona", str(persona["persona_id"]), source)
    if persona["name"] is not None:
        yield Holding("name", str(persona["name"]), "persona")


def _model(
    ledger: "Ledger", thread_id: str, persona: dict[str, object] | None, overrides: Overrides
) -> Iterator[Holding]:
    own = persona or {}
    if overrides.model is not None:
        yield Holding("model", overrides.model, "override")
    elif own.get("model") is not None:
        yield Holding("model", str(own["model"]), "persona")
    else:
        last = ledger.sql(_LAST_MODEL, {"thread": thread_id}).rows()
        yield Holding("model", last[0][0], "thread") if last else Holding("model", None, None)
    for setting in ("thinking", "max_tokens", "temperature"):
        if own.get(setting) is not None:
            yield Holding(setting, str(own[setting]), "persona")


def _granted_by_log(ledger: "Ledger", thread_id: str) -> Iterator[Holding]:
    """Give the mode and the rules that the log says were in force at a thread."""
    rows = ledger.sql(_GRANTED, {"thread": thread_id}).rows()
    text = rows[0][0] if rows else None
    try:
        granted = msgspec.json.decode(text or "{}", type=_Granted)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return
    if granted.mode is not None:
        yield Holding("mode", granted.mode, "log")
    for kind in _RULE_KINDS:
        for rule in getattr(granted, kind) or ():
            yield Holding(kind, rule, "log")
