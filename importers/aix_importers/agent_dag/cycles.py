"""Cycles in relations that must not have any, found in little memory."""

from array import array
from collections.abc import Iterator

_NONE = -1


def find_cycles(count: int, sources: "array[int]", targets: "array[int]") -> Iterator[list[int]]:
    """Go through cycles of a directed graph with `count` points; a cycle is the positions of its edges, in order.

    Every point that lies on a cycle, or between two of them, is looked at once, so cycles that share points may be
    found as one.

    >>> list(find_cycles(4, array("q", [0, 1, 2, 3]), array("q", [1, 2, 0, 0])))
    [[0, 1, 2]]
    """
    remaining = _points_behind_cycles(count, sources, targets)
    into = array("q", [_NONE]) * count
    """An edge into each point that remains, from one that remains."""
    for edge, (source, target) in enumerate(zip(sources, targets, strict=True)):
        if remaining[source] and remaining[target]:
            into[target] = edge
    visited = bytearray(count)
    for start in range(count):
        if not remaining[start] or visited[start]:
            continue
        backwards: list[int] = []
        places: dict[int, int] = {}
        point = start
        while not visited[point]:
            visited[point] = 1
            places[point] = len(backwards)
            backwards.append(into[point])
            point = sources[into[point]]
        if point in places:
            yield backwards[places[point] :][::-1]


def _points_behind_cycles(count: int, sources: "array[int]", targets: "array[int]") -> bytearray:
    """Return which points are left when points that no edge leads to are removed again and again."""
    incoming = array("q", [0]) * count
    first = array("q", [_NONE]) * count
    following = array("q", [_NONE]) * len(sources)
    for edge, (source, target) in enumerate(zip(sources, targets, strict=True)):
        incoming[target] += 1
        following[edge] = first[source]
        first[source] = edge
    remaining = bytearray(b"\1") * count
    free = array("q", (point for point in range(count) if not incoming[point]))
    while free:
        point = free.pop()
        remaining[point] = 0
        edge = first[point]
        while edge != _NONE:
            target = targets[edge]
            incoming[target] -= 1
            if not incoming[target]:
                free.append(target)
            edge = following[edge]
    return remaining
