"""One name for a place, however the user writes it."""

from pathlib import Path


def absolute_path(path: Path) -> Path:
    """Return the path from the root on, without `..`; links stay as they are unless the way leads back through one.

    >>> absolute_path(Path("/logs/old/../new"))
    PosixPath('/logs/new')
    """
    absolute = path.expanduser().absolute()
    return absolute.resolve() if ".." in absolute.parts else absolute
