"""The registration of derived data with the store: a commit makes it, and knows no more of it than this."""

from dataclasses import dataclass
from pathlib import Path

from aix.derived.catalog import refresh_catalog
from aix.derived.materialised_tables import keep_views, loading
from aix.derived.pricing import with_prices, without_prices
from aix.personas.persona_book import PersonaBook
from aix.prices.table import PriceTable
from aix.store.commit import Change, Stage, commit
from aix.store.manifest import Manifest


@dataclass(frozen=True)
class DerivedData:
    """Prices, tables that a program derives, and the catalog."""

    prices: PriceTable | None = None
    """The price lines in force; None when the writer does not know of any but the ledger's own."""
    personas: PersonaBook | None = None
    """The personas in force; None when the writer does not know of any but the ledger's own."""
    has_catalog: bool = True
    """Whether the catalog is refreshed by each commit, and not by whoever makes several."""

    def prepare(self) -> None:
        """Load what deriving takes, beside the steps: most of their work is DuckDB's."""
        loading.start()

    def without(self, version: Manifest) -> Manifest:
        """Return a version as steps see it."""
        return without_prices(version)

    def derive(self, before: Manifest, version: Manifest, stage: Stage) -> Manifest:
        """Return a version with what follows from its rows."""
        return keep_views(before, with_prices(before, version, self.prices, stage), stage, self.personas)

    def refresh(self, ledger: Path) -> None:
        """Refresh the catalog."""
        if self.has_catalog:
            refresh_catalog(ledger)


def renew(
    ledger: Path, prices: PriceTable, personas: PersonaBook | None = None, *, has_catalog: bool = True
) -> Manifest:
    """Price all requests of a ledger by these lines, make its derived tables again, and return the version."""
    return commit(ledger, Change(derived=DerivedData(prices, personas, has_catalog))).version
