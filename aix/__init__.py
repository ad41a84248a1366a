"""AIX: the session histories of AI coding assistants as one ledger, read with SQL."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

__version__ = "0.1.0"
__all__ = ["__version__", "open"]


def open(path: Path | str | None = None) -> "Ledger":  # noqa: A001 - read as `aix.open`
    """Open a ledger, by default the one in the configuration, at its newest version.

    >>> with aix.open(folder) as ledger:
    ...     ledger.sql("select count(*) from turns").rows()
    [(6,)]
    """
    from aix.reading.ledger import open_ledger

    return open_ledger(path)
