"""Replacing what a source gave: when it is read anew, rows that it no longer gives must go.

Rows do not say which source they are from, but the log of imports says which sessions a source gave. A session is
replaced when every source that gave it is read anew; otherwise what is new is joined to what is there, because the
other source may be gone from disk. Turns that a session shares with one that stays are joined as well.
"""

from collections.abc import Collection
from pathlib import Path

import duckdb

from aix.ledger.addition import Preparation
from aix.ledger.commit import Stage
from aix.ledger.manifest import Manifest
from aix.ledger.removal import without_sessions
from aix.ledger.views import create_views


def replacement(ledger: Path, source_keys: Collection[str]) -> Preparation:
    """Return what removes the sessions that only these sources gave, before they are joined in anew."""

    def prepare(base: Manifest, stage: Stage) -> Manifest:
        has_groups = all(segment.group for segments in base.tables.values() for segment in segments)
        labels = _sessions_of(ledger, base, source_keys) if has_groups else []
        if not labels:
            return base
        stage.replaces_rows = True
        return without_sessions(ledger, base, stage, labels)

    return prepare


def _sessions_of(ledger: Path, base: Manifest, source_keys: Collection[str]) -> list[str]:
    with duckdb.connect() as connection:
        create_views(connection, ledger, base)
        found = connection.execute(
            "select session_label from import_log where session_label is not null group by session_label"
            " having bool_and(list_contains($keys, source_key)) order by session_label",
            {"keys": sorted(source_keys)},
        ).fetchall()
    return [label for (label,) in found]
