"""Where the view files of AIX are, and whether they are as they were; asked before anything heavy is loaded."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from aix.query.packs import VIEWS, query_root


def view_folder() -> Path:
    """Return the folder of the view files of AIX."""
    return query_root() / VIEWS


@cache
def library_views_digest() -> str:
    """Return what changes when a view of AIX does."""
    return views_digest(view_folder())


def views_digest(folder: Path) -> str:
    """Return what changes when a view file does."""
    contents = [path.name.encode() + b"\0" + path.read_bytes() for path in sorted(folder.glob("*.sql"))]
    return sha256(b"\0".join(contents)).hexdigest()[:16]
