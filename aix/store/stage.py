"""The new files of a commit: rows of tables and views, indexes, fingerprints and ties."""

from collections.abc import Container, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import msgspec
import pyarrow as pa

from aix.schema import Table
from aix.schema.arrow import arrow_schema, check_batch
from aix.store.durable import new_file, remove
from aix.store.fingerprints import Fingerprints, encode, files_to_merge, read_fingerprints
from aix.store.index import COMPONENT_FIELD, Index
from aix.store.manifest import COMPONENT, DATA_FOLDER, EntryFile, Manifest, Segment
from aix.store.row_groups import Pace, RowGroupWriter
from aix.store.source_ties import StoredTies, encode_ties, read_ties, weight


class Stage:
    """The new files of a commit that is under way."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger
        self._written: list[str] = []

    def write(self, table: Table, batches: Iterable[pa.RecordBatch], group: str | None = None) -> Segment:
        """Write rows that keep the table's schema into a new file; those of a group are numbered, in a last column."""
        schema = arrow_schema(table) if group is None else arrow_schema(table).append(COMPONENT_FIELD)
        return self._write(table.name, schema, _checked(table, batches), group, Pace.SMALL)

    def write_view(self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], group: str | None) -> Segment:
        """Write what a view makes of a group into a new file."""
        return self._write(name, schema, batches, group, Pace.READ_OFTEN)

    def _write(
        self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], group: str | None, pace: Pace
    ) -> Segment:
        path = f"{DATA_FOLDER}/{name}-{uuid4().hex}.parquet"
        with new_file(self.ledger / path) as file, RowGroupWriter(file, schema, pace) as writer:
            for batch in batches:
                writer.write(batch)
        self._written.append(path)
        return Segment(path, writer.rows, (self.ledger / path).stat().st_size, group)

    def write_index(self, index: Index) -> EntryFile:
        """Write the index of a group whose files are written here."""
        return self._write_entries(f"index-{uuid4().hex}.bin", index.to_bytes(), len(index))

    def write_fingerprints(self, base: Manifest, new: Fingerprints) -> tuple[EntryFile, ...]:
        """Write fingerprints beside those of a version, and return the files of all there are."""
        if not new:
            return base.fingerprints
        kept = len(base.fingerprints) - files_to_merge(base.fingerprints, len(new))
        taken_in = msgspec.structs.replace(base, fingerprints=base.fingerprints[kept:])
        entries = {**read_fingerprints(self.ledger, taken_in), **new}
        written = self._write_entries(f"fingerprints-{uuid4().hex}.json", encode(entries), len(entries))
        return (*base.fingerprints[:kept], written)

    def write_ties(self, base: Manifest, new: StoredTies) -> tuple[EntryFile, ...]:
        """Write ties beside those of a version, and return the files of all there are."""
        if not new:
            return base.ties
        kept = len(base.ties) - files_to_merge(base.ties, weight(new))
        entries = {**read_ties(self.ledger, base.ties[kept:]), **new}
        if not kept:  # nothing is left that an empty entry would have to override
            entries = {source: ties for source, ties in entries.items() if ties.count}
        written = self._write_entries(f"ties-{uuid4().hex}.bin", encode_ties(entries), weight(entries))
        return (*base.ties[:kept], written)

    def _write_entries(self, name: str, content: bytes, entries: int) -> EntryFile:
        written = EntryFile(f"{DATA_FOLDER}/{name}", entries, sha256(content).hexdigest())
        with new_file(self.ledger / written.path) as file:
            file.write(content)
        self._written.append(written.path)
        return written

    def has(self, segment: Segment) -> bool:
        """Whether the segment was written here."""
        return segment.path in self._written

    def discard_unless(self, named: Container[str]) -> None:
        """Remove the files that no manifest will name."""
        for path in self._written:
            if path not in named:
                remove(self.ledger / path)


def _checked(table: Table, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        is_numbered = batch.schema.names[-1:] == [COMPONENT]
        check_batch(table, batch.remove_column(batch.num_columns - 1) if is_numbered else batch)
        yield batch
