"""`aix sql`."""

from pathlib import Path
from typing import TextIO

import click

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output
from aix.output import Listing
from aix.reading.ledger import open_ledger


@click.command(cls=Command)
@click.argument("query", required=False)
@click.option(
    "-f",
    "--file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read the SQL from FILE, or from stdin when FILE is -.",
)
@click.option(
    "--at",
    "version",
    type=click.IntRange(min=1),
    metavar="VERSION",
    help="Ask an earlier version of the ledger. Default: the newest.",
)
@ledger_option
@listing_output
def command(query: str | None, file: TextIO | None, version: int | None, ledger: Path) -> Listing:
    """Ask the ledger a question in DuckDB's SQL.

    QUERY is one SELECT, or the EXPLAIN of one; FROM, WITH, VALUES, DESCRIBE, SUMMARIZE and SHOW TABLES are SELECTs
    too, and a PIVOT is one when it names its values with IN (...). Nothing else is run: no statement that writes, sets
    or loads, no function that acts, and no file is read but those of the ledger.

    `aix schema` lists the tables and `aix schema TABLE` the columns. Times are Unix milliseconds:
    make_timestamp(started_at * 1000) makes one readable, and time zones count from UTC.

    \b
      aix sql "show tables"
      aix sql "summarize turns"
      aix sql "select model, count(*) as turns from turns group by model order by turns desc"
      aix sql "from sessions where status = 'active'" --format csv -o active.csv
      aix sql "from turns" -o turns.parquet
      aix sql -f question.sql --json
      aix sql "select count(*) from turns" --at 3

    csv, jsonl, json, markdown and parquet are written as the rows come, whatever their number; a table is laid out
    whole, so that it needs memory for all of its rows. Rows come in no certain order unless ORDER BY says one. What a
    format has no value for, such as an interval, is written as DuckDB writes it; parquet keeps dates and times.
    """
    if (query is None) == (file is None):
        raise click.UsageError("Give the SQL as QUERY or with -f FILE.")
    opened = open_ledger(ledger)
    if version is not None:
        opened = opened.at(version)
    return opened.sql(_read(file) if query is None else query).listing()


def _read(file: TextIO | None) -> str:
    assert file is not None  # noqa: S101 - it was given, since the query was not
    try:
        return file.read()
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file.name} is not UTF-8.") from error
