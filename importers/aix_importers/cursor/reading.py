"""Conversations of the editor, from the rows of its databases."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial

from msgspec import Raw

from aix.importing import Problem, Source
from aix_importers.cursor.conversation import Conversation, Entry, Part
from aix_importers.cursor.database import state_of
from aix_importers.cursor.key_tables import BUBBLE_PREFIX, COMPOSER_PREFIX, SourceKind, parse_key
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
    read_tool,
)
from aix_importers.cursor.turns import arrange
from aix_importers.cursor.values import (
    closed,
    count,
    field,
    fields,
    flag,
    is_filled,
    is_intact,
    items,
    json_value,
    moment,
    sample_of,
    text,
)
from aix_importers.cursor.workspaces import CHATS, COMPOSERS, folder_of, header_rows, heads_in, heads_of_item

_MOST_HELD_BYTES = 2 * 2**20
_DAMAGED_VALUE = "A value holds bytes that are not text; they were replaced, and fields that they named may be missing."
_OF_BACKUP = "A value cannot be read; that of the backup was read, which may be older."
_ATTACHMENTS = ("fileSelections", "folderSelections", "selections", "selectedImages")

Listed = tuple[str, int | None, Bubble]
"""A bubble with its key, and the kind that the list says it is of."""


def read_conversation(source: Source, values: KeyValues) -> Conversation | Problem:
    """Return a conversation in outline."""
    kind, session_id = parse_key(source.key)
    if kind == SourceKind.CHAT:
        return _read_chat(source, values, session_id)
    listed = COMPOSERS.find(values, session_id) if kind == SourceKind.INLINE else None
    data = bytes(listed) if listed is not None else json_value(values.get(COMPOSER_PREFIX + session_id))
    composer = Composer.read(data)
    problem: Problem | None = None
    if composer is None and (older := json_value(values.spare(COMPOSER_PREFIX + session_id))):
        composer = Composer.read(older)
        if composer is not None:
            problem, data = Problem(source, "damaged_value", _OF_BACKUP, sample=sample_of(data)), older
    elif data is not None and not is_intact(data):
        problem = Problem(source, "damaged_value", _DAMAGED_VALUE, sample=sample_of(data))
    if composer is None and not session_id.startswith("task-"):
        missing = "The conversation lies on a damaged page." if values.is_damaged else "The conversation is NULL."
        reason = missing if data is None else "The conversation is no JSON object."
        problem = Problem(source, "unreadable", reason, sample=sample_of(data))
        composer = Composer.read(closed(data)) if data else None
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
        self._source = source
        self._values = values
        self._id = session_id
        self._written = written
        self._has_list = given is not None
        self._composer = composer = given or Composer()
        self._tools = composer.tool_data
        self._prefix = f"{BUBBLE_PREFIX}{session_id}:"
        self._map = fields(composer.conversation_map)
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
        conversation.began_at = moment(composer.created_at) or moment(head.created_at)
        times = (moment(composer.last_updated_at), moment(head.last_updated_at))
        conversation.updated_at = max(filter(None, times), default=None)
        conversation.title = text(composer.name) or text(head.name) or None
        named = (composer.workspace_identifier, head.workspace_identifier)
        folders = (*(uri_path(field(raw, "uri")) for raw in named), *map(folder_of, self._source.sidecars))
        conversation.workspace = next(filter(None, folders), None)
        conversation.is_archived = bool(flag(composer.is_archived) or flag(head.is_archived))
        parents = (text(field(each.subagent_info, "parentComposerId")) for each in (composer, head))
        conversation.parent_id = next(parents) or next(parents)
        conversation.child_ids.update(filter(None, map(text, items(composer.subagent_composer_ids))))
        _outline(conversation, self._bubbles(), self._tools, raw_of=self._raw, report=self._report)
        for flaw in flaws_of(composer, self._written):
            self._note("unreadable_bubble", flaw)
        self._take_orphans(conversation)
        if not conversation.entries and not self._problems and not self._missing and self._has_list:
            self._note("no_messages", "The conversation has a list of messages that cannot be read.")
        missing = len(self._missing)
        if missing and not conversation.has_messages:
            self._note("no_bodies", f"The conversation lists {missing} messages, and none of them is here.")
        elif missing:
            self._note("missing_bubbles", f"Missing, though the conversation lists them: {missing} messages.")
        conversation.problems, conversation.missing = self._problems, self._missing
        return conversation

    def _head(self) -> Head:
        """Return what lists say about the conversation: the table of headers, its workspace, the item of headers."""
        for _, _, value in header_rows(self._values, self._id):
            if head := Head.read(value):
                return head
        for file in self._source.sidecars:
            folder = file.rpartition("/")[0] or file.rpartition("\\")[0]
            if head := heads_in(folder).get(self._id):
                return head
        return _headers_in(self._values.path, state_of(self._values.path)).get(self._id) or Head()

    def _bubbles(self) -> Iterator[Listed]:
        if headers := items(self._composer.full_conversation_headers_only):
            return self._headed(headers)
        if inline := items(self._composer.conversation):
            return _inline_bubbles(self._id, inline, self._inline, self._report)
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

    def _unlisted(self) -> Iterator[Listed]:
        """Go through the bubbles of a subagent whose list is gone, by their times."""
        found: list[tuple[int, int, str]] = []
        for name, row in self._names():
            bubble = self._read(name)
            if bubble is None:
                self._missing.add(name)
            else:
                found.append((bubble.time or 0, row, name))
        for _, _, name in sorted(found):
            if name not in self._listed and (bubble := self._read(name)):
                self._listed.add(name)
                yield name, None, bubble

    def _names(self) -> Iterator[tuple[str, int]]:
        """Go through the ids of all bubbles of the conversation, each with the id of its row."""
        start = len(self._prefix.encode("utf-8", "surrogateescape"))
        return ((key[start:].decode("utf-8", "surrogateescape"), row) for key, row in self._values.keys(self._prefix))

    def _read(self, key: str, *, holds: bool = False) -> Bubble | None:
        """Read a bubble; as long as there is room it is held, since it is asked for once more."""
        if key in self._held:
            return self._held.pop(key)
        name = self._prefix + key
        data = json_value(self._values.get(name))
        bubble = Bubble.read(data)
        if bubble is not None and data is not None and key not in self._checked and not is_intact(data):
            self._note("damaged_value", _DAMAGED_VALUE, sample_of(data))
        self._checked.add(key)
        if bubble is None and (bubble := Bubble.read(json_value(self._values.spare(name)))) is not None:
            self._note("damaged_value", _OF_BACKUP, sample_of(data))
        if bubble is None and key in self._map:
            bubble = Bubble.read(self._map[key])
        if bubble is None and data is not None and data != b"null":
            self._note("unreadable_bubble", "A message is no JSON object.", sample_of(data))
        if holds and bubble is not None and data is not None and len(data) <= self._room:
            self._room -= len(data)
            self._held[key] = bubble
        return bubble

    def _bubble(self, entry: Entry) -> Bubble | None:
        raw = self._inline.get(entry.key)
        bubble = Bubble.read(raw) if raw is not None else self._read(entry.key)
        if bubble is not None and read_tool(bubble.tool_former_data) is None and entry.key in self._tools:
            bubble.tool_former_data = self._tools[entry.key]
        return bubble

    def _take_orphans(self, conversation: Conversation) -> None:
        """Count bubbles that the list does not name: attempts that were replaced. Only links are taken from them."""
        orphans = 0
        prompts = (entry.time for entry in reversed(conversation.entries) if entry.part is Part.QUERY)
        last_prompt = next(prompts, 0)
        self._listed.update(self._inline)
        for name, _ in self._names():
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


@lru_cache(maxsize=2)  # asked for once per conversation
def _headers_in(path: str, state: str) -> dict[str, Head]:  # noqa: ARG001
    with KeyValues(path) as values:
        return heads_of_item(values)


def _read_chat(source: Source, values: KeyValues, session_id: str) -> Conversation | Problem:
    tab = CHATS.find(values, session_id)
    if tab is None:
        return Problem(source, "unreadable", "The chat is gone.")
    problems: list[Problem] = []

    def report(reason: str, sample: str) -> None:
        problems.append(Problem(source, "unreadable_bubble", reason, sample=sample))

    bubbles = items(field(tab, CHATS.body))
    listed = list(_inline_bubbles(session_id, bubbles, {}, report))
    inline = {key: bubble for key, _, bubble in listed}
    conversation = Conversation(source, session_id, Composer(), lambda entry: inline.get(entry.key), is_chat=True)
    conversation.updated_at = moment(field(tab, "lastSendTime"))
    conversation.title = text(field(tab, "chatTitle")) or None
    conversation.workspace = next(filter(None, map(folder_of, source.sidecars)), None)
    raws = {(Bubble.read(raw) or Bubble()).key: raw for raw in bubbles}
    _outline(conversation, listed, {}, conversation.updated_at, raw_of=raws.get, report=report)
    if not bubbles:
        problems.append(Problem(source, "no_messages", "The chat has a list of messages that cannot be read."))
    conversation.problems = problems
    return conversation


def _outline(
    conversation: Conversation,
    bubbles: Iterable[Listed],
    tools: Mapping[str, Raw],
    ended_at: int | None = None,
    *,
    raw_of: Callable[[str], bytes | Raw | None],
    report: Callable[[str, str], None],
) -> None:
    """Fill in the entries and turns; bubbles come in order, with their keys and what the list says of their kind.

    `raw_of` gives a bubble as it is written, by its key. `report` takes what is wrong with a bubble, and its key.
    """
    through: set[str | None] = set()
    last: Bubble | None = None
    for key, listed_kind, bubble in bubbles:
        tool = read_tool(bubble.tool_former_data) or read_tool(tools.get(key))
        part = _part(bubble.kind or listed_kind, bubble, tool)
        if reason := flaw_of(bubble, listed_kind, part, tool, partial(raw_of, key)):
            report(reason, key)
        if part is Part.SUMMARY:
            through.add(text(field(bubble.summary, "truncationLastBubbleIdInclusive")))
        call_id, child_ids = (text(tool.tool_call_id) or None, tool.child_ids) if tool else (None, [])
        conversation.child_ids.update(child_ids)
        conversation.entries.append(Entry(key, part, bubble.time, call_id, child_ids))
        last = bubble
    if last is not None and conversation.entries[-1].part is Part.QUERY and _is_input_box(last, conversation):
        conversation.entries.pop()
    began_at = None if conversation.is_chat else conversation.began_at
    arrange(conversation, began_at, ended_at, through)


def _part(kind: int | None, bubble: Bubble, tool: ToolData | None) -> Part:
    if kind == USER:
        return Part.QUERY
    says_nothing = tool is None and not is_filled(bubble.text) and not is_filled(bubble.raw_text)
    if says_nothing and (text(field(bubble.summary, "summary")) or text(bubble.summary)):
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


def _is_input_box(bubble: Bubble, conversation: Conversation) -> bool:
    """Whether the last bubble is what the user has not sent yet."""
    if bubble.content:
        return False
    attached = (is_filled(field(bubble.context, name)) for name in _ATTACHMENTS)
    return conversation.is_chat or not any(attached)


def _inline_bubbles(
    session_id: str, listed: Iterable[Raw], raw_by_key: dict[str, Raw], report: Callable[[str, str], None]
) -> Iterator[Listed]:
    """Go through bubbles that stand in one list, and note them by key; one without a name is called by its place."""
    for place, raw in enumerate(listed):
        bubble = Bubble.read(raw)
        if bubble is None:
            report("A message is no JSON object.", sample_of(raw) or "")
            continue
        key = bubble.key or f"{session_id}:{place}"
        if key in raw_by_key:
            report("A message repeats the id of another, and was left out.", key)
            continue
        raw_by_key[key] = raw
        if bubble.kind is None:
            report("A message does not say whose it is, and counts as the assistant's.", key)
        yield key, ASSISTANT if bubble.kind is None else None, bubble
