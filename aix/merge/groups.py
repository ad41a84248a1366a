"""Groups of files: which of them a change touches, what becomes of the others.

Every family of rows lies in one group. Families that change leave their group: they are marked as dead there, and are
written to a new group, together with the rows of groups that are not much larger. So what changes often lies in small
groups and what rests in large ones, and the groups stay few. A group of which much is dead is written again without
that.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from math import inf
from pathlib import Path
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from aix.errors import LedgerDamagedError
from aix.merge.workspace import MergeWorkspace, Scan, read_entries, scan
from aix.schema import TABLES, Table
from aix.store.commit import Stage
from aix.store.index import Index, StoredIndex, are_all_in
from aix.store.manifest import COMPONENT, Dead, Manifest, Segment, groups_of
from aix.store.segments import batches_of, checked_path, read_components, read_live_rows
from aix.thread_pool import map_in_threads
from aix.version import FIRST_NUMBERED

LARGEST_BYTES = 64 * 2**20
_SMALL_BYTES = LARGEST_BYTES // 2
_LEAST_BYTES = 64 * 2**10
_TIMES_LARGER: float = 8
_MOST_DEAD = 1_024
_MOST_DEAD_IN_ALL = 4_096
"""Readers look each row up among the dead families, and every statement names them."""
_NO_DEAD = Dead(())

Rows = Iterable[tuple[Table, Iterator[pa.RecordBatch]]]
"""Rows by table, each with the number of its family in the last column; files are written while others are prepared."""


class Groups:
    """The groups of a version, as a change leaves them."""

    def __init__(self, base: Manifest, stage: Stage) -> None:
        self._base = base
        self._stage = stage
        self._highest = base.components
        self._segments = {name: files for name, files in groups_of(base.tables).items() if name is not None}
        self._index_files = dict(base.indexes)
        self._dead = dict(base.dead)
        self._indexes = {name: self._stored(name) for name in base.indexes}
        self._paths: dict[Segment, Path] = {}
        self._components: dict[Path, pa.ChunkedArray] = {}
        self._entries: dict[Path, tuple[Index, pa.Table]] = {}
        for name, file in base.indexes.items():
            if file.sha256 is None:
                self._indexes[name].check_order(is_numbered=base.schema_version >= FIRST_NUMBERED)

    def version(self) -> Manifest:
        """Return the version with these groups and nothing else."""
        tables: dict[str, list[Segment]] = {}
        for files in self._segments.values():
            for name, segments in files.items():
                tables.setdefault(name, []).extend(segments)
        return msgspec.structs.replace(
            self._base,
            tables={name: tuple(segments) for name, segments in tables.items()},
            indexes={name: self._index_files[name] for name in self._segments},
            dead={name: dead for name, dead in self._dead.items() if name in self._segments},
            components=self._highest,
        )

    def holding(self, likely: pa.Array, nodes: pa.Array) -> dict[str, Index]:
        """Return the groups that hold families of these nodes, each with the part of its index that is theirs.

        The likely ones are looked up first: what belongs to the families they lead to need not be looked for.
        """
        found: dict[str, pa.Array] = {}
        for wanted in (likely, nodes):
            known = [self._indexes[name].whole.part(families).nodes for name, families in found.items()]
            rest = wanted.filter(pc.invert(pc.is_in(wanted, value_set=pa.concat_arrays(known)))) if known else wanted
            for name, index in self._indexes.items():
                families = index.families_of(rest)
                if len(families):
                    found[name] = pa.concat_arrays([families, found[name]]) if name in found else families
        return {name: self._indexes[name].whole.part(families) for name, families in found.items()}

    def segments(self, name: str) -> Iterator[tuple[Table, Path]]:
        """Go through the files of a group."""
        for table, segments in self._segments[name].items():
            for segment in segments:
                if segment not in self._paths:  # to check a file takes a millisecond
                    self._paths[segment] = checked_path(self._stage.ledger, TABLES[table], segment)
                yield TABLES[table], self._paths[segment]

    def is_whole(self, name: str, part: Index) -> bool:
        """Whether that part is all of the group that is alive; its files may have dead rows besides."""
        return len(part) == len(self._indexes[name].whole)

    def entries(
        self, workspace: MergeWorkspace, name: str, part: Index, tables: Container[str] = TABLES
    ) -> Iterator[tuple[Table, Path, pa.Table]]:
        """Go through the files of a group that have rows of that part of its index, with the entries of these rows."""
        files = [(table, path) for table, path in self.segments(name) if table.name in tables]
        missing = [(table, path) for table, path in files if not self._is_known(path, part)]
        if missing:
            if self.is_whole(name, part) and name not in self._dead:
                found = read_entries(workspace.connection, [Scan(table, scan(path)) for table, path in missing])
            else:
                # To ask the engine takes a few milliseconds for each file, however few rows there are.
                missing = [(table, path) for table, path in missing if self._count_rows(path, part)]
                with workspace.temporary(COMPONENT, part.families) as components:
                    scans = [Scan(table, scan(path)) for table, path in missing]
                    found = read_entries(workspace.connection, scans, components)
            for (_, path), entries in zip(missing, found, strict=True):
                self._entries[path] = (part, entries.rows)
        for table, path in files:
            if path in self._entries:
                known, rows = self._entries[path]
                if known is not part:
                    rows = rows.filter(pc.is_in(rows.column("node"), value_set=part.nodes))
                yield table, path, rows

    def _is_known(self, path: Path, part: Index) -> bool:
        known, _ = self._entries.get(path, (None, None))
        return known is part or (known is not None and are_all_in(part.nodes, known.nodes))

    def _count_rows(self, path: Path, part: Index) -> int:
        """Return how many rows of a file belong to a part of its group's index."""
        if path not in self._components:
            self._components[path] = read_components(path)
        counted: int = pc.sum(pc.is_in(self._components[path], value_set=part.families.cast(pa.int64()))).as_py()
        return counted

    def remove(self, name: str, part: Index) -> None:
        """Mark the families of that part of an index as dead; a group without others goes."""
        if self.is_whole(name, part):
            self._drop(name)
            return
        known = self._dead.get(name, _NO_DEAD)
        if not 0 < pc.min(part.families).as_py() <= pc.max(part.families).as_py() <= self._highest:
            path = self._stage.ledger / self._index_files[name].path
            raise LedgerDamagedError(path, "it numbers families by numbers that were never given")
        rows = dict(known.rows)
        for table, path in self.segments(name):
            if count := self._count_rows(path, part):
                rows[table.name] = rows.get(table.name, 0) + count
        self._dead[name] = Dead((*known.components, *part.families.to_pylist()), rows)
        self._indexes[name].bury(part.families)

    def remove_rows(self, nodes: pa.Array) -> None:
        """Mark the rows of these nodes as dead, each of which is a family of its own."""
        for name, part in self.holding(nodes, nodes).items():
            self.remove(name, part)

    def numbered(self, nodes: pa.Array, families: pa.Array) -> Index:
        """Return an index of nodes and the family of each, in which families get new numbers."""
        index = Index.sorted(nodes, families.cast(pa.uint64()))
        first = self._highest + 1
        self._highest += len(index.families)
        return index.numbered(first)

    def add(self, rows: Rows, index: Index, size_bytes: int) -> None:
        """Write rows as a new group, with those of the groups that are not much larger than so many bytes."""
        self._write(rows, index, self._smallest(self._segments, LARGEST_BYTES, _TIMES_LARGER, size_bytes))

    def put_together(self, names: Sequence[str]) -> None:
        """Make one group, without dead rows, of one or several."""
        self._write([], Index.of({}), names)

    def _write(self, rows: Rows, index: Index, names: Sequence[str]) -> None:
        group = uuid4().hex
        together = self._with_rows_of(names, rows)
        written = map_in_threads(lambda each: (each[0].name, self._write_file(group, *each)), together)
        segments = {name: [segment] for name, segment in written if segment}
        merged = Index.merged([index, *(self._indexes[name].whole for name in names)])
        for name in names:
            self._drop(name)
        if not segments:
            return
        self._segments[group] = segments
        self._index_files[group] = self._stage.write_index(merged)
        self._indexes[group] = self._stored(group)

    def _with_rows_of(self, names: Sequence[str], rows: Rows) -> Rows:
        stored: dict[str, list[Iterator[pa.RecordBatch]]] = {}
        for name in names:
            dead = self._dead.get(name, _NO_DEAD).components
            for table, path in self.segments(name):
                stored.setdefault(table.name, []).append(batches_of(read_live_rows(path, dead)))
        for table, own in rows:
            yield table, chain(own, *stored.pop(table.name, ()))
        for name, batches in stored.items():
            yield TABLES[name], chain(*batches)

    def _write_file(self, group: str, table: Table, batches: Iterator[pa.RecordBatch]) -> Segment | None:
        first = next((batch for batch in batches if batch.num_rows), None)
        return None if first is None else self._stage.write(table, chain([first], batches), group)

    def _drop(self, name: str) -> None:
        del self._segments[name], self._index_files[name], self._indexes[name]
        self._dead.pop(name, None)

    def _stored(self, name: str) -> StoredIndex:
        dead = self._dead.get(name, _NO_DEAD).components
        return StoredIndex(self._stage.ledger, self._index_files[name], dead)

    def drop_dead_rows(self, *, leave_none: bool = False) -> None:
        """Write groups again that have dead rows: those in which there are many, or all."""
        most_families = 0 if leave_none else _MOST_DEAD
        self._entries.clear()
        self._components.clear()
        for name, dead in list(self._dead.items()):
            rows = sum(segment.rows for segments in self._segments[name].values() for segment in segments)
            if len(dead.components) > most_families or 2 * sum(dead.rows.values()) > rows:
                self.put_together([name])
        while sum(len(dead.components) for dead in self._dead.values()) > _MOST_DEAD_IN_ALL:
            self.put_together([max(self._dead, key=lambda name: len(self._dead[name].components))])

    def size_of(self, name: str) -> int:
        """Return how many bytes the files of a group have."""
        return sum(segment.size_bytes or 0 for segments in self._segments[name].values() for segment in segments)

    def untidy(self) -> list[str]:
        """Return groups that can be put together into one: small ones, else one that has dead rows."""
        small = [name for name in self._segments if self.size_of(name) < _SMALL_BYTES]
        small = self._smallest(small, LARGEST_BYTES, times_larger=inf)
        return small if len(small) > 1 else list(self._dead)[:1]

    def _smallest(self, names: Iterable[str], most: int, times_larger: float, with_bytes: int = 0) -> list[str]:
        """Return the smallest of these groups that fit beside so many bytes, none much larger than all before it."""
        chosen: list[str] = []
        for name in sorted(names, key=self.size_of):
            size = self.size_of(name)
            if with_bytes + size > most or size > times_larger * max(with_bytes, _LEAST_BYTES):
                break
            chosen.append(name)
            with_bytes += size
        return chosen
