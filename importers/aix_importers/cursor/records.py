"""Records of the editor: conversations, bubbles and tool calls, in every form that was ever written."""

from msgspec import MsgspecError, Raw
from msgspec.json import Decoder

from aix_importers.common.vendors import vendor_of
from aix_importers.cursor.values import (
    ABSENT,
    Record,
    count,
    field,
    fields,
    first_text,
    inner,
    is_filled,
    items,
    moment,
    text,
    text_of_rich,
)

ORIGIN = "cursor"
"""Name of the tool in the ledger."""
TOOL_FORMER = Raw(b"15")
_UNKNOWN_MODELS = {"", "default", "auto"}
USER, ASSISTANT = 1, 2
_NOT_COUNTED = b'{"inputTokens":0,"outputTokens":0}'
_TYPES = {"user": USER, "ai": ASSISTANT}
TASK_TOOLS = {"task", "task_v2", "subagent", "background_composer_followup"}
_OWN_MODELS = ("composer", "cursor")


class Composer(Record):
    """The fields of a composer that are read. Keys of encryption stand beside them and are not."""

    name: Raw = ABSENT
    created_at: Raw = ABSENT
    last_updated_at: Raw = ABSENT
    status: Raw = ABSENT
    unified_mode: Raw = ABSENT
    force_mode: Raw = ABSENT
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
    subagent_info: Raw = ABSENT
    workspace_identifier: Raw = ABSENT
    code_block_data: Raw = ABSENT
    capabilities: Raw = ABSENT
    is_archived: Raw = ABSENT
    created_on_branch: Raw = ABSENT

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
    def has_conversation(self) -> bool:
        """Whether there is a list of bubbles, in whichever form."""
        listed = (self.full_conversation_headers_only, self.conversation)
        return any(is_filled(each) for each in listed)

    @property
    def tool_data(self) -> dict[str, Raw]:
        """The tool calls by bubble, where bubbles do not hold them."""
        for capability in items(self.capabilities):
            if field(capability, "type") == TOOL_FORMER:
                return fields(inner(field(capability, "data", "bubbleDataMap")))
        return {}


def known_model(name: str | None) -> str | None:
    """Return the name of a model; nothing where it leaves the choice to the tool.

    >>> known_model("default") is None, known_model("gpt-4")
    (True, 'gpt-4')
    """
    return None if name is None or name in _UNKNOWN_MODELS else name


class Head(Record):
    """Entry about one conversation in a list of conversations."""

    composer_id: Raw = ABSENT
    name: Raw = ABSENT
    created_at: Raw = ABSENT
    last_updated_at: Raw = ABSENT
    is_archived: Raw = ABSENT
    subagent_info: Raw = ABSENT
    workspace_identifier: Raw = ABSENT


class Bubble(Record):
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


class ToolData(Record):
    """The fields of a tool call that are read."""

    tool: Raw = ABSENT
    name: Raw = ABSENT
    tool_call_id: Raw = ABSENT
    status: Raw = ABSENT
    raw_args: Raw = ABSENT
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT
    user_decision: Raw = ABSENT
    additional_data: Raw = ABSENT
    tool_call_binary: Raw = ABSENT

    @property
    def child_ids(self) -> list[str]:
        """The conversations that a call may have started, by every way in which it can name them."""
        if text(self.name) not in TASK_TOOLS:
            return []
        call_id = text(self.tool_call_id)
        named = (
            text(field(self.additional_data, "subagentComposerId")),
            text(field(inner(self.result), "agentId")) if is_filled(self.result) else None,
            text(field(inner(field(self.additional_data, "composerData")), "composerId")),
            f"task-{call_id}" if call_id else None,
        )
        return list(dict.fromkeys(filter(None, named)))


def read_tool(raw: Raw | None) -> ToolData | None:
    """Return a tool call; nothing for what has no name, which is no call."""
    found = ToolData.read(raw)
    return found if found is not None and text(found.name) else None


class Result(Record):
    """Result of a call, as far as files, lints and its end are concerned."""

    contents: Raw = ABSENT
    start_line_one_indexed: Raw = ABSENT
    end_line_one_indexed_inclusive: Raw = ABSENT
    total_lines_in_file: Raw = ABSENT
    diff: Raw = ABSENT
    success: Raw = ABSENT
    directories: Raw = ABSENT
    code_results: Raw = ABSENT
    linter_errors: Raw = ABSENT
    linter_errors_by_file: Raw = ABSENT
    rejected: Raw = ABSENT
    path: Raw = ABSENT


_RESULT = Decoder(Result)


def decode_result(written: str) -> Result | None:
    """Return a result that is a JSON object in every detail; nothing where it is not."""
    try:
        return _RESULT.decode(written)
    except (MsgspecError, ValueError, RecursionError):
        return None


def provider_of(model: str | None) -> str | None:
    """Return the vendor; NULL where the name does not tell.

    >>> provider_of("claude-4.5-sonnet-thinking"), provider_of("composer-2.5"), provider_of("mystery")
    ('anthropic', 'cursor', None)
    """
    return "cursor" if model is not None and model.startswith(_OWN_MODELS) else vendor_of(model)
