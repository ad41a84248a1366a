"""Private folders inside a ledger, for rows on their way into it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from aix.ledger.durable import make_folder, writing_to
from aix.ledger.manifest import STAGING_FOLDER


@contextmanager
def staging_folder(ledger: Path) -> Iterator[Path]:
    """Give a folder that is gone when the block ends; one left by a killed process does no harm."""
    folder = ledger / STAGING_FOLDER / uuid4().hex
    with writing_to(ledger):
        for private in (ledger, folder.parent, folder):
            make_folder(private)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
