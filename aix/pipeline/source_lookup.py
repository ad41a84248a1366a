"""Finding sources of earlier runs again: what is tied to a source that is read may lie where nobody looked."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

import msgspec

from aix.pipeline.contract import Importer
from aix.pipeline.discovery import Walk, discover, stamp
from aix.pipeline.plan import Planned, make_plan, owner_by
from aix.store.engine import engine
from aix.store.fingerprints import Fingerprints
from aix.store.manifest import Manifest
from aix.store.views import create_views


class Partners(msgspec.Struct):
    """Sources that were looked for."""

    found: dict[str, Planned] = msgspec.field(default_factory=dict)
    """By id. What is missing here is gone from disk, or nobody's any more."""
    elsewhere: set[str] = msgspec.field(default_factory=set)
    """Ids of those that another run could read: they are another machine's, or their importer is not in use."""


def find_again(
    ledger: Path,
    version: Manifest,
    ids: Collection[str],
    importers: Sequence[Importer],
    machine: str | None,
    known: Fingerprints,
) -> Partners:
    """Find the sources with these ids where they were, as if their files had been given."""
    partners = Partners()
    if not ids:
        return partners
    rows = _rows(ledger, version, ids)
    by_name = {importer.name: importer for importer in importers}
    prefix = f"{machine}:" if machine else ""
    # A walk for each file: with others around, an importer may not look for what lies beside it.
    walks: dict[tuple[str, str], Walk] = {}
    for source, name, path, importer in sorted(rows, key=itemgetter(2)):
        is_here = name == prefix + path or name.startswith(f"{prefix}{path}#")
        if not is_here or importer not in by_name:
            partners.elsewhere.add(source)
            continue
        walk = walks.setdefault((importer, path), Walk(path, [by_name[importer]]))
        with suppress(OSError):
            walk.stamps[path] = stamp(Path(path).stat())
    found = discover(list(walks.values()), owner_by(importers, known, machine), are_given=False)
    plan = make_plan(found, known, machine=machine, reparse=False)
    partners.found = {each.id: each for each in plan if each.id in ids}
    return partners


def _rows(ledger: Path, version: Manifest, ids: Collection[str]) -> list[tuple[str, str, str, str]]:
    with engine(ledger) as connection:
        create_views(connection, ledger, version, ["import_sources"])
        return connection.execute(
            "select id, source_key, path, importer from"
            " (select *, substr(sha256(source_key), 1, 32) as id from import_sources)"
            " where id in (select unnest($ids))",
            {"ids": list(ids)},
        ).fetchall()
