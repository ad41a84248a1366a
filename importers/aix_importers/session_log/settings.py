"""Circumstances of a session that the programs state: its owner, task, tools and default model."""

from dataclasses import dataclass
from hashlib import sha256

from aix_importers.common.json_text import compact_json
from aix_importers.session_log.personas import granted_lists, persona_rules
from aix_importers.session_log.programs import Program, Programs, referred_id

_TASK_STATUS = {
    "pending": "pending",
    "blocked": "pending",
    "active": "running",
    "completed": "completed",
    "failed": "failed",
}


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
