"""Families: sets of nodes that are tied together."""

from collections.abc import Iterable


class Families:
    """A partition of nodes that grows coarser with every link."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def link(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Put the two nodes of each pair into one family."""
        for one, other in pairs:
            first, second = self.of(one), self.of(other)
            if first != second:
                self._above[first] = second

    def of(self, node: int) -> int:
        """Return the node that stands for the family of a node."""
        above = self._above
        parent = above.setdefault(node, node)
        while parent != node:
            grandparent = above[parent]
            above[node] = grandparent
            node, parent = parent, grandparent
        return node

    def nodes(self) -> Iterable[int]:
        """Return all nodes."""
        return self._above.keys()
