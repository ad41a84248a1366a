"""Where an entry belongs: which turn, after which other turn, and what the head of its session is.

Everything follows from earlier lines alone, so a log that has grown says about its beginning what it said before.
"""

from dataclasses import dataclass, field

from aix.ids import ulid
from aix_importers.session_log.principals import Principal
from aix_importers.session_log.records import Entry

_BRANCH_CHARACTERS = 12


@dataclass(slots=True, eq=False)
class Turn:
    """An exchange; the first turn that follows another one goes on with its line, any further one begins a new line."""

    id: str
    key: str
    source_uuid: str
    session: "Session"
    parent: "Turn | None"
    is_parent_inferred: bool
    started_at: int
    is_start_inferred: bool
    line: "Line"
    continuation: "Turn | None" = None
    is_answered: bool = False
    request_count: int = 0
    situation: str | None = None
    principal: Principal | None = None
    """The principal that its first entry states."""
    later_principal: Principal | None = None
    """The first one that any further entry states."""


@dataclass(slots=True, eq=False)
class Line:
    """Turns of a session that follow each other without a fork; it ends in exactly one turn."""

    start: Turn | None = None
    branch: "Branch | None" = None


@dataclass(slots=True, eq=False)
class Branch:
    """A line that the session's head has left: a session of its own, named by the first turn that only it has."""

    first: Turn
    head: Turn
    updated_at: int

    @property
    def suffix(self) -> str:
        """Part of the branch's label that follows the label of the session."""
        return f"~{self.first.id[:_BRANCH_CHARACTERS]}"


@dataclass(slots=True, eq=False)
class Session:
    """The turns of one session id, in the order of the log.

    Turns of another session are borrowed when their entries stand in the log again under this session id.
    """

    id: str
    turns: list[Turn] = field(default_factory=list)
    borrowed_turns: set[Turn] = field(default_factory=set)
    borrowed_uuids: set[str] = field(default_factory=set)
    branches: list[Branch] = field(default_factory=list)
    entry_count: int = 0
    created_at: int = 0
    updated_at: int = 0

    @property
    def head(self) -> Turn | None:
        """The turn that began last, which nothing in the session follows yet."""
        return self.turns[-1] if self.turns else None

    def has(self, turn: Turn) -> bool:
        """Whether a turn is one of its own or borrowed."""
        return turn.session is self or turn in self.borrowed_turns


@dataclass(slots=True, eq=False)
class Place:
    """Where an entry stands, and what it said."""

    session: Session
    turn: Turn
    is_inferred: bool
    position: int
    request_seq: int
    is_user: bool
    time: int
    digest: bytes


class Placement:
    """Places the entries of a log, one after the other."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._places: dict[str, Place] = {}
        self.sessions: dict[str, Session] = {}

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._places

    def find(self, uuid: str) -> Place | None:
        """Return the place of an earlier entry."""
        return self._places.get(uuid)

    def add(self, entry: Entry, session_id: str, time: int, *, is_time_inferred: bool) -> Place:
        """Give a new entry its place."""
        session = self.sessions.setdefault(session_id, Session(session_id))
        parent = self._places.get(entry.parent_uuid or "")
        is_user = entry.role == "user"
        turn = self._joined_turn(session, parent, is_user=is_user)
        is_inferred = turn is not None and parent is None
        if turn is None:
            turn = self._new_turn(entry, session, parent, time, is_time_inferred=is_time_inferred)
            turn.principal = entry.principal
        turn.later_principal = turn.later_principal or entry.principal
        session.updated_at = max(session.updated_at, time)
        turn.is_answered = turn.is_answered or not is_user
        turn.situation = turn.situation or entry.situation
        place = Place(session, turn, is_inferred, session.entry_count, turn.request_count, is_user, time, entry.digest)
        session.entry_count += 1
        turn.request_count += not is_user
        self._places[entry.uuid] = place
        return place

    def borrow(self, uuid: str, session_id: str, time: int) -> None:
        """Make the turn of an earlier entry that stands in the log again a part of this other session's history."""
        turn = self._places[uuid].turn
        session = self.sessions.setdefault(session_id, Session(session_id))
        if turn.session is session or uuid in session.borrowed_uuids:
            return
        session.borrowed_uuids.add(uuid)
        session.entry_count += 1
        if turn not in session.borrowed_turns:
            session.borrowed_turns.add(turn)
            _move_head(session, turn)
        session.updated_at = max(session.updated_at, time)

    @staticmethod
    def _joined_turn(session: Session, parent: Place | None, *, is_user: bool) -> Turn | None:
        """Return the turn that an entry becomes a part of; none when it begins one."""
        if parent is None:
            return None if is_user else session.head
        is_joining = session.has(parent.turn) and (not is_user or (parent.is_user and not parent.turn.is_answered))
        return parent.turn if is_joining else None

    def _new_turn(
        self, entry: Entry, session: Session, parent: Place | None, time: int, *, is_time_inferred: bool
    ) -> Turn:
        before = parent.turn if parent else session.head
        key = entry.uuid if entry.role == "user" else f"a:{entry.uuid}"
        goes_on = before is not None and before.session is session and before.continuation is None
        turn = Turn(
            id=ulid("turn", self._origin, key),
            key=key,
            source_uuid=entry.uuid,
            session=session,
            parent=before,
            is_parent_inferred=parent is None,
            started_at=time,
            is_start_inferred=is_time_inferred,
            line=before.line if before and goes_on else Line(),
        )
        turn.line.start = turn.line.start or turn
        _move_head(session, turn)
        if before and goes_on:
            before.continuation = turn
        return turn


def _move_head(session: Session, turn: Turn) -> None:
    """Make a new turn the head, and keep the line that is left as a branch.

    The head of a session is taken from the statement with the latest `updated_at`, so that has to grow with each move
    even where the log's times do not: then of two states of a log the longer one is believed.
    """
    head = session.head
    if head is not None:
        # The line of a borrowed turn is kept by the session whose turn it is.
        if turn.parent is not head and head.session is session:
            _leave(session, head, turn.parent)
        session.updated_at = max(session.updated_at + 1, turn.started_at)
    session.created_at = min(session.created_at, turn.started_at) if head else turn.started_at
    session.turns.append(turn)


def _leave(session: Session, head: Turn, fork: Turn | None) -> None:
    line = head.line
    if line.branch is not None:
        line.branch.head = head
        line.branch.updated_at = session.updated_at
        return
    own = fork.continuation if fork is not None and fork.line is line else line.start
    line.branch = Branch(own or head, head, session.updated_at)
    session.branches.append(line.branch)
