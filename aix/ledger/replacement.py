"""Replacing what a source gave: when it is read anew, rows that it no longer gives must go.

Rows do not say which source they are from, but the log of imports says which sessions a source gave. A session is
replaced when it is given anew by every source that ever gave it, all of them read together; otherwise what is new is
joined to what is there, because the other source may be gone from disk. Turns that stand in the log of a session which
stays are joined as well.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import duckdb

from aix.ledger.addition import Preparation
from aix.ledger.commit import Stage
from aix.ledger.manifest import Manifest
from aix.ledger.removal import without_sessions
from aix.ledger.views import create_views


def replacement(ledger: Path, sources_of: Mapping[str, Collection[str]]) -> Preparation:
    """Return what removes sessions before they are joined in anew: by label, the sources that give each now."""

    def prepare(base: Manifest, stage: Stage) -> Manifest:
        has_groups = all(segment.group for segments in base.tables.values() for segment in segments)
        earlier = _sources_so_far(ledger, base, sources_of) if has_groups else {}
        labels = [label for label, sources in sources_of.items() if label in earlier and earlier[label] <= set(sources)]
        if not labels:
            return base
        stage.replaces_rows = True
        return without_sessions(ledger, base, stage, labels)

    return prepare


def _sources_so_far(ledger: Path, base: Manifest, labels: Iterable[str]) -> dict[str, set[str]]:
    """Return the sources that ever gave each of these sessions."""
    with duckdb.connect() as connection:
        create_views(connection, ledger, base)
        found = connection.execute(
            "select session_label, list(distinct source_key) from import_log"
            " where session_label in (select unnest($labels)) group by 1",
            {"labels": list(labels)},
        ).fetchall()
    return {label: set(sources) for label, sources in found}
