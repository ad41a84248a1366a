"""`aix query`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from aix.cli.command import Command
from aix.cli.options import ledger_option, listing_output, parameter_options
from aix.cli.query_help import explain
from aix.cli.stdout import emit_lines
from aix.config import load_config
from aix.output import Listing, ListingColumn
from aix.output.humanise import displayed
from aix.query.packs import Pack, find_query, packs, query_names, read_packs
from aix.query.values import TIMEZONE, find_zone, takes_timezone
from aix.reading.ledger import open_ledger

if TYPE_CHECKING:
    from aix.query.query_file import Query


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
@click.option(
    "--at",
    "version",
    type=click.IntRange(min=1),
    metavar="VERSION",
    help="Ask an earlier version of the ledger. Default: the newest.",
)
@ledger_option
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    parameters: dict[str, object],
    values: dict[str, str],
    show_sql: bool,  # noqa: FBT001 - click's
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
    return _run(query, parameters | values, ledger, version, load_config(ctx.obj).timezone.key)


def _list(chosen: Iterable[Pack]) -> Listing:
    queries, problems = read_packs(chosen)
    names = ("query", "title", "question", "parameters")
    columns = tuple(ListingColumn(name, "VARCHAR[]" if name == "parameters" else "VARCHAR") for name in names)
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
    return Listing(
        listing.columns,
        listing.rows,
        listing.arrow_reader,
        for_people=displayed(listing.columns, found, find_zone(given.get(TIMEZONE, zone))),
    )
