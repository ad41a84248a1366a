"""Joining one ledger into another."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from aix.ledger.addition import add_statements
from aix.ledger.commit import Stage
from aix.ledger.durable import new_file, place, remove, writing_to
from aix.ledger.elsewhere import given_elsewhere
from aix.ledger.manifest import PRICE_TABLES, Manifest, Segment, dead_in, groups_of, read_latest
from aix.ledger.raw import kept_digests, place_of_copy, raw_path
from aix.ledger.segment_checks import checked_path
from aix.ledger.staging import staging_folder
from aix.ledger.upgrade import rows_of_segment
from aix.ledger.workbench import StatementFile, engine_errors_of, write_rows
from aix.prices.table import PriceTable
from aix.schema import TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import changed_tables
from aix.schema.sql import quote_text


def join_ledger(ledger: Path, other: Path, *, keep_raw: bool = False, prices: PriceTable | None = None) -> Manifest:
    """Join the newest version of another ledger into this one, and return the version that holds it.

    Each group of the other's files is joined in a commit of its own, so that memory stays bounded; joining again after
    an interruption does the rest. With `keep_raw`, the copies of sources that the other holds come along. Its prices
    do not: what is joined is priced by the lines given, else by those that the ledger has.
    """
    theirs = read_latest(other)
    version = None
    with engine_errors_of(other):
        fingerprints = given_elsewhere(ledger, other, theirs)

    def prepare(base: Manifest, stage: Stage) -> Manifest:
        stage.prices = prices
        return base

    given = {name: segments for name, segments in theirs.tables.items() if name not in PRICE_TABLES}
    for files in groups_of(given).values():
        with staging_folder(ledger) as scratch, engine_errors_of(other):
            version = add_statements(ledger, list(_statements(other, theirs, files, scratch)), fingerprints, prepare)
        fingerprints = {}
    if keep_raw:
        _copy_raw(ledger, other)
    return version or read_latest(ledger)


def _statements(
    other: Path, theirs: Manifest, files: dict[str, list[Segment]], scratch: Path
) -> Iterator[tuple[Table, StatementFile]]:
    outdated = changed_tables(theirs.schema_version)
    for name, segments in files.items():
        table = TABLES[name]
        for number, segment in enumerate(segments):
            if name in outdated or dead_in(theirs, segment):
                rows = rows_of_segment(other, theirs, table, segment)
                path = write_rows(scratch / f"{name}-{number}.parquet", arrow_schema(table), rows)
            else:
                path = checked_path(other, table, segment, theirs.schema_version)
            yield table, StatementFile(path, quote_text("ledger"), is_earlier=True)


def _copy_raw(ledger: Path, other: Path) -> None:
    for digest in kept_digests(other):
        with writing_to(ledger):
            copy = place_of_copy(ledger, digest)
            if copy.exists():
                continue
            part = copy.with_name(f".{uuid4().hex}.part")
            try:
                with raw_path(other, digest).open("rb") as content, new_file(part) as file:
                    shutil.copyfileobj(content, file)
                place(part, copy)
            finally:
                remove(part)
