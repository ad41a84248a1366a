"""`aix export`."""

from pathlib import Path

import click

from aix.cli.command import Command, ledger_option
from aix.errors import UnknownNameError
from aix.exporting import Exporter

_WHOLE_LEDGER = ("parquet", "duckdb")


@click.command(cls=Command)
@click.option(
    "--format",
    "form",
    metavar="FORMAT",
    required=True,
    help="What to write: parquet, duckdb, or a format of sessions such as session-log.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PATH",
    help="Where: a file for duckdb, an empty or new folder for anything else.",
)
@click.option("--canonical", is_flag=True, help="Only the tables of the Agents Ledger Schema, without extensions.")
@click.option("--at", "version", type=click.IntRange(min=1), metavar="VERSION", help="Write an earlier version.")
@click.option("--session", metavar="NAME", help="Only this session, by label or alias; for formats of sessions.")
@ledger_option
def command(
    form: str,
    target: Path,
    canonical: bool,
    version: int | None,
    session: str | None,
    ledger: Path,
) -> None:
    """Write the ledger in a form that stands alone.

    parquet makes a folder with one file per table, TABLE.parquet; duckdb makes one database with a table per table,
    which every DuckDB since 1.0 opens. A format of sessions makes a folder with one file per session, in a form that
    other tools read; branches that a session has left stand in the file of that session. The output is private to you;
    it appears at PATH once it is whole, and replaces a file that was there.

    \b
      aix export --format parquet -o exported
      aix export --format duckdb -o history.duckdb
      aix export --format parquet --canonical -o canonical
      aix export --format session-log --session 5b1f -o sessions
    """
    if canonical and form not in _WHOLE_LEDGER:
        raise click.UsageError("--canonical is for parquet and duckdb.")
    if session is not None and form in _WHOLE_LEDGER:
        raise click.UsageError("--session is for formats of sessions.")
    exporter = None if form in _WHOLE_LEDGER else _load_exporter(form)
    from aix.exporting.sessions import export_sessions
    from aix.reading.export import export_duckdb, export_parquet, tables_to_export
    from aix.reading.ledger import open_ledger

    opened = open_ledger(ledger)
    if version is not None:
        opened = opened.at(version)
    if exporter is None:
        export = export_parquet if form == "parquet" else export_duckdb
        export(opened.path, opened.manifest, target, tables_to_export(canonical=canonical))
        return
    with opened:
        export_sessions(opened, exporter, target, session)


def _load_exporter(name: str) -> Exporter:
    from aix.exporting import exporter_names, load_exporter

    if name not in exporter_names():
        raise UnknownNameError("format", name, (*_WHOLE_LEDGER, *exporter_names()))
    return load_exporter(name)
