"""Ledgers whose whole content is known from one number, to tell whole versions from torn ones.

Every row of generation N says N, in each of three tables; so a table that is not of the same commit as the others
shows. Run as a program, it commits one generation after another and says so:

    python -m tests.support.numbered_ledgers LEDGER COUNT
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import polars as pl

from aix.schema import TABLES
from aix.store.commit import Stage
from aix.store.manifest import Manifest, Segment, is_ledger, read_latest
from tests.support.changes import commit
from tests.support.sample_conversation import Row
from tests.support.sample_ledger import batch_from_rows

GENERATION_TABLES = ("tags", "chat_users", "programs")
FILES_OF_A_COMMIT = 2 * len(GENERATION_TABLES)


def rows_of(generation: int) -> dict[str, list[Row]]:
    numbers = range(2 + generation % 40)
    return {
        "tags": [
            {"entity_type": "x", "entity_id": str(n), "tag": str(generation), "added_at": generation} for n in numbers
        ],
        "chat_users": [{"id": str(n), "name": str(generation), "email": "x" * 200 * n} for n in numbers],
        "programs": [{"id": str(n), "program_type": str(generation)} for n in numbers],
    }


def with_tables(base: Manifest, tables: Mapping[str, Sequence[Segment]]) -> Manifest:
    """A version with these files, none of them in a group."""
    return msgspec.structs.replace(base, tables={name: tuple(segments) for name, segments in tables.items()})


def write_generation(generation: int, base: Manifest, stage: Stage) -> Manifest:
    """Write every table of a generation into two files, so that a commit has several."""
    segments: dict[str, list[Segment]] = {}
    for name, rows in rows_of(generation).items():
        halves = [half for half in (rows[::2], rows[1::2]) if half]
        segments[name] = [stage.write(TABLES[name], [batch_from_rows(TABLES[name], half)]) for half in halves]
    return with_tables(base, segments)


def next_generation(base: Manifest, stage: Stage) -> Manifest:
    return write_generation(base.version + 1, base, stage)


def read_generation(ledger: Path) -> int:
    """Return the generation of a ledger, having made sure that every table of it is whole."""
    if not is_ledger(ledger):
        return 0
    manifest = read_latest(ledger)
    for name, expected in rows_of(manifest.version).items():
        files = [ledger / segment.path for segment in manifest.tables[name]]
        found = sorted(pl.read_parquet(files).rows())
        wanted = batch_from_rows(TABLES[name], expected).to_pylist()
        assert found == sorted(tuple(row.values()) for row in wanted), f"{name} is torn in version {manifest.version}"
    return manifest.version


if __name__ == "__main__":
    for _ in range(int(sys.argv[2])):
        print(commit(Path(sys.argv[1]), next_generation).version, flush=True)
