"""Joining rows into a ledger.

A change gathers the families that the new rows belong to, from whatever groups hold them, joins what is said about
each row, derives what follows from it, and writes these families as new groups. Where they came from, they are marked
as dead. Everything else stays as it is, so that a change costs what it touches.

Deliveries are put together before: joining a few large files costs far less than joining many small ones.
"""

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from aix.derived.derived_data import DerivedData
from aix.merge.groups import LARGEST_BYTES, Groups
from aix.merge.rewriting import add_part, settle, write_families
from aix.merge.row_batches import SOURCE_COLUMN, Files, delivery_schema, source_of
from aix.merge.workspace import Delivered, MergeWorkspace, StatementFile, open_workspace, paired, write_rows
from aix.schema import TABLES, Table
from aix.schema.sql import quote_name, quote_text
from aix.store.commit import Change, Stage, commit
from aix.store.durable import make_folder, writing_to
from aix.store.engine import engine_errors_of
from aix.store.index import Families, Pairs, concatenated, integers
from aix.store.locks import staging_folder
from aix.store.manifest import Manifest
from aix.store.nodes import is_derived
from aix.store.segments import checked_path
from aix.store.sources import Fingerprints
from aix.thread_pool import map_in_threads


class Part(msgspec.Struct, frozen=True):
    """A delivery, and the names of sources whose rows in it do not count."""

    files: Files
    left_out: Collection[str] = ()


def gather(parts: Sequence[Part], folder: Path) -> Delivered:
    """Write the rows of deliveries into one Parquet file per table, and return them as statements of their sources.

    Which of them are statements of one source is all that is kept of the names of sources; what a source says in two
    deliveries stays two statements.
    """
    names = dict.fromkeys(name for part in parts for name in part.files)
    numbers: dict[str, int] = {}
    following = count()

    def number_of(statement: str) -> int:  # which several threads ask for
        return numbers.setdefault(statement, next(following))

    def write(name: str) -> tuple[Table, StatementFile]:
        rows = _rows(name, parts, number_of)
        path = write_rows(folder / f"{name}.parquet", delivery_schema(TABLES[name]), rows)
        return TABLES[name], StatementFile(path, quote_name(SOURCE_COLUMN))

    with writing_to(folder):
        make_folder(folder)
        return map_in_threads(write, names)


def _rows(name: str, parts: Sequence[Part], number_of: Callable[[str], int]) -> Iterator[pa.RecordBatch]:
    for number, part in enumerate(parts):
        if name in part.files:
            with pa.OSFile(str(part.files[name])) as file, pa.ipc.open_stream(file) as batches:
                for batch in batches:
                    yield _numbered(batch, part.left_out, number, number_of)


def _numbered(
    batch: pa.RecordBatch, left_out: Collection[str], number: int, number_of: Callable[[str], int]
) -> pa.RecordBatch:
    sources = batch.column(SOURCE_COLUMN).dictionary_encode()
    names = sources.dictionary.to_pylist()
    absent = [place for place, name in enumerate(names) if source_of(name) in left_out]
    if absent:
        kept = pc.invert(pc.is_in(sources.indices, value_set=pa.array(absent, pa.int32())))
        batch, sources = batch.filter(kept), sources.filter(kept)
    short = pa.array([f"{number}:{number_of(name)}" for name in names], pa.string())
    return batch.set_column(batch.num_columns - 1, batch.schema.field(SOURCE_COLUMN), short.take(sources.indices))


@dataclass(frozen=True)
class Addition:
    """Rows of files that are joined into a version."""

    rows: Delivered
    portions: Sequence[Delivered] = ()
    """Further rows, each portion of which is joined after those before it, so that all need less memory."""

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        """Return the version that holds them."""
        version = _with_rows(base, stage, [*self.rows, *_ungrouped(stage.ledger, base)])
        for rows in self.portions:
            version = _with_rows(version, stage, rows)
        return version, None


def add(ledger: Path, deliveries: Sequence[Files], fingerprints: Fingerprints | None = None) -> Manifest:
    """Join the rows of deliveries, given as their files, into a ledger, and return the version that holds them.

    The fingerprints of the sources that the rows were read from become part of that version.
    """
    with staging_folder(ledger) as folder:
        rows = gather([Part(files) for files in deliveries], folder)
        change = Change(adds=Addition(rows), fingerprints=fingerprints or {}, derived=DerivedData())
        return commit(ledger, change).version


def _ungrouped(ledger: Path, base: Manifest) -> Delivered:
    """Return the files of a ledger that knew no groups: its rows are joined as if they were new."""
    return [
        (TABLES[name], StatementFile(checked_path(ledger, TABLES[name], segment), quote_text("")))
        for name, segments in base.tables.items()
        for segment in segments
        if segment.group is None
    ]


def _with_rows(base: Manifest, stage: Stage, rows: Delivered) -> Manifest:
    """Return the version that holds these rows too."""
    with open_workspace(stage.ledger) as workspace:
        groups = _join(base, stage, workspace, rows)
    if groups is None:
        return base
    with engine_errors_of(stage.ledger):
        groups.drop_dead_rows()  # when the workspace is cleared: both need memory
    return groups.version()


def _join(base: Manifest, stage: Stage, workspace: MergeWorkspace, delivered: Delivered) -> Groups | None:
    """Return the groups with the new rows, unless these say nothing new."""
    pairs: list[Pairs] = []
    likely: list[pa.ChunkedArray] = []
    for (table, _), entries in zip(delivered, workspace.read(delivered), strict=True):
        pairs += paired(entries.named)
        if table.name in ("turns", "sessions"):
            likely.append(entries.named.column(0))
    groups = Groups(base, stage)
    named = pc.unique(concatenated(nodes for pair in pairs for nodes in pair))
    touched = groups.holding(pc.unique(concatenated(likely)), named)
    for name, part in touched.items():
        pairs += part.pairs()
        add_part(workspace, groups, name, part)
    families = Families(pairs)
    pairs.clear()
    for table, file in delivered:
        if not is_derived(table):
            workspace.add(table, file)
        file.entries.clear()  # the workspace has what is still needed of them
    moving = pc.unique(families.of(settle(workspace)))
    if not len(moving):
        return None
    for name, part in touched.items():
        is_leaving = pc.is_in(families.of(part.nodes), value_set=moving)
        leaving = part.families_of(part.nodes.filter(is_leaving))
        if len(leaving):
            groups.remove(name, part.part(leaving))
    for portion, size_bytes in _portions(workspace, families, moving):
        write_families(workspace, groups, groups.numbered(*families.part(portion)), size_bytes)
    return groups


def _portions(workspace: MergeWorkspace, families: Families, moving: pa.Array) -> Iterator[tuple[pa.Array, int]]:
    """Divide families into as many groups as their rows will need, with the size of each."""
    counted = pc.value_counts(families.part(moving)[1])
    count = pc.sum(counted.field("counts")).as_py()
    most_nodes = count * LARGEST_BYTES // max(workspace.size_bytes, 1)
    portion = array("i")  # there may be millions, and a list takes five times as much
    held = 0
    sizes = counted.field("counts").cast(pa.int32())
    for number, members in zip(integers(counted.field("values")), integers(sizes), strict=True):
        if portion and held + members > most_nodes:
            yield pa.array(portion, pa.int32()), LARGEST_BYTES
            portion, held = array("i"), 0
        portion.append(number)
        held += members
    yield pa.array(portion, pa.int32()), workspace.size_bytes * held // count
