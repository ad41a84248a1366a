"""Joining one ledger into another."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import msgspec

from aix.derived.derived_data import DerivedData
from aix.merge.merge_rows import Addition
from aix.merge.workspace import StatementFile, write_rows
from aix.prices.table import PriceTable
from aix.schema import TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import changed_tables
from aix.schema.sql import quote_text
from aix.store.commit import Change, commit
from aix.store.durable import new_file, part_file, place, writing_to
from aix.store.engine import engine_errors_of
from aix.store.locks import staging_folder
from aix.store.manifest import PRICE_TABLES, Manifest, Segment, dead_in, groups_of, is_ledger, read_latest
from aix.store.raw_copies import kept_digests, place_of_copy, raw_path
from aix.store.segments import checked_path, rows_of_segment
from aix.store.sources import Fingerprint, read_fingerprints, source_id
from aix.store.views import create_views


def join_ledger(ledger: Path, other: Path, *, keep_raw: bool = False, prices: PriceTable | None = None) -> Manifest:
    """Join the newest version of another ledger into this one, and return the version that holds it.

    Each group of the other's files is joined in a commit of its own, so that memory stays bounded; joining again after
    an interruption does the rest. With `keep_raw`, the copies of sources that the other holds come along. Its prices
    do not: what is joined is priced by the lines given, else by those that the ledger has.
    """
    theirs = read_latest(other)
    version = None
    with engine_errors_of(other):
        fingerprints = _given_elsewhere(ledger, other, theirs)

    given = {name: segments for name, segments in theirs.tables.items() if name not in PRICE_TABLES}
    for files in groups_of(given).values():
        with staging_folder(ledger) as scratch, engine_errors_of(other):
            rows = Addition(list(_statements(other, theirs, files, scratch)))
            change = Change(adds=rows, fingerprints=fingerprints, derived=DerivedData(prices))
            version = commit(ledger, change).version
        fingerprints = {}
    if keep_raw:
        _copy_raw(ledger, other)
    return version or read_latest(ledger)


def _given_elsewhere(ledger: Path, other: Path, theirs: Manifest) -> dict[str, Fingerprint]:
    """Return fingerprints of sources whose sessions another ledger gives too, from runs that this one does not know.

    A path is the name of a source, and there may be another log at the same path on another machine. Once its rows are
    here, what the log of this machine gives must not take their place.
    """
    ours = read_latest(ledger) if is_ledger(ledger) else None
    known = read_fingerprints(ledger, ours) if ours else {}
    if ours is None or not known:
        return {}
    with duckdb.connect() as connection:
        create_views(connection, ledger, ours, ["import_runs"])
        runs = [run for (run,) in connection.execute("select id from import_runs").fetchall()]
    with duckdb.connect() as connection:
        create_views(connection, other, theirs, ["import_log", "import_runs"])
        found = connection.execute(
            "select l.source_key, max(coalesce(r.started_at, 0)) from import_log l"
            " left join import_runs r on r.id = l.run_id"
            " where l.session_label is not null and l.run_id not in (select unnest($runs)) group by 1",
            {"runs": runs},
        ).fetchall()
    now = time.time_ns() // 10**6
    return {
        source: msgspec.structs.replace(known[source], since=max(now, latest + 1))
        for name, latest in found
        if (source := source_id(name)) in known
    }


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
            with part_file(copy.parent) as part:
                with raw_path(other, digest).open("rb") as content, new_file(part) as file:
                    shutil.copyfileobj(content, file)
                place(part, copy)
