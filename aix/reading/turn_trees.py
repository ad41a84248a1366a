"""Trees of turns with their forks, the sessions whose heads they hold, and the subagents that were started in them.

A tree is followed by the parents of its turns: the ancestries of all turns of a long session together are many times
larger than all else that is known of it. Turns that follow each other without a fork, a head or a compaction are a
stretch. A branch is a chain of stretches from its first turn to the head of a session.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_TURNS = """
    with cost as (
      select turn_id, sum(cost_usd) as usd, sum(cost_estimated_usd) as estimated_usd,
        count(case when is_unpriced then 1 end) as unpriced
      from v_requests group by turn_id
    )
    select
      t.id, t.parent_turn_id as parent_id, h.depth, coalesce(c.root_turn_id, t.id) as root_id,
      t.turn_type = 'compaction' as is_compaction, t.status = 'failed' as is_failed,
      case when i.row_key is null then t.started_at end as started_at, coalesce(t.tool_call_count, 0) as tool_calls,
      k.tokens_before, k.tokens_after, k."trigger", q.usd, q.estimated_usd, coalesce(q.unpriced, 0) as unpriced
    from turns t
    join threads h on h.turn_id = t.id
    left join turn_context c on c.turn_id = t.id
    left join cost q on q.turn_id = t.id
    left join compactions k on k.turn_id = t.id
    left join inferred_values i
      on i.table_name = 'turns' and i.row_key = t.id and i.column_name = 'started_at' and i.basis = 'undated'
    where cast($roots as varchar[]) is null or coalesce(c.root_turn_id, t.id) in (select unnest($roots))
    order by h.depth, t.started_at, t.id
"""
_SESSIONS = """
    select
      s.label, s.thread_id as head_id, s.is_subagent = 1 as is_subagent, s.parent_session_label as parent_label,
      s.parent_turn_id, s.status = 'active' as is_active, coalesce(c.root_turn_id, s.thread_id) as root_id,
      p.root_turn_id as parent_root_id
    from sessions s
    left join turn_context c on c.turn_id = s.thread_id
    left join turn_context p on p.turn_id = s.parent_turn_id
    order by s.created_at, s.label
"""
_PROMPTS = """
    with prompt as (
      select turn_id, left(content, 1000) as content,
        row_number() over (
          partition by turn_id order by case when source = 'event' then 1 else 0 end, sequence, id
        ) as place
      from messages
      where turn_id in (select unnest($1)) and role = 'user' and trim(content) <> ''
    )
    select turn_id, content from prompt where place = 1
"""
_ROOT = "select coalesce(max(root_turn_id), $1) from turn_context where turn_id = $1"


@dataclass(frozen=True, slots=True)
class Amount:
    """A cost at list price; None where it is not known."""

    usd: Decimal | None = None
    estimated_usd: Decimal | None = None
    unpriced: int = 0
    """Requests with tokens that have no price."""

    def __add__(self, other: "Amount") -> "Amount":
        """Add what is known of both."""
        return Amount(
            _sum(self.usd, other.usd), _sum(self.estimated_usd, other.estimated_usd), self.unpriced + other.unpriced
        )


def _sum(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of turns, and costs; of subagents apart."""

    turns: int = 0
    cost: Amount = NOTHING
    subagents: int = 0
    subagents_cost: Amount = NOTHING

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(
            self.turns + other.turns,
            self.cost + other.cost,
            self.subagents + other.subagents,
            self.subagents_cost + other.subagents_cost,
        )

    def delegated(self, subagents: int = 0) -> "Figures":
        """Return these figures of so many subagents as they stand with the turn that started them."""
        return Figures(0, NOTHING, subagents + self.subagents, self.cost + self.subagents_cost)


@dataclass(frozen=True, slots=True)
class TreeTurn:
    """A turn as part of a tree."""

    id: str
    parent_id: str | None
    depth: int
    root_id: str
    is_compaction: bool
    is_failed: bool
    started_at: int | None
    tool_calls: int
    tokens_before: int | None
    tokens_after: int | None
    trigger: str | None
    cost: Amount


@dataclass(frozen=True, slots=True)
class TreeSession:
    """A session as part of a tree."""

    label: str
    head_id: str
    is_subagent: bool
    parent_label: str | None
    parent_turn_id: str | None
    is_active: bool
    root_id: str
    parent_root_id: str | None


@dataclass(slots=True)
class Stretch:
    """Turns that follow each other, with what hangs from them."""

    turns: list[TreeTurn]
    figures: Figures
    """Those of the turns, and of the subagents that were started in them."""
    subagents: list[str] = field(default_factory=list)
    """Roots of the trees of subagents that were started in these turns."""
    heads: list[str] = field(default_factory=list)
    """Labels of the sessions whose head is the last turn."""
    branches: list[str] = field(default_factory=list)
    """The first turns of the other branches after the last turn."""


class TurnTrees:
    """Trees of turns, and the sessions on them."""

    def __init__(self, turns: Iterable[TreeTurn], sessions: Iterable[TreeSession], head: str | None = None) -> None:
        """Take turns by their depth, and sessions by their beginning; the branch of the head is the main one."""
        self.turns = {turn.id: turn for turn in turns}
        self.sessions = {each.label: each for each in sessions if each.head_id in self.turns}
        self.children: defaultdict[str, list[str]] = defaultdict(list)
        self._parents: dict[str, str] = {}
        for turn in self.turns.values():
            above = self.turns.get(turn.parent_id or "")
            if above is not None and above.depth < turn.depth:  # a circle would have no end
                self.children[above.id].append(turn.id)
                self._parents[turn.id] = above.id
        self.roots = [turn_id for turn_id in self.turns if turn_id not in self._parents]
        self.heads: defaultdict[str, list[str]] = defaultdict(list)
        for session in self.sessions.values():
            self.heads[session.head_id].append(session.label)
        self._head = head
        self._wanted = set(self._way_to(head)) if head in self.turns else set()
        self._root_of_label = {label: self.root_of(each.head_id) for label, each in self.sessions.items()}
        self.starters = self._find_starters()
        """The turn, and the session where no turn is known, that started the subagent of each such tree."""
        self._started: defaultdict[str, list[str]] = defaultdict(list)
        for root, (turn_id, _) in self.starters.items():
            self._started[turn_id or ""].append(root)
        self.latest: dict[str, int] = {}
        """By turn, when the last turn of the branches from it on began."""
        self._active: dict[str, bool] = {}
        self.below: dict[str, Figures] = {}
        """The figures of a turn with all turns and subagents after it."""
        self._add_up()

    @cached_property
    def tops(self) -> list[str]:
        """The roots of all trees that no other tree started, the one with the latest turn first."""
        return sorted(
            (root for root in self.roots if root not in self.starters), key=lambda root: (-self.latest[root], root)
        )

    def labels_on(self, root: str) -> list[str]:
        """Return the sessions whose heads are in a tree, people's before subagents', active ones first."""
        labels = self._labels_by_tree.get(root, ())
        return sorted(labels, key=lambda label: (self.sessions[label].is_subagent, not self.sessions[label].is_active))

    def top_of(self, label: str) -> str:
        """Return the root of the tree of a session, of a subagent's that of the session that started it all."""
        root = self._root_of_label[label]
        while root in self.starters:
            root = self._above(root)
        return root

    def is_root(self, turn_id: str) -> bool:
        """Whether a turn follows no other."""
        return turn_id not in self._parents

    def is_abandoned(self, turn_id: str) -> bool:
        """Whether no active session's head is the turn or follows it."""
        return not self._active[turn_id]

    def subagents_without_turn(self, label: str) -> list[str]:
        """Return the roots of trees of subagents that a session started in a turn that no log names."""
        return [root for root in self._started[""] if self.starters[root][1] == label]

    def stretches(self, first: str) -> Iterator[Stretch]:
        """Go through a branch from its first turn: its stretches, each with the other branches that begin after it."""
        stretch = self._new_stretch(self.turns[first])
        while True:
            last = stretch.turns[-1]
            heads = self.heads.get(last.id, [])
            following = self._next_of(last.id)
            others = [each for each in self.children.get(last.id, ()) if each != following]
            after = None if following is None else self.turns[following]
            is_broken = others or heads or last.is_compaction or (after is not None and after.is_compaction)
            if after is not None and not is_broken:
                self._extend(stretch, after)
                continue
            stretch.heads = list(heads)
            stretch.branches = sorted(others, key=lambda turn_id: (self.turns[turn_id].started_at or 0, turn_id))
            yield stretch
            if after is None:
                return
            stretch = self._new_stretch(after)

    def end_of(self, first: str) -> str:
        """Return the last turn of a branch."""
        last = first
        while following := self._next_of(last):
            last = following
        return last

    def _next_of(self, turn_id: str) -> str | None:
        """Return the next turn of a branch, which goes on to the head that is asked for, else to an active one."""
        children = self.children.get(turn_id)
        if not children or turn_id == self._head:
            return None
        best = max(children, key=self._rank)
        is_end = best not in self._wanted and not self._active[best] and self._holds_active_head(turn_id)
        return None if is_end else best

    def _holds_active_head(self, turn_id: str) -> bool:
        return any(self.sessions[label].is_active for label in self.heads.get(turn_id, ()))

    def _new_stretch(self, turn: TreeTurn) -> Stretch:
        stretch = Stretch([], Figures())
        self._extend(stretch, turn)
        return stretch

    def _extend(self, stretch: Stretch, turn: TreeTurn) -> None:
        stretch.turns.append(turn)
        stretch.figures += self._own_figures(turn)
        stretch.subagents.extend(self._started.get(turn.id, ()))

    def _own_figures(self, turn: TreeTurn) -> Figures:
        figures = Figures(1, turn.cost)
        for root in self._started.get(turn.id, ()):
            figures += self.below[root].delegated(1)
        return figures

    def _rank(self, turn_id: str) -> tuple[bool, bool, int, str]:
        return turn_id in self._wanted, self._active[turn_id], self.latest[turn_id], turn_id

    def _way_to(self, turn_id: str | None) -> Iterator[str]:
        while turn_id is not None:
            yield turn_id
            turn_id = self._parents.get(turn_id)

    def root_of(self, turn_id: str) -> str:
        """Return the first turn of the tree of a turn."""
        # Where all is well, the root that the ledger names; a damaged tree may be in parts.
        named = self.turns[turn_id].root_id
        return named if named in self.turns and named not in self._parents else list(self._way_to(turn_id))[-1]

    def _find_starters(self) -> dict[str, tuple[str | None, str]]:
        found: dict[str, tuple[str | None, str]] = {}
        own = {self._root_of_label[each.label] for each in self.sessions.values() if not each.is_subagent}
        for session in self.sessions.values():
            root = self._root_of_label[session.label]
            if root in own or root in found:
                continue
            turn = session.parent_turn_id if session.parent_turn_id in self.turns else None
            starter = session.parent_label if session.parent_label in self.sessions else None
            above = self.root_of(turn) if turn else self._root_of_label.get(starter or "")
            if above is None or self._leads_to(above, root, found):
                continue
            found[root] = (turn, starter or session.label)
        return found

    def _leads_to(self, above: str, root: str, found: dict[str, tuple[str | None, str]]) -> bool:
        """Whether a tree was itself started by another, directly or through others."""
        while True:
            if above == root:
                return True
            if above not in found:
                return False
            turn, label = found[above]
            above = self.root_of(turn) if turn else self._root_of_label[label]

    def _level(self, root: str) -> int:
        level = 0
        while root in self.starters:
            root = self._above(root)
            level += 1
        return level

    def _above(self, root: str) -> str:
        """Return the root of the tree that started this one."""
        turn, label = self.starters[root]
        return self.root_of(turn) if turn else self._root_of_label[label]

    def _add_up(self) -> None:
        """Sum up from the ends of all branches to their roots: trees of subagents before those that started them."""
        levels = {root: self._level(root) for root in self.roots}
        trees: dict[str, str] = {}
        for turn_id in self.turns:
            trees[turn_id] = trees[self._parents[turn_id]] if turn_id in self._parents else turn_id
        for turn_id in sorted(self.turns, key=lambda each: (-levels[trees[each]], -self.turns[each].depth)):
            turn = self.turns[turn_id]
            figures = self._own_figures(turn)
            latest = turn.started_at or 0
            is_active = self._holds_active_head(turn_id)
            for child in self.children.get(turn_id, ()):
                figures += self.below[child]
                latest = max(latest, self.latest[child])
                is_active |= self._active[child]
            if turn_id not in self._parents:
                for label in self._labels_by_tree.get(turn_id, ()):
                    for root in self.subagents_without_turn(label):
                        figures += self.below[root].delegated(1)
            self.below[turn_id], self.latest[turn_id], self._active[turn_id] = figures, latest, is_active

    @cached_property
    def _labels_by_tree(self) -> dict[str, list[str]]:
        """The sessions whose heads are in each tree, by its root."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for label, root in self._root_of_label.items():
            found[root].append(label)
        return dict(found)


def read_all_trees(ledger: "Ledger") -> TurnTrees:
    """Read the trees of all sessions."""
    return TurnTrees(_read_turns(ledger, None), _read_sessions(ledger))


def read_tree(ledger: "Ledger", turn_id: str, *, is_head: bool) -> TurnTrees:
    """Read the tree of a turn, with those of the subagents that it started; the main branch ends at a head."""
    [(root,)] = ledger.own_sql(_ROOT, [turn_id]).rows()
    sessions = _read_sessions(ledger)
    roots = {root}
    while True:
        labels = {each.label for each in sessions if each.root_id in roots}
        started = {
            each.root_id
            for each in sessions
            if each.is_subagent and (each.parent_root_id in roots or each.parent_label in labels)
        }
        if started <= roots:
            break
        roots |= started
    return TurnTrees(_read_turns(ledger, sorted(roots)), sessions, turn_id if is_head else None)


def read_prompts(ledger: "Ledger", turn_ids: Iterable[str]) -> dict[str, str]:
    """Return the beginning of the prompt of each of these turns that has one."""
    wanted = sorted(set(turn_ids))
    return dict(ledger.own_sql(_PROMPTS, [wanted]).rows()) if wanted else {}


def _read_turns(ledger: "Ledger", roots: Sequence[str] | None) -> Iterator[TreeTurn]:
    for row in ledger.own_sql(_TURNS, {"roots": roots}).dicts():
        cost = Amount(row.pop("usd"), row.pop("estimated_usd"), row.pop("unpriced"))
        yield TreeTurn(**row, cost=cost)


def _read_sessions(ledger: "Ledger") -> list[TreeSession]:
    return [TreeSession(**row) for row in ledger.own_sql(_SESSIONS).dicts()]
