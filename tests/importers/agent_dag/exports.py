"""Exports of a ledger as an agent graph: written, read back, and compared."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import duckdb

from aix.exporting.sessions import export_sessions
from aix.pipeline.run import Settings, import_histories
from aix.reading.ledger import open_ledger
from aix.schema import TABLES, Join, Table
from aix.store.manifest import read_latest
from aix.store.views import create_views
from aix.testing import WRITTEN_AT
from aix_importers.agent_dag.export import AgentDagExporter
from tests import ROOT
from tests.support.row_batches import as_text, facts

FIXTURES = ROOT / "fixtures"
GRAPH_TABLES = ("dag_events", "dag_nodes", "dag_edges")


def export(ledger: Path, target: Path, name: str | None = None) -> Path:
    with open_ledger(ledger) as opened:
        export_sessions(opened, AgentDagExporter(), target, name)
    return target


def import_folder(ledger: Path, *places: Path) -> Path:
    report = import_histories(ledger, places, Settings(jobs=0))
    assert not report.failures
    return ledger


def copy_situations(importer: str, target: Path, names: str = "*") -> Path:
    """Put the logs of situations of an importer side by side."""
    for situation in sorted((FIXTURES / importer).glob(f"{names}/input")):
        shutil.copytree(situation, target / situation.parent.name)
    for script in target.rglob("*.sql"):
        with closing(sqlite3.connect(script.with_suffix(""))) as database:
            database.executescript(script.read_text("utf-8"))
        script.unlink()
    for path in target.rglob("*"):
        os.utime(path, (WRITTEN_AT, WRITTEN_AT))
    return target


def records(folder: Path) -> Iterator[dict[str, object]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            yield json.loads(line)


def lines(folder: Path) -> set[bytes]:
    return {line for path in folder.rglob("*.jsonl") for line in path.read_bytes().splitlines()}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def history(ledger: Path) -> dict[str, list[str]]:
    """Return all rows but those of graphs, imports and prices."""
    return {name: rows for name, rows in facts(ledger).items() if name not in GRAPH_TABLES}


def stated_columns(table: Table) -> list[str]:
    return [column.name for column in table if column.join is not Join.DERIVED]


def stated_rows(ledger: Path) -> dict[str, list[str]]:
    """Return the rows of every table as text, without the columns that AIX computes."""
    with duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger))
        return {
            name: as_text(connection.execute(f"select {_listed(table)} from {name}").fetchall())
            for name, table in TABLES.items()
        }


def _listed(table: Table) -> str:
    return ", ".join(f'"{column}"' for column in stated_columns(table))


def carried_rows(name: str, rows: list[Mapping[str, object]]) -> list[str]:
    """Return rows that records state as text, each with its defaults."""
    table = TABLES[name]
    return as_text(
        tuple(row.get(column, table.column(column).default) for column in stated_columns(table)) for row in rows
    )
