"""Private folders inside a ledger, for rows on their way into it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from aix.ledger.durable import make_folder
from aix.ledger.manifest import STAGING_FOLDER


@contextmanager
def staging_folder(ledger: Path) -> Iterator[Path]:
    """Give a folder that is gone when the block ends; one left by a killed process does no harm."""
    folder = ledger / STAGING_FOLDER / uuid4().hex
    make_folder(folder.parent)
    make_folder(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
