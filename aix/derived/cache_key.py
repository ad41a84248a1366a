"""The origin of kept rows of views, besides the rows of their group; known without the schema or an engine.

A version names it in two parts. Readers compare the first: views, risks, prices and the splitter of commands. An import
compares both; the second stands for the dialects of permission rules, and to know it takes loading them.
"""

from functools import cache
from hashlib import sha256

from aix.permissions import RISK_FILE
from aix.query.packs import library_views_digest
from aix.store.manifest import Manifest
from aix.version import RISKS_VERSION, SCHEMA_VERSION, SPLITTER_VERSION

PRICES = "model_prices"
"""The one table that rows of every group follow from."""
_FAILED = " failed"


def are_views_kept(manifest: Manifest) -> bool:
    """Whether all was done to keep the views of a version; for imports, which load the dialects."""
    made_by = made_by_now(manifest)
    return manifest.views_made_by in (made_by, in_vain(made_by))


def are_rows_current(manifest: Manifest) -> bool:
    """Whether the kept rows of a version are those that this AIX would make; for readers, which load no dialect."""
    made_by, _, dialects = (manifest.views_made_by or "").partition("-")
    return made_by == rows_digest(manifest) and not dialects.endswith(_FAILED)


def made_by_now(manifest: Manifest) -> str:
    """Return what changes when rows of views would, although their group is as it was."""
    from aix.permissions.contract import dialects_digest

    return f"{rows_digest(manifest)}-{dialects_digest()}"


def rows_digest(manifest: Manifest) -> str:
    """Return the digest of what readers know that rows of views follow from."""
    # Prices of models that are new to a ledger change nothing: no group that was there has requests of them.
    prices = [each.path for each in manifest.tables.get(PRICES, ()) if not manifest.prices or each.group is not None]
    schemas = f"{SCHEMA_VERSION} {manifest.schema_version}"
    digests = [library_views_digest(), str(SPLITTER_VERSION), risk_file_digest(), schemas]
    return sha256("\0".join([*digests, manifest.prices or "", *sorted(prices)]).encode()).hexdigest()[:16]


@cache
def risk_file_digest() -> str:
    """Return what changes when the file of risk rules does, or what it is understood to say."""
    return sha256(b"%d\0%b" % (RISKS_VERSION, RISK_FILE.read_bytes())).hexdigest()[:16]


def in_vain(made_by: str) -> str:
    """Return what stands for views that could not be made: the next commit tries again, but no run without news."""
    return made_by + _FAILED
