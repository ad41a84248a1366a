"""Sources that another ledger has read as well: what it has of them stays when this one reads them anew.

A path is the name of a source, and there may be another log at the same path on another machine. Once its rows are
here, what the log of this machine gives must not take their place.
"""

import time
from pathlib import Path

import duckdb
import msgspec

from aix.ledger.fingerprints import Fingerprint, read_fingerprints, source_id
from aix.ledger.manifest import Manifest, is_ledger, read_latest
from aix.ledger.views import create_views


def given_elsewhere(ledger: Path, other: Path, theirs: Manifest) -> dict[str, Fingerprint]:
    """Return fingerprints of sources whose sessions another ledger gives too, from runs that this one does not know."""
    ours = read_latest(ledger) if is_ledger(ledger) else None
    known = read_fingerprints(ledger, ours) if ours else {}
    if ours is None or not known:
        return {}
    with duckdb.connect() as connection:
        create_views(connection, ledger, ours, ["import_runs"])
        runs = [run for (run,) in connection.execute("select id from import_runs").fetchall()]
    with duckdb.connect() as connection:
        create_views(connection, other, theirs, ["import_log", "import_runs"])
        found = connection.execute(
            "select l.source_key, max(coalesce(r.started_at, 0)) from import_log l"
            " left join import_runs r on r.id = l.run_id"
            " where l.session_label is not null and l.run_id not in (select unnest($runs)) group by 1",
            {"runs": runs},
        ).fetchall()
    now = time.time_ns() // 10**6
    return {
        source: msgspec.structs.replace(known[source], since=max(now, latest + 1))
        for name, latest in found
        if (source := source_id(name)) in known
    }
