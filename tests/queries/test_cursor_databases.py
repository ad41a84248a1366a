"""The databases among the fixtures are what the SQL beside them says."""

from tests.queries.cursor_databases import rows_of_database, rows_of_script, scripts


def test_each_database_holds_the_rows_of_the_sql_beside_it() -> None:
    assert scripts()
    for script in scripts():
        assert rows_of_database(script.with_suffix("")) == rows_of_script(script)
