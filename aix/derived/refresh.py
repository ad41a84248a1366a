"""Renewing what follows from other things than logs, by itself: prices and kept views."""

from pathlib import Path

from aix.ledger.commit import Stage, commit
from aix.ledger.manifest import Manifest
from aix.prices.table import PriceTable


def renew(ledger: Path, prices: PriceTable) -> Manifest:
    """Price all requests of a ledger by these lines, make its views anew, and return the version with both."""

    def change(base: Manifest, stage: Stage) -> Manifest:
        stage.prices = prices
        return base

    return commit(ledger, change)
