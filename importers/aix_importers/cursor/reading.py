"""Conversations of the editor, from the rows of its databases."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial

from msgspec import Raw

from aix.importing import Problem, Source
from aix_importers.cursor.conversation import Conversation, Entry, Part
from aix_importers.cursor.database import state_of
from aix_importers.cursor.key_tables import (
    BUBBLE_PREFIX,
    CHAT,
    COMPOSER_PREFIX,
    HEADERS_ITEM,
    parse_key,
)
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.losses import flaw_of, flaws_of
from aix_importers.cursor.paths import uri_path
from aix_importers.cursor.records import (
    ASSISTANT,
    USER,
    Bubble,
    Composer,
    Head,
    ToolData,
    read_bubble,
    read_composer,
    read_head,
    read_tool,
)
from aix_importers.cursor.turns import add_latest_summary, chain, divide, set_times
from aix_importers.cursor.values import (
    ABSENT,
    closed,
    count,
    field,
    fields,
    is_filled,
    is_intact,
    items,
    json_value,
    moment,
    sample_of,
    text,
)
from aix_importers.cursor.workspaces import CHATS, COMPOSERS, Workspace, folder_of, header_rows, heads_in, heads_of

_ATTACHMENTS = ("fileSelections", "folderSelections", "selections", "selectedImages")


def outline(
    conversation: Conversation,
    bubbles: Iterable[tuple[str, int | None, Bubble]],
    tools: Mapping[str, Raw],
    ended_at: int | None = None,
    *,
    raw_of: Callable[[str], bytes | Raw | None],
    report: Callable[[str, str], None],
) -> None:
    """Fill in the entries and turns; bubbles come in order, with their keys and what the list says of their kind.

    `raw_of` gives a bubble as it is written, by its key. `report` takes what is wrong with a bubble, and its key.
    """
    through: dict[str, str | None] = {}
    last: Bubble | None = None
    for key, listed_kind, bubble in bubbles:
        tool = read_tool(bubble.tool_former_data) or read_tool(tools.get(key))
        entry = _entry(key, bubble.kind or listed_kind, bubble, tool)
        if reason := flaw_of(bubble, listed_kind, entry.part, tool, partial(raw_of, key)):
            report(reason, key)
        if entry.part is Part.SUMMARY:
            through[key] = text(field(bubble.summary, "truncationLastBubbleIdInclusive"))
        conversation.child_ids.update(entry.child_ids)
        conversation.entries.append(entry)
        last = bubble
    if last is not None and conversation.entries[-1].part is Part.QUERY and _is_input_box(last, conversation):
        conversation.entries.pop()
    began_at = None if conversation.is_chat else conversation.began_at
    conversation.time_basis = set_times(conversation.entries, began_at, ended_at)
    conversation.turns = divide(conversation.entries)
    latest = conversation.composer.latest_conversation_summary
    add_latest_summary(conversation.turns, conversation.entries, latest, through)
    chain(conversation.turns)


def _entry(key: str, kind: int | None, bubble: Bubble, tool: ToolData | None) -> Entry:
    return Entry(
        key,
        _part(kind, bubble, tool),
        bubble.time,
        text(tool.tool_call_id) or None if tool else None,
        tuple(tool.child_ids) if tool else (),
    )


def _part(kind: int | None, bubble: Bubble, tool: ToolData | None) -> Part:
    if kind == USER:
        return Part.QUERY
    says_nothing = tool is None and not is_filled(bubble.text) and not is_filled(bubble.raw_text)
    if says_nothing and _has_summary(bubble):
        return Part.SUMMARY
    is_message = (
        not says_nothing
        or bubble.thought is not None
        or is_filled(bubble.error_details)
        or is_filled(bubble.code_blocks)
        or any(bubble.tokens)
        or bool(bubble.content)
    )
    return Part.ANSWER if is_message else Part.ARTEFACT


def _has_summary(bubble: Bubble) -> bool:
    summary = bubble.summary
    return bool(text(field(summary, "summary")) or text(summary))


def _is_input_box(bubble: Bubble, conversation: Conversation) -> bool:
    """Whether the last bubble is what the user has not sent yet."""
    if bubble.content:
        return False
    attached = (is_filled(field(bubble.context, name)) for name in _ATTACHMENTS)
    return conversation.is_chat or not any(attached)


def inline_bubbles(
    session_id: str, listed: Iterable[Raw], report: Callable[[str, str], None]
) -> Iterator[tuple[str, int | None, Bubble]]:
    """Go through bubbles that stand in one list; one without a name is called by its place."""
    seen: set[str] = set()
    for place, raw in enumerate(listed):
        bubble = read_bubble(raw)
        if bubble is None:
            report("A message is no JSON object.", sample_of(raw) or "")
            continue
        key = bubble.key or f"{session_id}:{place}"
        if key in seen:
            report("A message repeats the id of another, and was left out.", key)
            continue
        seen.add(key)
        if bubble.kind is None:
            report("A message does not say whose it is, and counts as the assistant's.", key)
        yield key, ASSISTANT if bubble.kind is None else None, bubble


_MOST_HELD_BYTES = 2 * 2**20
_DAMAGED_VALUE = "A value holds bytes that are not text; they were replaced, and fields that they named may be missing."
_OF_BACKUP = "A value cannot be read; that of the backup was read, which may be older."
Listed = tuple[str, int | None, Bubble]


def read_conversation(source: Source, values: KeyValues) -> Conversation | Problem:
    """Return a conversation in outline."""
    kind, session_id = parse_key(source.key)
    if kind == CHAT:
        return _read_chat(source, values, session_id)
    listed = _inline_composer(values, session_id) if kind == "inline" else None
    data = bytes(listed) if listed is not None else json_value(values.get(COMPOSER_PREFIX + session_id))
    composer = read_composer(data)
    problem: Problem | None = None
    if composer is None and (older := json_value(values.spare(COMPOSER_PREFIX + session_id))):
        composer = read_composer(older)
        if composer is not None:
            problem, data = Problem(source, "damaged_value", _OF_BACKUP, sample=sample_of(data)), older
    elif data is not None and not is_intact(data):
        problem = Problem(source, "damaged_value", _DAMAGED_VALUE, sample=sample_of(data))
    if composer is None and not session_id.startswith("task-"):
        missing = "The conversation lies on a damaged page." if values.is_damaged else "The conversation is NULL."
        reason = missing if data is None else "The conversation is no JSON object."
        problem = Problem(source, "unreadable", reason, sample=sample_of(data))
        composer = read_composer(closed(data)) if data else None
        if composer is None or not items(composer.conversation):
            composer = None
            if next(values.keys(f"{BUBBLE_PREFIX}{session_id}:"), None) is None:
                return problem
    reader = _ComposerReader(source, values, session_id, composer, data or b"")
    conversation = reader.read()
    if problem is not None:
        conversation.problems.insert(0, problem)
    return conversation


class _ComposerReader:
    """Reads one composer."""

    def __init__(
        self, source: Source, values: KeyValues, session_id: str, given: Composer | None, written: bytes
    ) -> None:
        composer = given or Composer()
        self._written = written
        self._has_list = given is not None
        self._source = source
        self._values = values
        self._id = session_id
        self._composer = composer
        self._tools = composer.tool_data
        self._prefix = f"{BUBBLE_PREFIX}{session_id}:"
        self._prefix_bytes = self._prefix.encode("utf-8", "surrogateescape")
        self._map = fields(composer.conversation_map) if is_filled(composer.conversation_map) else {}
        self._inline: dict[str, Raw] = {}
        self._missing: set[str] = set()
        self._problems: list[Problem] = []
        self._listed: set[str] = set()
        self._held: dict[str, Bubble] = {}
        self._room = _MOST_HELD_BYTES
        self._checked: set[str] = set()
        """Keys of the bubbles whose bytes were looked at: a bubble is read twice where there is no room to hold it."""

    def read(self) -> Conversation:
        composer, head = self._composer, self._head()
        conversation = Conversation(self._source, self._id, composer, self._bubble)
        conversation.began_at = composer.began_at or (moment(head.created_at) if head else None)
        times = (moment(composer.last_updated_at), moment(head.last_updated_at) if head else None)
        conversation.updated_at = max(filter(None, times), default=None)
        conversation.title = text(composer.name) or (text(head.name) if head else None) or None
        conversation.workspace = self._workspace(head)
        conversation.is_archived = composer.is_archived == Raw(b"true") or bool(head and head.was_archived)
        conversation.parent_id = composer.parent_id or (
            text(field(head.subagent_info, "parentComposerId")) if head else None
        )
        conversation.child_ids.update(filter(None, map(text, items(composer.subagent_composer_ids))))
        outline(conversation, self._bubbles(), self._tools, raw_of=self._raw, report=self._report)
        for flaw in flaws_of(composer, self._written):
            self._note("unreadable_bubble", flaw)
        self._take_orphans(conversation)
        if not conversation.entries and not self._problems and not self._missing and self._has_list:
            self._note("no_messages", "The conversation has a list of messages that cannot be read.")
        if not conversation.has_messages and self._missing:
            self._note("no_bodies", f"The conversation lists {len(self._missing)} messages, and none of them is here.")
        elif self._missing:
            self._note(
                "missing_bubbles", f"Missing, though the conversation lists them: {len(self._missing)} messages."
            )
        conversation.problems, conversation.missing = self._problems, self._missing
        return conversation

    def _head(self) -> Head | None:
        for _, _, value in header_rows(self._values, self._id):
            if head := read_head(value):
                return head
        for file in self._source.sidecars:
            folder = file.rpartition("/")[0] or file.rpartition("\\")[0]
            if head := heads_in(Workspace(folder)).get(self._id):
                return head
        return _listed_heads(self._values).get(self._id)

    def _workspace(self, head: Head | None) -> str | None:
        named = (self._composer.workspace_identifier, head.workspace_identifier if head else ABSENT)
        folders = (uri_path(field(raw, "uri")) for raw in named if is_filled(raw))
        return next(filter(None, (*folders, *(folder_of(file) for file in self._source.sidecars))), None)

    def _bubbles(self) -> Iterator[Listed]:
        headers = items(self._composer.full_conversation_headers_only)
        if headers:
            return self._headed(headers)
        inline = items(self._composer.conversation)
        if inline:
            return self._kept_inline(inline)
        is_list_gone = self._id.startswith("task-") or not self._has_list
        return self._unlisted() if is_list_gone else iter(())

    def _headed(self, headers: list[Raw]) -> Iterator[Listed]:
        for header in headers:
            key = text(field(header, "bubbleId"))
            if not key or key in self._listed:
                continue
            self._listed.add(key)
            bubble = self._read(key, holds=True)
            if bubble is None:
                self._missing.add(key)
            else:
                yield key, count(field(header, "type")), bubble

    def _kept_inline(self, inline: list[Raw]) -> Iterator[Listed]:
        for place, raw in enumerate(inline):
            bubble = read_bubble(raw)
            key = (bubble.key if bubble else None) or f"{self._id}:{place}"
            self._inline.setdefault(key, raw)
            self._listed.add(key)
        yield from inline_bubbles(self._id, inline, self._report)

    def _unlisted(self) -> Iterator[Listed]:
        """Go through the bubbles of a subagent whose list is gone, by their times."""
        found: list[tuple[int, int, str]] = []
        for key, row in self._values.keys(self._prefix):
            name = key[len(self._prefix_bytes) :].decode("utf-8", "surrogateescape")
            bubble = self._read(name)
            if bubble is None:
                self._missing.add(name)
            else:
                found.append((bubble.time or 0, row, name))
        for _, _, name in sorted(found):
            if name not in self._listed and (bubble := self._read(name)):
                self._listed.add(name)
                yield name, None, bubble

    def _read(self, key: str, *, holds: bool = False) -> Bubble | None:
        """Read a bubble; as long as there is room it is held, since it is asked for once more."""
        if key in self._held:
            return self._held.pop(key)
        name = self._prefix + key
        data = json_value(self._values.get(name))
        bubble = read_bubble(data)
        if bubble is not None and data is not None and key not in self._checked and not is_intact(data):
            self._note("damaged_value", _DAMAGED_VALUE, sample_of(data))
        self._checked.add(key)
        if bubble is None and (bubble := read_bubble(json_value(self._values.spare(name)))) is not None:
            self._note("damaged_value", _OF_BACKUP, sample_of(data))
        if bubble is None and key in self._map:
            bubble = read_bubble(self._map[key])
        if bubble is None and data is not None and data != b"null":
            self._note("unreadable_bubble", "A message is no JSON object.", sample_of(data))
        if holds and bubble is not None and data is not None and len(data) <= self._room:
            self._room -= len(data)
            self._held[key] = bubble
        return bubble

    def _bubble(self, entry: Entry) -> Bubble | None:
        raw = self._inline.get(entry.key)
        bubble = read_bubble(raw) if raw is not None else self._read(entry.key)
        if bubble is not None and read_tool(bubble.tool_former_data) is None and entry.key in self._tools:
            bubble.tool_former_data = self._tools[entry.key]
        return bubble

    def _take_orphans(self, conversation: Conversation) -> None:
        """Count bubbles that the list does not name: attempts that were replaced. Only links are taken from them."""
        orphans = 0
        prompts = [entry.time for entry in conversation.entries if entry.part is Part.QUERY]
        last_prompt = prompts[-1] if prompts else 0
        for key, _ in self._values.keys(self._prefix):
            name = key[len(self._prefix_bytes) :].decode("utf-8", "surrogateescape")
            if name in self._listed:
                continue
            self._listed.add(name)
            bubble = self._read(name)
            if bubble is None:
                continue
            orphans += 1
            tool = read_tool(bubble.tool_former_data)
            conversation.child_ids.update(tool.child_ids if tool else ())
            if is_filled(bubble.error_details) and (bubble.time or 0) > last_prompt:
                conversation.orphan_error = text(field(bubble.error_details, "message")) or "error"
        calls = len(self._tools.keys() - self._listed)
        if orphans or calls:
            counted = f"{orphans} bubbles" + (f" and {calls} calls" if calls else "")
            self._note("orphan_bubbles", f"Left out, since they belong to attempts that were replaced: {counted}.")

    def _raw(self, key: str) -> bytes | Raw | None:
        return self._inline.get(key) or json_value(self._values.get(self._prefix + key))

    def _report(self, reason: str, sample: str) -> None:
        self._note("unreadable_bubble", reason, sample)

    def _note(self, kind: str, reason: str, sample: str | None = None) -> None:
        problem = Problem(self._source, kind, reason, sample=sample)
        if problem not in self._problems:
            self._problems.append(problem)


def _listed_heads(values: KeyValues) -> dict[str, Head]:
    return _headers_in(values.path, state_of(values.path))


@lru_cache(maxsize=2)  # asked for once per conversation
def _headers_in(path: str, state: str) -> dict[str, Head]:  # noqa: ARG001
    with KeyValues(path) as values:
        return heads_of(items(field(values.item(HEADERS_ITEM), "allComposers")))


def _inline_composer(values: KeyValues, session_id: str) -> Raw | None:
    for item in COMPOSERS.entries(values):
        if text(field(item, "composerId")) == session_id:
            return item
    return None


def _read_chat(source: Source, values: KeyValues, session_id: str) -> Conversation | Problem:
    for tab in CHATS.entries(values):
        if text(field(tab, "tabId")) == session_id:
            break
    else:
        return Problem(source, "unreadable", "The chat is gone.")
    problems: list[Problem] = []

    def report(reason: str, sample: str) -> None:
        problems.append(Problem(source, "unreadable_bubble", reason, sample=sample))

    bubbles = items(field(tab, CHATS.body))
    inline = {key: bubble for key, _, bubble in inline_bubbles(session_id, bubbles, report)}
    conversation = Conversation(source, session_id, Composer(), lambda entry: inline.get(entry.key), is_chat=True)
    conversation.updated_at = moment(field(tab, "lastSendTime"))
    conversation.title = text(field(tab, "chatTitle")) or None
    conversation.workspace = next(filter(None, map(folder_of, source.sidecars)), None)
    raws = {(read_bubble(raw) or Bubble()).key: raw for raw in bubbles}
    listed = ((key, ASSISTANT if bubble.kind is None else None, bubble) for key, bubble in inline.items())
    outline(conversation, listed, {}, conversation.updated_at, raw_of=raws.get, report=report)
    if not bubbles:
        problems.append(Problem(source, "no_messages", "The chat has a list of messages that cannot be read."))
    conversation.problems = problems
    return conversation
