"""A ledger written by any earlier release opens, with every row in place."""

import json
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from aix.errors import LedgerDamagedError, LedgerNotFoundError, LedgerTooNewError
from aix.query.query_file import query_root
from aix.schema import SCHEMA_VERSION, TABLES
from aix.schema.arrow import arrow_schema
from aix.store.manifest import manifest_path, read_latest
from aix.store.views import create_views
from tests import ROOT
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

FIXTURES = ROOT / "fixtures" / "ledgers"
OTHER_VERSION = b'{"version": 2, "schema_version": 1, "tables": {}}'
VERSIONS = range(1, SCHEMA_VERSION + 1)


def open_views(ledger: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    create_views(connection, ledger, read_latest(ledger))
    return connection


def read_table(connection: duckdb.DuckDBPyConnection, name: str) -> list[dict[str, object]]:
    relation = connection.table(name)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def since_version_6(name: str, row: dict[str, object]) -> dict[str, object]:
    """A row of a graph in the fixtures of earlier versions, as version 6 has it."""
    if name == "dag_events":
        return {**row, "event_id": sha256(b'{"kind":"run_started"}').hexdigest(), "claimed_event_id": "e" * 64}
    if name == "dag_nodes":
        return {**row, "valid_from": 0, "payload_json": '{"role":"user","node":"Message","id":"n-1"}'}
    if name == "dag_edges":
        return {**row, "payload_json": '{"edge":"EVENT_PRODUCES","src":"e","dst":"n-1"}'}
    return row


def as_json(value: object) -> object:
    return str(value) if isinstance(value, Decimal) else value


@pytest.mark.parametrize("version", VERSIONS)
def test_a_ledger_of_that_version_opens_with_all_its_rows(version: int) -> None:
    ledger = FIXTURES / f"schema_{version}"
    assert read_latest(ledger).schema_version == version
    connection = open_views(ledger)
    expected = json.loads((ledger / "expected.json").read_text("utf-8"))
    for name, table in TABLES.items():
        assert tuple(connection.table(name).columns) == table.column_names
        assert [str(kind) for kind in connection.table(name).types] == [str(column.type) for column in table]
        found = [{column: as_json(value) for column, value in row.items()} for row in read_table(connection, name)]
        rows = [row if version >= 6 else since_version_6(name, row) for row in expected.get(name, [])]
        wanted = [{column: row.get(column) for column in table.column_names} for row in rows]
        assert found == wanted, name


@pytest.mark.parametrize("name", TABLES)
def test_a_column_changes_only_with_the_schema_version(name: str) -> None:
    """When this fails: raise SCHEMA_VERSION, add a migration, and add a fixture ledger of the new version."""
    [segment] = read_latest(FIXTURES / f"schema_{SCHEMA_VERSION}").tables[name]
    written = pq.read_schema(FIXTURES / f"schema_{SCHEMA_VERSION}" / segment.path)
    assert written.equals(arrow_schema(TABLES[name]))


@pytest.mark.parametrize(
    ("name", "lookalike"),
    [("we[i]rd", "weird"), ("any*", "anything"), ("one?", "ones"), ("it's", "its"), ("status=old", "id=1")],
)
def test_a_folder_of_any_name_is_read_and_no_other(tmp_path: Path, name: str, lookalike: str) -> None:
    for folder, tables in ((name, SAMPLE_ROWS), (lookalike, {"turns": SAMPLE_ROWS["turns"][:1]})):
        (tmp_path / folder).mkdir()
        write_ledger(tmp_path / folder, tables)
    turns = read_table(open_views(tmp_path / name), "turns")
    assert [(turn["id"], turn["status"]) for turn in turns] == [
        (row["id"], row["status"]) for row in SAMPLE_ROWS["turns"]
    ]


def test_views_over_a_relative_path_hold_wherever_the_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_ledger(Path("ledger"), SAMPLE_ROWS)
    connection = open_views(Path("ledger"))
    monkeypatch.chdir("/")
    assert len(read_table(connection, "turns")) == len(SAMPLE_ROWS["turns"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    (tmp_path / "data" / "messages" / "part-1.parquet").unlink()
    with pytest.raises(LedgerDamagedError, match=r"table messages.*part-1\.parquet"):
        open_views(tmp_path)


def test_the_newest_version_is_read(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    newer = {"version": 10, "schema_version": SCHEMA_VERSION, "tables": {}, "a key of a later release": 1}
    manifest_path(tmp_path, 10).write_text(json.dumps(newer))
    (tmp_path / "versions" / "99-stray.json").write_text("{}")
    assert read_latest(tmp_path).version == 10
    assert read_table(open_views(tmp_path), "turns") == []


def test_a_ledger_of_a_newer_release_is_refused_with_the_remedy(tmp_path: Path) -> None:
    write_ledger(tmp_path, {})
    manifest_path(tmp_path, 2).write_text(json.dumps({"schema_version": 999, "tables": "in a new form"}))
    with pytest.raises(LedgerTooNewError) as caught:
        read_latest(tmp_path)
    assert (caught.value.path, caught.value.found, caught.value.supported) == (tmp_path, 999, SCHEMA_VERSION)
    assert "upgrade" in caught.value.remedy


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"version": 1}', b"\xff\xfe", b'{"version":"1"}', OTHER_VERSION]
)
def test_a_damaged_manifest_is_named(tmp_path: Path, damage: bytes) -> None:
    write_ledger(tmp_path, {})
    manifest_path(tmp_path, 1).write_bytes(damage)
    with pytest.raises(LedgerDamagedError) as caught:
        read_latest(tmp_path)
    assert str(manifest_path(tmp_path, 1)) in str(caught.value)


def test_a_folder_without_versions_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerNotFoundError) as caught:
        read_latest(tmp_path / "nowhere")
    assert str(tmp_path / "nowhere") in str(caught.value)


def test_the_overview_counts_every_table(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    sql = (query_root() / "overview" / "table_rows.sql").read_text("utf-8")
    counted = dict(open_views(tmp_path).execute(sql).fetchall())
    assert counted == {name: len(SAMPLE_ROWS.get(name, [])) for name in TABLES}
