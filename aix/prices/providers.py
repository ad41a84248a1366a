"""Providers of models: the vendors of the price table, and how a request that names another, or none, is theirs."""

import csv
import io
from collections.abc import Iterator, Sequence

import msgspec

from aix.prices.rules import Rule, parse_rule

COLUMNS = ("provider", "named", "serves", "falls_back_to")


class Provider(msgspec.Struct, frozen=True):
    """A vendor."""

    name: str
    named: Rule | None
    """Which names of providers mean this one, beside its own."""
    serves: Rule | None
    """Which models are this one's where a request names no provider."""
    falls_back_to: tuple[str, ...]
    """Whose prices are charged for models that this one has no price of its own for."""


class Providers:
    """All vendors, in the order in which they are asked."""

    def __init__(self, providers: Sequence[Provider]) -> None:
        self._by_name = {provider.name: provider for provider in providers}

    def asked(self, provider: str, model: str) -> tuple[str, ...]:
        """Return the vendors whose prices a request may have, the first being the one that serves it."""
        found = self._of_name(provider) if provider else self._of_model(model)
        return (found.name, *found.falls_back_to) if found else ()

    def _of_name(self, name: str) -> Provider | None:
        wanted = name.lower().strip()
        return self._by_name.get(wanted) or next(
            (each for each in self._by_name.values() if each.named and each.named.fits(wanted)), None
        )

    def _of_model(self, model: str) -> Provider | None:
        return next((each for each in self._by_name.values() if each.serves and each.serves.fits(model)), None)


def parse_providers(text: str) -> Providers:
    """Read vendors from the text of `providers.csv`."""
    return Providers(list(_providers(text)))


def _providers(text: str) -> Iterator[Provider]:
    for row in csv.DictReader(io.StringIO(text, newline="")):
        named, serves = (parse_rule(row[column], "") if row[column] else None for column in ("named", "serves"))
        yield Provider(row["provider"], named, serves, tuple(row["falls_back_to"].split()))
