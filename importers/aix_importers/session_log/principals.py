"""Principals: in whose name something was done, and who had delegated it to whom."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aix_importers.common.json_text import is_text
from aix_importers.session_log.references import bare_id

PRINCIPAL_TYPES = ("human", "agent", "session", "system")
_DELEGATORS = ("onBehalfOf", "on_behalf_of")
_TYPES = ("principalType", "principal_type")
_MOST_LINKS = 1_000


@dataclass(frozen=True, slots=True)
class Principal:
    """The one who acted, and the chain of delegation from the one who asked for it to the first."""

    id: str | None
    type: str | None = None
    chain: tuple[str, ...] = ()
    chain_types: tuple[str | None, ...] = ()
    """The type of each member of the chain, where the statement names it; empty where it names none."""
    faults: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Kind and reason of what is wrong with the statement."""

    @property
    def on_behalf_of(self) -> str | None:
        """The one who delegated to the principal."""
        return self.chain[0] if self.chain else None


def read_principal(fields: Mapping[str, object]) -> Principal | None:
    """Return the principal that an entry, an event or the settings of a program state; None when they state none.

    >>> read_principal({"principal": {"id": "@(ada)", "type": "agent", "onBehalfOf": {"id": "bo", "onBehalfOf": "cy"}}})
    Principal(id='ada', type='agent', chain=('bo', 'cy'), chain_types=(), faults=())
    >>> read_principal({"principal": "ada", "onBehalfOf": ["bo"]}).chain
    ('bo',)
    """
    stated = fields.get("principal")
    faults = []
    own: Mapping[str, object] = {}
    principal_id = None
    match stated:
        case None:
            pass
        case dict():
            own = stated
            principal_id = bare_id(stated.get("id"))
        case _:
            principal_id = bare_id(stated)
    if stated is not None and principal_id is None:
        faults.append(("wrong_type", "The principal has no id; it was kept only as it came."))
    links = tuple(_links(_delegator(own))) or tuple(_links(_delegator(fields)))
    chain, types = tuple(found for found, _ in links), tuple(known for _, known in links)
    if principal_id is None and not chain:
        return Principal(None, faults=tuple(faults)) if faults else None
    stated_type = own.get("type") if own else next((fields[name] for name in _TYPES if name in fields), None)
    known_type = _known_type(stated_type)
    if stated_type is not None and known_type is None:
        known = ", ".join(PRINCIPAL_TYPES)
        faults.append(("unknown_principal_type", f"The type of the principal is not one of {known}."))
    if loop := _loop((principal_id, *chain)):
        faults.append(("delegation_cycle", f"The principal acts on behalf of itself: {' → '.join(loop)}."))
    return Principal(principal_id, known_type, chain, types if any(types) else (), tuple(faults))


def _known_type(stated: object) -> str | None:
    return stated if is_text(stated) and stated in PRINCIPAL_TYPES else None


def _delegator(fields: Mapping[str, object]) -> object:
    return next((fields[name] for name in _DELEGATORS if fields.get(name) is not None), None)


def _links(stated: object) -> Iterator[tuple[str, str | None]]:
    """Go through a chain, each member with its type: an id, an object that names the next one, or a list of these."""
    waiting = [stated]
    for _ in range(_MOST_LINKS):
        if not waiting:
            return
        match waiting.pop():
            case dict() as link:
                waiting.append(_delegator(link))
                found, known_type = bare_id(link.get("id")), _known_type(link.get("type"))
            case list() as links:
                waiting.extend(reversed(links))
                continue
            case other:
                found, known_type = bare_id(other), None
        if found is not None:
            yield found, known_type


def _loop(ids: tuple[str | None, ...]) -> list[str]:
    """Return the part of a chain that leads back to its beginning."""
    seen: list[str] = []
    for each in ids:
        if each in seen:
            return [*seen[seen.index(each) :], each]
        if each is not None:
            seen.append(each)
    return []
