"""A table written by an earlier schema version reads as if it were written today."""

import duckdb
import pytest

from aix.schema import SCHEMA_VERSION, TABLES, Table, migrations
from aix.schema.columns import key, number, text
from aix.schema.migrations import MIGRATIONS, Migration, TableChange, upgrade_select
from aix.schema.model import Unit

PETS = Table(
    name="pets",
    description="Pets, as of version 4.",
    key=("pet_id",),
    columns=(
        key("pet_id", "The pet."),
        number("age_months", "Its age.", unit=Unit.COUNT),
        text("species", "What it is."),
        text("full name", "How it is called."),
    ),
)
HISTORY = (
    Migration(version=2, reason="ages", tables={"pets": TableChange(changed={"age": "age * 12"})}),
    Migration(version=3, reason="other", tables={"owners": TableChange(dropped=("fax",))}),
    Migration(
        version=4,
        reason="names",
        tables={
            "pets": TableChange(
                added={"age_months": "age", "species": "'cat'", "full name": "name || ' ' || coalesce(title, '')"},
                dropped=("age", "name", "title"),
            )
        },
    ),
)


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", HISTORY)


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(("written", "months"), [(1, 36), (2, 3), (3, 3)])
def test_each_version_is_brought_up_to_date(written: int, months: int) -> None:
    old = "(select 'p1' as pet_id, 3 as age, 'Tom' as name, null as title)"
    rows = duckdb.connect().execute(upgrade_select(PETS, old, written)).fetchall()
    assert rows == [("p1", months, "cat", "Tom ")]


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("written", "changed"), [(1, {"pets", "owners"}), (2, {"pets", "owners"}), (3, {"pets"}), (4, set())]
)
def test_tables_that_changed_since_are_known(written: int, changed: set[str]) -> None:
    assert migrations.changed_tables(written) == changed


@pytest.mark.usefixtures("history")
def test_a_current_table_is_read_as_it_is() -> None:
    current = "(select 'x' as species, 'p1' as pet_id, 'Tom' as \"full name\", 1 as age_months)"
    select = upgrade_select(PETS, current, 4)
    assert duckdb.connect().execute(select).fetchall() == [("p1", 1, "x", "Tom")]


def test_migrations_lead_to_the_current_version_step_by_step() -> None:
    assert [migration.version for migration in MIGRATIONS] == list(range(2, SCHEMA_VERSION + 1))


def test_migrations_say_why_and_touch_tables_that_exist() -> None:
    for migration in MIGRATIONS:
        assert migration.reason
        assert set(migration.tables) <= set(TABLES)


def test_a_node_of_version_5_keeps_its_attributes_and_times_in_its_payload() -> None:
    """Columns win over attributes of the same name; attributes that are not JSON are left out."""
    old = (
        "(select 'Policy' as kind, 'n1' as node_id, * from (values"
        """ ('{"id":"inner","x":1}', 1000, 253402300800000), ('{"x"', null, null)"""
        ") as given(attrs_json, valid_from, valid_to))"
    )
    rows = duckdb.connect().execute(upgrade_select(TABLES["dag_nodes"], old, 5)).fetchall()
    assert sorted(row[2:] for row in rows) == [
        (0, None, '{"node":"Policy","id":"n1"}'),
        (1000, 253402300800000, '{"x":1,"node":"Policy","id":"n1","valid_from":"1970-01-01T00:00:01.000Z"}'),
    ]
