"""Which tools the log makes known, and which it says were allowed."""

from dataclasses import dataclass

from msgspec import Raw, Struct

from aix_importers.claude_code.records import decode_object


@dataclass(frozen=True, slots=True)
class NotedTools:
    """Tools that an attachment adds, removes or allows."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class _Attachment(Struct, gc=False, rename="camel"):
    type: str = ""
    added_names: list[str] = []
    readded_names: list[str] = []
    removed_names: list[str] = []
    allowed_tools: list[str] = []


def tools_in_attachment(attachment: Raw) -> NotedTools:
    """Return what an attachment says about tools."""
    data = bytes(attachment)
    if b'"deferred_tools_delta"' not in data and b'"command_permissions"' not in data:
        return NotedTools()
    noted = decode_object(_Attachment, data) or _Attachment()
    if noted.type == "deferred_tools_delta":
        return NotedTools((*noted.added_names, *noted.readded_names), tuple(noted.removed_names))
    return NotedTools(allowed=tuple(noted.allowed_tools)) if noted.type == "command_permissions" else NotedTools()


def tools_allowed(result: Raw) -> list[str]:
    """Return what the result of a skill or a command allows."""
    if b'"allowedTools"' not in bytes(result):
        return []
    noted = decode_object(_Attachment, result)
    return noted.allowed_tools if noted else []
