"""`aix prices`."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command, DateType, Group, ledger_option, listing_output, prices_option
from aix.cli.stdout import emit_text
from aix.errors import UnknownModelError
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import one_line
from aix.prices.lines import COLUMNS, FOREVER, UNITS, PriceLine, parse_rule
from aix.prices.table import PriceTable
from aix.store.manifest import is_ledger, read_latest

if TYPE_CHECKING:
    from aix.prices.choice import ModelPrice
    from aix.query.dates import Span

_QUOTED = dict.fromkeys(UNITS, ("DECIMAL(18,6)", 6)) | {"web_search": ("DECIMAL(18,9)", 3)}
"""Price lists are per million tokens, and per thousand searches."""
_RULE_CHARACTERS = 40
_PRICE_COLUMNS = tuple(ListingColumn(unit, _QUOTED[unit][0]) for unit in UNITS)


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show what models cost, where the prices are from, and which models have none.

    Prices are list prices in USD per million tokens, and per thousand web searches. They come with AIX as a dated
    table, which needs no network; your own file is asked first. A request is priced by its model, its provider, its
    time, its whole input and how it was served. `aix import` puts the prices in force into the ledger, as the tables
    `prices` and `model_prices`.

    \b
      aix prices list gemini
      aix prices show gemini-2.5-pro --input-tokens 250000
      aix prices check --prices my-prices.csv
      aix import --prices my-prices.csv
    """
    if ctx.invoked_subcommand is None:
        emit_text(ctx.get_help())


@command.command("list", cls=Command, short_help="List the price lines in force.")
@click.argument("text", required=False)
@prices_option
@listing_output
def list_lines(text: str | None, prices: Path | None) -> Listing:
    """List the price lines in force, those that are asked first before the others.

    With TEXT, only lines that have it in the name of a model, a vendor or a source, or whose rule fits it. As CSV they
    are a file that --prices takes, so that a changed copy of them can be your own.

    \b
      aix prices list
      aix prices list gpt-5
      aix prices list gpt-5 --format csv -o my-prices.csv
    """
    lines = [line for line in PriceTable(prices).lines if text is None or _is_about(line, text)]
    types = {column.name: column for column in _PRICE_COLUMNS} | {
        "tier_start_tokens": ListingColumn("tier_start_tokens", "BIGINT")
    }
    short = ("provider", "model", "variant", "valid_from", "valid_to", "tier_start_tokens", *UNITS, "source")
    rows = [_line_row(line) for line in lines]
    return Listing(
        tuple(types.get(name, ListingColumn(name)) for name in COLUMNS),
        [tuple(row[name] for name in COLUMNS) for row in rows],
        for_people=Listing(
            tuple(types.get(name, ListingColumn(name)) for name in short),
            [tuple(_plain(row[name]) for name in short) for row in rows],
        ),
    )


def _is_about(line: PriceLine, text: str) -> bool:
    wanted = text.lower()
    names = (line.model, line.provider, line.source)
    return any(wanted in name.lower() for name in names) or parse_rule(line.match_rule, line.model).fits(wanted)


def _line_row(line: PriceLine) -> dict[str, object]:
    return {
        "provider": line.provider,
        "model": line.model,
        "match_rule": line.match_rule,
        "valid_from": _day(line.valid_from) if line.valid_from else None,
        "valid_to": _day(line.valid_to),
        "tier_start_tokens": line.tier_start_tokens,
        "variant": line.variant,
        **dict(zip(UNITS, _quoted(line), strict=True)),
        "source": line.source,
        "source_version": line.source_version,
        "checked_on": None if line.checked_at is None else _day(line.checked_at),
    }


def _quoted(line: PriceLine) -> list[Decimal | None]:
    """Return the prices as price lists have them."""
    return [line.prices[unit].scaleb(_QUOTED[unit][1]) if unit in line.prices else None for unit in UNITS]


def _day(moment_ms: int) -> str | None:
    return None if moment_ms == FOREVER else datetime.fromtimestamp(moment_ms // 1000, UTC).date().isoformat()


def _plain(value: object) -> object:
    return f"{value.normalize():f}" if isinstance(value, Decimal) else value


@command.command("show", cls=Command, short_help="Show what a model costs, and why.")
@click.argument("model")
@click.option("--provider", default="", metavar="NAME", help="Served by NAME. Default: as if the request named none.")
@click.option("--at", type=DateType(UTC), metavar="DATE", help="Only what it costs at DATE, in UTC.")
@click.option(
    "--input-tokens",
    type=click.IntRange(min=0),
    metavar="N",
    help="Only for requests whose whole input has N tokens: uncached, read from and written to the cache.",
)
@prices_option
@listing_output
def show(model: str, provider: str, at: "Span | None", input_tokens: int | None, prices: Path | None) -> Listing:
    """Show what MODEL costs, and why: which line was chosen, at what time, for requests of which size.

    MODEL is the name that a log has for it. `rule` is what the line says of the names it is for. A variant without
    a price of its own has the standard one; the table leaves such variants out, all other formats have them.

    \b
      aix prices show gemini-2.5-pro
      aix prices show gemini-2.5-pro --input-tokens 250000
      aix prices show gpt-5 --provider azure
      aix prices show o3 --at 2025-06-01 --json
    """
    moment = at and at.begin_ms
    table = PriceTable(prices)
    found = table.chooser.choose(provider, model)
    if not found:
        raise UnknownModelError(model, tuple(sorted({line.model for line in table.lines})))
    wanted = [
        price
        for price in found
        if (moment is None or price.valid_from <= moment < price.valid_to)
        and (input_tokens is None or price.tier_start_tokens <= input_tokens < price.tier_end_tokens)
    ]
    columns = (
        *listing_columns("variant", "valid_from", "valid_to"),
        *listing_columns(("tier_start_tokens", "BIGINT"), ("tier_end_tokens", "BIGINT")),
        *_PRICE_COLUMNS,
        *listing_columns("price_basis", "rule"),
    )
    own = [price for price in wanted if price.variant == price.line.variant]
    return Listing(
        columns,
        [tuple(_price_row(price)) for price in wanted],
        for_people=Listing(columns, [tuple(_for_people(price)) for price in own]),
    )


def _for_people(price: "ModelPrice") -> Iterator[object]:
    *values, rule = _price_row(price)
    yield from map(_plain, values)
    yield one_line(str(rule), _RULE_CHARACTERS)


def _price_row(price: "ModelPrice") -> Iterator[object]:
    yield price.variant
    yield _day(price.valid_from) if price.valid_from else None
    yield _day(price.valid_to)
    yield price.tier_start_tokens
    yield None if price.tier_end_tokens == FOREVER else price.tier_end_tokens
    yield from _quoted(price.line)
    yield price.basis
    yield price.line.match_rule


@command.command("check", cls=Command, short_help="Check your own file; list models without a price.")
@prices_option
@ledger_option
@listing_output
def check(prices: Path | None, ledger: Path) -> Listing:
    """Check your own file of prices, and list the models of the ledger that have no price.

    A file that says something which cannot be meant is refused, with the line. `unpriced` is a model that requests of
    the ledger name and no line fits: their cost is unknown, and left out of sums. `unused` is a line of your own file
    that fits no model of the ledger. The exit code is 1 when there is any.

    \b
      aix prices check
      aix prices check --prices my-prices.csv --json
    """
    table = PriceTable(prices)
    notes = [f"the lines can be used: {len(table.own_lines)} of your own, {len(table.lines)} in all"]
    rows: list[tuple[object, ...]] = []
    if is_ledger(ledger):
        rows = list(_findings(ledger, table))
        if read_latest(ledger).prices != table.digest:
            notes.append("the ledger has other prices than these; aix import renews them")
    else:
        notes.append(f"there is no ledger at {ledger}: no models were looked up")
    columns = listing_columns("finding", "provider", "model", ("requests", "BIGINT"), "reason")
    return Listing(columns, rows, has_findings=bool(rows), notes=notes)


def _findings(ledger: Path, table: PriceTable) -> Iterator[tuple[object, ...]]:
    from aix.reading.ledger import open_ledger

    query = (
        "select coalesce(provider, '') as provider, model, count(*) as requests from requests"
        " where model is not null group by all order by all"
    )
    models = [(str(provider), str(model), requests) for provider, model, requests in open_ledger(ledger).sql(query)]
    used: set[int] = set()
    for provider, model, requests in models:
        found = table.chooser.choose(provider, model)
        used.update(price.line.precedence for price in found)
        if not found:
            yield "unpriced", provider, model, requests, "No price line fits it."
    yield from _unused(table, used)


def _unused(table: PriceTable, used: set[int]) -> Iterator[tuple[object, ...]]:
    own: Sequence[PriceLine] = table.lines[: len(table.own_lines)]
    for line in {line.precedence: line for line in own if line.precedence not in used}.values():
        yield "unused", line.provider, line.model, 0, "The line of your own file fits no model of the ledger."
