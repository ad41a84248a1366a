"""Sessions: labels that point to the ends of conversations.

A conversation may have been left at an earlier point and gone on from there: the branch that was left is a session of
its own, which nobody works on.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aix_importers.claude_code.scan import Scan
from aix_importers.claude_code.turns import Placement, Thread, Turn
from aix_importers.common.row_writer import may_be_label

_BRANCH_DIGITS = 12


@dataclass(slots=True, eq=False)
class Session:
    """A label, and the turn that it points to."""

    label: str
    thread: Thread
    head: Turn
    threads: list[Thread] = field(default_factory=list)
    """Those that have the label: a session may be logged in several files."""
    is_archived: bool = False
    first_own_turn: Turn | None = None
    """Of a branch that was left: the first turn that only it has."""


def sessions_of(threads: Sequence[Thread], placement: Placement) -> list[Session]:
    """Return the sessions of conversations, and those of branches that were left."""
    found: dict[str, Session] = {}
    for thread in threads:
        leaf = placement.resolve(thread.scan.live_leaf) if not thread.is_subagent else None
        head = leaf or thread.latest
        if head is None:
            continue
        known = found.get(thread.label)
        if known is None:
            found[thread.label] = Session(thread.label, thread, head, [thread])
            continue
        known.threads.append(thread)
        if thread.last_time >= known.thread.last_time:
            known.thread, known.head = thread, head
    return [*found.values(), *_left_branches(found, placement)]


def _left_branches(sessions: Mapping[str, Session], placement: Placement) -> list[Session]:
    held: set[Turn] = set()
    for session in sessions.values():
        _hold(session.head, held)
    branches = []
    for leaf in reversed(placement.turns):
        if leaf.has_children or leaf in held:
            continue
        first = leaf
        while first.parent is not None and first.parent not in held:
            first = first.parent
        _hold(leaf, held)
        name = hashlib.sha256(first.key.encode("utf-8", "surrogatepass")).hexdigest()[:_BRANCH_DIGITS]
        label = f"{leaf.thread.label}~{name}"
        branches.append(Session(label, leaf.thread, leaf, [leaf.thread], is_archived=True, first_own_turn=first))
    return branches[::-1]


def _hold(turn: Turn | None, held: set[Turn]) -> None:
    while turn is not None and turn not in held:
        held.add(turn)
        turn = turn.parent


def aliases_of(sessions: Iterable[Session]) -> dict[str, list[str]]:
    """Return by label the other names that sessions are found by; a name that two sessions want is nobody's."""
    wanted: dict[str, set[str]] = {}
    for session in sessions:
        if not session.is_archived:
            for name in _names_of(session):
                wanted.setdefault(name, set()).add(session.label)
    found: dict[str, list[str]] = {}
    for name, labels in wanted.items():
        if len(labels) == 1 and not may_be_label(name):
            found.setdefault(min(labels), []).append(name)
    return found


def _names_of(session: Session) -> Iterator[str]:
    thread = session.thread
    if thread.is_subagent:
        if thread.agent_id:
            yield thread.agent_id
        return
    yield thread.session_id
    for each in session.threads:
        if each.scan.slug:
            yield each.scan.slug
        name = each.scan.titles.agent_names.get(each.session_id)
        if name:
            yield name


def titles_of(
    scans: Sequence[Scan], placement: Placement, sessions: Sequence[Session], indexed: Mapping[str, str]
) -> dict[str, str]:
    """Return by label what sessions are called: given by the user, else made up, else by a summary or an index."""
    own = [session for session in sessions if not session.is_archived and not session.thread.is_subagent]
    by_session = {session.thread.session_id: session for session in own}
    by_head = {session.head: session for session in sessions}
    titles = {session.label: indexed[session_id] for session_id, session in by_session.items() if session_id in indexed}
    for scan in scans:
        for leaf, title in scan.titles.of_leaves.items():
            turn = placement.resolve(leaf)
            session = by_head.get(turn) if turn is not None else None
            if session is None and turn is not None:
                session = by_session.get(turn.thread.session_id)
            if session is not None:
                titles[session.label] = title
    for kind in ("generated", "custom"):
        for scan in scans:
            for session_id, title in getattr(scan.titles, kind).items():
                named = by_session.get(session_id)
                if named is not None:
                    titles[named.label] = title
    return titles
