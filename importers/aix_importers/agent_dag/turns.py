"""Placement of the events of a run in turns.

Events with one correlation id are a turn. Without it, a turn opens at the first message of a user or the system, or at
the first request, after a final answer; an answer is final when no call of a tool names it. Answers follow their
request, calls the answer that asks for them, results their call. A run is read twice: the outline notes what later
events say of earlier ones, so that the placement can give every event its turn at once.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeVar

from aix.ids import ulid
from aix.importing import Source
from aix_importers.agent_dag.messages import Message
from aix_importers.agent_dag.records import Event, ref_id
from aix_importers.agent_dag.references import References

CONTEXT_RESET = "context_reset"
APPROVAL_DENIED = "approval_denied"
_ASKS_FOR_TOOLS = ("tool_calls", "tool_use", "function_call")
_MOST_RECENT = 20_000
_DECISIVE = {"model_request", "model_response", "interruption", "run_finished"}
"""Kinds that show whether a message that came during a turn belongs to it."""
_WORK = {"history_append", "model_request", "model_response", "tool_call", "tool_result"}
"""Kinds that a turn lasts for; others, such as a probe of a resource, may come hours after its answer."""

Payload = dict[str, object]


@dataclass(slots=True, eq=False)
class Turn:
    """One turn of a run, with what is counted while its events come."""

    id: str
    key: str
    number: int
    parent_id: str | None
    source: Source
    event_id: str | None
    started_at: int
    is_start_inferred: bool
    ended_at: int
    correlation: str | None = None
    continues: "Turn | None" = None
    summary_id: str | None = None
    is_compaction: bool = False
    is_closed: bool = False
    is_interrupted: bool = False
    has_request: bool = False
    is_spawning: bool = False
    answer_id: str | None = None
    """The row of its last answer so far."""
    message_count: int = 0
    request_count: int = 0
    call_count: int = 0
    tools: tuple[str, ...] = ()
    prompt_hash: str | None = None


@dataclass(slots=True, eq=False)
class Request:
    """A request to a model that waits for its answer."""

    event: Event
    turn: Turn
    time: int
    is_time_inferred: bool
    seq: int


@dataclass(slots=True, eq=False)
class Placed:
    """An event with its turn."""

    event: Event
    payload: Payload
    turn: Turn | None
    time: int
    is_time_inferred: bool
    message: Message | None = None
    request: Request | None = None
    """The request that an answer is for, or that the event itself is."""
    is_replaced: bool = False
    """Whether another answer counts in the place of this one."""


_T = TypeVar("_T")


class Recent(dict[str, _T]):
    """The things that came last, by name; those that events still speak of are among them."""

    def __setitem__(self, name: str, value: _T) -> None:
        """Keep a thing, and let go of the one that was kept longest."""
        super().__setitem__(name, value)
        if len(self) > _MOST_RECENT:
            del self[next(iter(self))]


class Outline:
    """Relations between the events of a run, noted for the second reading."""

    def __init__(self, events: Iterable[Event], references: References) -> None:
        self._answers_with_calls: set[int] = set()
        """Hashes of their names: a run may have a million of them."""
        self.summaries: dict[str, str] = {}
        """By event that begins a compaction, or that is a part of one: the summary."""
        self.later_summaries: list[tuple[int, str]] = []
        """Summaries that no event made: the number of the last event that each covers, and its id."""
        self.first_time: int | None = None
        resets: list[tuple[int, Event]] = []
        covered: dict[str, int] = {}
        makers: dict[str, tuple[int, Event]] = {}
        last_request: dict[str | None, str] = {}
        request_of: dict[str, str] = {}
        for number, event in enumerate(events):
            if self.first_time is None:
                self.first_time = event.time
            if event.kind == "tool_call" and (answer := ref_id(event.payload.get("requested_by"))) is not None:
                self._answers_with_calls.add(hash(answer))
            elif event.kind == "interruption" and event.payload.get("reason") == CONTEXT_RESET:
                resets.append((number, event))
            elif event.kind == "model_request":
                last_request[event.correlation_id] = last_request[None] = event.id
            for summary_id, is_made in references.summaries_at(event):
                if not is_made:
                    covered[summary_id] = number
                    continue
                makers[summary_id] = number, event
                if event.kind == "model_response":
                    known = last_request.get(event.correlation_id) or last_request.get(None)
                    request_of[summary_id] = known or ""
        self._assign(resets, covered, makers, request_of)

    def _assign(
        self,
        resets: list[tuple[int, Event]],
        covered: dict[str, int],
        makers: dict[str, tuple[int, Event]],
        request_of: dict[str, str],
    ) -> None:
        """Give each reset of the context the summary that was made for it; other summaries are compactions too."""
        for summary_id, (number, event) in makers.items():
            self.summaries[event.id] = summary_id
            if request_id := request_of.get(summary_id):
                self.summaries[request_id] = summary_id
            if (reset := self._next_reset(resets, number)) is not None:
                self.summaries[reset.id] = summary_id
        for summary_id, number in covered.items():
            if summary_id in makers:
                continue
            reset = self._next_reset(resets, number)
            if reset is not None:
                self.summaries[reset.id] = summary_id
            else:
                self.later_summaries.append((number, summary_id))
        self.later_summaries.sort()

    @staticmethod
    def _next_reset(free: list[tuple[int, Event]], number: int) -> Event | None:
        following = bisect_left(free, number, key=itemgetter(0))
        return free.pop(following)[1] if following < len(free) else None

    def names_with_calls(self, event: Event) -> list[str]:
        """Return the names under which calls name an answer."""
        names = (event.id, event.claimed_id) if event.claimed_id != event.id else (event.id,)
        return [name for name in names if name is not None and hash(name) in self._answers_with_calls]

    def asks_for_tools(self, event: Event, message: Message | None) -> bool:
        """Whether an answer is not final: a call names it, it says so, or it has parts that use tools."""
        if self.names_with_calls(event) or event.payload.get("finish_reason") in _ASKS_FOR_TOOLS:
            return True
        return message is not None and bool(message.content.uses)


class Placement:
    """Gives the events of a run their turns, in order."""

    def __init__(
        self,
        origin: str,
        outline: Outline,
        references: References,
        is_own: Callable[[str], bool],
        parent_id: str | None = None,
    ) -> None:
        self._origin = origin
        self._outline = outline
        self._references = references
        self._is_own = is_own
        self._parent_id = parent_id
        self.turns: list[Turn] = []
        self.current: Turn | None = None
        self.waiting: dict[str, Request] = {}
        """Requests without an answer, by event."""
        self._waiting_names: dict[str, str] = {}
        self._by_correlation: Recent[Turn] = Recent()
        self._cut: dict[str | None, Turn] = {}
        """Turns that a compaction has cut, by correlation."""
        self._answers: Recent[Turn] = Recent()
        self._calls: Recent[Turn] = Recent()
        self._number = 0
        self._time, self._is_time_inferred = outline.first_time or 0, True

    def place(self, events: Iterable[Event]) -> Iterator[Placed]:
        """Go through the events with their turns."""
        held: list[tuple[int, Event]] = []
        for number, event in enumerate(events):
            if held or self._is_undecided(event):
                held.append((number, event))
                if event.kind in _DECISIVE:
                    yield from self._release(held, event)
                continue
            self._number = number
            yield self._placed(event)
        if held:
            yield from self._release(held, None)

    def _is_undecided(self, event: Event) -> bool:
        """Whether a message came while a turn was at work: what follows shows if it belongs to it."""
        if event.kind != "history_append" or event.correlation_id is not None or self._is_done():
            return False
        message = self._references.appended(event)
        is_waiting = self.current is not None and self.current.has_request
        is_query = message is not None and message.role in {"user", "system"}
        return is_waiting and is_query and message is not None and self._is_own(message.id)

    def _release(self, held: list[tuple[int, Event]], event: Event | None) -> Iterator[Placed]:
        waiting, held[:] = list(held), []
        current, correlation = self.current, event.correlation_id if event else None
        is_request = event is not None and event.kind == "model_request"
        if is_request and current is not None and correlation is not None and correlation != current.correlation:
            current.is_closed = True
        for number, each in waiting:
            self._number = number
            yield self._placed(each)

    def _placed(self, event: Event) -> Placed:
        self._is_time_inferred = event.time is None
        self._time = self._time if event.time is None else event.time
        placed = Placed(event, event.payload, None, self._time, self._is_time_inferred)
        was_done = self._is_done()
        turn = placed.turn = self._turn_of(placed)
        if turn is not None:
            if event.kind in _WORK or (event.kind == "interruption" and not was_done):
                turn.ended_at = max(turn.ended_at, self._time)
            interruption = self._references.fate(event).interruption
            if interruption is not None and interruption[1] != CONTEXT_RESET:
                turn.is_interrupted = True
        return placed

    def _turn_of(self, placed: Placed) -> Turn | None:
        event, payload = placed.event, placed.payload
        match event.kind:
            case "history_append":
                return self._append(placed)
            case "model_request":
                return self._request(placed)
            case "model_response":
                return self._response(placed)
            case "tool_call":
                return self._call(event)
            case "tool_result":
                known = self._calls.get(ref_id(payload.get("call_id")) or "")
                return known or self._by_correlation.get(event.correlation_id or "") or self.current
            case "interruption":
                return self._interrupt(event)
            case "run_finished":
                if payload.get("exit") == "error" and self.current is not None and not self._is_done():
                    self.current.is_interrupted = True
                return None
            case _:
                return self.current

    def _append(self, placed: Placed) -> Turn | None:
        event = placed.event
        message = placed.message = self._references.appended(event)
        if message is None or not self._is_own(message.id):  # a fork repeats the history that it goes on from
            return self.current
        if event.correlation_id is not None:
            turn = self._correlated(event, event.correlation_id)
        elif message.role in {"user", "system"}:
            turn = self._open_or_current(event)
        else:
            called = (self._calls.get(each.call_id) for each in message.content.outputs)
            turn = next(filter(None, called), None) or self.current or self._open(event)
        for use in message.content.uses:
            self._calls[use.call_id] = self._calls.get(use.call_id, turn)
        if message.role == "assistant" and not message.content.uses and not turn.has_request:
            turn.is_closed = True
        return turn

    def _request(self, placed: Placed) -> Turn:
        event = placed.event
        summary_id = self._outline.summaries.get(event.id)
        if summary_id is not None:
            turn = self._open_compaction(event, summary_id)
        elif event.correlation_id is not None:
            turn = self._correlated(event, event.correlation_id)
        else:
            turn = self._open_or_current(event)
        turn.has_request = True
        request = Request(event, turn, self._time, self._is_time_inferred, turn.request_count)
        turn.request_count += 1
        self.waiting[event.id] = placed.request = request
        if event.claimed_id is not None:
            self._waiting_names[event.claimed_id] = event.id
        return turn

    def _response(self, placed: Placed) -> Turn:
        event = placed.event
        message = placed.message = self._references.output(event)
        request = placed.request = self._answered(event, ref_id(placed.payload.get("request_id")) or "")
        summary_id = self._outline.summaries.get(event.id)
        if request is not None:
            turn = request.turn
        elif summary_id is not None:
            turn = self._open_compaction(event, summary_id)
        elif event.correlation_id is not None:
            turn = self._correlated(event, event.correlation_id)
        else:
            turn = self.current if self.current is not None else self._open(event)
        turn.has_request = True
        self.current = turn
        turn.is_closed = turn.is_compaction or not self._outline.asks_for_tools(event, message)
        for name in self._outline.names_with_calls(event):
            self._answers[name] = turn
        for use in message.content.uses if message else ():
            self._calls[use.call_id] = self._calls.get(use.call_id, turn)
        for call_id, *_ in self._references.node_calls(event):
            self._calls[call_id] = turn
            turn.is_closed = turn.is_compaction
        return turn

    def _answered(self, event: Event, given: str) -> Request | None:
        """Return the request that an answer is for, which then waits no longer."""
        key: str | None = self._waiting_names.get(given, given)
        if key not in self.waiting:
            alike = (
                each.event.id
                for each in reversed(self.waiting.values())
                if event.correlation_id is None or each.event.correlation_id == event.correlation_id
            )
            key = next(alike, None)
        request = None if key is None else self.waiting.pop(key)
        if request is not None and request.event.claimed_id is not None:
            self._waiting_names.pop(request.event.claimed_id, None)
        return request

    def _call(self, event: Event) -> Turn:
        payload = event.payload
        call_id = ref_id(payload.get("call_id")) or event.id
        turn = self._answers.get(ref_id(payload.get("requested_by")) or "") or self._calls.get(call_id)
        if turn is None and event.correlation_id is not None:
            turn = self._correlated(event, event.correlation_id)
        if turn is None:
            turn = self.current or self._open(event)
            turn.is_closed = turn.is_compaction  # its last answer was not final after all
        self._calls[call_id] = turn
        return turn

    def _interrupt(self, event: Event) -> Turn | None:
        current, reason = self.current, event.payload.get("reason")
        if reason == CONTEXT_RESET:
            summary_id = self._outline.summaries.get(event.id)
            is_begun = summary_id is not None and current is not None and current.summary_id == summary_id
            turn = current if is_begun and current is not None else self._open_compaction(event, summary_id)
            turn.is_closed = True
            return turn
        if current is None or current.is_closed:
            return current
        if not self._references.interrupted_by(event):
            current.is_interrupted = True
        if current.is_interrupted and reason != APPROVAL_DENIED:
            current.is_closed = True
        return current

    def _is_done(self) -> bool:
        return self.current is None or self.current.is_closed

    def _correlated(self, event: Event, correlation: str) -> Turn:
        turn, current = self._by_correlation.get(correlation), self.current
        if turn is None:
            is_free = current is not None and not self._is_done()
            if is_free and current is not None and current.correlation is None and not current.has_request:
                turn = current
            else:
                turn = self._open(event, continues=self._cut.pop(correlation, None))
            turn.correlation = correlation
            self._by_correlation[correlation] = turn
        self.current = turn
        return turn

    def _open_or_current(self, event: Event) -> Turn:
        if self.current is not None and not self._is_done():
            return self.current
        is_going_on = event.kind == "model_request"
        return self._open(event, continues=self._cut.pop(None, None) if is_going_on else None)

    def _open_compaction(self, event: Event, summary_id: str | None) -> Turn:
        current = self.current
        if current is not None and not current.is_closed and not current.has_request and event.kind == "model_request":
            turn = current  # it has nothing but the instruction to summarise
        else:
            if current is not None and not current.is_closed:
                self._cut[current.correlation] = current
            self._by_correlation.clear()
            turn = self._open(event, is_compaction=True)
        turn.is_compaction, turn.summary_id = True, summary_id
        return turn

    def _open(
        self, event: Event | None, *, continues: Turn | None = None, is_compaction: bool = False, key: str | None = None
    ) -> Turn:
        later = self._outline.later_summaries
        while later and event is not None and not is_compaction and later[0][0] < self._number and self.turns:
            _, summary_id = later.pop(0)
            self._open(None, is_compaction=True, key=f"summary:{summary_id}").summary_id = summary_id
        key = key or (event.id if event is not None else "")
        before = self.turns[-1] if self.turns else None
        source = event.place.source if event is not None else before.source if before is not None else Source("")
        turn = Turn(
            id=ulid("turn", self._origin, key),
            key=key,
            number=len(self.turns),
            parent_id=before.id if before is not None else self._parent_id,
            source=source,
            event_id=event.id if event is not None else None,
            started_at=self._time,
            is_start_inferred=self._is_time_inferred,
            ended_at=self._time,
            continues=continues,
            is_compaction=is_compaction,
            is_closed=event is None,
        )
        self.turns.append(turn)
        self.current = turn
        return turn
