"""A conversation as the editor keeps it: its own facts, and the order of its bubbles."""

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix_importers.cursor.values import ABSENT, field, flag, inner, is_filled, items, moment, read, text


class Composer(Struct, rename="camel", gc=False):
    """The fields of a composer that are read. Keys of encryption stand beside them and are not."""

    composer_id: Raw = ABSENT
    name: Raw = ABSENT
    created_at: Raw = ABSENT
    last_updated_at: Raw = ABSENT
    status: Raw = ABSENT
    unified_mode: Raw = ABSENT
    force_mode: Raw = ABSENT
    is_agentic: Raw = ABSENT
    model_config: Raw = ABSENT
    conversation: Raw = ABSENT
    full_conversation_headers_only: Raw = ABSENT
    conversation_map: Raw = ABSENT
    conversation_state: Raw = ABSENT
    usage_data: Raw = ABSENT
    context_tokens_used: Raw = ABSENT
    context_token_limit: Raw = ABSENT
    latest_conversation_summary: Raw = ABSENT
    subagent_composer_ids: Raw = ABSENT
    sub_composer_ids: Raw = ABSENT
    subagent_info: Raw = ABSENT
    workspace_identifier: Raw = ABSENT
    code_block_data: Raw = ABSENT
    capabilities: Raw = ABSENT
    is_archived: Raw = ABSENT
    created_on_branch: Raw = ABSENT
    active_branch: Raw = ABSENT

    @property
    def model(self) -> str | None:
        """The model that was chosen last; `default` lets the tool choose."""
        return known_model(text(field(self.model_config, "modelName")))

    @property
    def mode(self) -> str | None:
        """The mode that was chosen last."""
        found = text(self.unified_mode) or text(self.force_mode) or None
        return "ask" if found == "chat" else found

    @property
    def was_stopped(self) -> bool:
        """Whether the last answer was broken off."""
        return text(self.status) in ("aborted", "cancelled", "error")

    @property
    def parent_id(self) -> str | None:
        """The conversation that started this one."""
        return text(field(self.subagent_info, "parentComposerId")) or None

    @property
    def has_conversation(self) -> bool:
        """Whether there is a list of bubbles, in whichever form."""
        listed = (self.full_conversation_headers_only, self.conversation)
        return any(is_filled(each) for each in listed)

    @property
    def tool_data(self) -> dict[str, Raw]:
        """The tool calls by bubble, where bubbles do not hold them."""
        for capability in items(self.capabilities):
            if field(capability, "type") == TOOL_FORMER:
                return read(_MAP, inner(field(capability, "data", "bubbleDataMap"))) or {}
        return {}

    @property
    def began_at(self) -> int | None:
        """When it began."""
        return moment(self.created_at)


TOOL_FORMER = Raw(b"15")
_COMPOSER = Decoder(Composer)
_MAP = Decoder(dict[str, Raw])
_UNKNOWN_MODELS = {"", "default", "auto"}


def known_model(name: str | None) -> str | None:
    """Return the name of a model; nothing where it leaves the choice to the tool.

    >>> known_model("default") is None, known_model("gpt-4")
    (True, 'gpt-4')
    """
    return None if name is None or name in _UNKNOWN_MODELS else name


def read_composer(data: bytes | Raw | None) -> Composer | None:
    """Return a composer; nothing where the data is no object."""
    return read(_COMPOSER, data)


class Head(Struct, rename="camel", gc=False):
    """Entry about one conversation in a list of conversations."""

    composer_id: Raw = ABSENT
    name: Raw = ABSENT
    created_at: Raw = ABSENT
    last_updated_at: Raw = ABSENT
    is_archived: Raw = ABSENT
    subagent_info: Raw = ABSENT
    workspace_identifier: Raw = ABSENT
    conversation: Raw = ABSENT

    @property
    def was_archived(self) -> bool:
        """Whether the user has put it away."""
        return bool(flag(self.is_archived))


_HEAD = Decoder(Head)


def read_head(data: bytes | Raw | None) -> Head | None:
    """Return what a list says about a conversation."""
    return read(_HEAD, data)
