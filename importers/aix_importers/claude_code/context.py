"""Notes of the log beside the messages: attachments, hooks, retries, snapshots of files."""

from collections.abc import Iterable

from msgspec import Raw

from aix_importers.claude_code.embedded import without_embedded_files
from aix_importers.claude_code.records import Record

_ENVELOPE = {
    "type", "subtype", "uuid", "parent_uuid", "logical_parent_uuid", "session_id", "timestamp", "is_sidechain",
    "is_meta", "cwd", "version", "git_branch", "slug", "agent_id", "user_type", "entrypoint", "unknown",
    "snake_session_id", "attachment", "team_name", "prompt_id",
}  # fmt: skip
_FIELDS = tuple(
    (attribute, name)
    for attribute, name in zip(Record.__struct_fields__, Record.__struct_encode_fields__, strict=True)
    if attribute not in _ENVELOPE
)


def context_of(records: Iterable[Record]) -> list[dict[str, object]]:
    """Return what records note, in the order of the log and without what they have in common with their message."""
    return [_noted(record) for record in records]


def _noted(record: Record) -> dict[str, object]:
    noted: dict[str, object] = {"type": record.type}
    for attribute, name in (("subtype", "subtype"), ("uuid", "uuid"), ("timestamp", "timestamp")):
        value = getattr(record, attribute)
        if value:
            noted[name] = value
    if record.attachment:
        noted["attachment"] = Raw(without_embedded_files(bytes(record.attachment)))
    for attribute, name in _FIELDS:
        value = getattr(record, attribute)
        if value not in (None, False) and not (isinstance(value, Raw) and not value):
            noted[name] = value
    if record.unknown:
        noted.update(record.unknown)
    return noted
