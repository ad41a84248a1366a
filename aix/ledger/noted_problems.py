"""Problems follow the rows: those of earlier readings go when a source that still holds what it held is read anew."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from aix.ledger.commit import Stage
from aix.ledger.groups import Groups
from aix.ledger.manifest import Manifest, has_groups
from aix.ledger.nodes import node_expressions
from aix.ledger.views import create_views
from aix.ledger.workbench import workbench
from aix.schema import TABLES


def without_problems(ledger: Path, base: Manifest, stage: Stage, since: Mapping[str, int]) -> Manifest:
    """Return a version without the problems of these sources that runs have noted since the times given."""
    if not since or not has_groups(base) or not base.tables.get("import_problems"):
        return base
    with workbench(ledger) as bench:
        create_views(bench.connection, ledger, base, ["import_problems", "import_runs"])
        found = bench.connection.execute(
            f"select distinct {node_expressions(TABLES['import_problems'])[0]} from import_problems"
            " join (select unnest($names) as source_key, unnest($times) as since) using (source_key)"
            " where (select started_at from import_runs where id = run_id) >= since",
            {"names": list(since), "times": list(since.values())},
        ).fetchall()
        nodes = pa.array([node for (node,) in found], pa.uint64())
        if not len(nodes):
            return base
        groups = Groups(base, stage)
        for group, part in groups.holding(nodes, nodes).items():
            groups.remove(group, part)
        return groups.version()
