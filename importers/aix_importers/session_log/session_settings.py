"""The circumstances of a session: owner, task, model and permissions, as far as its log and the programs state them."""

from dataclasses import dataclass, replace
from hashlib import sha256

from aix_importers.common.json_text import compact_json
from aix_importers.session_log.persona_rules import granted_lists, persona_rules
from aix_importers.session_log.principals import Principal, read_principal
from aix_importers.session_log.programs import Program, Programs
from aix_importers.session_log.references import referred_id

_SENDERS = ("human", "agent")
_MODEL_NAMES = ("modelId", "backendModel")
"""Settings of a model that name it as its provider does: as the architecture calls it, and as its writer does."""
_TASK_STATUS = {
    **dict.fromkeys(("pending", "blocked", "assigned"), "pending"),
    **dict.fromkeys(("active", "in_progress"), "running"),
    "completed": "completed",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class Named:
    """A model or provider, and how it was concluded where the log does not say it."""

    name: str | None
    basis: str | None = None


class SessionSettings:
    """The circumstances of one session, as far as the programs state them."""

    def __init__(self, programs: Programs, session_id: str, path: str) -> None:
        self._programs = programs
        self._session_id = session_id
        self._session = programs.session(session_id, path)
        self.owner_id = self._reference("owner", "agent")
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
        defaults = (program.text("defaultModel") for program in (self._session, self._agent) if program)
        self._default_model = next((name for name in defaults if name), None)

    def query_source(self, stated: Principal | None = None) -> Named:
        """Return the sender of a query; without a principal and a program of the owner a human is only likely."""
        if stated is not None and stated.type in _SENDERS:
            return Named(stated.type)
        if self._agent:
            return Named("agent")
        return Named("human", None if self._human else "role")

    def principal(self, stated: Principal | None) -> Principal | None:
        """Return in whose name a turn acts: the principal that its log states, else the owner of the session."""
        owner = self._agent or self._human
        if stated is not None and stated.id is not None:
            program = self._programs.find(stated.id, *_SENDERS)
            return replace(stated, type=stated.type or (program.type if program else None))
        if owner is None:
            return stated
        of_owner = (read_principal(program.config) for program in (self._session, owner) if program)
        chained = next((each for each in (stated, *of_owner) if each and each.chain), Principal(None))
        return Principal(owner.id, owner.type, chained.chain, chained.chain_types)

    def permissions_granted(self, principal: Principal | None) -> str | None:
        """Return the permissions that the program of a principal lists."""
        if principal is None or principal.id is None:
            return None
        granted: dict[str, object] = {"mode": None, "ask": [], "deny": [], "dirs": [], "policy": None}
        program = self._programs.find(principal.id, *_SENDERS)
        rules = persona_rules(program.config) if program else None
        is_stated = rules is not None or (program is not None and isinstance(program.config.get("permissions"), list))
        if rules is not None:
            granted |= granted_lists(rules)
        elif program is not None and is_stated:
            granted["allow"] = program.references("permissions")
        who: dict[str, object] = {"id": principal.id, "type": principal.type, "on_behalf_of": principal.on_behalf_of}
        who |= {"chain": principal.chain} if len(principal.chain) > 1 else {}
        granted["principal"] = who | ({"chain_types": principal.chain_types} if principal.chain_types else {})
        # Without a list nothing is known, whereas rules without `allow` on the word of the ontology allow everything.
        granted["basis"] = "ontology" if is_stated else "none"
        return compact_json(granted)

    def model(self, stated: str | None) -> Named:
        """Return the model that an entry names, else the one that the session uses by default."""
        if stated is not None:
            return self._resolved(stated, "model", *_MODEL_NAMES)
        found = self._resolved(self._default_model, "model", *_MODEL_NAMES) if self._default_model else Named(None)
        return Named(None) if found.name is None or found.basis else Named(found.name, "session_default")

    def provider(self, stated: str | None, stated_model: str | None) -> Named:
        """Return the provider that an entry names, else the one of its model."""
        if stated is not None:
            return self._resolved(stated, "provider", "providerType")
        model = self._programs.find(referred_id(stated_model or self._default_model or ""), "model")
        reference = model.reference("provider") if model else None
        name = self._programs.named(f"@({reference})", "provider", "providerType") if reference else None
        return Named(name, "session_default" if name and stated_model is None else None)

    def _resolved(self, stated: str, program_type: str, *settings: str) -> Named:
        program_id = referred_id(stated)
        if program_id is None:
            return Named(stated)
        name = self._programs.named(stated, program_type, *settings)
        return Named(name) if name else Named(program_id, "unresolved_reference")

    def _reference(self, *settings: str) -> str | None:
        """Return the id that the session's program states in the first of these settings."""
        if self._session is None:
            return None
        return next((found for name in settings if (found := self._session.reference(name))), None)

    def _tasks(self) -> list[Program]:
        if self._agent is None:
            return []
        own = (self._agent.reference("currentTask"), self._reference("task", "currentTask"))
        return [
            task
            for task in self._programs.of_type("task")
            if task.id in own or task.reference("assignee") == self._agent.id
        ]

    def _task(self, tasks: list[Program]) -> Program | None:
        """Return the task of this session: the one it was made for, or the only one there is."""
        if self._agent is None:
            return None
        own_names = {self._session_id, self._session.id if self._session else self._session_id}
        own = self._reference("task", "currentTask")
        if own is None and self._agent.reference("currentSession") in own_names:
            own = self._agent.reference("currentTask")
        if own is not None:
            return next((task for task in tasks if task.id == own), None)
        named = [task for task in tasks if self._session_id.startswith(f"{self._agent.id}_{task.id}_")]
        candidates = named or tasks
        return candidates[0] if len(candidates) == 1 else None

    @staticmethod
    def _tools(agent: Program) -> str | None:
        return compact_json(agent.references("tools")) if isinstance(agent.config.get("tools"), list) else None


def _hash(text: str | None) -> str | None:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else None
