"""The dialects of permission rules that are installed."""

from contextlib import suppress
from functools import cache
from hashlib import sha256

from aix.permissions.contract import Dialect

_GROUP = "aix.permissions"


@cache
def dialects() -> dict[str, Dialect]:
    """Return the dialects by the origin that they speak of; a dialect that cannot be loaded is skipped."""
    from aix.plugins import entry_points_of

    found: dict[str, Dialect] = {}
    for point in entry_points_of(_GROUP):
        with suppress(Exception):  # of another distribution: what it breaks must not end an import
            made = point.load()()
            if isinstance(made, Dialect):
                found.setdefault(made.origin, made)
    return found


def dialects_digest() -> str:
    """Return what changes when a dialect is new, is gone, or answers otherwise."""
    versions = (f"{origin} {getattr(dialect, 'version', None)}" for origin, dialect in sorted(dialects().items()))
    return sha256("\0".join(versions).encode()).hexdigest()[:16]
