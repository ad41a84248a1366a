"""The tree of turns: depth, root, ancestry and sums along the way from the root.

Turns are walked without recursion: a chain may be ten thousand turns long. A parent that is not there makes a turn a
root; of turns that are each other's ancestors, the one with the smallest id does.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

import msgspec

LARGEST = 2**63 - 1
"""The largest number of items in a column."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The columns that a place in the tree depends on."""

    id: str
    parent_id: str | None
    started_at: int
    is_compaction: bool
    total_tokens: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn stands in the tree."""

    root_id: str
    depth: int
    total_tokens: int | None
    """Sum over the ancestry, the turn included; NULL when nothing is known of any of them."""
    last_compaction_depth: int
    """Depth of the nearest compaction before it, 0 without one."""


class Tree:
    """All turns of some families, each tree whole."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self.turns = {turn.id: turn for turn in turns}
        self._parents = _acyclic_parents(self.turns)
        self.places: dict[str, Place] = {}
        self._order: list[str] = []
        for turn_id in self._walk():
            self._order.append(turn_id)
            self.places[turn_id] = self._place(turn_id)

    def ancestors(self, turn_id: str) -> Iterator[str]:
        """Go from a turn to its root."""
        following: str | None = turn_id
        while following is not None and following in self.turns:
            yield following
            following = self._parents[following]

    def ancestors_of_all(self, turn_ids: Iterable[str]) -> set[str]:
        """Return these turns and everything before them; no turn is walked twice."""
        found: set[str] = set()
        for turn_id in turn_ids:
            for above in self.ancestors(turn_id):
                if above in found:
                    break
                found.add(above)
        return found

    def counts_up_to(self, turn_ids: Set[str]) -> dict[str, int]:
        """Return for every turn how many of these turns are in its ancestry, itself included."""
        counts: dict[str, int] = {}
        for turn_id in self._order:
            parent = self._parents[turn_id]
            counts[turn_id] = (0 if parent is None else counts[parent]) + (turn_id in turn_ids)
        return counts

    def descendants(self, turn_ids: Set[str]) -> set[str]:
        """Return these turns and all that follow from them."""
        found: set[str] = set()
        for turn_id in self._order:
            if turn_id in turn_ids or self._parents[turn_id] in found:
                found.add(turn_id)
        return found

    def ancestries(self) -> Iterator[tuple[str, bytearray]]:
        """Go through the turns, each with the JSON array of its ancestry, but for the bracket at its end.

        One buffer is extended and cut back along the way, and copied by nobody who need not: the ancestries of a long
        chain together are far larger than any of them.
        """
        path = bytearray()
        ends = [0]
        for turn_id in self._order:
            depth = self.places[turn_id].depth
            del ends[depth:]
            del path[ends[-1] :]
            path += b"[" if depth == 1 else b","
            path += msgspec.json.encode(turn_id)
            ends.append(len(path))
            yield turn_id, path

    def _walk(self) -> Iterator[str]:
        """Go through the turns depth first, so that a turn comes after its ancestors and next to its children."""
        children = defaultdict(list)
        for turn_id, parent in self._parents.items():
            children[parent].append(turn_id)
        for siblings in children.values():
            siblings.sort(key=lambda turn_id: (self.turns[turn_id].started_at, turn_id), reverse=True)
        waiting = children[None]
        while waiting:
            turn_id = waiting.pop()
            yield turn_id
            waiting.extend(children.get(turn_id, ()))

    def _place(self, turn_id: str) -> Place:
        turn = self.turns[turn_id]
        parent_id = self._parents[turn_id]
        if parent_id is None:
            return Place(turn_id, 1, turn.total_tokens, 0)
        above = self.places[parent_id]
        compaction = above.depth if self.turns[parent_id].is_compaction else above.last_compaction_depth
        return Place(above.root_id, above.depth + 1, _sum(above.total_tokens, turn.total_tokens), compaction)


def _sum(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return max(-LARGEST, min(one + other, LARGEST))


def _acyclic_parents(turns: Mapping[str, Turn]) -> dict[str, str | None]:
    parents = {
        turn.id: turn.parent_id if turn.parent_id is not None and turn.parent_id in turns else None
        for turn in turns.values()
    }
    rooted: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        following: str | None = start
        while following is not None and following not in rooted:
            if following in path:
                members = list(path)
                parents[min(members[members.index(following) :])] = None
                break
            path[following] = None
            following = parents[following]
        rooted.update(path)
    return parents
