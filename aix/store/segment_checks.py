"""Whether the Parquet files of a version are what its manifest and the schema say.

To open a file takes time. So a file is checked when its rows are about to be copied, all files by `aix check` and when
a statement has failed: then they may be the reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from aix.errors import LedgerDamagedError
from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import changed_tables
from aix.store.manifest import COMPONENT, Manifest, Segment, segment_path
from aix.version import FIRST_NUMBERED


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Report an error of the engines that read a file as damage to the ledger."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise LedgerDamagedError(path, f"it cannot be read: {error}") from error


def checked_path(ledger: Path, table: Table, segment: Segment, schema_version: int = SCHEMA_VERSION) -> Path:
    """Return where the rows of a segment lie, once it is known to hold so many rows of that table."""
    is_outdated = table.name in changed_tables(schema_version)
    columns = {} if is_outdated else {field.name: field.type for field in arrow_schema(table)}
    return _checked(ledger, segment, columns | _component(segment, schema_version))


def check_segments(ledger: Path, manifest: Manifest, derived: Mapping[str, Iterable[str]]) -> None:
    """Raise LedgerDamagedError when a file of a table, or of these derived ones with their columns, is damaged."""
    for name, segments in manifest.tables.items():
        for segment in segments:
            checked_path(ledger, TABLES[name], segment, manifest.schema_version)
    for name, columns in derived.items():
        for segment in manifest.views[name]:
            _checked(ledger, segment, dict.fromkeys(columns) | _component(segment, manifest.schema_version))


def _component(segment: Segment, schema_version: int) -> dict[str, pa.DataType | None]:
    is_numbered = segment.group is not None and schema_version >= FIRST_NUMBERED
    return {COMPONENT: pa.int64()} if is_numbered else {}


def _checked(ledger: Path, segment: Segment, expected: Mapping[str, pa.DataType | None]) -> Path:
    path = segment_path(ledger, segment)
    with reading(path), pq.ParquetFile(path) as file:
        rows, schema = file.metadata.num_rows, file.schema_arrow
    if rows != segment.rows:
        raise LedgerDamagedError(path, f"it has {rows} rows, and the manifest says {segment.rows}")
    for name, data_type in expected.items():
        if name not in schema.names:
            raise LedgerDamagedError(path, f"it has no column {name}")
        if data_type is not None and schema.field(name).type != data_type:
            raise LedgerDamagedError(path, f"its column {name} is of type {schema.field(name).type}")
        if name == COMPONENT and schema.field(name).nullable:
            raise LedgerDamagedError(path, f"its column {name} may be NULL")
    return path
