"""Events of programs: one object each, with a kind, and with the fields under the names that writers use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aix.canonical_json import canonical_form, content_hash, exportable
from aix_importers.common.json_text import is_text
from aix_importers.common.program_event_kinds import NODE_KINDS, PROGRAM_EVENT_KINDS, TAGGED, UNTAGGED
from aix_importers.common.secrets import credentials_reason, is_secret_text, shortened, without_secrets
from aix_importers.common.times import read_time
from aix_importers.session_log.principals import Principal, read_principal
from aix_importers.session_log.references import bare_id

_KINDS = ("type", "kind", "event", "eventType")
_OWN_IDS = ("eventId", "event_id")
_TIMES = ("timestamp", "ts", "at", "time", "occurredAt", "occurred_at")
_CONTENTS = ("data", "payload")
_PIECE_KINDS = ("_TOKEN", "_TOKEN_RECEIVED")
"""How kinds of events end that hold a piece of an answer as `token`."""
_PROGRAM_IDS = ("programId", "program_id", "program", "nodeId", "node_id", "node")
_TAGS = ("tags", "tag")
_UNKNOWN = "unknown"
Fault = tuple[str, str]
"""Kind and reason of a problem."""


@dataclass(frozen=True, slots=True)
class ProgramEvent:
    """Something that happened to a program."""

    id: str
    claimed_id: str | None
    kind: str
    program_id: str | None
    time: int | None
    principal: Principal | None
    payload_json: str
    faults: tuple[Fault, ...] = ()


def event_kind(value: Mapping[str, object]) -> str | None:
    """Return the kind of an event; None for an object that states none, as a program does.

    >>> event_kind({"event": "TASK_CREATED", "at": 0}), event_kind({"type": "program", "programType": "task"})
    ('TASK_CREATED', None)
    """
    if "programType" in value:
        return None
    stated = next((kind for name in _KINDS if is_text(kind := value.get(name)) and kind.strip()), None)
    return None if stated is None or stated == "program" else stated.strip()


def read_event(value: Mapping[str, object]) -> ProgramEvent:
    """Read an event; what looks like a credential is left out of it."""
    own_id = next((name for name in _OWN_IDS if name in value), "id")
    places: list[str] = []
    payload: dict[str, object] = {}
    stated_kind = event_kind(value) or _UNKNOWN
    for name, inner in value.items():
        if name != own_id:
            # Field by field: a `name` beside `data` is no label of it.
            payload |= _without_credentials(stated_kind, name, inner, places)
    faults = list(faults_of_credentials(places))
    not_canonical: list[Fault] = []
    payload_json, refusal = canonical_form(payload)
    if refusal is not None:
        kept = exportable(payload)  # all columns come from what is kept, so that an exported event gives the same row
        payload = kept if isinstance(kept, dict) else {}
        reason = f"The event has no canonical JSON and was kept with texts instead: {refusal}."
        not_canonical.append(("not_canonical", reason))
    content = next((inner for name in _CONTENTS if isinstance(inner := payload.get(name), dict)), {})
    kind, details = event_kind(payload) or _UNKNOWN, content
    properties = content.get("properties")
    if kind in NODE_KINDS and isinstance(properties, dict) and is_text(properties.get("eventType")):
        kind, details = str(properties["eventType"]), properties  # the graph keeps an event as a node
    program_id = _program_id(kind, payload, details, has_own_id=own_id != "id")
    principal = next(
        (found for each in _places_of_principal(payload, content) if (found := read_principal(each))), None
    )
    faults += _faults(kind, program_id, details, payload)
    faults += principal.faults if principal else ()
    faults += not_canonical
    stated_id = value.get(own_id)
    claimed_id = stated_id if is_text(stated_id) and stated_id and not is_secret_text(stated_id) else None
    return ProgramEvent(
        id=content_hash(payload_json),
        claimed_id=claimed_id,
        kind=kind,
        program_id=program_id,
        time=_time(payload),
        principal=principal,
        payload_json=payload_json,
        faults=tuple(faults),
    )


def _without_credentials(kind: str, name: str, inner: object, places: list[str]) -> dict[str, object]:
    """Return a field without credentials; pieces of an answer and counts of tokens stay."""
    if _is_of_answer(kind, name, inner):
        return {name: inner}
    if name not in _CONTENTS or not isinstance(inner, dict):
        return without_secrets({name: inner}, places.append)
    kept = {key: value for key, value in inner.items() if _is_of_answer(kind, key, value)}
    others = {key: value for key, value in inner.items() if key not in kept}
    return {name: kept | without_secrets(others, lambda place: places.append(f"{name}.{place}"))}


def _is_of_answer(kind: str, name: str, value: object) -> bool:
    if name == "tokens":
        return isinstance(value, int | float)
    return name == "token" and kind.endswith(_PIECE_KINDS) and is_text(value) and not is_secret_text(value)


def _faults(
    kind: str, program_id: str | None, details: Mapping[str, object], payload: Mapping[str, object]
) -> Iterable[Fault]:
    if kind not in PROGRAM_EVENT_KINDS:
        yield "unknown_event", f"{shortened(kind)} is no known kind of event; the event was kept."
    if program_id is None:
        yield "no_program", "The event names no program that it happened to; it was kept."
    if _time(payload) is None:
        yield "no_timestamp", "The event has no usable timestamp."
    if kind in (TAGGED, UNTAGGED) and not any(details.get(name) or payload.get(name) for name in _TAGS):
        yield "no_tag", "The event names no tag; it changes none."


def faults_of_credentials(places: list[str]) -> Iterable[Fault]:
    """Return the problem that names what was left out as credentials; none when nothing was."""
    if places:
        yield "credentials", credentials_reason(places)


def _time(payload: Mapping[str, object]) -> int | None:
    return next((moment for name in _TIMES if (moment := read_time(payload.get(name))) is not None), None)


def _places_of_principal(
    payload: Mapping[str, object], content: Mapping[str, object]
) -> Iterable[Mapping[str, object]]:
    context = payload.get("context")
    return (payload, content, context if isinstance(context, dict) else {})


def _program_id(
    kind: str, payload: Mapping[str, object], details: Mapping[str, object], *, has_own_id: bool
) -> str | None:
    """Return the id of the program that an event is about.

    `taskId` is the program of a `TASK_…` event; in an `AGENT_…` event it is only a part of what happened. For a
    `HUMAN_APPROVED`, `humanId` comes before `programId`, which may be the program that was approved.
    """
    program_type = kind.partition("_")[0].lower()
    own = (f"{program_type}Id", f"{program_type}_id")
    names = (*own, *_PROGRAM_IDS) if program_type == "human" else (*_PROGRAM_IDS, *own)
    for place in (payload, details):
        found = next((bare for name in names if (bare := _id_of(place.get(name)))), None)
        if found is not None:
            return found
    if has_own_id and (found := bare_id(payload.get("id"))):
        return found
    return bare_id(details.get("id"))


def _id_of(value: object) -> str | None:
    return bare_id(value.get("id")) if isinstance(value, dict) else bare_id(value)
