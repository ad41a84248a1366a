"""Programs: their types and lifecycles, how one is read, and how others are found that it refers to."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from aix_importers.common.json_text import is_text
from aix_importers.common.secrets import is_secret_text, shortened, without_secrets
from aix_importers.common.times import read_time
from aix_importers.session_log.program_events import Fault, faults_of_credentials
from aix_importers.session_log.references import bare_id, references_of, referred_id, without_version

_PUBLISHED = ("draft", "published", "deprecated")
LIFECYCLES: Mapping[str, tuple[str, ...]] = {
    "code": _PUBLISHED,
    "provider": _PUBLISHED,
    "model": _PUBLISHED,
    "session": ("created", "active", "paused", "completed"),
    "agent": ("idle", "thinking", "executing", "waiting", "paused", "error", "completed"),
    "task": ("pending", "assigned", "in_progress", "active", "completed", "failed", "blocked"),
    "information": ("draft", "validated", "active", "archived"),
    "human": ("available", "busy", "away", "offline"),
}
"""The types of programs, with the lifecycles or states of each; `assigned` and `in_progress` are the writer's."""
TYPES_WITH_A_STATE = ("agent", "human")
NODE_FIELDS = "aix:node"
"""The setting that holds the fields of a program which stand beside its settings and have no column."""
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Program:
    """A node of the graph that takes part in conversations."""

    id: str
    type: str
    lifecycle: str | None
    config: Mapping[str, object]
    faults: tuple[Fault, ...] = ()
    """Kind and reason of what is wrong with it."""
    modified_at: int | None = None
    """When it was last changed, in Unix milliseconds, where it says so."""

    def text(self, name: str) -> str | None:
        """Return a setting that is text and not empty."""
        value = self.config.get(name)
        return value if is_text(value) and value else None

    def reference(self, name: str) -> str | None:
        """Return the id of the program that a setting refers to."""
        return bare_id(self.config.get(name))

    def references(self, name: str) -> list[str]:
        """Return the ids of the programs that a setting lists."""
        value = self.config.get(name)
        return [referred_id(each) or each for each in value if is_text(each)] if isinstance(value, list) else []


class Programs:
    """Programs by id; of several with one id the first counts."""

    def __init__(self, programs: Iterable[Program] = ()) -> None:
        self._by_id: dict[str, Program] = {}
        for program in programs:
            self._by_id.setdefault(program.id, program)

    def of_type(self, program_type: str) -> Iterator[Program]:
        """Go through the programs of a type."""
        return (program for program in self._by_id.values() if program.type == program_type)

    def find(self, program_id: str | None, *types: str) -> Program | None:
        """Return the program of that id, with or without a version, if it is of one of the types."""
        for name in (program_id, without_version(program_id or "")):
            program = self._by_id.get(name or "")
            if program and program.type in types:
                return program
        return None

    def named(self, reference: str, program_type: str, *settings: str) -> str | None:
        """Return the name that a program has in one of the settings; a name that is a reference is followed."""
        seen = set()
        program_id = referred_id(reference)
        while program_id is not None and program_id not in seen:
            seen.add(program_id)
            program = self.find(program_id, program_type)
            name = next((text for setting in settings if (text := program.text(setting))), None) if program else None
            program_id = referred_id(name) if name else None
            if program_id is None:
                return name
        return None

    def session(self, session_id: str, path: str) -> Program | None:
        """Return the program of a session: by its id, else by the log it names."""
        return self.find(session_id, "session") or next(
            (program for program in self.of_type("session") if _names_log(program, path)), None
        )


def read_program(value: Mapping[str, object]) -> Program | None:
    """Read a program; None for an object that lacks an id or a type. Credentials are left out."""
    program_id, stated_type = value.get("id"), value.get("programType")
    if not is_text(program_id) or not program_id or is_secret_text(program_id):
        return None
    if not is_text(stated_type) or not stated_type or is_secret_text(stated_type):
        if value.get("type") != "program":
            return None
        stated_type = _UNKNOWN
    places: list[str] = []
    fields: dict[str, object] = {}
    for name, inner in value.items():
        if name not in ("id", "programType"):
            fields |= without_secrets({name: inner}, places.append)
    lifecycle = _take_lifecycle(fields, stated_type)
    config = _take_config(fields)
    if fields.get("type") == "program":
        del fields["type"]
    if fields:
        config = {**config, NODE_FIELDS: fields}
    faults = (*_faults(program_id, stated_type, lifecycle, config), *faults_of_credentials(places))
    modified_at = next((time for name in ("modified", "updatedAt") if (time := read_time(value.get(name)))), None)
    return Program(program_id, stated_type, lifecycle, config, faults, modified_at)


def _take_lifecycle(fields: dict[str, object], program_type: str) -> str | None:
    """Return the lifecycle or the state, whichever the type has; the other one stays unless it says the same."""
    names = ("state", "lifecycle") if program_type in TYPES_WITH_A_STATE else ("lifecycle", "state")
    own = next((name for name in names if is_text(fields.get(name))), None)
    if own is None:
        return None
    lifecycle = str(fields[own])
    for name in names:
        if fields.get(name) == lifecycle:
            del fields[name]
    return lifecycle


def _take_config(fields: dict[str, object]) -> dict[str, object]:
    """Return the settings; older writers call them `data`, or write them under both names."""
    found = next((inner for name in ("config", "data") if isinstance(inner := fields.get(name), dict)), {})
    for name in ("config", "data"):
        if fields.get(name) is not None and fields[name] == found:
            del fields[name]
    return found


def _faults(program_id: str, program_type: str, lifecycle: str | None, config: Mapping[str, object]) -> Iterator[Fault]:
    name, known = shortened(program_id), LIFECYCLES.get(program_type)
    if known is None:
        reason = f"The type of {name}, {shortened(program_type)}, is not one of {', '.join(LIFECYCLES)}; it was kept."
        yield "unknown_program_type", reason
    elif lifecycle is not None and lifecycle not in known:
        reason = f"{name} is {shortened(lifecycle)}, but a program of type {program_type} is one of"
        yield "unknown_lifecycle", f"{reason} {', '.join(known)}; it was kept."
    if own := [setting for setting, target in references_of(config) if target == program_id]:
        yield "self_reference", f"{name} refers to itself as {', '.join(dict.fromkeys(own))}; it was kept."


def _names_log(program: Program, path: str) -> bool:
    log = program.text("logFile")
    parts = PurePath(log).parts if log else ()
    return bool(parts) and PurePath(path).parts[-len(parts) :] == parts
