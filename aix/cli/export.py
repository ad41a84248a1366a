"""`aix export`."""

from pathlib import Path
from shlex import quote

import click

from aix.cli.command import Command, ledger_option
from aix.cli.diagnostics import is_screen, report_file, say
from aix.cli.redact import chosen_redactor, redact_options, report_redaction
from aix.errors import UnknownNameError
from aix.exporting import Exporter, LedgerExporter

_WHOLE_LEDGER = ("parquet", "duckdb", "sqlite")


@click.command(cls=Command)
@click.option(
    "--format",
    "form",
    metavar="FORMAT",
    required=True,
    help="parquet, duckdb, sqlite, or a format of sessions: agent-dag, session-log.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PATH",
    help="The file to write for duckdb and sqlite; a new or empty folder for other formats.",
)
@click.option("--canonical", is_flag=True, help="Only the tables of the Agents Ledger Schema, without extensions.")
@click.option("--at", "version", type=click.IntRange(min=1), metavar="VERSION", help="Write an earlier version.")
@click.option("--session", metavar="NAME", help="Only this session, by label or alias; for formats of sessions.")
@redact_options
@ledger_option
@click.pass_context
def command(
    ctx: click.Context,
    form: str,
    target: Path,
    canonical: bool,
    version: int | None,
    session: str | None,
    is_redacted: bool,
    names_file: Path | None,
    ledger: Path,
) -> None:
    """Write a copy of the ledger that other programs can read without AIX.

    `parquet` writes a folder with one file for each table, TABLE.parquet. `duckdb` writes one database that DuckDB 1.0
    and newer open, `sqlite` one for Datasette and other programs, with the cost of each request in the table
    `request_costs`. `session-log` writes a folder with one log for each session, which also has the abandoned branches
    of the session. `agent-dag` writes a folder with a graph of events, nodes and edges: `aix import` reads it back into
    the same rows, and graphs that were imported come out as they were. Only you can read the output. It appears at PATH
    once it is complete, and replaces a file that was there.

    \b
      aix export --format parquet -o exported
      aix export --format duckdb -o history.duckdb
      aix export --format sqlite -o history.sqlite
      aix export --format parquet --canonical -o canonical
      aix export --format session-log --session 5b1f -o sessions
      aix export --format agent-dag -o graph
      aix export --format parquet --redact -o to-share
    """
    if canonical and form not in _WHOLE_LEDGER:
        raise click.UsageError("--canonical is for parquet, duckdb and sqlite.")
    if session is not None and form in _WHOLE_LEDGER:
        raise click.UsageError("--session is for formats of sessions.")
    exporter = None if form in _WHOLE_LEDGER else _load_exporter(form)
    from aix.exporting.sessions import export_sessions, unchanged
    from aix.reading.export import export_duckdb, export_parquet, export_sqlite, tables_to_export
    from aix.reading.ledger import open_ledger

    opened = open_ledger(ledger)
    if version is not None:
        opened = opened.at(version)
    redactor = chosen_redactor(ctx, opened, names_file, is_redacted=is_redacted)
    if exporter is None:
        export = {"parquet": export_parquet, "duckdb": export_duckdb, "sqlite": export_sqlite}[form]
        export(opened.path, opened.manifest, target, tables_to_export(canonical=canonical), redactor)
        if form == "parquet":
            report_file(target, sum(1 for _ in target.iterdir()), "file")
        else:
            report_file(target)
        report_redaction(redactor)
        return
    with opened:
        export_sessions(opened, exporter, target, session, redactor.row if redactor else unchanged)
    report_file(target, sum(1 for path in target.rglob("*") if path.is_file()), "file")
    report_redaction(redactor)
    if is_screen():
        say(f"next: `aix import {quote(str(target))} --ledger NEW` reads it into another ledger")


def _load_exporter(name: str) -> Exporter | LedgerExporter:
    from aix.exporting import exporter_names, load_exporter

    known = exporter_names()
    for each in (name, name.replace("_", "-")):
        if each in known:
            return load_exporter(each)
    raise UnknownNameError("format", name, (*_WHOLE_LEDGER, *known))
