"""Choosing prices: what a model costs, by who serves it, at any time, for requests of any size.

This is the only place where a price is chosen. Lines are asked in their order: the user's own, the additional prices,
those of the table. The first line that is about the model and holds at that time gives the price; a variant that it has
no price for has its standard one. Providers are the vendors of the price table; a request that names another, or none,
is one of theirs by the rules of `providers.csv`.
"""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import msgspec

from aix.prices.lines import FOREVER, LONGEST_NAME, STANDARD, VARIANTS, PriceLine, Rule, parse_rule

COLUMNS = ("provider", "named", "serves", "falls_back_to")
_COMPACT_DATE = re.compile(r"-(20\d{2})(\d{2})(\d{2})(?=-|:|$)")
_REGION_AND_VENDOR = re.compile(r"^(?:[a-z-]+\.)+")


class Provider(msgspec.Struct, frozen=True):
    """A vendor."""

    name: str
    named: Rule | None
    """Other names of the same provider."""
    serves: Rule | None
    """Models that belong to this provider where a request names no provider."""
    falls_back_to: tuple[str, ...]
    """Whose prices are charged for models that this one has no price of its own for."""


class Providers:
    """All vendors, in the order in which they are asked."""

    def __init__(self, providers: Sequence[Provider]) -> None:
        self._by_name = {provider.name: provider for provider in providers}

    def asked(self, provider: str, model: str) -> tuple[str, ...]:
        """Return the vendors whose prices a request may have, the first being the one that serves it."""
        wanted, known = provider.lower().strip(), self._by_name.values()
        if provider:
            by_pattern = (each for each in known if each.named and each.named.fits(wanted))
            found = self._by_name.get(wanted) or next(by_pattern, None)
        else:
            found = next((each for each in known if each.serves and each.serves.fits(model)), None)
        return (found.name, *found.falls_back_to) if found else ()


def parse_providers(text: str) -> Providers:
    """Read vendors from the text of `providers.csv`."""
    return Providers(list(_providers(text)))


def _providers(text: str) -> Iterator[Provider]:
    for row in csv.DictReader(io.StringIO(text, newline="")):
        named, serves = (parse_rule(row[column], "") if row[column] else None for column in ("named", "serves"))
        yield Provider(row["provider"], named, serves, tuple(row["falls_back_to"].split()))


class ModelPrice(NamedTuple):
    """The price of a model for requests of one variant, within a time, of a size."""

    provider: str
    model: str
    variant: str
    valid_from: int
    valid_to: int
    tier_start_tokens: int
    tier_end_tokens: int
    line: PriceLine
    """Where the prices of the units stand."""

    @property
    def basis(self) -> str:
        """The edition and name of the price line, and whether a standard price stands in."""
        missing = f"; no {self.variant} price, standard taken" if self.variant != self.line.variant else ""
        return f"{self.line.edition} {self.line.name}{missing}"


class Chooser:
    """Price lines, ready to be asked."""

    def __init__(self, lines: Iterable[PriceLine], providers: Providers) -> None:
        entries = [
            _Entry(tuple(same))
            for _, same in groupby(sorted(lines, key=lambda line: line.precedence), lambda line: line.precedence)
        ]
        self._providers = providers
        self._entries = entries
        self._by_provider: dict[str, list[_Entry]] = defaultdict(list)
        for entry in entries:
            self._by_provider[entry.provider].append(entry)

    @cached_property
    def named(self) -> dict[tuple[str, str], list[ModelPrice]]:
        """The prices of the models that the lines name, with their provider, and as a request without one has them."""
        pairs = {pair for entry in self._entries for pair in ((entry.provider, entry.model), ("", entry.model))}
        return {pair: self.choose(*pair) for pair in sorted(pairs)}

    def choose(self, provider: str, model: str) -> list[ModelPrice]:
        """Return the prices of a model at all times; none for a model that is not known."""
        candidates = list(self._candidates(provider, model))
        return [
            ModelPrice(provider, model, variant, start, end, line.tier_start_tokens, tier_end, line)
            for variant in VARIANTS
            for start, end, lines in _periods(candidates, variant)
            for line, tier_end in zip(lines, [*(line.tier_start_tokens for line in lines[1:]), FOREVER], strict=True)
        ]

    def _candidates(self, provider: str, model: str) -> Iterator["_Candidate"]:
        if not model or len(model) > LONGEST_NAME or len(provider) > LONGEST_NAME:
            return
        known: set[int] = set()
        for name in _spellings(model.lower()):
            asked = self._providers.asked(provider, name)
            for place, each in enumerate(asked or (provider.lower(),)):
                own = {each, "", provider.lower()} if not place else {each}
                asked_now = [entry for one in own for entry in self._by_provider.get(one, ())]
                for entry in sorted(asked_now, key=lambda entry: entry.precedence):
                    if entry.precedence not in known and entry.rule.fits(name):
                        known.add(entry.precedence)
                        yield _Candidate(entry, has_variants=not place)
                        if entry.holds_always:
                            return


class _Entry:
    """The lines of one model in one list."""

    def __init__(self, lines: Sequence[PriceLine]) -> None:
        first = lines[0]
        self.provider, self.model, self.precedence = first.provider, first.model, first.precedence
        self.rule: Rule = parse_rule(first.match_rule, first.model)
        self.times = {time for line in lines for time in (line.valid_from, line.valid_to)}
        self._by_variant: dict[str, list[PriceLine]] = defaultdict(list)
        for line in lines:
            self._by_variant[line.variant].append(line)
        self.holds_always = all(self.lines_at(STANDARD, time) for time in {0, *self.times} - {FOREVER})
        """Whether no other line need be asked, whatever the time."""

    def lines_at(self, variant: str, time: int) -> list[PriceLine]:
        """Return the tiers of the price that holds at that time: of several, the one that came last."""
        for wanted in dict.fromkeys((variant, STANDARD)):
            valid = [line for line in self._by_variant.get(wanted, ()) if line.valid_from <= time < line.valid_to]
            if valid:
                latest = max(line.valid_from for line in valid)
                tiers = [line for line in valid if line.valid_from == latest]
                return sorted(tiers, key=lambda line: line.tier_start_tokens)
        return []


class _Candidate(NamedTuple):
    """Lines that may price a model; what another vendor asks for a variant is not what this one asks."""

    entry: _Entry
    has_variants: bool

    def lines_at(self, variant: str, time: int) -> list[PriceLine]:
        """Return the lines that hold at that time."""
        return self.entry.lines_at(variant if self.has_variants else STANDARD, time)


def _spellings(model: str) -> Iterator[str]:
    """Go through the names a model may be known by: as it is, with its date in full, bare of region and vendor."""
    yield model
    dated = _COMPACT_DATE.sub(_full_date, model)
    if dated != model:
        yield dated
    bare = _REGION_AND_VENDOR.sub("", model.rpartition("/")[2])
    if bare != model:
        yield bare


def _full_date(compact: re.Match[str]) -> str:
    try:
        return f"-{date(*map(int, compact.groups())).isoformat()}"
    except ValueError:
        return compact[0]


def _periods(found: Sequence[_Candidate], variant: str) -> Iterator[tuple[int, int, list[PriceLine]]]:
    """Go through the times in which the same lines hold, with these lines."""
    times = sorted({0, FOREVER, *(time for each in found for time in each.entry.times)})
    held = [next(filter(None, (each.lines_at(variant, time) for each in found)), []) for time in times[:-1]]
    since = 0
    for place, lines in enumerate(held):
        if lines != (held[place + 1] if place + 1 < len(held) else None):
            if lines:
                yield times[since], times[place + 1], lines
            since = place + 1
