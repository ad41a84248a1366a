"""`aix prices`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from aix.cli.command import Command, DateType, Group, ledger_option, listing_output, prices_option
from aix.errors import UnknownModelError
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import grouped, one_line
from aix.prices.lines import COLUMNS, FOREVER, STANDARD, UNITS, PriceLine, parse_rule
from aix.prices.table import PriceTable
from aix.schema.sql import quote_name
from aix.store.manifest import is_ledger, read_latest

if TYPE_CHECKING:
    from aix.prices.choice import ModelPrice
    from aix.query.dates import Span

_QUOTED = dict.fromkeys(UNITS, ("DECIMAL(18,6)", 6)) | {"web_search": ("DECIMAL(18,9)", 3)}
"""Price lists are per million tokens, and per thousand searches."""
_RULE_CHARACTERS = 40
_PRICE_COLUMNS = tuple(ListingColumn(unit, _QUOTED[unit][0]) for unit in UNITS)
_PEOPLES_COLUMNS = {
    "model": ListingColumn("model"),
    "variant": ListingColumn("served as", priority=2),
    "tier_start_tokens": ListingColumn("from input of", "BIGINT", priority=2),
    "input": ListingColumn("input", "BIGINT"),
    "output": ListingColumn("output", "BIGINT"),
    "cache_read": ListingColumn("cache read", "BIGINT", priority=3),
    "cache_write_5m": ListingColumn("cache write", "BIGINT", priority=3),
    "valid_from": ListingColumn("since", priority=5),
    "valid_to": ListingColumn("until", priority=5),
    "cache_write_1h": ListingColumn("1 h cache write", "BIGINT", priority=7),
    "web_search": ListingColumn("web search", "BIGINT", priority=9),
    "requests": ListingColumn("requests", "BIGINT", priority=6),
    "provider": ListingColumn("vendor", priority=8),
    "source": ListingColumn("source", priority=4, least=19, tone="dim"),
    "match_rule": ListingColumn("for names", priority=9, tone="dim"),
}
"""By the column of the other formats, how the table shows it."""
_ALWAYS_SHOWN = ("model", "input", "output", "cache_read", "cache_write_5m", "valid_from", "source")
_UNIT_NOTE = "USD per million tokens, and per thousand web searches"
_USED = """
    select
      s.model, coalesce(s.provider, '') as provider, s.variant, coalesce(p.tier_start_tokens, 0) as tier_start_tokens,
      {prices},
      min(p.valid_from) as valid_from, p.price_basis, count(*) as requests
    from v_requests_usage s
    left join model_prices p
      on p.model = s.model and p.provider = coalesce(s.provider, '') and p.variant = s.variant
      and s.requested_at >= p.valid_from and s.requested_at < p.valid_to
      and coalesce(s.context_tokens, 0) >= p.tier_start_tokens and coalesce(s.context_tokens, 0) < p.tier_end_tokens
    where s.model is not null
    group by all
    order by requests desc, s.model, provider, s.variant, tier_start_tokens, valid_from
"""


class _Prices(Group):
    """A group that lists the prices in use when no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named or ctx.resilient_parsing else ["used", *args])


@click.group(cls=_Prices)
def command() -> None:
    """Show what models cost, where the prices are from, and which models have none.

    Without a command, the prices of the models in your ledger are listed, as `aix prices used` does.

    Prices are list prices in USD per million tokens, and per thousand web searches. They come with AIX as a dated
    table, which needs no network; your own file is asked first. A request is priced by its model, its provider, its
    time, its whole input and how it was served. `aix import` puts the prices in force into the ledger, as the tables
    `prices` and `model_prices`.

    \b
      aix prices
      aix prices list gemini
      aix prices show gemini-2.5-pro --input-tokens 250000
      aix prices check --prices my-prices.csv
      aix import --prices my-prices.csv
    """


@command.command("used", cls=Command, short_help="List the prices of the models in the ledger.")
@ledger_option
@listing_output
def used(ledger: Path) -> Listing:
    """List the prices of the models in the ledger, those with the most requests first.

    Each line is a price that `aix cost` uses: in USD per million tokens, since when it holds (– where the source does
    not say), and the source. A model has several lines when its price changed, or depends on how a request was served
    or on the size of its input. `–` for all prices means that no price is known; `aix prices check` lists those too.

    \b
      aix prices
      aix prices used --json
    """
    if not is_ledger(ledger):
        note = f"there is no ledger at {ledger}: no model was used; `aix prices list` lists all prices"
        return Listing(listing_columns("model"), [], notes=[note])
    from aix.reading.ledger import open_ledger

    prices = ", ".join(
        f"cast(p.{unit}_usd * {10**scale} as {kind}) as {quote_name(unit)}" for unit, (kind, scale) in _QUOTED.items()
    )
    found = open_ledger(ledger).sql(_USED.format(prices=prices))
    rows = found.dicts()
    for row in rows:
        row["source"] = row["price_basis"] or "no price known"
        row["valid_from"] = _day(row["valid_from"]) if row["valid_from"] else None
    note = f"{_UNIT_NOTE}; next: `aix prices show MODEL` says more about one, `aix prices list` has all models"
    return replace(found.listing(), empty="no request in the ledger names a model", for_people=_for_people(rows, note))


def _for_people(rows: Sequence[Mapping[str, Any]], note: str) -> Listing:
    """Return the table of some prices; columns in which all rows are alike and usual are left out."""
    names = [
        name
        for name in _PEOPLES_COLUMNS
        if any(name in row for row in rows)
        and (name in _ALWAYS_SHOWN or any(row[name] not in (None, "", 0, STANDARD) for row in rows))
    ]
    lines = [tuple(_written(name, row[name]) for name in names) for row in rows]
    return Listing(tuple(_PEOPLES_COLUMNS[name] for name in names), lines, notes=[note])


def _written(name: str, value: Any) -> object:  # noqa: ANN401 - of any column
    """Write a value of a column; a price with all its digits, and at least two after the point."""
    if name in UNITS and value is not None:
        whole, _, rest = f"{value.normalize():f}".partition(".")
        return f"${int(whole):,}.{rest:0<2}"
    if name == "match_rule":
        return one_line(value, _RULE_CHARACTERS)
    return grouped(value) if isinstance(value, int) and value else value or None


@command.command("list", cls=Command, short_help="List all known prices.")
@click.argument("text", required=False)
@prices_option
@listing_output
def list_lines(text: str | None, prices: Path | None) -> Listing:
    """List all known prices; of several that fit a model, the first is taken.

    With TEXT, only prices that have it in the name of a model, a vendor or a source, or that hold for a model of that
    name. Write them as CSV, change them, and give the file to --prices to use your own.

    \b
      aix prices list
      aix prices list gpt-5
      aix prices list gpt-5 --format csv -o my-prices.csv
    """
    lines = [line for line in PriceTable(prices).lines if text is None or _is_about(line, text)]
    types = {column.name: column for column in _PRICE_COLUMNS} | {
        "tier_start_tokens": ListingColumn("tier_start_tokens", "BIGINT")
    }
    rows = [_line_row(line) for line in lines]
    short = [{name: value for name, value in row.items() if name != "match_rule"} for row in rows]
    return Listing(
        tuple(types.get(name, ListingColumn(name)) for name in COLUMNS),
        [tuple(row[name] for name in COLUMNS) for row in rows],
        empty="no price line has that in its model, vendor or source; `aix prices list` lists all",
        for_people=_for_people(short, f"{_UNIT_NOTE}; next: `aix prices show MODEL` says which price a model gets"),
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
    """Show what MODEL costs, and why: which price holds, since when, for requests of which size.

    MODEL is its name in the logs. `for names` shows the rule by which the price was chosen for that name (`rule` in
    other formats). A way of serving without a price of its own, such as batch, has the standard one; the table leaves
    it out, all other formats have it.

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
        for_people=_for_people([_line_row(price.line) | _period(price) for price in own], _UNIT_NOTE),
    )


def _period(price: "ModelPrice") -> dict[str, object]:
    return {
        "model": price.model,
        "valid_from": _day(price.valid_from) if price.valid_from else None,
        "valid_to": _day(price.valid_to),
    }


def _price_row(price: "ModelPrice") -> Iterator[object]:
    yield price.variant
    yield from list(_period(price).values())[1:]
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

    A file with a mistake is refused, and the line named. `unpriced` is a model of the ledger without a price: its cost
    is unknown and left out of sums. `unused` is a line of your own file that fits no model of the ledger. The exit code
    is 1 when there is any.

    \b
      aix prices check
      aix prices check --prices my-prices.csv --json
    """
    table = PriceTable(prices)
    notes = [f"all prices can be used: {len(table.own_lines)} of your own, {len(table.lines)} in all"]
    rows: list[tuple[object, ...]] = []
    if is_ledger(ledger):
        rows = list(_findings(ledger, table))
        if read_latest(ledger).prices != table.digest:
            notes.append("the ledger has other prices than these; `aix import` updates them")
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
