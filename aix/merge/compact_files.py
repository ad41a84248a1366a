"""Putting small groups of files together, whatever their number, and writing groups again without their dead rows."""

from dataclasses import dataclass
from pathlib import Path

from aix.derived.derived_data import DerivedData
from aix.merge.groups import Groups
from aix.store.commit import Change, Stage, commit
from aix.store.engine import engine_errors_of
from aix.store.manifest import Manifest, read_latest


def untidy_groups(ledger: Path) -> dict[str, int]:
    """Return the groups that would be written again, with their sizes."""
    version = read_latest(ledger)
    groups = Groups(version, Stage(ledger))
    return {name: groups.size_of(name) for name in dict.fromkeys([*groups.untidy(), *version.dead])}


def tidy_groups(ledger: Path) -> dict[str, int]:
    """Put small groups together, drop all dead rows, and return the groups that were written again."""
    read_latest(ledger)
    step = Tidying()
    return commit(ledger, Change(leaves=[step], derived=DerivedData())).result(step)


@dataclass(frozen=True)
class Tidying:
    """Dead rows, and the small groups that others take in."""

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, dict[str, int]]:
        """Return a version without them, and the groups that were written again."""
        tidied: dict[str, int] = {}
        groups = Groups(base, stage)
        with engine_errors_of(stage.ledger):
            while untidy := groups.untidy():
                tidied.update({name: groups.size_of(name) for name in untidy if name in base.indexes})
                groups.put_together(untidy)
        return groups.version() if tidied else base, tidied
