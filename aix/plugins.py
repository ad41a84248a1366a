"""Entry points of the distributions that are installed: importers, dialects, exporters and packs of queries."""

import sys
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints


def entry_points_of(group: str) -> "list[EntryPoint]":
    """Return the entry points of a group, each once, by name."""
    found = _all(tuple(sys.path)).select(group=group)
    return sorted(dict.fromkeys(found), key=lambda point: (point.name, point.value))


@lru_cache(maxsize=1)
def _all(_: tuple[str, ...]) -> "EntryPoints":
    """Return the entry points of all groups: to find them, a file of every distribution is read."""
    from importlib.metadata import entry_points  # takes a tenth of the start of a command, and most ask for none

    return entry_points()  # type: ignore[return-value,unused-ignore] # before 3.12, another type with `select`
