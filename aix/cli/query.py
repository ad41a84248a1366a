"""`aix query` and `aix sql`: ready-made queries, and any others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from time import time
from typing import TextIO

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
from aix.cli.diagnostics import head, is_screen
from aix.cli.stdout import chosen_format, emit_lines
from aix.config import load_config
from aix.output import Listing, listing_columns
from aix.output.humanise import counted
from aix.query.packs import (
    HEALTH,
    PACK_ORDER,
    START,
    Pack,
    find_pack,
    find_query,
    pack_title,
    packs,
    query_names,
    read_packs,
)
from aix.query.query_file import Parameter, ParameterType, Query
from aix.query.result_table import result_table
from aix.query.values import TIMEZONE, find_zone, takes_timezone
from aix.reading.ledger import Ledger, open_ledger

_EXAMPLES = {"since": "--since 2026-11-01", "project": "--project website"}
_NOW = "now"
"""The parameter of queries that ask whether a period is over; `aix query` gives it the time of the clock."""


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
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N rows.")
@click.option(
    "--search", metavar="TEXT", help="List the queries with TEXT in their name, question or columns, the best first."
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
    limit: int | None,
    search: str | None,
    show_sql: bool,
    version: int | None,
    ledger: Path,
) -> Listing:
    """List or run ready-made queries.

    Without NAME, the queries are listed by pack, the best ones to start with first. NAME is a pack and a query, such as
    overview/sessions; the pack can be left out where no other has a query of that name, and its beginning is enough
    (token/what_if). A pack alone lists its queries.
    `aix query NAME --help` explains a query: its parameters, its columns, and what to be careful about. A query takes
    only those of the options below that are among its parameters.

    The table is written for people: the important columns first, short names that `aix show` accepts, amounts, shares
    and times in short, days and times in the time zone. All other formats have exact values under the names of the
    header. A query that asks whether a day or month is over takes the clock as its parameter `now`. Every query is a
    SQL file that runs in any DuckDB client on ledger.duckdb; docs/queries.md shows how to change one and how to add
    your own.

    \b
      aix query
      aix query --search cache
      aix query waste --since 2026-11-01
      aix query cost_by_tool --limit 10
      aix query overview/sessions --help
      aix query overview/sessions --format csv -o sessions.csv
      aix query overview/sessions --sql
    """
    pack = find_pack(name, packs()) if name and "/" not in name else None
    chosen = [pack] if pack else []
    if name is None or chosen:
        others = {"param": values, "sql": show_sql, "limit": limit}
        options = [f"--{option}" for option in (*parameters, *(name for name, value in others.items() if value))]
        if options:
            said = " and ".join(options)
            raise click.UsageError(f"Name one query for {said}, such as `aix query waste`; `aix query` lists them.")
        return _list(chosen, search)
    if search is not None:
        raise click.UsageError("--search lists queries: leave out the name, or name a pack.")
    query = find_query(name)
    if show_sql:
        emit_lines(query.sql.splitlines(), ctx.params["path"])
        ctx.exit()
    twice = parameters.keys() & values.keys()
    if twice:
        raise click.UsageError(f"{' and '.join(sorted(twice))} is given twice: as an option and with --param.")
    zone = load_config(ctx.obj).timezone.key
    given = ({TIMEZONE: zone} if takes_timezone(query) else {}) | parameters | _exact(query, values, parameters)
    if query.parameter(_NOW):
        given = {_NOW: int(time() * 1000)} | given
    opened = open_ledger(ledger)
    if version is not None:
        opened = opened.at(version)
    found = opened.query(query.name, **given)
    listing = (found if limit is None else found.part(0, limit)).listing()
    if chosen_format("json" if ctx.params["as_json"] else ctx.params["output_format"], ctx.params["path"]) != "table":
        return listing
    if is_screen():
        head(query.question)
    rows = list(listing.rows)
    shown = result_table(query, listing.columns, rows, find_zone(given.get(TIMEZONE, zone)), lambda: _names(opened))
    return replace(listing, for_people=shown, notes=list(_notes(query, rows, parameters | values)))


def _exact(query: Query, values: dict[str, str], options: dict[str, object]) -> dict[str, object]:
    """Return the values of --param, in which `until` includes its day as it does in --until."""
    moments = {each.name for each in query.parameters if each.type is ParameterType.TIMESTAMP}
    zone = {name: value for name, value in (options | values).items() if name == TIMEZONE}
    given = {name: value for name, value in values.items() if name in moments}
    return values | exact_dates(given | zone, is_zone_known=True)


def _names(ledger: Ledger) -> dict[str, str]:
    from aix.reading.search import names_to_type

    return names_to_type(ledger)


def _notes(query: Query, rows: Sequence[Sequence[object]], given: Mapping[str, object]) -> Iterator[str]:
    """Say on a terminal what an empty result means, and what can be asked next."""
    if not is_screen():
        return
    if not rows:
        if narrowed := [name for name in given if name not in (TIMEZONE, _NOW)]:
            yield f"no rows with {' and '.join(f'{name}={given[name]}' for name in narrowed)}"
            options = " or ".join(_option(name) for name in narrowed)
            widened = " or widen it" if {"since", "until"} & {*narrowed} else ""
            yield f"next: leave out {options}{widened} to see all"
            return
        yield query.empty or "nothing in the ledger answers that"
    yield f"next: {query.next}" if query.next else f"next: `aix query {query.name} --help` explains the columns"


def _list(chosen: Sequence[Pack], search: str | None) -> Listing:
    queries, problems = read_packs(chosen or packs())
    names = _short_names(queries)
    if search is not None:
        queries = _found(queries, _plain(search).split())
    columns = listing_columns("query", "title", "question", ("parameters", "VARCHAR[]"))
    rows = [(each.name, each.title, each.question, [one.name for one in each.parameters]) for each in queries]
    lines = (
        _grouped(queries, names, is_whole=not chosen)
        if search is None
        else ((names[each.name], each.question) for each in queries)
    )
    notes = [f"{error}; {error.remedy}" for error in problems]
    if search is not None and not queries:
        notes.append(f"no query has {search!r} in its name, question or columns; `aix query` lists all")
    elif is_screen():
        notes.append("next: `aix query NAME` runs one, `aix query NAME --help` explains it, --search TEXT finds one")
    return Listing(
        columns,
        rows,
        has_findings=bool(problems),
        notes=notes,
        for_people=Listing(listing_columns("query", "question"), list(lines)),
    )


def _short_names(queries: Sequence[Query]) -> dict[str, str]:
    """Return by its full name the shortest name of each query that `find_query` understands."""
    known = query_names()
    return {query.name: _short_name(query.name, known) for query in queries}


def _short_name(full: str, known: Sequence[str]) -> str:
    pack, _, name = full.partition("/")
    alike = [other for other in known if other.rpartition("/")[2] == name]
    beginning = pack.partition("_")[0]
    if len(alike) == 1:
        return name
    return f"{beginning}/{name}" if sum(other.startswith(beginning) for other in alike) == 1 else full


def _found(queries: Iterable[Query], words: Sequence[str]) -> list[Query]:
    """Return the queries that have each word, the best first: in name or title, in the question; checks come last."""
    ranked = [(sum(_rank(query, word) for word in words), query) for query in queries]
    kept = [(rank, query) for rank, query in ranked if all(_rank(query, word) for word in words)]
    return [query for _, query in sorted(kept, key=lambda found: (found[1].pack == HEALTH, -found[0]))]


def _rank(query: Query, word: str) -> int:
    """Return how much a word says about a query; 0 where it has it nowhere."""
    columns = " ".join(f"{column.name} {column.meaning}" for column in query.columns)
    texts = (columns, query.why, query.question, query.title, f"{query.name} {pack_title(query.pack)}")
    return max((rank for rank, text in enumerate(texts, start=1) if word in _plain(text)), default=0)


def _plain(text: str) -> str:
    """Return a text as it is searched in: in small letters, with spaces for `-` and `_`."""
    return text.lower().replace("-", " ").replace("_", " ")


def _grouped(queries: Iterable[Query], names: Mapping[str, str], *, is_whole: bool) -> Iterator[tuple[str, str]]:
    """Give a line for each query below the title of its pack; of the whole library the best first, and no checks."""
    by_pack: dict[str, list[Query]] = {}
    for query in queries:
        by_pack.setdefault(query.pack, []).append(query)
    checks = by_pack.pop(HEALTH, []) if is_whole else []
    ordered = sorted(
        by_pack, key=lambda pack: (pack == HEALTH, PACK_ORDER.index(pack) if pack in PACK_ORDER else len(PACK_ORDER))
    )
    groups = {pack_title(pack): by_pack[pack] for pack in ordered}
    if is_whole:
        best = {query.name: query for found in by_pack.values() for query in found}
        groups = {"Start with these": [best[name] for name in START if name in best]} | groups
    for number, (title, found) in enumerate(groups.items()):
        if number:
            yield "", ""
        yield f"── {title} ──", ""
        for query in found:
            yield names[query.name], query.question
    if checks:
        yield "", ""
        yield (
            f"── {pack_title(HEALTH)} ──",
            f"{counted(len(checks), 'check')}: run `aix check`, list `aix query health`",
        )


def explain(query: Query, formatter: click.HelpFormatter) -> str:
    """Write all that the header of a query says, and how the query is called."""
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
        own = [each for each in query.parameters if each.name not in (*SHARED_PARAMETERS, _NOW)]
        if own:
            formatter.write_text(f"aix query {query.name} {_example(own[0])}")
        formatter.write_text(f"aix query {query.name} --sql")
    if query.next:
        with formatter.section("Next"):
            formatter.write_text(query.next)
    return formatter.getvalue().rstrip("\n")


def _option(name: str) -> str:
    return f"--{name}" if name in SHARED_PARAMETERS else f"--param {name}"


def _written(parameter: Parameter) -> str:
    if parameter.name in SHARED_PARAMETERS:
        return f"--{parameter.name} {SHARED_PARAMETERS[parameter.name][0]}"
    return f"--param {parameter.name}={parameter.type.upper()}"


def _example(parameter: Parameter) -> str:
    values = (*parameter.words, *filter(None, [parameter.default]))
    return f"--param {parameter.name}={quote(values[0]) if values else parameter.type.upper()}"


def _explained(parameter: Parameter) -> str:
    if parameter.name in SHARED_PARAMETERS:  # as the command takes it: the SQL itself counts up to `until`
        return SHARED_PARAMETERS[parameter.name][1]
    default = "none" if parameter.default is None else parameter.default
    return f"{parameter.meaning}. Default: {'the clock' if parameter.name == _NOW else default}."


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
