"""`aix query` and `aix sql`: questions that AIX has the SQL for, and any others."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from click.shell_completion import CompletionItem
from msgspec.structs import replace

from aix.cli.command import (
    SHARED_PARAMETERS,
    Command,
    exact_dates,
    ledger_option,
    listing_output,
    parameter_options,
    version_option,
)
from aix.cli.stdout import emit_lines
from aix.config import load_config
from aix.output import Listing, listing_columns
from aix.output.humanise import displayed
from aix.query.packs import Pack, find_query, packs, query_names, read_packs
from aix.query.query_file import Parameter, ParameterType, Query
from aix.query.values import TIMEZONE, find_zone, takes_timezone
from aix.reading.ledger import open_ledger

if TYPE_CHECKING:
    from aix.query.query_file import Query

_EXAMPLES = {"since": "--since 2026-11-01", "project": "--project website"}


class _QueryCommand(Command):
    """A command whose help, when a query is named, is about that query."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Help is answered before the arguments are read, so the name is looked for first.
        found, _, _ = self.make_parser(ctx).parse_args(list(args))
        name = found.get("name")
        ctx.meta[__name__] = name if isinstance(name, str) else None
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        name = ctx.meta.get(__name__)
        return explain(find_query(name), ctx.make_formatter()) if name else super().get_help(ctx)


def _complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    return [CompletionItem(name) for name in query_names() if name.startswith(incomplete)]


def _parse_values(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001
    values: tuple[str, ...],
) -> dict[str, str]:
    parsed: dict[str, str] = {}
    for value in values:
        name, has_value, text = value.partition("=")
        if not has_value or not name:
            raise click.BadParameter(f"{value!r} is not of the form NAME=VALUE.")
        if name in parsed:
            raise click.BadParameter(f"{name} is given twice.")
        parsed[name] = text
    return parsed


@click.command(cls=_QueryCommand)
@click.argument("name", required=False, shell_complete=_complete_name)
@parameter_options
@click.option(
    "--param",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_parse_values,
    help="Set any parameter that the query has. Can be repeated.",
)
@click.option("--sql", "show_sql", is_flag=True, help="Print the SQL file instead of running it.")
@version_option
@ledger_option
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    parameters: dict[str, object],
    values: dict[str, str],
    show_sql: bool,
    version: int | None,
    ledger: Path,
) -> Listing:
    """List the questions that AIX has the SQL for, or run the one called NAME.

    NAME is a pack and a query, such as overview/sessions; the pack can be left out where no other has a query of that
    name. A pack alone lists its queries. `aix query NAME --help` explains a query: its parameters, its columns, and
    what to be careful about. Which of the options below a query takes, its parameters say.

    The table is written for people: money, shares, tokens and times in short, days and times in the time zone. All
    other formats have exact values. Every query is a SQL file that runs in any DuckDB client on ledger.duckdb;
    docs/queries.md tells how to change one and how to add your own.

    \b
      aix query
      aix query overview
      aix query overview/sessions --help
      aix query overview/sessions --format csv -o sessions.csv
      aix query overview/sessions --sql
    """
    chosen = [pack for pack in packs() if pack.name == name] if name and "/" not in name else []
    if name is None or chosen:
        if parameters or values or show_sql:
            raise click.UsageError("Name the query that this is for.")
        return _list(chosen or packs())
    query = find_query(name)
    if show_sql:
        emit_lines(query.sql.splitlines(), ctx.params["path"])
        ctx.exit()
    twice = parameters.keys() & values.keys()
    if twice:
        raise click.UsageError(f"{' and '.join(sorted(twice))} is given twice: as an option and with --param.")
    return _run(
        query, parameters | _exact(query, values, parameters), ledger, version, load_config(ctx.obj).timezone.key
    )


def _exact(query: Query, values: dict[str, str], options: dict[str, object]) -> dict[str, object]:
    """Return the values of --param, in which `until` includes its day as it does in --until."""
    moments = {each.name for each in query.parameters if each.type is ParameterType.TIMESTAMP}
    zone = {name: value for name, value in (options | values).items() if name == TIMEZONE}
    given = {name: value for name, value in values.items() if name in moments}
    return values | exact_dates(given | zone, is_zone_known=True)


def _list(chosen: Iterable[Pack]) -> Listing:
    queries, problems = read_packs(chosen)
    columns = listing_columns("query", "title", "question", ("parameters", "VARCHAR[]"))
    rows = [(each.name, each.title, each.question, [one.name for one in each.parameters]) for each in queries]
    return Listing(
        columns,
        rows,
        has_findings=bool(problems),
        notes=[f"{error}; {error.remedy}" for error in problems],
        for_people=Listing((columns[0], columns[2]), [(name, question) for name, _, question, _ in rows]),
    )


def _run(query: "Query", given: dict[str, object], ledger: Path, version: int | None, zone: str) -> Listing:
    if takes_timezone(query):
        given = {TIMEZONE: zone} | given
    opened = open_ledger(ledger)
    if version is not None:
        opened = opened.at(version)
    found = opened.query(query.name, **given)
    listing = found.listing()
    return replace(
        listing,
        for_people=displayed(listing.columns, found, find_zone(given.get(TIMEZONE, zone))),
    )


def explain(query: Query, formatter: click.HelpFormatter) -> str:
    """Tell all that the header of a query says, and how the query is called."""
    formatter.write_usage("aix query", f"{query.name} [OPTIONS]")
    formatter.write_paragraph()
    formatter.write_text(f"{query.title}. {query.question}")
    formatter.write_paragraph()
    formatter.write_text(query.why)
    formatter.write_paragraph()
    formatter.write_text(f"One row per {query.grain}.")
    if query.parameters:
        with formatter.section("Parameters"):
            formatter.write_dl([(_written(each), _explained(each)) for each in query.parameters])
    with formatter.section("Columns"):
        formatter.write_dl([(f"{each.name} {each.type}", each.meaning) for each in query.columns])
    for title, texts in (("Caveats", query.caveats), ("References", query.references)):
        if texts:
            with formatter.section(title):
                for text in texts:
                    formatter.write_text(text)
    with formatter.section("Examples"):
        options = [text for name, text in _EXAMPLES.items() if query.parameter(name)]
        formatter.write_text(" ".join(["aix query", query.name, *options, "--format csv"]))
        formatter.write_text(f"aix query {query.name} --sql")
    return formatter.getvalue().rstrip("\n")


def _written(parameter: Parameter) -> str:
    if parameter.name in SHARED_PARAMETERS:
        return f"--{parameter.name} {parameter.type.upper()}"
    return f"--param {parameter.name}={parameter.type.upper()}"


def _explained(parameter: Parameter) -> str:
    default = "none" if parameter.default is None else parameter.default
    return f"{parameter.meaning}. Default: {default}."


@click.command(cls=Command)
@click.argument("query", required=False)
@click.option(
    "-f",
    "--file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read the SQL from FILE, or from stdin when FILE is -.",
)
@version_option
@ledger_option
@listing_output
def sql(query: str | None, file: TextIO | None, version: int | None, ledger: Path) -> Listing:
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
