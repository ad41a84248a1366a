"""Joining rows into a ledger.

A change gathers the families that the new rows belong to, from whatever groups hold them, joins what is said about
each row, derives what follows from it, and writes these families as new groups. Where they came from, they are marked
as dead. Everything else stays as it is, so that a change costs what it touches.
"""

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from aix.ledger.commit import Change, Stage, commit
from aix.ledger.delivery import SOURCE_COLUMN, Files
from aix.ledger.entries import link_named
from aix.ledger.families import Families
from aix.ledger.fingerprints import Fingerprints
from aix.ledger.gathering import Part, gather
from aix.ledger.groups import LARGEST_BYTES, Groups
from aix.ledger.manifest import Manifest
from aix.ledger.nodes import is_derived
from aix.ledger.rewriting import lay_part, settle, write_families
from aix.ledger.segment_checks import checked_path
from aix.ledger.staging import staging_folder
from aix.ledger.workbench import Delivered, StatementFile, Workbench, engine_errors_of, workbench
from aix.schema import TABLES
from aix.schema.sql import quote_name, quote_text


def add(
    ledger: Path,
    deliveries: Sequence[Files],
    fingerprints: Fingerprints | None = None,
    prepare: Change | None = None,
) -> Manifest:
    """Join the rows of deliveries, given as their files, into a ledger, and return the version that holds them.

    The fingerprints of the sources that the rows were read from become part of that version.
    """
    with staging_folder(ledger) as folder:
        rows = gather([Part(files) for files in deliveries], folder)
        return add_statements(ledger, statements_of(rows), fingerprints, prepare)


def statements_of(rows: Files) -> Delivered:
    """Return the rows of deliveries that were gathered as statements of their sources."""
    return [(TABLES[name], StatementFile(path, quote_name(SOURCE_COLUMN))) for name, path in rows.items()]


def add_statements(
    ledger: Path,
    delivered: Delivered,
    fingerprints: Fingerprints | None = None,
    prepare: Change | None = None,
) -> Manifest:
    """Join the rows of files into a ledger, and return the version that holds them.

    Before that, the newest version is changed by `prepare`, in the same commit.
    """

    def change(base: Manifest, stage: Stage) -> Manifest:
        stage.fingerprints = fingerprints or {}
        if prepare:
            base = prepare(base, stage)
        with workbench(ledger) as bench:
            groups = _join(base, stage, bench, [*delivered, *_ungrouped(ledger, base)])
        if groups is None:
            return base
        with engine_errors_of(ledger):
            groups.drop_dead_rows()  # when the bench is cleared: both need memory
        return groups.version()

    return commit(ledger, change)


def _ungrouped(ledger: Path, base: Manifest) -> Delivered:
    """Return the files of a ledger that knew no groups: its rows are joined as if they were new."""
    return [
        (TABLES[name], StatementFile(checked_path(ledger, TABLES[name], segment), quote_text("")))
        for name, segments in base.tables.items()
        for segment in segments
        if segment.group is None
    ]


def _join(base: Manifest, stage: Stage, bench: Workbench, delivered: Delivered) -> Groups | None:
    """Return the groups with the new rows, unless these say nothing new."""
    families = Families()
    likely: set[int] = set()
    for (table, _), entries in zip(delivered, bench.read(delivered), strict=True):
        own = link_named(families, entries.named)
        if table.name in ("turns", "sessions"):
            likely.update(own)
    groups = Groups(base, stage)
    touched = groups.holding(*(pa.array(nodes, pa.uint64()) for nodes in (likely, families.nodes())))
    members = {name: part.members() for name, part in touched.items()}
    for name, part in touched.items():
        families.link((node, members[name][family]) for node, family in part.pairs())
        lay_part(bench, groups, name, part)
    for table, file in delivered:
        if not is_derived(table):
            bench.lay(table, file)
        file.entries.clear()  # the bench has what is still needed of them
    moving = {families.of(node) for node in settle(bench)}
    if not moving:
        return None
    for name, part in touched.items():
        leaving = [family for family, node in members[name].items() if families.of(node) in moving]
        if leaving:
            groups.remove(name, part.split(pa.array(leaving, pa.uint64()))[0])
    for nodes, size_bytes in _portions(bench, families, moving):
        index = groups.numbered({node: families.of(node) for node in nodes})
        write_families(bench, groups, index, size_bytes)
    return groups


def _portions(bench: Workbench, families: Families, moving: Container[int]) -> Iterator[tuple[list[int], int]]:
    """Divide the nodes of families into as many groups as the rows will need, whole families each, with their sizes."""
    by_family: dict[int, list[int]] = {}
    for node in families.nodes():
        family = families.of(node)
        if family in moving:
            by_family.setdefault(family, []).append(node)
    count = sum(map(len, by_family.values()))
    most_nodes = count * LARGEST_BYTES // max(bench.size_bytes, 1)
    portion: list[int] = []
    for members in by_family.values():
        if portion and len(portion) + len(members) > most_nodes:
            yield portion, LARGEST_BYTES
            portion = []
        portion.extend(members)
    if portion:
        yield portion, bench.size_bytes * len(portion) // count
