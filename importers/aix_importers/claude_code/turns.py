"""Where records belong: which turn, and after which other turn.

A turn is a query with everything until the next one. Records point to their parents, but not every branch of that tree
is a fork of the conversation: parallel calls make branches as well. So forks are decided between prompts.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from aix.ids import ulid
from aix_importers.claude_code.classification import Kind, is_notice
from aix_importers.claude_code.scan import Entries, Entry, QueueStep, Scan, queue_key

ORIGIN = "claude-code"
_MOST_TEXTS_OF_A_MOMENT = 20
"""Parts of a prompt that comes back in pieces are looked for among as many."""


@dataclass(slots=True, eq=False)
class Thread:
    """A conversation of its own: that of a session, or of a subagent."""

    label: str
    session_id: str
    """The session that its log names; of a subagent, the one that it works for."""
    scan: Scan
    entries: Entries | list[Entry | QueueStep]
    agent_id: str | None = None
    is_subagent: bool = False
    call_id: str | None = None
    """The call whose progress it was put together from."""
    named_call: str | None = None
    """The call that its own records name as the one that started it."""
    borrowed: dict[str, Scan] = field(default_factory=dict)
    """By record that stands only in another file: that file."""
    turns: dict["Turn", None] = field(default_factory=dict)
    """Those that stand in it, in order."""
    latest: "Turn | None" = None
    last_time: int = -1
    """The last time that a record has, once all are placed."""

    def forget_entries(self) -> None:
        """Let go of the records, once their places are known."""
        times = (entry.time for entry in self.entries if isinstance(entry, Entry) and entry.time is not None)
        self.last_time = max(times, default=-1)
        self.entries = []

    def scan_of(self, entry: Entry) -> Scan:
        """Return the file that a record of the conversation stands in."""
        return self.borrowed.get(entry.uuid, self.scan)


@dataclass(slots=True, eq=False)
class Turn:
    """A turn, as far as its place matters."""

    key: str
    uuid: str
    """The record it begins with."""
    session_id: str | None
    """The session that this record names: where the turn was born, also when it stands in copies only."""
    thread: Thread
    parent: "Turn | None"
    is_compaction: bool = False
    continues: "Turn | None" = None
    is_interrupted: bool = False
    is_answered: bool = False
    awaits_summary: bool = False
    has_children: bool = False
    id: str = field(init=False)
    """The id of its row."""

    def __post_init__(self) -> None:
        self.id = ulid("turn", ORIGIN, self.key)


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that stands only in the notes about the queue, and was taken in by a turn that was running."""

    key: str
    text: str
    timestamp: str | None
    turn: Turn


class Placement:
    """Places the records of all threads that may share some; threads must come in their order."""

    def __init__(self, calls: Iterable[str], text_of: Callable[[Thread, Entry], str]) -> None:
        self.turns: list[Turn] = []
        self.turn_of: dict[str, Turn] = {}
        """By record; through it, children find the turn they follow."""
        self.waited: dict[str, Turn] = {}
        """By record that was placed with what came after it; its children find their turn through its parent."""
        self.replayed: dict[str, tuple[Thread, Entry]] = {}
        """Records that say again, under another name, what is known."""
        self._line_counts: dict[str, int] = {}
        """By message: how many lines hold a part of it."""
        self.queued: dict[tuple[Scan, int], QueuedPrompt] = {}
        """By file and place of the note that a prompt was taken from the queue."""
        self.held_back: list[tuple[Thread, Entry]] = []
        """Records that belong to a conversation which is not here."""
        self.without_turn: list[tuple[Thread, Entry]] = []
        """Records of conversations that have no turn: nobody asks or answers in them."""
        self._threads: list[Thread] = []
        self._text_of = text_of
        self._calls = set(calls)
        self._parents: dict[str, str | None] = {}
        self._linked: set[Scan] = set()
        self._unplaced: dict[str, Kind] = {}
        """By record that was seen and has no turn of its own yet, as it waits: its kind."""
        self._message_turns: dict[str, Turn] = {}
        self._call_turns: dict[str, Turn] = {}
        self._pieces: dict[int, Turn] = {}
        """By what a block of an answer or a result of a call says: the turn that has it."""
        self._user_texts: dict[int, list[tuple[Thread, Entry]]] = {}
        """By time: what the user, or something in his place, said."""
        self._call_errors: dict[str, bool] = {}
        self._call_messages: dict[str, str] = {}
        """By id of a call: the last message that makes such a call; proxies use ids again."""
        self._held_results: dict[str, list[tuple[Thread, Entry]]] = {}
        self._strays: dict[str, tuple[Thread, Entry]] = {}
        """By record: one that is placed in the end, unless its own conversation has it."""

    def place(self, thread: Thread) -> None:
        """Place the records of a thread."""
        self._threads.append(thread)
        if thread.scan not in self._linked:
            self._linked.add(thread.scan)
            links = thread.scan.links.items()
            self._parents.update((uuid, parent) for uuid, parent in links if uuid not in self._parents)
        waiting: list[Entry] = []
        queue: list[QueueStep] = []
        last_said = _Later(thread)
        for number, entry in enumerate(thread.entries):
            if isinstance(entry, QueueStep):
                self._take_queue_step(thread, entry, queue, last_said, number)
                continue
            known = self.turn_of.get(entry.uuid)
            if known is not None:
                self._go_on(thread, known)
                continue
            if entry.uuid in self._parents and self._is_seen(thread, entry):
                continue
            self._parents[entry.uuid] = entry.parent
            if self._is_replay(thread, entry):
                self.replayed[entry.uuid] = (thread, entry)
                continue
            self._place_entry(thread, entry, waiting)
            if entry.uuid not in self.turn_of:
                self._unplaced[entry.uuid] = entry.kind
            else:  # nobody goes on from there to its parent
                del self._parents[entry.uuid]
        if thread.latest is not None:
            self._join_waiting(thread, waiting, thread.latest)
        for entry in waiting:  # another file may have what they waited for
            self._unplaced.pop(entry.uuid, None)

    def _is_seen(self, thread: Thread, entry: Entry) -> bool:
        """Whether a record was met as what it is, not only as a link, a line that the client wrote, or a stray."""
        if entry.uuid in self._strays:
            return self._is_stray(thread, entry)
        kind = self._unplaced.get(entry.uuid)
        if kind is Kind.LOCAL:
            return entry.kind in (Kind.LOCAL, Kind.META)
        return kind is not None or entry.uuid in self.replayed

    def finish(self) -> None:
        """Place what waited for the records of another thread."""
        for thread, entry in self._strays.values():
            if entry.uuid in self.turn_of:
                continue
            turn, _ = self._resolve(entry.parent)
            if turn is None:
                self.held_back.append((thread, entry))
            else:
                self._add(entry, turn, thread)
        self.held_back += [held for results in self._held_results.values() for held in results]
        held_back = {entry.uuid for _, entry in self.held_back}
        self.without_turn = [
            (thread, entry)
            for thread in self._threads
            for entry in thread.entries
            if isinstance(entry, Entry) and not self._is_placed(entry.uuid) and entry.uuid not in held_back
        ]
        for used_up in (self._unplaced, self._message_turns, self._pieces, self._user_texts, self._call_messages):
            used_up.clear()

    def _is_placed(self, uuid: str) -> bool:
        return uuid in self.turn_of or uuid in self.waited or uuid in self.replayed

    def turn_of_call(self, call: str) -> Turn | None:
        """Return the turn that made a call."""
        return self._call_turns.get(call)

    def take_line(self, key: str) -> bool:
        """Count a line of a message as read, and return whether it was the last."""
        left = self._line_counts.pop(key, 1) - 1
        if left > 0:
            self._line_counts[key] = left
        return left <= 0

    def outcome_of_call(self, call: str) -> bool | None:
        """Return whether the result of a call is an error; NULL without a result."""
        return self._call_errors.get(call)

    def resolve(self, uuid: str | None) -> Turn | None:
        """Return the turn of a record, or of the nearest one before it that has one."""
        return self._resolve(uuid)[0]

    def _place_entry(self, thread: Thread, entry: Entry, waiting: list[Entry]) -> None:
        owner, is_root = self._resolve(entry.parent)
        is_stray = self._is_stray(thread, entry)
        if entry.kind is Kind.RESULT:
            of_call = next((turn for call in entry.results_of if (turn := self._call_turns.get(call))), None)
            if of_call is not None:
                owner = of_call
            elif entry.results_of and (is_stray or entry.results_of[0] in self._calls):
                self._held_results.setdefault(entry.results_of[0], []).append((thread, entry))
                return
        if is_stray:
            if owner is not None and not entry.kind.opens:
                self._add(entry, owner, thread)
            else:
                self._strays[entry.uuid] = (thread, entry)
            return
        may_be_root = entry.kind.opens or entry.kind in (Kind.LOCAL, Kind.META)
        if owner is None and not (is_root and may_be_root):
            owner = thread.latest
        if entry.kind is Kind.LOCAL or (entry.kind is Kind.META and (owner is None or waiting)):
            waiting.append(entry)
            return
        turn = self._turn_for(thread, entry, owner)
        if turn is None:
            waiting.append(entry)
            return
        if entry.kind.opens:
            self._join_waiting(thread, waiting, turn)
        self._add(entry, turn, thread)
        self._go_on(thread, turn)

    def _turn_for(self, thread: Thread, entry: Entry, owner: Turn | None) -> Turn | None:
        """Return the turn that a record belongs to, which may be a new one."""
        match entry.kind:
            case Kind.PROMPT | Kind.NOTICE:
                if owner and not (owner.is_compaction or owner.is_interrupted or owner.is_answered):
                    return owner
                return self._new_turn(thread, entry, owner)
            case Kind.BOUNDARY:
                return self._new_turn(thread, entry, owner, is_compaction=True)
            case Kind.SUMMARY:
                if owner and owner.awaits_summary:
                    return owner
                return self._new_turn(thread, entry, owner, is_compaction=True)
            case Kind.ASSISTANT:
                of_message = self._message_turns.get(entry.message_key or "")
                if of_message is not None:
                    return of_message
                if owner is None or owner.is_compaction:
                    return self._continuation(thread, entry, owner)
                return owner
            case _:
                return owner

    def _new_turn(
        self, thread: Thread, entry: Entry, parent: Turn | None, *, is_compaction: bool = False, prefix: str = ""
    ) -> Turn:
        turn = Turn(prefix + entry.uuid, entry.uuid, entry.session_id, thread, parent, is_compaction)
        if parent is not None:
            parent.has_children = True
        self.turns.append(turn)
        return turn

    def _continuation(self, thread: Thread, entry: Entry, compaction: Turn | None) -> Turn:
        turn = self._new_turn(thread, entry, compaction, prefix="c:")
        cut = compaction
        while cut is not None and cut.is_compaction:
            cut = cut.parent
        turn.continues = cut
        return turn

    def _add(self, entry: Entry, turn: Turn, thread: Thread) -> None:
        self.turn_of[entry.uuid] = turn
        thread.turns.setdefault(turn)
        turn.awaits_summary = entry.kind is Kind.BOUNDARY or (turn.awaits_summary and entry.kind is not Kind.SUMMARY)
        match entry.kind:
            case Kind.ASSISTANT:
                turn.is_answered = True
                name = _message_name(entry)
                key = entry.message_key or entry.uuid
                self._message_turns[key] = turn
                self._line_counts[key] = self._line_counts.get(key, 0) + 1
                self._pieces.update((hash((name, digest)), turn) for digest in entry.block_digests)
                for call in entry.calls:
                    self._call_turns[call] = turn
                    self._call_messages[call] = key
                    for holder, result in self._held_results.pop(call, ()):
                        self._add(result, turn, holder)
            case Kind.RESULT:
                self._pieces.update((piece, turn) for piece in self._result_pieces(entry))
                self._call_errors.update(zip(entry.results_of, entry.errors, strict=True))
            case Kind.INTERRUPT | Kind.HOOK_STOP:
                turn.is_interrupted = True
            case _:
                pass
        self._remember(thread, entry)

    def _remember(self, thread: Thread, entry: Entry) -> None:
        if _is_said_by_user(entry) and entry.time is not None:
            self._user_texts.setdefault(entry.time, []).append((thread, entry))

    def _join_waiting(self, thread: Thread, waiting: list[Entry], turn: Turn) -> None:
        for entry in waiting:
            self.waited[entry.uuid] = turn
            self._remember(thread, entry)
        waiting.clear()

    def _go_on(self, thread: Thread, turn: Turn) -> None:
        thread.latest = turn
        thread.turns.setdefault(turn)

    def _resolve(self, uuid: str | None) -> tuple[Turn | None, bool]:
        """Return the turn of a record or of its nearest ancestor, else whether there is no ancestor at all."""
        seen: set[str] = set()
        while uuid and uuid not in self.turn_of and uuid in self._parents and uuid not in seen:
            seen.add(uuid)
            uuid = self._parents[uuid]
        if uuid not in seen:  # so that the way need not be gone again
            self._parents.update(dict.fromkeys(seen, uuid))
        if not uuid:
            return None, True
        return self.turn_of.get(uuid), False

    def _is_stray(self, thread: Thread, entry: Entry) -> bool:
        """Whether a record of another session stands in the file by accident."""
        if thread.is_subagent or entry.session_id in (None, thread.session_id) or not entry.parent:
            return False
        return not thread.scan.holds(entry.parent)

    def _is_replay(self, thread: Thread, entry: Entry) -> bool:
        """Whether a record says again, under another name, what is known; its children then follow the original."""
        if entry.kind is Kind.ASSISTANT:
            name = _message_name(entry)
            turns = [self._pieces.get(hash((name, digest))) for digest in entry.block_digests]
        elif entry.kind is Kind.RESULT:
            turns = [self._pieces.get(piece) for piece in self._result_pieces(entry)]
        else:
            original = self._said_before(thread, entry)
            if original is None:
                return False
            self._parents[entry.uuid] = original.uuid
            turns = [self.turn_of.get(original.uuid)]
            if turns == [None]:
                return True
        if not turns or turns[0] is None or not all(turns):
            return False
        self.turn_of[entry.uuid] = turns[0]
        self._go_on(thread, turns[0])
        return True

    def _said_before(self, thread: Thread, entry: Entry) -> Entry | None:
        if not _is_said_by_user(entry) or entry.time is None or entry.time not in self._user_texts:
            return None
        others = [
            (where, other)
            for where, other in self._user_texts[entry.time]
            if other.kind is entry.kind and _may_repeat(thread, where)
        ]
        same = next((other for _, other in others if other.text_digest == entry.text_digest), None)
        if same is not None or not others or len(others) > _MOST_TEXTS_OF_A_MOMENT:
            return same
        text = self._text_of(thread, entry)
        return next((other for where, other in others if text in self._text_of(where, other)), None)

    def _result_pieces(self, entry: Entry) -> list[int]:
        return [
            hash((call, self._call_messages.get(call), digest))
            for call, digest in zip(entry.results_of, entry.block_digests, strict=True)
        ]

    def _take_queue_step(
        self, thread: Thread, step: QueueStep, queue: list[QueueStep], later: "_Later", number: int
    ) -> None:
        match step.operation:
            case "enqueue" if step.text:
                queue.append(step)
            case "popAll":
                queue.clear()
            case "dequeue" if queue:
                queue.pop(0)
            case "remove" if queue:
                words = (asked for asked in queue if not self._is_elsewhere(asked, later, number))
                asked = next(words, queue[0])
                queue.remove(asked)
                self._take_from_queue(thread, asked, step, later, number)
            case _:
                pass

    def _is_elsewhere(self, asked: QueueStep, later: "_Later", number: int) -> bool:
        """Whether what waited is a notification, or stands in a record of its own."""
        return is_notice(asked.text or "") or later.is_said(asked.text or "", number)

    def _take_from_queue(
        self, thread: Thread, asked: QueueStep, taken: QueueStep, later: "_Later", number: int
    ) -> None:
        text = asked.text or ""
        if thread.latest is None or self._is_elsewhere(asked, later, number):
            return
        key = queue_key(asked.session_id, asked.timestamp, text)
        if key not in self.turn_of:
            self.turn_of[key] = thread.latest
            self.queued[thread.scan, taken.byte_offset] = QueuedPrompt(key, text, asked.timestamp, thread.latest)


def _may_repeat(thread: Thread, other: Thread) -> bool:
    """Whether records of one conversation can be a replay of the other; two subagents may be asked the same."""
    return thread.label == other.label or not (thread.is_subagent or other.is_subagent)


class _Later:
    """Tells whether a text is said in the rest of a thread."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._last: Mapping[int, int] | None = None

    def is_said(self, text: str, after: int) -> bool:
        if self._last is None:
            self._last = {
                entry.text_digest: number
                for number, entry in enumerate(self._thread.entries)
                if isinstance(entry, Entry) and entry.text_digest
            }
        return self._last.get(hash(text.strip()), -1) > after


def _message_name(entry: Entry) -> str:
    key = entry.message_key or ""
    return key.rpartition("@")[0] or key


def _is_said_by_user(entry: Entry) -> bool:
    return entry.text_digest != 0 and entry.kind not in (Kind.QUEUED, Kind.QUEUED_NOTICE)
