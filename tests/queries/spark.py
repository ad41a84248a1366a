"""The SQL library on Spark: the same files, the same version of a ledger, through sqlglot.

Nothing of DuckDB takes part: tables, and views that a program derives, are the Parquet files that the manifest lists,
all other views are those of `queries/views`. In the syntax tree, before that is written as Spark's SQL, every
`getvariable('x')` is replaced by a literal, and `json_valid(x)` and the structure `["VARCHAR"]` of `from_json` by words
that Spark has. A part that reads itself is put together by `union all`, as Spark has no other way; the query around it
then sees rows twice that DuckDB drops.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aix.query.views import library_views
from aix.schema import TABLES, Type
from aix.store.manifest import Manifest, Segment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Values = Mapping[str, str | int | float | bool]
Rows = list[tuple[object, ...]]

_SPARK_TYPES = {Type.VARCHAR: "STRING", Type.VECTOR: "ARRAY<FLOAT>"}
_SPARK_TYPES_BY_NAME = {str(type_): name for type_, name in _SPARK_TYPES.items()}
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
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
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def spark_sql(sql: str, values: Values, name_of: Callable[[str], str]) -> str:
    """Write a file of the library as Spark's SQL, with these values for its parameters, and the names of its tables."""
    from sqlglot import exp, parse_one

    def bind(node: Any) -> Any:  # noqa: ANN401 - sqlglot names the class of its nodes otherwise in each release
        if isinstance(node, exp.Anonymous) and node.name.lower() == "getvariable":
            value = values.get(node.expressions[0].name)
            literal = exp.convert(value)
            return exp.cast(literal, "double") if isinstance(value, float) else literal
        if isinstance(node, exp.Anonymous) and node.name.lower() == "json_valid":
            whole = exp.func("get_json_object", node.expressions[0], exp.Literal.string("$"))
            return exp.not_(exp.Is(this=whole, expression=exp.null()))
        if isinstance(node, exp.Literal) and node.this == '["VARCHAR"]':  # of `from_json`
            return exp.Literal.string("array<string>")
        if isinstance(node, exp.With) and node.args.get("recursive"):
            for part in node.expressions:
                if isinstance(part.this, exp.Union) and part.alias in {
                    table.name for table in part.find_all(exp.Table)
                }:
                    part.this.set("distinct", False)
        if isinstance(node, exp.Table) and (name := name_of(node.name)) != node.name:
            alias = node.alias_or_name  # by which the columns may be named
            node.set("this", exp.to_identifier(name))
            node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        return node

    return str(parse_one(sql, read="duckdb").transform(bind).sql(dialect="spark"))


class SparkLedger:
    """One version of a ledger in Spark. A table is read once, a view computed once for each set of values."""

    def __init__(self, session: "SparkSession", ledger: Path, manifest: Manifest) -> None:
        self._session = session
        views = library_views()
        self._views = {name: view.sql for name, view in views.items() if not view.derived}
        self._computed: set[str] = set()
        self._values: list[Values] = []
        for table in TABLES.values():
            columns = [(column.name, _SPARK_TYPES.get(column.type, column.type)) for column in table]
            rows = self._table(columns, ledger, manifest, manifest.tables.get(table.name, ()))
            rows.createOrReplaceTempView(table.name)
        for view in views.values():
            if view.derived:
                columns = [(column.name, _SPARK_TYPES_BY_NAME.get(column.type, column.type)) for column in view.columns]
                rows = self._table(columns, ledger, manifest, manifest.views.get(view.name, ()))
                rows.createOrReplaceTempView(view.name)

    def rows(self, sql: str, values: Values) -> Rows:
        """Run a file of the library with these values set."""
        return [tuple(row) for row in self._run(sql, values).collect()]

    def _run(self, sql: str, values: Values) -> "DataFrame":
        return self._session.sql(spark_sql(sql, values, partial(self._name, values)))

    def _name(self, values: Values, name: str) -> str:
        """Return under which name Spark has a table, or a view with these values: a view may read parameters."""
        if name not in self._views:
            return name
        if values not in self._values:
            self._values.append(values)
        with_values = f"{name}_{self._values.index(values)}"
        if with_values not in self._computed:
            _computed(self._run(self._views[name], values)).createOrReplaceTempView(with_values)
            self._computed.add(with_values)
        return with_values

    def _table(
        self, columns: list[tuple[str, str]], ledger: Path, manifest: Manifest, segments: Iterable[Segment]
    ) -> "DataFrame":
        schema = ", ".join(f"`{name}` {spark_type}" for name, spark_type in columns)
        files = [str(ledger / segment.path) for segment in segments]
        if not files:
            return self._session.createDataFrame([], schema)
        rows = self._session.read.schema(f"{schema}, component BIGINT").parquet(*files)
        dead = [number for each in manifest.dead.values() for number in each.components]
        # Files outside of groups have no such column, and so NULL in it.
        live = rows.where(rows.component.isNull() | ~rows.component.isin(dead)) if dead else rows
        return _computed(live.drop("component"))


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


def _computed(rows: "DataFrame") -> "DataFrame":
    """Compute rows once, and forget how: Spark would plan all of it again for every query."""
    return rows.coalesce(1).localCheckpoint()
