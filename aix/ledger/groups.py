"""Groups of files: which of them a change touches, what becomes of the others.

Every family of rows lies in one group. Families that change move to a new group, so what changes often lies in small
groups and what rests in large ones. When there are many small groups of about one size, they are put together.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from aix.ledger.commit import Stage
from aix.ledger.entries import Scan, read_entries
from aix.ledger.index import Index, StoredIndex, are_all_in
from aix.ledger.manifest import EntryFile, Manifest, Segment, groups_of
from aix.ledger.row_groups import batches_of, read_row_groups
from aix.ledger.segment_checks import checked_path
from aix.ledger.workbench import Workbench, copy_rows, scan
from aix.schema import TABLES, Table

LARGEST_BYTES = 64 * 2**20
_TIERS = (2 * 2**20, 8 * 2**20, 32 * 2**20)
_MERGED_AT_ONCE = 4


class Groups:
    """The groups of a version, as a change leaves them."""

    def __init__(self, base: Manifest, stage: Stage) -> None:
        self._stage = stage
        self._segments = {name: files for name, files in groups_of(base.tables).items() if name is not None}
        self._indexes = {name: self._stored(index) for name, index in base.indexes.items()}
        self._entries: dict[Path, tuple[Index, pa.Table]] = {}
        for name, index in base.indexes.items():
            if index.sha256 is None:
                self._indexes[name].check_order()

    def tables(self) -> Mapping[str, Sequence[Segment]]:
        """Return the files of every table."""
        tables: dict[str, list[Segment]] = {}
        for files in self._segments.values():
            for name, segments in files.items():
                tables.setdefault(name, []).extend(segments)
        return tables

    def holding(self, likely: pa.Array, nodes: pa.Array) -> dict[str, Index]:
        """Return the groups that hold families of these nodes, each with the part of its index that is theirs.

        The likely ones are looked up first: what belongs to the families they lead to need not be looked for.
        """
        found: dict[str, pa.Array] = {}
        for wanted in (likely, nodes):
            known = [self._indexes[name].whole.split(families)[0].nodes for name, families in found.items()]
            rest = wanted.filter(pc.invert(pc.is_in(wanted, value_set=pa.concat_arrays(known)))) if known else wanted
            for name, index in self._indexes.items():
                families = index.families_of(rest)
                if len(families):
                    found[name] = pa.concat_arrays([families, found[name]]) if name in found else families
        return {name: self._indexes[name].whole.split(families)[0] for name, families in found.items()}

    def segments(self, name: str) -> Iterator[tuple[Table, Path]]:
        """Go through the files of a group."""
        for table, segments in self._segments[name].items():
            for segment in segments:
                yield TABLES[table], checked_path(self._stage.ledger, TABLES[table], segment)

    def is_whole(self, name: str, part: Index) -> bool:
        """Whether that part is all of the group."""
        return len(part) == len(self._indexes[name])

    def entries(
        self, bench: Workbench, name: str, part: Index, tables: Container[str] = TABLES
    ) -> Iterator[tuple[Table, Path, pa.Table]]:
        """Go through the files of a group with the entries of rows that belong to that part of its index."""
        files = [(table, path) for table, path in self.segments(name) if table.name in tables]
        missing = [(table, path) for table, path in files if not self._is_known(path, part)]
        if missing:
            scans = [Scan(table, scan(path)) for table, path in missing]
            if self.is_whole(name, part):
                found = read_entries(bench.connection, scans)
            else:
                with bench.temporary("node", part.nodes) as nodes:
                    found = read_entries(bench.connection, scans, nodes)
            for (_, path), entries in zip(missing, found, strict=True):
                self._entries[path] = (part, entries.rows)
        for table, path in files:
            known, rows = self._entries[path]
            if known is not part:
                rows = rows.filter(pc.is_in(rows.column("node"), value_set=part.nodes))
            yield table, path, rows

    def _is_known(self, path: Path, part: Index) -> bool:
        known, _ = self._entries.get(path, (None, None))
        return known is part or (known is not None and are_all_in(part.nodes, known.nodes))

    def remove(self, bench: Workbench, name: str, part: Index) -> None:
        """Rewrite a group without the families of that part of its index."""
        if not self.is_whole(name, part):
            rest = uuid4().hex
            for table, path, entries in self.entries(bench, name, part):
                rows = entries.column("row").combine_chunks().cast(pa.int64())
                self.write(rest, table, batches_of(copy_rows(path, rows, table.column_names, others=True)))
            self.put_index(rest, self._indexes[name].whole.split(part.families)[1])
        del self._segments[name], self._indexes[name]

    def write(self, name: str, table: Table, batches: Iterator[pa.RecordBatch]) -> None:
        """Write rows into a group."""
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is not None:
            segment = self._stage.write(table, chain([first], batches), name)
            self._segments.setdefault(name, {}).setdefault(table.name, []).append(segment)

    def put_index(self, name: str, index: Index) -> None:
        """Give a group its index."""
        self._stage.write_index(name, index)
        self._indexes[name] = self._stored(self._stage.indexes[name])

    def _stored(self, index: EntryFile) -> StoredIndex:
        return StoredIndex(self._stage.ledger / index.path, index.entries, index.sha256)

    def merge(self) -> None:
        """Put small groups together until there are few of any size."""
        self._entries.clear()
        while alike := self._too_many_of_one_size():
            self.put_together(alike)

    def put_together(self, names: Sequence[str]) -> None:
        """Make one group of several."""
        merged = uuid4().hex
        paths: dict[str, list[Path]] = {}
        for name in names:
            for table, path in self.segments(name):
                paths.setdefault(table.name, []).append(path)
        for table_name, files in paths.items():
            self.write(merged, TABLES[table_name], batches_of(chain.from_iterable(map(read_row_groups, files))))
        self.put_index(merged, Index.merged(self._indexes[name].whole for name in names))
        for name in names:
            del self._segments[name], self._indexes[name]

    def size_of(self, name: str) -> int:
        """Return how many bytes the files of a group have."""
        return sum(segment.size_bytes or 0 for segments in self._segments[name].values() for segment in segments)

    def all_small(self) -> list[str]:
        """Return small groups that fit into one, if there are several."""
        return self._fitting([name for name in self._segments if self.size_of(name) < _TIERS[-1]])

    def _too_many_of_one_size(self) -> list[str]:
        floor = 0
        for ceiling in _TIERS:
            alike = [name for name in self._segments if floor <= self.size_of(name) < ceiling]
            if len(alike) >= _MERGED_AT_ONCE and (fitting := self._fitting(alike)):
                return fitting
            floor = ceiling
        return []

    def _fitting(self, names: Sequence[str]) -> list[str]:
        chosen: list[str] = []
        room = LARGEST_BYTES
        for name in sorted(names, key=self.size_of):
            room -= self.size_of(name)
            if room >= 0:
                chosen.append(name)
        return chosen if len(chosen) > 1 else []
