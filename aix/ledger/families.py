"""Families: sets of nodes that are tied together."""

from collections.abc import Iterable


class Families:
    """A partition of nodes that grows coarser with every link."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def link(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Put the two nodes of each pair into one family."""
        above = self._above
        for one, other in pairs:
            root = self.of(other)
            if one not in above:  # most nodes are named once, by a row that joins what is there
                above[one] = root
            elif (own := self.of(one)) != root:
                above[own] = root

    def add(self, nodes: Iterable[int]) -> None:
        """Take nodes in, each a family of its own unless it is known."""
        for node in nodes:
            self._above.setdefault(node, node)

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
