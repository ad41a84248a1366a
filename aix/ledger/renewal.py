"""Renewing the prices of a ledger, by themselves."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aix.ledger.commit import Stage, commit
from aix.ledger.manifest import Manifest, Segment
from aix.prices.table import PriceTable


def renew_prices(ledger: Path, prices: PriceTable) -> Manifest:
    """Price all requests of a ledger by these lines, and return the version in which they are."""

    def change(base: Manifest, stage: Stage) -> Mapping[str, Sequence[Segment]]:
        stage.prices = prices
        return base.tables

    return commit(ledger, change)
