"""Putting small groups of files together, whatever their number."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aix.ledger.commit import Stage, commit
from aix.ledger.groups import Groups
from aix.ledger.manifest import Manifest, Segment, read_latest
from aix.ledger.workbench import engine_errors_of


def small_groups(ledger: Path) -> dict[str, int]:
    """Return the groups that would be put together, with their sizes."""
    groups = Groups(read_latest(ledger), Stage(ledger))
    return {name: groups.size_of(name) for name in groups.all_small()}


def merge_groups(ledger: Path) -> dict[str, int]:
    """Put all small groups together, and return those that were."""
    read_latest(ledger)
    merged: dict[str, int] = {}

    def change(base: Manifest, stage: Stage) -> Mapping[str, Sequence[Segment]]:
        groups = Groups(base, stage)
        merged.clear()
        with engine_errors_of(ledger):
            while small := groups.all_small():
                merged.update({name: groups.size_of(name) for name in small if name in base.indexes})
                groups.put_together(small)
        return {**_ungrouped(base), **groups.tables()} if merged else base.tables

    commit(ledger, change)
    return merged


def _ungrouped(base: Manifest) -> dict[str, list[Segment]]:
    """A ledger is either written by joining rows into it, or has no groups at all."""
    return {name: [segment for segment in segments if segment.group is None] for name, segments in base.tables.items()}
