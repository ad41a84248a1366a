"""The dialects of permission rules that are installed."""

from functools import cache
from importlib.metadata import entry_points

from aix.permissions.contract import Dialect

_GROUP = "aix.permissions"


@cache
def dialects() -> dict[str, Dialect]:
    """Return the dialects by the origin that they speak of; one that cannot be loaded is none."""
    found: dict[str, Dialect] = {}
    for point in sorted(entry_points(group=_GROUP), key=lambda point: point.name):
        try:
            made = point.load()()
        except Exception:  # noqa: S112 - of another distribution: what it breaks must not end an import
            continue
        if isinstance(made, Dialect):
            found.setdefault(made.origin, made)
    return found
