"""The SQL library on Spark: the same files, the same version of a ledger, through sqlglot.

Nothing of DuckDB takes part: tables are the Parquet files that the manifest lists, views are those of `queries/views`,
and every `getvariable('x')` is replaced by a literal in the syntax tree before that is written as Spark's SQL.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from aix.ledger.manifest import Manifest
from aix.query_files import query_root
from aix.schema import TABLES, Table, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from sqlglot.expressions import Expression

Values = Mapping[str, str | int | float | bool]
Rows = list[tuple[object, ...]]

_PARAMETER = re.compile(r"^-- param (?P<name>\w+): (?P<type>\w+) = ", re.MULTILINE)
_ENGINE = re.compile(r"^-- engine: (?P<engine>\w+)(; (?P<reason>.+))?$", re.MULTILINE)
_VIEWS = "views"
_SPARK_TYPES = {Type.VARCHAR: "STRING", Type.VECTOR: "ARRAY<FLOAT>"}
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    # As DuckDB does, overflow and what cannot be cast raise rather than become NULL.
    "spark.sql.ansi.enabled": "true",
    # As in DuckDB, money keeps its twelve places when it is added; else Spark gives one up for a carry.
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.cteRecursionLevelLimit": "10000",
    # The rows are few: what takes time is planning, starting tasks and compiling what would run once.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def library_files() -> list[Path]:
    """Every file that asks a question."""
    return sorted(path for path in query_root().glob("*/*.sql") if path.parent.name != _VIEWS)


def view_files() -> dict[str, Path]:
    """The building blocks by name."""
    return {path.stem: path for path in (query_root() / _VIEWS).glob("*.sql")}


def declared_parameters(sql: str) -> dict[str, str]:
    """What type each parameter of a file has."""
    return {match["name"]: match["type"] for match in _PARAMETER.finditer(sql)}


def reason_for_duckdb_only(sql: str) -> str | None:
    """Why a file runs on DuckDB alone; None when it runs anywhere, and empty when it does not say."""
    match = _ENGINE.search(sql)
    return None if match is None or match["engine"] != "duckdb" else match["reason"] or ""


def views_in_order() -> list[tuple[str, str]]:
    """Name and SQL of each building block, after those that it is made of."""
    from sqlglot import exp, parse_one

    texts = {name: path.read_text("utf-8") for name, path in view_files().items()}
    sources = {
        name: {table.name for table in parse_one(sql, read="duckdb").find_all(exp.Table)} & texts.keys() - {name}
        for name, sql in texts.items()
    }
    return [(name, texts[name]) for name in TopologicalSorter(sources).static_order()]


def spark_sql(sql: str, values: Values | None = None) -> str:
    """Write a file of the library as Spark's SQL, with these values for its parameters."""
    from sqlglot import exp, parse_one

    def bind(node: "Expression") -> "Expression":
        if isinstance(node, exp.Anonymous) and node.name.lower() == "getvariable":
            value = (values or {}).get(node.expressions[0].name)
            literal = exp.convert(value)
            return exp.cast(literal, "double") if isinstance(value, float) else literal
        return node

    return str(parse_one(sql, read="duckdb").transform(bind).sql(dialect="spark"))


@contextmanager
def spark_session(scratch: Path) -> Iterator["SparkSession"]:
    """Start Spark in this process's own Java, as small as it gets."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("aix")
    places = {"spark.local.dir": str(scratch), "spark.sql.warehouse.dir": str(scratch / "warehouse")}
    for name, value in {**_SETTINGS, **places}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def register(session: "SparkSession", ledger: Path, manifest: Manifest) -> None:
    """Give Spark the tables of a version and the views of the library, each computed once."""
    for table in TABLES.values():
        _keep(session, table.name, _table(session, table, ledger, manifest))
    for name, sql in views_in_order():
        _keep(session, name, session.sql(spark_sql(sql)))


def rows_on_spark(session: "SparkSession", sql: str, values: Values) -> Rows:
    """Run a file of the library."""
    return [tuple(row) for row in session.sql(spark_sql(sql, values)).collect()]


def _table(session: "SparkSession", table: Table, ledger: Path, manifest: Manifest) -> "DataFrame":
    schema = ", ".join(f"`{column.name}` {_SPARK_TYPES.get(column.type, column.type)}" for column in table)
    files = [str(ledger / segment.path) for segment in manifest.tables.get(table.name, ())]
    return session.read.schema(schema).parquet(*files) if files else session.createDataFrame([], schema)


def _keep(session: "SparkSession", name: str, rows: "DataFrame") -> None:
    rows.coalesce(1).createOrReplaceTempView(name)
    session.catalog.cacheTable(name)
