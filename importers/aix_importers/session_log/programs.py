"""The programs that entries refer to: what a reference stands for, and what they say about a session."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath
from typing import NamedTuple

from aix.importing import Problem, Source
from aix_importers.common.json_text import DECODER, compact_json, leading_values, without_lone_surrogates
from aix_importers.session_log.records import is_text
from aix_importers.session_log.secrets import without_secrets

_REFERENCE = re.compile(r"@\((.*)\)", re.DOTALL)
_MOST_BYTES = 64 * 2**20
SCOPE = "persona"
KINDS = ("allow", "ask", "deny")
NOTHING_ALLOWED = "tools.allow=[]"
"""Stands for a list of what is allowed that names nothing, which is something else than no list."""
_TASK_STATUS = {
    "pending": "pending",
    "blocked": "pending",
    "active": "running",
    "completed": "completed",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class Program:
    """A node of the graph that takes part in conversations."""

    id: str
    type: str
    lifecycle: str | None
    config: Mapping[str, object]

    def text(self, name: str) -> str | None:
        """Return a setting that is text and not empty."""
        value = self.config.get(name)
        return value if is_text(value) and value else None

    def reference(self, name: str) -> str | None:
        """Return the id of the program that a setting refers to."""
        value = self.text(name)
        return None if value is None else referred_id(value) or value

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
        """Return the program of that id, if it is of one of the types."""
        program = self._by_id.get(program_id or "")
        return program if program and program.type in types else None

    def session(self, session_id: str, path: str) -> Program | None:
        """Return the program of a session: by its id, else by the log it names."""
        return self.find(session_id, "session") or next(
            (program for program in self.of_type("session") if _names_log(program, path)), None
        )


def referred_id(text: str) -> str | None:
    """Return the id in a reference.

    >>> referred_id("@(claude-balanced)"), referred_id("claude-balanced")
    ('claude-balanced', None)
    """
    found = _REFERENCE.fullmatch(text.strip())
    return found[1].strip() or None if found else None


def read_programs(path: str, source: Source) -> Iterator[Program | Problem]:
    """Go through the programs in a file: an array, an object by id, or JSON lines. Secrets are left out.

    Problems have no sample, because it could hold one.
    """
    with Path(path).open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        yield Problem(source, "file_too_long", f"The file of programs has more than {_MOST_BYTES} bytes.")
        return
    try:
        values = list(_values(data, source))
    except RecursionError:
        values = [Problem(source, "too_deep", "The file of programs is nested too deeply to be read.")]
    yield from values


def _values(data: bytes, source: Source) -> Iterator[Program | Problem]:
    try:
        whole = without_lone_surrogates(DECODER.decode(data.decode("utf-8-sig", "replace")))
    except ValueError:
        yield from _values_of_lines(data, source)
        return
    match whole:
        case list():
            values = whole
        case dict() if not is_text(whole.get("programType")):
            values = [
                {"id": program_id, **value} if isinstance(value, dict) else value for program_id, value in whole.items()
            ]
        case _:
            values = [whole]
    for value in values:
        yield _program(value, source)


def _values_of_lines(data: bytes, source: Source) -> Iterator[Program | Problem]:
    byte_offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.decode("utf-8-sig", "replace")
        values, end = leading_values(text)
        for value in values:
            yield _program(without_lone_surrogates(value), source, number, byte_offset)
        if end < len(text):
            yield Problem(source, "not_json", "The line is not JSON.", number, byte_offset)
        byte_offset += len(line) + 1


def _program(
    value: object, source: Source, line: int | None = None, byte_offset: int | None = None
) -> Program | Problem:
    if isinstance(value, dict) and is_text(value.get("id")) and value["id"] and is_text(value.get("programType")):
        stage = next((value[name] for name in ("lifecycle", "state") if is_text(value.get(name))), None)
        config = value.get("config")
        settings = without_secrets(config) if isinstance(config, dict) else {}
        return Program(value["id"], value["programType"], stage, settings)
    reason = "This is no program: it lacks an id or a programType."
    return Problem(source, "not_a_program", reason, line, byte_offset)


def _names_log(program: Program, path: str) -> bool:
    log = program.text("logFile")
    parts = PurePath(log).parts if log else ()
    return bool(parts) and PurePath(path).parts[-len(parts) :] == parts


class PersonaRule(NamedTuple):
    """One rule."""

    kind: str
    text: str
    position: int


def persona_rules(value: object, report: Callable[[str], object] = lambda _: None) -> list[PersonaRule] | None:
    """Return the rules of a persona, of its permissions, or of a program's settings; nothing where it has no lists.

    >>> [rule.text for rule in persona_rules({"permissions": {"tools": {"deny": ["@(shell)", "Read(/etc/*)"]}}}) or ()]
    ['shell', 'Read(/etc/*)']
    """
    for name in ("config", "permissions", "tools"):
        inner = value.get(name) if isinstance(value, dict) else None
        value = inner if isinstance(inner, dict) else value
    if not isinstance(value, dict) or not any(isinstance(value.get(kind), list) for kind in KINDS):
        return None
    found = []
    for kind in KINDS:
        entries = value.get(kind)
        for position, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, str) and entry.strip():
                found.append(PersonaRule(kind, referred_id(entry) or entry.strip(), position))
            else:
                report(f"Entry {position} of {kind} is no text.")
    if isinstance(value.get("allow"), list) and not any(rule.kind == "allow" for rule in found):
        found.append(PersonaRule("mode", NOTHING_ALLOWED, 0))
    return found


def granted_lists(rules: list[PersonaRule]) -> dict[str, object]:
    """Return the rules as the lists of `permissions_granted`; without a whitelist there is no `allow`."""
    lists: dict[str, object] = {kind: [rule.text for rule in rules if rule.kind == kind] for kind in KINDS}
    if not lists["allow"] and not any(rule.text == NOTHING_ALLOWED for rule in rules):
        del lists["allow"]
    return lists


@dataclass(frozen=True, slots=True)
class Named:
    """A model or provider, and how it was concluded where the log does not say it."""

    name: str | None
    basis: str | None = None


class SessionSettings:
    """The circumstances of one session, as far as the programs tell them."""

    def __init__(self, programs: Programs, session_id: str, path: str) -> None:
        self._programs = programs
        self._session_id = session_id
        self._session = programs.session(session_id, path)
        self.owner_id = self._session.reference("owner") if self._session else None
        self._agent = programs.find(self.owner_id, "agent")
        self._human = programs.find(self.owner_id, "human")
        tasks = self._tasks()
        task = self._task(tasks)
        self.role = "worker" if tasks else "unified"
        self.task_description = (task.text("title") or task.text("name")) if task else None
        self.task_status = _TASK_STATUS.get(task.lifecycle or "") if task else None
        self.is_completed = self._session is not None and self._session.lifecycle == "completed"
        self.routing_key = f"owner:{self.owner_id}" if self.owner_id else None
        self.toolset_name = self._agent.id if self._agent else None
        self.tools_available = self._tools(self._agent) if self._agent else None
        self.system_prompt_hash = _hash(self._agent.text("systemPrompt")) if self._agent else None
        self.principal = self.owner_id if self._agent or self._human else None
        self.on_behalf_of = self._session.reference("onBehalfOf") if self._session else None
        self.permissions_granted = self._permissions()
        defaults = (program.text("defaultModel") for program in (self._session, self._agent) if program)
        self._default_model = next((name for name in defaults if name), None)

    @property
    def query_source(self) -> Named:
        """Sender of the queries; without a program of the owner a human is only likely."""
        if self._agent:
            return Named("agent")
        return Named("human", None if self._human else "role")

    def model(self, stated: str | None) -> Named:
        """Return the model that an entry names, else the one that the session uses by default."""
        if stated is not None:
            return self._resolved(stated, "model", "modelId")
        found = self._resolved(self._default_model, "model", "modelId") if self._default_model else Named(None)
        return Named(None) if found.name is None or found.basis else Named(found.name, "session_default")

    def provider(self, stated: str | None, stated_model: str | None) -> Named:
        """Return the provider that an entry names, else the one of its model."""
        if stated is not None:
            return self._resolved(stated, "provider", "providerType")
        model = self._programs.find(referred_id(stated_model or self._default_model or ""), "model")
        provider = self._programs.find(model.reference("provider"), "provider") if model else None
        name = provider.text("providerType") if provider else None
        return Named(name, "session_default" if name and stated_model is None else None)

    def _resolved(self, stated: str, program_type: str, setting: str) -> Named:
        program_id = referred_id(stated)
        if program_id is None:
            return Named(stated)
        program = self._programs.find(program_id, program_type)
        name = program.text(setting) if program else None
        return Named(name) if name else Named(program_id, "unresolved_reference")

    def _tasks(self) -> list[Program]:
        if self._agent is None:
            return []
        current = self._agent.reference("currentTask")
        return [
            task
            for task in self._programs.of_type("task")
            if task.id == current or task.reference("assignee") == self._agent.id
        ]

    def _task(self, tasks: list[Program]) -> Program | None:
        """Return the task of this session: the one it was made for, or the only one there is."""
        if self._agent is None:
            return None
        own_names = {self._session_id, self._session.id if self._session else self._session_id}
        if self._agent.text("currentSession") in own_names:
            current = self._agent.reference("currentTask")
            return next((task for task in tasks if task.id == current), None)
        named = [task for task in tasks if self._session_id.startswith(f"{self._agent.id}_{task.id}_")]
        candidates = named or tasks
        return candidates[0] if len(candidates) == 1 else None

    @staticmethod
    def _tools(agent: Program) -> str | None:
        return compact_json(agent.references("tools")) if isinstance(agent.config.get("tools"), list) else None

    def _permissions(self) -> str | None:
        owner = self._agent or self._human
        if owner is None:
            return None
        granted: dict[str, object] = {"mode": None, "ask": [], "deny": [], "dirs": [], "policy": None}
        rules = persona_rules(owner.config)
        is_stated = rules is not None or isinstance(owner.config.get("permissions"), list)
        if rules is not None:
            granted |= granted_lists(rules)
        elif is_stated:
            granted["allow"] = owner.references("permissions")
        granted["principal"] = {"id": owner.id, "type": owner.type, "on_behalf_of": self.on_behalf_of}
        # Without a list nothing is known, whereas rules without `allow` on the word of the ontology allow everything.
        granted["basis"] = "ontology" if is_stated else "none"
        return compact_json(granted)


def _hash(text: str | None) -> str | None:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else None
