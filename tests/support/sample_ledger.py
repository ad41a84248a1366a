"""A small whole ledger: a session with a tool call, a fork, a compaction, and a subagent.

Every derived column holds what AIX derives from the other rows.

Run as a program to write it to a folder, as a fixture of the current schema version:

    python -m tests.support.sample_ledger fixtures/ledgers/schema_N
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import batch_from_columns
from aix.store.manifest import manifest_path
from tests.support.sample_conversation import CANONICAL_ROWS, Row
from tests.support.sample_extensions import EXTENSION_ROWS

SAMPLE_ROWS: Mapping[str, list[Row]] = {**CANONICAL_ROWS, **EXTENSION_ROWS}


def batch_from_rows(table: Table, rows: Iterable[Mapping[str, object]]) -> pa.RecordBatch:
    """Return rows as a batch, with defaults for the columns that a row leaves out."""
    listed = list(rows)
    named = dict.fromkeys(name for row in listed for name in row)
    return batch_from_columns(table, {name: [row.get(name) for row in listed] for name in named})


def write_ledger(folder: Path, rows: Mapping[str, list[Row]]) -> None:
    """Write version 1 of a ledger with these rows."""
    tables = {}
    for name, table_rows in rows.items():
        path = f"data/{name}/part-1.parquet"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        batch = batch_from_rows(TABLES[name], table_rows)
        pq.write_table(pa.Table.from_batches([batch]), folder / path, compression="zstd")
        tables[name] = [{"path": path, "rows": len(table_rows)}]
    manifest = manifest_path(folder, 1)
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"version": 1, "schema_version": SCHEMA_VERSION, "tables": tables}, indent=1) + "\n")


def write_fixture(folder: Path) -> None:
    """Write the sample and, beside it, what a reader of any later version must find in it."""
    folder.mkdir(parents=True)
    write_ledger(folder, SAMPLE_ROWS)
    expected = {name: batch_from_rows(TABLES[name], rows).to_pylist() for name, rows in SAMPLE_ROWS.items()}
    text = json.dumps(expected, ensure_ascii=False, indent=1, default=str)
    (folder / "expected.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    write_fixture(Path(sys.argv[1]))
