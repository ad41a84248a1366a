"""Notes beside a ledger that make a run faster: no part of any version, and no loss when they are gone."""

from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from aix.errors import LedgerUnwritableError
from aix.ledger.durable import new_file, remove, writing_to


def write_note(ledger: Path, name: str, content: bytes) -> None:
    """Replace a note as a whole; where that cannot be, there is none."""
    part = ledger / f".{uuid4().hex}.part"
    with suppress(LedgerUnwritableError, OSError), writing_to(ledger):
        try:
            with new_file(part) as file:
                file.write(content)
            part.replace(ledger / name)
        finally:
            remove(part)
