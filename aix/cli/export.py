"""`aix export`."""

from pathlib import Path

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option


@click.command(cls=Command)
@click.option("--format", "form", type=click.Choice(["parquet", "duckdb"]), required=True, help="What to write.")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PATH",
    help="Where: an empty or new folder for parquet, a file for duckdb.",
)
@click.option("--canonical", is_flag=True, help="Only the tables of the Agents Ledger Schema, without extensions.")
@click.option("--at", "version", type=click.IntRange(min=1), metavar="VERSION", help="Write an earlier version.")
@ledger_option
def command(form: str, target: Path, canonical: bool, version: int | None, ledger: Path) -> None:  # noqa: FBT001
    """Write the ledger in a form that stands alone.

    parquet makes a folder with one file per table, TABLE.parquet; duckdb makes one database with a table per table,
    which every DuckDB since 1.0 opens. The output is private to you; it appears at PATH once it is whole, and
    replaces a file that was there.

    \b
      aix export --format parquet -o exported
      aix export --format duckdb -o history.duckdb
      aix export --format parquet --canonical -o canonical
    """
    from aix.ledger.export import export_duckdb, export_parquet, tables_to_export
    from aix.reading.ledger import open_ledger

    opened = open_ledger(ledger)
    if version is not None:
        opened = opened.at(version)
    export = export_parquet if form == "parquet" else export_duckdb
    export(opened.path, opened.manifest, target, tables_to_export(canonical=canonical))
