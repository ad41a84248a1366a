"""One bubble: a prompt, an answer, a thought, a tool call or a summary, in every form that was ever written."""

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix_importers.cursor.rich_text import text_of_rich
from aix_importers.cursor.values import ABSENT, count, field, first_text, inner, is_filled, moment, read, text

USER, ASSISTANT = 1, 2
_NOT_COUNTED = b'{"inputTokens":0,"outputTokens":0}'
_TYPES = {"user": USER, "ai": ASSISTANT}


class Bubble(Struct, rename="camel", gc=False):
    """The fields of a bubble that are read; each may hold anything."""

    type: Raw = ABSENT
    bubble_id: Raw = ABSENT
    id: Raw = ABSENT
    text: Raw = ABSENT
    raw_text: Raw = ABSENT
    delegate: Raw = ABSENT
    rich_text: Raw = ABSENT
    init_text: Raw = ABSENT
    created_at: Raw = ABSENT
    timestamp: Raw = ABSENT
    timing_info: Raw = ABSENT
    thinking: Raw = ABSENT
    thinking_duration_ms: Raw = ABSENT
    thinking_style: Raw = ABSENT
    turn_duration_ms: Raw = ABSENT
    capability_type: Raw = ABSENT
    tool_former_data: Raw = ABSENT
    error_details: Raw = ABSENT
    code_blocks: Raw = ABSENT
    token_count: Raw = ABSENT
    conversation_summary: Raw = ABSENT
    cached_conversation_summary: Raw = ABSENT
    context: Raw = ABSENT
    file_selections: Raw = ABSENT
    folder_selections: Raw = ABSENT
    selections: Raw = ABSENT
    selected_images: Raw = ABSENT
    attached_code_chunks: Raw = ABSENT
    attached_file_code_chunks_uris: Raw = ABSENT
    attached_file_code_chunks_metadata_only: Raw = ABSENT
    relevant_files: Raw = ABSENT
    recent_locations_history: Raw = ABSENT
    current_file_location_data: Raw = ABSENT
    file_links: Raw = ABSENT
    symbol_links: Raw = ABSENT
    multi_file_linter_errors: Raw = ABSENT
    lints: Raw = ABSENT
    approximate_lint_errors: Raw = ABSENT
    cursor_rules: Raw = ABSENT
    git_diffs: Raw = ABSENT
    todos: Raw = ABSENT
    knowledge_items: Raw = ABSENT
    human_changes: Raw = ABSENT
    diffs_since_last_apply: Raw = ABSENT
    supported_tools: Raw = ABSENT
    model_info: Raw = ABSENT
    model_type: Raw = ABSENT
    unified_mode: Raw = ABSENT
    is_agentic: Raw = ABSENT
    is_plan_execution: Raw = ABSENT
    request_id: Raw = ABSENT
    usage_uuid: Raw = ABSENT
    server_bubble_id: Raw = ABSENT
    checkpoint_id: Raw = ABSENT
    capabilities_ran: Raw = ABSENT
    context_window_status_at_creation: Raw = ABSENT

    @property
    def key(self) -> str | None:
        """Id of the bubble."""
        return first_text(self.bubble_id, self.id)

    @property
    def kind(self) -> int | None:
        """Whether it is the user's or the assistant's."""
        written = text(self.type)
        kind = _TYPES.get(written, 0) if written is not None else count(self.type)
        return kind if kind in (USER, ASSISTANT) else None

    @property
    def content(self) -> str | None:
        """Text that was said in the bubble."""
        found = first_text(
            self.text, self.raw_text, field(self.delegate, "a") if self.delegate is not ABSENT else ABSENT
        )
        return found or text_of_rich(self.rich_text) or text_of_rich(self.init_text)

    @property
    def time(self) -> int | None:
        """When it was made, as far as the bubble itself says."""
        found = moment(self.created_at)
        if found is None and self.timing_info is not ABSENT:
            found = moment(field(self.timing_info, "clientRpcSendTime"))
        return moment(self.timestamp) if found is None and self.timestamp is not ABSENT else found

    @property
    def thought(self) -> str | None:
        """Text of the model's thinking."""
        return text(field(self.thinking, "text")) or text(self.thinking) or None if is_filled(self.thinking) else None

    @property
    def tokens(self) -> tuple[int | None, int | None]:
        """Input and output as they were counted; zero means that nobody counted."""
        if self.token_count is ABSENT or bytes(self.token_count) == _NOT_COUNTED:
            return None, None
        given = count(field(self.token_count, "inputTokens")), count(field(self.token_count, "outputTokens"))
        return given if any(given) else (None, None)

    @property
    def summary(self) -> Raw:
        """The summary of what came before, where the bubble stands for one."""
        return inner(self.conversation_summary) if is_filled(self.conversation_summary) else ABSENT


_BUBBLE = Decoder(Bubble)


def read_bubble(data: bytes | Raw | None) -> Bubble | None:
    """Return a bubble; nothing where the data is no object."""
    return read(_BUBBLE, data)
