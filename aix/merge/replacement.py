"""Replacing what sources gave: when they are read again, rows that they no longer give must go.

Rows do not say which source they are from, but the log of imports says which sessions a source gave, and when. A
session is replaced when every source that ever gave it is read again, all of them together, and still holds what it
held when it gave it; otherwise what is new is joined to what is there, because the other source may be gone from disk.
Turns that stand in the log of a session which stays are joined as well. Problems follow the rows.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa

from aix.merge.forget import without_sessions
from aix.merge.groups import Groups
from aix.merge.workspace import Delivered, workbench
from aix.schema import TABLES
from aix.store.commit import Stage
from aix.store.engine import engine
from aix.store.manifest import Manifest, has_groups
from aix.store.nodes import node_expressions
from aix.store.views import create_views


class ReadTogether(msgspec.Struct, frozen=True):
    """Sources that were read together, and from when on what they gave is replaced by what they give now."""

    since: Mapping[str, int]
    """By the name of a source: what it gave in earlier runs may be from something it no longer holds."""
    given_anew: Collection[str] = ()
    """Sessions that another version of the importer gives now: they are replaced whenever they were given."""

    def without(self, sources: Collection[str]) -> "ReadTogether":
        """Return the same without some of the sources: what the others give is still theirs to replace."""
        since = {source: time for source, time in self.since.items() if source not in sources}
        return ReadTogether(since, self.given_anew)

    def replaces(self, label: str, first_given: Mapping[str, int]) -> bool:
        """Whether a session is replaced, given when each of its sources first gave it."""
        if not first_given.keys() <= self.since.keys():
            return False
        return label in self.given_anew or all(time >= self.since[source] for source, time in first_given.items())


class SessionsGivenAgain(msgspec.Struct, frozen=True):
    """The sessions that sources gave before and give again, by these rows."""

    read: Sequence[ReadTogether]
    rows: Delivered

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        """Return a version without them."""
        sources = {source for each in self.read for source in each.since}
        known = _given_so_far(stage.ledger, base, sources) if sources and has_groups(base) else {}
        labels = [label for label, first in known.items() if any(each.replaces(label, first) for each in self.read)]
        return without_sessions(base, stage, labels, self.rows) if labels else base, None


class ProblemsNotedAgain(msgspec.Struct, frozen=True):
    """The problems that runs noted before, of sources that still hold what they held."""

    since: Mapping[str, int]
    """By the name of a source: problems that runs noted from then on are noted again."""

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        """Return a version without them."""
        if not self.since or not has_groups(base) or not base.tables.get("import_problems"):
            return base, None
        with workbench(stage.ledger) as bench:
            create_views(bench.connection, stage.ledger, base, ["import_problems", "import_runs"])
            found = bench.connection.execute(
                f"select distinct {node_expressions(TABLES['import_problems'])[0]} from import_problems"
                " join (select unnest($names) as source_key, unnest($times) as since) using (source_key)"
                " where (select started_at from import_runs where id = run_id) >= since",
                {"names": list(self.since), "times": list(self.since.values())},
            ).fetchall()
        groups = Groups(base, stage)
        groups.remove_rows(pa.array([node for (node,) in found], pa.uint64()))
        return groups.version() if found else base, None


def _given_so_far(ledger: Path, base: Manifest, sources: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the sessions that these sources ever gave, with every source that gave each, and when it first did."""
    with engine(ledger) as connection:
        create_views(connection, ledger, base, ["import_log", "import_runs"])
        found = connection.execute(
            "with given as (select distinct session_label from import_log"
            " where source_key in (select unnest($sources)) and session_label is not null)"
            " select l.session_label, l.source_key, min(coalesce(r.started_at, 0)) from import_log l"
            " semi join given using (session_label) left join import_runs r on r.id = l.run_id group by 1, 2",
            {"sources": list(sources)},
        ).fetchall()
    known: dict[str, dict[str, int]] = {}
    for label, source, time in found:
        known.setdefault(label, {})[source] = time
    return known
