"""Text sent to the model that no bubble shows: the system prompt, and details of the user's machine."""

from dataclasses import dataclass, field

from msgspec import Raw

from aix_importers.cursor.agent_state import AgentState, RootMessage
from aix_importers.cursor.composers import known_model
from aix_importers.cursor.values import field as field_of
from aix_importers.cursor.values import items, text

_QUERY = "<user_query>"


@dataclass(slots=True)
class HiddenContext:
    """Facts that only the agent's own state holds."""

    system_prompt: str | None = None
    model: str | None = None
    archives: list[str] = field(default_factory=list)
    missing: int = 0
    injected: list[str] = field(default_factory=list)

    @property
    def parts(self) -> dict[str, object]:
        """Context that came with the first message."""
        found: dict[str, object] = {}
        if self.system_prompt:
            found["system_prompt"] = self.system_prompt
        if self.injected:
            found["injected"] = self.injected
        return found


def hidden_context(state: AgentState) -> HiddenContext:
    """Return what the state of an agent knows beyond the bubbles."""
    hidden = HiddenContext(archives=list(state.archived_summaries()))
    for _, message in state.messages():
        role = text(message.role)
        if role == "system" and hidden.system_prompt is None:
            hidden.system_prompt = content_text(message)
        elif role == "user":
            said = content_text(message)
            if said and _QUERY not in said:
                hidden.injected.append(said)
        elif role == "assistant":
            hidden.model = model_of(message) or hidden.model
    hidden.missing = state.missing
    return hidden


def content_text(message: RootMessage) -> str | None:
    """Return the text of a message, which is one text or a list of parts."""
    whole = text(message.content)
    if whole is not None:
        return whole
    said = (text(field_of(part, "text")) for part in items(message.content) if kind_of(part) == "text")
    return "\n".join(filter(None, said)) or None


def kind_of(part: Raw) -> str | None:
    """Return what kind of part of a message it is."""
    return text(field_of(part, "type"))


def model_of(message: RootMessage) -> str | None:
    """Return the model that wrote a message."""
    options = (message.provider_options, *(field_of(part, "providerOptions") for part in items(message.content)))
    named = (text(field_of(each, "cursor", "modelName")) for each in options)
    return known_model(next(filter(None, named), None))
