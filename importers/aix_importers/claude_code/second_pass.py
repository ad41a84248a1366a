"""The second pass over transcripts: the content of each record, put into its turn."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
from msgspec import Raw

from aix.importing import Rows
from aix_importers.claude_code.calls import CallResult, OpenCall, results_in
from aix_importers.claude_code.classification import (
    QUEUE_OPERATIONS,
    SYNTHETIC,
    Kind,
    decode_progress,
    decode_queued,
    kind_of_assistant,
    kind_of_system,
    kind_of_user,
    said,
)
from aix_importers.claude_code.copies import Copies
from aix_importers.claude_code.extra_json import without_embedded_files
from aix_importers.claude_code.facts import (
    CompactionFacts,
    FactsOf,
    OpenMessage,
    RecordPlace,
    ThreadFacts,
    TurnFacts,
    tools_allowed,
)
from aix_importers.claude_code.message_rows import MessageRows
from aix_importers.claude_code.reading import tools_of
from aix_importers.claude_code.records import (
    Block,
    Message,
    Record,
    decode_blocks,
    decode_message,
    text_of,
)
from aix_importers.claude_code.scan import MessageKeys, Scan, queue_key
from aix_importers.claude_code.turns import Placement, Thread, Turn
from aix_importers.claude_code.usage import Requests
from aix_importers.common.claude_code_record_types import COUNTED_TYPES
from aix_importers.common.times import UNDATED, read_time

_ROLES = {
    Kind.PROMPT: "user",
    Kind.NOTICE: "user",
    Kind.QUEUED: "user",
    Kind.QUEUED_NOTICE: "user",
    Kind.RESULT: "tool",
}
_TEAMMATE = "<teammate-message"
_STOP_HOOK = "Stop hook feedback:"


class SecondPass:
    """Reads files once more, and makes rows of what their records say."""

    def __init__(
        self, scans: Sequence[Scan], placement: Placement, copies: Copies, requests: Requests, rows: MessageRows
    ) -> None:
        self._scans = scans
        self._placement = placement
        self._copies = copies
        self._requests = requests
        self._rows = rows
        self.turns = FactsOf(TurnFacts)
        self.compactions = FactsOf(CompactionFacts)
        self.threads = FactsOf(ThreadFacts)
        self._open_messages: dict[str, OpenMessage] = {}
        self._call_owners: dict[str, str] = {}
        """By id of a call: the message that made the first call of that id."""
        self._open_calls: dict[str, OpenCall] = {}
        self._early_results: dict[str, tuple[RecordPlace, CallResult]] = {}
        self._with_requests: set[Turn] = set()
        """Turns in which, or after which, a request was told."""
        self._untold = {scan for scan in scans if scan.is_conversation}
        self._later: dict[Scan, list[tuple[Record, Message, Turn, str]]] = {}
        """By file of a subagent: what only the session's file, which comes before it, shows of the subagent."""
        self._noted: set[str] = set()
        """Records that are kept as context."""
        self.without_message: list[RecordPlace] = []
        """Records that would be context of a message, in conversations that have none."""
        self.without_call: list[RecordPlace] = []
        """Results of calls that were placed, but stand in no record that was taken."""

    def run(self, main_threads: Mapping[Scan, Thread], shown: Collection[tuple[Scan, str]]) -> Iterator[Rows]:
        """Go through the rows of all files, in their order; `shown` says by file which subagents its progress shows."""
        self._shown = shown
        for scan in self._scans:
            if scan.is_conversation:
                yield from self._read_file(scan, main_threads.get(scan))
        for message in self._open_messages.values():
            self._finish_answer(message)
        for facts in self.threads.values():
            self._finish_message(facts)
            self.without_message += facts.early_places
        self.without_call += (place for place, _ in self._early_results.values())
        for call in self._open_calls.values():
            self._rows.add_call(call, None)
        yield from self._rows.writer.take()

    def _read_file(self, scan: Scan, thread: Thread | None) -> Iterator[Rows]:
        self._scan = scan
        self._untold.discard(scan)
        self._current_calls: dict[str, str] = {}
        self._message_keys = MessageKeys()
        self._main = self.threads[thread] if thread else None
        self._offset, self._line = -1, 0
        self._told_here: set[str] = set()
        """Records that were told of this line, which may hold several."""
        for located in scan.read_again():
            if located.byte_offset != self._offset:
                self._offset, self._line = located.byte_offset, located.line
                self._told_here.clear()
            self._take(located.record)
            if self._rows.writer.is_full():
                yield from self._rows.writer.take()
        for found in self._later.pop(scan, ()):
            self._say(*found)
        if self._main is not None and self._main.early_places:
            self._hand_over(self._main)
        scan.kept = None

    def _hand_over(self, facts: ThreadFacts) -> None:
        """Give the context of a file whose messages are all copies to the conversation that has them."""
        latest = facts.thread.latest
        told = self.threads[latest.thread].last_message if latest is not None else None
        if told is None:
            return
        told.context += (record for record in facts.early_context if record.uuid not in self._noted)
        facts.early_context, facts.early_places = [], []

    def _take(self, record: Record) -> None:
        match record.type:
            case "user" | "assistant":
                self._conversation(record)
            case "system":
                self._system(record)
            case "attachment":
                self._attachment(record)
            case "queue-operation":
                self._queued_prompt(record)
            case "progress":
                self._progress(record)
            case "permission-mode":
                if self._main and record.permission_mode:
                    self._main.mode = record.permission_mode
            case other if other not in COUNTED_TYPES:
                self._note(self._main, record)
            case _:
                pass

    def _progress(self, record: Record) -> None:
        progress = decode_progress(record)
        if progress is None:
            return
        if not progress.is_of_agent:
            self._note(self._main, record)
            return
        nested, agent_id = progress.record, self._scan.agent_in(record, progress)
        if nested is None or (self._scan, agent_id or "") not in self._shown:
            return
        nested.cwd, nested.git_branch, nested.version = record.cwd, record.git_branch, record.version
        nested.agent_id = agent_id
        self._conversation(nested)

    def _conversation(self, record: Record) -> None:
        found = self._placed(record)
        if found is None:
            return
        thread = found[2].thread
        if thread.scan in self._untold and record.uuid in thread.borrowed:
            self._later.setdefault(thread.scan, []).append(found)
        else:
            self._say(*found)

    def _placed(self, record: Record) -> tuple[Record, Message, Turn, str] | None:
        """Return a record with its message, its turn and the name of the message, if it is to be told here."""
        uuid = record.uuid
        if uuid is None:
            return None
        message = decode_message(record.message)
        key = self._message_keys.of(message.id, record.agent_id, uuid) if message.id else uuid
        turn = self._turn_told_here(uuid)
        return (record, message, turn, key) if turn else None  # the key, which a copy may spell differently

    def _say(self, record: Record, message: Message, turn: Turn, key: str) -> None:
        better = self._copies.best(record.uuid or "")
        if better is not None:  # it says more, but what it is called stays what it is called here
            message.content = decode_message(better.message).content
            record.tool_use_result = better.tool_use_result
        blocks = decode_blocks(message.content)
        if record.type == "assistant":
            self._assistant(record, message, blocks, turn, key)
        else:
            self._user(record, message, blocks, turn)

    def _turn_told_here(self, uuid: str) -> Turn | None:
        """Return the turn of a record, if what the record says is taken from this copy of it."""
        turn = self._placement.turn_of.get(uuid) or self._placement.waited.get(uuid)
        if turn is None or uuid in self._placement.replayed:
            return None
        if uuid in self._told_here or not self._copies.is_first(uuid, self._scan, self._offset):
            return None
        self._told_here.add(uuid)
        return turn

    def _assistant(self, record: Record, message: Message, blocks: list[Block], turn: Turn, key: str) -> None:
        facts = self.threads[turn.thread]
        if kind_of_assistant(message, blocks) is Kind.NO_RESPONSE:
            self._open(facts, record, turn, "system", "event", record.uuid or "").add(record, message, blocks)
            return
        opened = self._open_messages.get(key)
        if opened is None:
            opened = self._new_message(facts, record, turn, "assistant", None, key)
            self._open_messages[key] = opened
            self._begin_request(facts, turn, key)
        opened.add(record, message, blocks)
        opened.is_error = bool(record.is_api_error_message) or message.model == SYNTHETIC
        if message.id:
            opened.metadata["message_id"] = message.id
        for name, value in (("request_id", record.request_id), ("stop_reason", message.stop_reason)):
            if value:
                opened.metadata[name] = value
        for number, block in enumerate(blocks):
            if block.type == "tool_use":
                block.id = block.id or f"{record.uuid}:{number}"  # no result can name it, but it was asked for
                self._begin_call(facts, block, opened, record)
        if self._placement.take_line(key):
            self._finish_answer(opened)
            del self._open_messages[key]

    def _begin_request(self, facts: ThreadFacts, turn: Turn, key: str) -> None:
        request = self._requests.get(key)
        if request is None:
            return
        facts.last_context_tokens = request.context_tokens
        facts.most_context_tokens = max(facts.most_context_tokens, request.context_tokens or 0)
        facts.last_model = request.model
        at: Turn | None = turn
        while at is not None and at not in self._with_requests:
            self._with_requests.add(at)
            if at in self.compactions:
                self.compactions[at].tokens_after = request.context_tokens
            at = at.parent

    def _finish_answer(self, message: OpenMessage) -> None:
        turn = self.turns[message.turn]
        request = self._requests.take(message.key)
        if request is not None and request.thinking_tokens is not None:
            message.metadata["thinking_tokens"] = request.thinking_tokens
        if request is not None and request.unknown:
            message.metadata["usage"] = request.unknown
        self._rows.add_message(message)
        if request is not None:
            self._rows.add_request(request, message, turn.requests)
            turn.requests += 1

    def _begin_call(self, facts: ThreadFacts, block: Block, message: OpenMessage, record: Record) -> None:
        call_id = block.id or ""
        owner = self._call_owners.setdefault(call_id, message.key)
        ledger_id = call_id if owner == message.key else f"{message.key}:{call_id}"
        self._current_calls[call_id] = ledger_id
        turn = self.turns[message.turn]
        known = self._open_calls.get(ledger_id)
        if known is not None:
            if bytes(known.params) != bytes(block.input):
                further = {"id": call_id, "name": block.name, "input": block.input or None}
                message.keep("further_call", Raw(msgspec.json.encode(further)))
            return
        call = OpenCall(
            ledger_id,
            block.name or "",
            block.input,
            message,
            self._time_of(record, facts)[0],
            turn.calls,
            facts.mode,
            record.cwd or turn.cwd,
        )
        turn.calls += 1
        early = self._early_results.pop(call_id, None)
        if early is None:
            self._open_calls[ledger_id] = call
        else:
            self._rows.add_call(call, early[1])

    def _user(self, record: Record, message: Message, blocks: list[Block], turn: Turn) -> None:
        kind = kind_of_user(record, blocks)
        facts = self.threads[turn.thread]
        self._mode(facts, turn, record, kind)
        text = said(blocks)
        role = _ROLES.get(kind, "system")
        opened = self._open(facts, record, turn, role, _source_of(kind, text, turn), record.uuid or "")
        opened.add(record, message, blocks)
        if kind is Kind.RESULT:
            opened.has_content = False
            self._results(record, blocks, opened)
        elif kind is Kind.SUMMARY and turn.is_compaction:
            opened.has_content = False
            self._compaction(turn, facts).summary_utf8 = "\n".join(opened.texts).encode("utf-8", "surrogatepass")

    def _mode(self, facts: ThreadFacts, turn: Turn, record: Record, kind: Kind) -> None:
        if record.permission_mode:
            facts.mode = record.permission_mode
        turn_facts = self.turns[turn]
        if kind.opens and turn_facts.messages:
            turn_facts.mode = facts.mode

    def _results(self, record: Record, blocks: list[Block], opened: OpenMessage) -> None:
        results = results_in(record, blocks, opened.time)
        opened.metadata["tool_use_ids"] = [call_id for call_id, _ in results]
        if len(results) > 1 and record.tool_use_result:
            opened.metadata["toolUseResult"] = Raw(without_embedded_files(bytes(record.tool_use_result)))
        for call_id, result in results:
            call = self._open_calls.pop(self._current_calls.get(call_id, call_id), None)
            if call is not None:
                self._rows.add_call(call, result)
                self._follow(call, result, opened.turn)
            elif self._placement.turn_of_call(call_id) is None:
                opened.keep("result_of_unknown_call", Raw(result.json.encode()))
            elif call_id in self._call_owners or call_id in self._early_results:
                opened.keep("further_result", Raw(result.json.encode()))
            else:
                self._early_results[call_id] = (RecordPlace(self._scan, self._line, self._offset), result)

    def _follow(self, call: OpenCall, result: CallResult, turn: Turn) -> None:
        """Take in what a result changes for the calls after it."""
        if call.name == "ExitPlanMode" and not result.is_error:
            self.threads[turn.thread].mode = None  # which mode was chosen, only the next prompt says
        elif call.name in ("Skill", "SlashCommand"):
            self.turns[turn].allowed_tools.update(dict.fromkeys(tools_allowed(result.structured)))

    def _system(self, record: Record) -> None:
        kind = kind_of_system(record)
        uuid = record.uuid
        if kind is Kind.OTHER or uuid is None:
            if record.subtype == "init" and self._main:
                self._main.mode = record.permission_mode or self._main.mode
                self._main.tools = dict.fromkeys(tools_of(record))
            self._note(self._main, record)
            return
        turn = self._turn_told_here(uuid)
        if turn is None:
            return
        facts = self.threads[turn.thread]
        opened = self._open(facts, record, turn, "system", "event", uuid)
        opened.add(record, Message(), [])
        text = text_of(record.content) if record.content else None
        if text is not None:
            opened.texts.append(text)
        if kind is Kind.MICRO:
            opened.metadata["microcompact"] = record.microcompact_metadata or None
            opened.metadata["context_tokens_before"] = facts.last_context_tokens
        elif kind is Kind.BOUNDARY:
            opened.is_query = True
            compaction = self._compaction(turn, facts)
            compaction.metadata = record.compact_metadata
            compaction.time = opened.time
            compaction.logical_parent = record.logical_parent_uuid

    def _compaction(self, turn: Turn, facts: ThreadFacts) -> CompactionFacts:
        is_new = turn not in self.compactions
        found = self.compactions[turn]
        if is_new:
            found.tokens_before, found.model_before = facts.last_context_tokens, facts.last_model
        return found

    def _attachment(self, record: Record) -> None:
        queued = decode_queued(record.attachment)
        if queued is None:
            self._note(self._main, record)
            return
        text = queued.text
        uuid = record.uuid or queue_key(record.session_id, record.timestamp, text)
        turn = self._turn_told_here(uuid)
        if turn is None:
            return
        facts = self.threads[turn.thread]
        opened = self._open(facts, record, turn, "user", "event" if queued.is_notice else "human", uuid)
        opened.add(record, Message(content=queued.prompt), decode_blocks(queued.prompt))
        opened.metadata["queued"] = True

    def _queued_prompt(self, record: Record) -> None:
        if record.operation not in QUEUE_OPERATIONS:
            self._note(self._main, record)
            return
        queued = self._placement.queued.get((self._scan, self._offset))
        if queued is None:
            return
        facts = self.threads[queued.turn.thread]
        record.timestamp = queued.timestamp
        opened = self._open(facts, record, queued.turn, "user", "human", queued.key)
        opened.texts.append(queued.text)
        opened.metadata["queued"] = True

    def _note(self, facts: ThreadFacts | None, record: Record) -> None:
        """Keep what makes no message as context of the message before it."""
        place = RecordPlace(self._scan, self._line, self._offset)
        if facts is None:
            self.without_message.append(place)
            return
        if facts.last_message is None:
            facts.early_places.append(place)
        elif record.uuid is not None:
            self._noted.add(record.uuid)
        allowed = facts.note_tools(record.attachment) if record.attachment else []
        if allowed and facts.last_message is not None:
            self.turns[facts.last_message.turn].allowed_tools.update(dict.fromkeys(allowed))
        facts.note(record)

    def _open(
        self, facts: ThreadFacts, record: Record, turn: Turn, role: str, source: str | None, key: str
    ) -> OpenMessage:
        """Begin a message that is not an answer; the one before it is finished."""
        self._finish_message(facts)
        facts.last_message = self._new_message(facts, record, turn, role, source, key)
        facts.last_message.context, facts.early_context = facts.early_context, []
        facts.early_places.clear()
        return facts.last_message

    def _finish_message(self, facts: ThreadFacts) -> None:
        if facts.last_message is not None:
            self._rows.add_message(facts.last_message)
            facts.last_message = None

    def _new_message(
        self, facts: ThreadFacts, record: Record, turn: Turn, role: str, source: str | None, key: str
    ) -> OpenMessage:
        time, basis = self._time_of(record, facts)
        turn_facts = self.turns[turn]
        message = OpenMessage(key, turn, role, source, time, basis, turn_facts.messages, cwd=record.cwd)
        if not turn_facts.messages:
            turn_facts.mode = facts.mode
            turn_facts.tools_available = [*facts.tools] or None
        turn_facts.add(record, time, basis)
        return message

    def _time_of(self, record: Record, facts: ThreadFacts) -> tuple[int, str | None]:
        """Return the earliest time of a record, else that of its neighbour or file, and how it was concluded."""
        own = self._copies.time_of(record.uuid) if record.uuid else None
        if own is None and record.timestamp is not None:
            own = read_time(record.timestamp)
        if own is not None:
            facts.time = own
            return own, None
        neighbour = facts.time if facts.time is not None else self._scan.first_time
        return (self._scan.written_at, UNDATED) if neighbour is None else (neighbour, "neighbour")


def _source_of(kind: Kind, text: str, turn: Turn) -> str:
    match kind:
        case Kind.PROMPT:
            is_agent = turn.thread.is_subagent or text.startswith(_TEAMMATE)
            return "agent" if is_agent else "human"
        case Kind.HOOK_STOP:
            return "trigger"
        case Kind.META if text.startswith(_STOP_HOOK):
            return "trigger"
        case _:
            return "event"
