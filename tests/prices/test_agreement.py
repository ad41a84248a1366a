"""Prices that AIX chooses are those of the package from which the table is made, and the table is current."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest

pytest.importorskip("genai_prices")

from genai_prices import data, types
from genai_prices.data_snapshot import DataSnapshot

from aix.prices.choice import COLUMNS as PROVIDER_COLUMNS
from aix.prices.choice import ModelPrice
from aix.prices.lines import COLUMNS, VARIANTS
from aix.prices.table import PriceTable
from benchmarks import price_table

PEAK = time(2, tzinfo=UTC)
"""An hour at which no vendor asks for less than at others."""
SNAPSHOT = DataSnapshot(data.providers, from_auto_update=False)
OWNERS = {id(model): provider.id for provider in data.providers for model in provider.models}
MODELS = [
    (provider.id, model)
    for provider in data.providers
    if provider.id in price_table.PROVIDERS
    for model in provider.models
    if provider.id != "aws" or "claude" in model.id
]
COUNTS = {"output": 40, "cache_read": 300, "cache_write_5m": 130, "cache_write_1h": 70, "web_search": 2}


def names_of(model: types.ModelInfo) -> Iterator[str]:
    """The model's own name, and names its rule is about."""
    yield model.id
    clauses = [model.match]
    while clauses:
        clause = clauses.pop()
        clauses += getattr(clause, "or_", [])
        if isinstance(clause, types.ClauseEquals | types.ClauseStartsWith | types.ClauseContains):
            yield next(iter(vars(clause).values()))


def is_listed(model: types.ModelInfo) -> bool:
    """Whether it has a price for anything that requests of assistants consist of."""
    prices = model.prices if isinstance(model.prices, list) else [types.ConditionalPrice(prices=model.prices)]
    return any(getattr(each.prices, key) is not None for each in prices for key in price_table.KEYS.values())


def test_every_name_means_the_model_that_the_package_finds() -> None:
    chooser = PriceTable().chooser
    compared = 0
    for owner, model in MODELS:
        for name in names_of(model):
            for provider in (owner, ""):
                try:
                    _, expected = SNAPSHOT.find_provider_model(name, None, provider or None, None)
                except LookupError:
                    continue
                found = {(price.line.provider, price.line.model) for price in chooser.choose(provider, name)}
                wanted = {(OWNERS[id(expected)], expected.id)} if is_listed(expected) else set()
                assert found == wanted, (provider, name)
                compared += 1
    assert compared > 1_000


def cost(found: list[ModelPrice], moment: datetime, whole_input: int, variant: str) -> Decimal:
    at = int(moment.timestamp() * 1000)
    [prices] = [
        price.line.prices
        for price in found
        if price.variant == variant
        and price.valid_from <= at < price.valid_to
        and price.tier_start_tokens <= whole_input < price.tier_end_tokens
    ]
    counts = {**COUNTS, "input": whole_input - 500}
    return sum((prices.get(unit, Decimal(0)) * count for unit, count in counts.items()), Decimal(0))


def dates_of(model: types.ModelInfo) -> set[date]:
    starts = set(price_table.start_dates(model))
    return {date(2024, 1, 1), date(2026, 11, 16), *starts, *(start - timedelta(days=1) for start in starts)}


def inputs_of(found: list[ModelPrice]) -> set[int]:
    starts = {price.tier_start_tokens for price in found} - {0}
    return {1_000, 2_000_000, *starts, *(start - 1 for start in starts)}


@pytest.mark.parametrize("provider", price_table.PROVIDERS)
def test_every_model_costs_what_the_package_says(provider: str) -> None:
    compared = 0
    served_by = next(each for each in data.providers if each.id == provider)
    for model in [model for owner, model in MODELS if owner == provider and is_listed(model)]:
        name = next((name for name in names_of(model) if served_by.find_model(name) is model), None)
        found = PriceTable().chooser.choose(provider, name) if name else []
        for variant in VARIANTS if found else ():
            if any(price.variant == variant and price.line.source != "genai-prices" for price in found):
                continue  # the overlay has a price that the package has not
            for moment in (datetime.combine(day, PEAK) for day in dates_of(model)):
                for whole_input in inputs_of(found):
                    usage = types.Usage(
                        input_tokens=whole_input,
                        cache_read_tokens=300,
                        cache_write_tokens=200,
                        cache_write_1h_tokens=70,
                        output_tokens=40,
                        web_searches=2,
                    )
                    context = price_table.CONTEXTS[variant]
                    expected = model.calc_price(
                        usage, served_by, genai_request_timestamp=moment, price_context=context or None
                    )
                    assert cost(found, moment, whole_input, variant) == expected.total_price, (model.id, variant)
                    compared += 1
    assert compared


def test_the_files_are_what_the_package_gives() -> None:
    day = price_table.written_day()
    table = price_table.to_csv(COLUMNS, price_table.table_rows(day))
    assert (price_table.FOLDER / "genai_prices.csv").read_text("utf-8") == table
    providers = price_table.to_csv(PROVIDER_COLUMNS, price_table.provider_rows())
    assert (price_table.FOLDER / "providers.csv").read_text("utf-8") == providers
