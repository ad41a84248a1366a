"""The packs that an audit can be made of, and those with something to judge in a ledger."""

from collections.abc import Mapping, Sequence

from aix.errors import UnknownNameError, UsageError
from aix.permissions.audit.findings import judges
from aix.query.packs import Pack, find_pack, packs, read_packs
from aix.query.query_file import Query
from aix.reading.database import can_have_rows
from aix.reading.ledger import Ledger

OWN_PACK = "permission_usage"
"""The pack that `aix audit` runs by default."""


def queries_to_run(name: str) -> list[Query]:
    """Return all queries of a pack that has some that judge."""
    known = packs()
    pack = find_pack(name, known)
    if pack is None:
        raise UnknownNameError("audit pack", name, tuple(each.name for each in known if _audits(each)))
    queries, problems = read_packs([pack])
    if problems:  # an audit that leaves out a query could pass for one that found nothing
        raise problems[0]
    if not any(map(judges, queries)):
        raise UsageError(f"the pack {pack.name} has no queries that judge, so an audit of it can find nothing")
    return queries


def audits_with_rows(ledger: Ledger) -> Mapping[str, Sequence[Query]]:
    """Return the queries that judge of each pack that may find something."""
    found = {pack.name: [query for query in _audits(pack) if can_have_rows(query, ledger.manifest)] for pack in packs()}
    return {name: audits for name, audits in found.items() if audits}


def _audits(pack: Pack) -> Sequence[Query]:
    """Return the queries of a pack that judge; none of a pack that has a file that cannot be read."""
    queries, problems = read_packs([pack])
    return [] if problems else [query for query in queries if judges(query)]
