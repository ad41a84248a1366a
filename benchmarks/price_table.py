"""Write the price table that comes with AIX, from the package genai-prices, and compare it with LiteLLM's.

python -m benchmarks.price_table                      write aix/prices/genai_prices.csv and providers.csv
python -m benchmarks.price_table --check              say whether they are what this package gives; exit with 1 if not
python -m benchmarks.price_table --litellm FILE.json  compare with that copy of LiteLLM's table

Needs `pip install aix-ledger[prices]`. LiteLLM's table is `model_prices_and_context_window_backup.json` of the package
litellm; it is looked for where that is installed.
"""

import argparse
import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from genai_prices import data, types

from aix.prices.choice import COLUMNS as PROVIDER_COLUMNS
from aix.prices.lines import COLUMNS, STANDARD, UNITS

FOLDER = Path(__file__).parent.parent / "aix" / "prices"
PROVIDERS = (
    "anthropic",
    "openai",
    "google",
    "x-ai",
    "cursor",
    "deepseek",
    "moonshotai",
    "zhipuai",
    "zai",
    "minimax",
    "mistral",
    "azure",
    "aws",
)
CONTEXTS: Mapping[str, dict[str, str]] = {
    STANDARD: {},
    "batch": {"processing": "batch"},
    "priority": {"service_tier": "priority"},
    "flex": {"service_tier": "flex"},
    "fast": {"service_tier": "fast"},
}
KEYS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "web_search": "web_searches_kcount",
}
_PART_OF = {"cache_read": "input", "cache_write_5m": "input", "cache_write_1h": "cache_write_5m"}
"""A unit that is not listed apart is charged as the unit that it is part of; the package counts that way too."""
_LITELLM_PREFIXES = {
    "anthropic": "",
    "openai": "",
    "google": "gemini/",
    "x-ai": "xai/",
    "deepseek": "deepseek/",
    "moonshotai": "moonshot/",
    "zai": "zai/",
    "minimax": "minimax/",
    "mistral": "mistral/",
    "azure": "azure/",
    "aws": "",
}
_LITELLM_KEYS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
}

Row = Mapping[str, str]


def main() -> int:
    """Write or check the files, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--checked-on", type=date.fromisoformat, help="the day the source was read; default: today")
    parser.add_argument("--litellm", type=Path, metavar="FILE", help="LiteLLM's table")
    given = parser.parse_args()
    checked_on = given.checked_on or (written_day() if given.check else datetime.now(tz=UTC).date())
    rows = list(table_rows(checked_on))
    pages = {"genai_prices.csv": to_csv(COLUMNS, rows), "providers.csv": to_csv(PROVIDER_COLUMNS, provider_rows())}
    stale = [name for name, text in pages.items() if _read(FOLDER / name) != text]
    for name in stale:
        print(f"aix/prices/{name}: {'out of date' if given.check else 'written'}")
        if not given.check:
            (FOLDER / name).write_text(pages[name], "utf-8", newline="")
    models = {(row["provider"], row["model"]) for row in rows}
    print(f"genai-prices {version('genai-prices')}: {len(models)} models, {len(rows)} lines")
    litellm = given.litellm or _installed_litellm()
    if litellm:
        _compare(rows, json.loads(litellm.read_text("utf-8")))
    else:
        print("litellm is not installed, and --litellm names no file: nothing was compared")
    return 1 if stale and given.check else 0


def written_day() -> date:
    """Return the day on which the source of the table was read."""
    first = next(csv.DictReader(io.StringIO(_read(FOLDER / "genai_prices.csv"))))
    return date.fromisoformat(first["checked_on"])


def to_csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Return rows as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def provider_rows() -> Iterator[Row]:
    """Go through all vendors in the package's order: the first that a name fits is meant."""
    for provider in data.providers:
        named, serves = provider.provider_match, provider.model_match
        yield {
            "provider": provider.id,
            "named": rule_text(named) if named else "",
            "serves": rule_text(serves) if serves else "",
            "falls_back_to": " ".join(provider.fallback_model_providers or ()),
        }


def table_rows(checked_on: date) -> Iterator[Row]:
    """Go through the lines of all models; the package's order of models within a vendor is kept, as it decides."""
    providers = {provider.id: provider for provider in data.providers}
    for name in sorted(PROVIDERS):
        for model in providers[name].models:
            if name != "aws" or "claude" in model.id:
                yield from _model_rows(name, model, checked_on)


def _model_rows(provider: str, model: types.ModelInfo, checked_on: date) -> Iterator[Row]:
    peak = _peak_hour(model)
    edition = version("genai-prices") + (" (peak hours)" if peak else "")
    for variant in CONTEXTS:
        for start, end, tiers in _periods(model, variant, peak or time(12, tzinfo=UTC)):
            for tier_start, prices in tiers.items():
                yield {
                    "provider": provider,
                    "model": model.id,
                    "match_rule": rule_text(model.match),
                    "valid_from": "" if start == date.min else start.isoformat(),
                    "valid_to": "" if end is None else end.isoformat(),
                    "tier_start_tokens": str(tier_start),
                    "variant": variant,
                    **{unit: f"{price.normalize():f}" for unit, price in prices.items()},
                    "source": "genai-prices",
                    "source_version": edition,
                    "checked_on": checked_on.isoformat(),
                }


def _peak_hour(model: types.ModelInfo) -> time | None:
    """Return a time of day at which a model costs most; None where the hour makes no difference."""
    conditions = model.prices if isinstance(model.prices, list) else []
    hours = [each.constraint for each in conditions if isinstance(each.constraint, types.TimeOfDateConstraint)]
    return hours[-1].start_time if hours else None


Tiers = dict[int, dict[str, Decimal]]
"""By the smallest whole input: prices by unit."""


def _periods(model: types.ModelInfo, variant: str, hour: time) -> Iterator[tuple[date, date | None, Tiers]]:
    """Go through the times in which a model has one price."""
    changes: list[tuple[date, Tiers | None]] = []
    for start in sorted({date.min, *start_dates(model)}):
        moment = datetime.combine(max(start, date(1970, 1, 2)), hour)
        tiers = _tiers(model, variant, moment)
        if not changes or changes[-1][1] != tiers:
            changes.append((start, tiers))
    for place, (start, found) in enumerate(changes):
        end = changes[place + 1][0] if place + 1 < len(changes) else None
        if found:
            yield start, end, found


def start_dates(model: types.ModelInfo) -> Iterator[date]:
    """Go through the days on which a price of a model changes."""
    prices = model.prices if isinstance(model.prices, list) else []
    for each in (*prices, *(model.price_variants or ())):
        if isinstance(each.constraint, types.StartDateConstraint):
            yield each.constraint.start_date


def _tiers(model: types.ModelInfo, variant: str, moment: datetime) -> Tiers | None:
    """Return the prices at a moment; None where the variant has none of its own."""
    context = CONTEXTS[variant]
    own = [
        each
        for each in model.price_variants or ()
        if each.when == context and (each.constraint is None or each.constraint.active(moment))
    ]
    if context and not any(value is not None for each in own for value in vars(each.prices).values()):
        return None
    price = model.get_prices(moment, context or None)
    listed = {unit: getattr(price, key) for unit, key in KEYS.items() if getattr(price, key) is not None}
    starts = {tier.start for value in listed.values() if isinstance(value, types.TieredPrices) for tier in value.tiers}
    # A tier of the package begins above its start.
    tiers = {above and above + 1: _listed_above(listed, above) for above in sorted({0, *starts})}
    return tiers if tiers[0] else None


def _listed_above(listed: Mapping[str, Decimal | types.TieredPrices], above: int) -> dict[str, Decimal]:
    prices: dict[str, Decimal] = {}
    for unit in UNITS:
        value = listed.get(unit)
        if isinstance(value, types.TieredPrices):
            value = next((tier.price for tier in reversed(value.tiers) if 0 < tier.start <= above), value.base)
        elif value is None:
            value = prices.get(_PART_OF.get(unit, ""))
        if value is not None:
            prices[unit] = value
    return prices


def rule_text(match: types.MatchLogic) -> str:
    """Return a rule of the package as AIX writes it."""
    match match:
        case types.ClauseOr():
            return " or ".join(rule_text(each) for each in match.or_)
        case types.ClauseAnd():
            assert not any(isinstance(each, types.ClauseOr) for each in match.and_)
            return " and ".join(rule_text(each) for each in match.and_)
    [(word, text)] = vars(match).items()
    assert " " not in text
    return f"{word}:{text}"


def _installed_litellm() -> Path | None:
    found = find_spec("litellm")
    origin = found and found.origin
    return Path(origin).parent / "model_prices_and_context_window_backup.json" if origin else None


def _compare(rows: Iterable[Row], theirs: Mapping[str, Mapping[str, object]]) -> None:
    """Say how many models of the table LiteLLM has with the same prices."""
    counts: Counter[str] = Counter()
    for row in rows:
        is_valid = row["valid_from"] <= row["checked_on"] < (row["valid_to"] or "9999")
        if row["variant"] != STANDARD or row["tier_start_tokens"] != "0" or not is_valid:
            continue
        prefix = _LITELLM_PREFIXES.get(row["provider"])
        other = theirs.get(f"{prefix}{row['model']}") if prefix is not None else None
        if other is None:
            counts["unknown"] += 1
            continue
        differing = list(_differences(row, other))
        counts["differ" if differing else "agree"] += 1
        for difference in differing:
            print(f"  {row['provider']}/{row['model']}: {difference}")
    print(f"LiteLLM: {counts['agree']} models agree, {counts['differ']} differ, {counts['unknown']} it does not know")


def _differences(row: Row, other: Mapping[str, object]) -> Iterator[str]:
    for unit, key in _LITELLM_KEYS.items():
        price = other.get(key)
        if price is not None and row.get(unit):
            theirs = round(Decimal(str(price)) * 1_000_000, 6)
            if theirs != Decimal(row[unit]):
                yield f"{unit} {row[unit]}, LiteLLM {theirs.normalize():f}"


def _read(path: Path) -> str:
    return path.read_bytes().decode() if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
