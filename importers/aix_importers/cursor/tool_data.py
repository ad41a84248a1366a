"""Data that is kept of one use of a tool."""

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix_importers.cursor.values import ABSENT, field, inner, is_filled, read, text

TASK_TOOLS = {"task", "task_v2", "subagent", "background_composer_followup"}


class ToolData(Struct, rename="camel", gc=False):
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
    model_call_id: Raw = ABSENT

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


_TOOL = Decoder(ToolData)


def read_tool(raw: Raw | None) -> ToolData | None:
    """Return a tool call; nothing for what has no name, which is no call."""
    found = read(_TOOL, raw)
    return found if found is not None and text(found.name) else None
