"""What the rows of kept views follow from, besides the rows of their group; told without the schema or an engine."""

from hashlib import sha256

from aix.ledger.manifest import Manifest
from aix.library.view_files import library_views_digest
from aix.permissions.registry import dialects_digest
from aix.permissions.risk_file import risk_file_digest
from aix.schema_version import SCHEMA_VERSION
from aix.shell import VERSION as SPLITTER_VERSION

PRICES = "model_prices"
"""The one table that rows of every group follow from."""


def are_views_kept(manifest: Manifest) -> bool:
    """Whether all was done to keep the views of a version."""
    made_by = made_by_now(manifest)
    return manifest.views_made_by in (made_by, in_vain(made_by))


def made_by_now(manifest: Manifest) -> str:
    """Return what changes when rows of views would, although their group is as it was.

    Prices of models that are new to a ledger change nothing: no group that was there has requests of them.
    """
    prices = [each.path for each in manifest.tables.get(PRICES, ()) if not manifest.prices or each.group is not None]
    derived = [str(SPLITTER_VERSION), risk_file_digest(), dialects_digest()]
    parts = [library_views_digest(), *derived, str(SCHEMA_VERSION), manifest.prices or "", *sorted(prices)]
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def in_vain(made_by: str) -> str:
    """Return what stands for views that could not be made: the next commit tries again, but no run without news."""
    return f"{made_by} failed"
