"""One name for a place, however the user writes it."""

from pathlib import Path

from aix.errors import LedgerPathError


def absolute_path(path: Path) -> Path:
    """Return the path from the root on, without `..`; links stay as they are unless the way leads back through one.

    >>> absolute_path(Path("/logs/old/../new"))
    PosixPath('/logs/new')
    """
    absolute = path.expanduser().absolute()
    return absolute.resolve() if ".." in absolute.parts else absolute


def is_utf8(path: Path) -> bool:
    r"""Whether the path can be written as UTF-8; file systems allow others.

    >>> is_utf8(Path("/logs")), is_utf8(Path("/logs\udcff"))
    (True, False)
    """
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        return False
    return True


def check_ledger_path(path: Path) -> Path:
    """Return the path of a ledger; raise LedgerPathError when it is not UTF-8."""
    if not is_utf8(path):
        raise LedgerPathError(path)
    return path
