"""Files that were touched and hold what they held: noted beside the ledger, so that they are hashed only once.

The note is not part of any version and can be deleted at any time. It says nothing that the fingerprints of a version
do not bear out: a stamp counts only together with the content that the version knows.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from aix.pipeline.plan import Planned
from aix.store.durable import write_note
from aix.store.fingerprints import Fingerprint, Fingerprints
from aix.store.stored_files import read_note

FILE_NAME = "touched.json"
_DECODER = msgspec.json.Decoder(dict[str, tuple[str, tuple[str, ...]]])


def with_touched(ledger: Path, known: dict[str, Fingerprint]) -> dict[str, Fingerprint]:
    """Return fingerprints with the stamps that were noted since."""
    for identity, (content, stamps) in _read(ledger).items():
        entry = known.get(identity)
        if entry is not None and entry.content == content:
            known[identity] = msgspec.structs.replace(entry, stamps=stamps)
    return known


def note_touched(ledger: Path, plan: Iterable[Planned], known: Fingerprints) -> None:
    """Note the stamps of sources that were touched and hold what they held."""
    touched = {each.id: (known[each.id].content, each.stamps) for each in plan if each.is_touched}
    if not touched:
        return
    write_note(ledger, FILE_NAME, msgspec.json.encode({**_read(ledger), **touched}))


def _read(ledger: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    return read_note(ledger / FILE_NAME, _DECODER.decode) or {}
