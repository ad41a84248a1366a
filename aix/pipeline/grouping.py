"""Which sources are read together, and how they are divided among workers."""

from collections.abc import Iterable, Iterator, Sequence

from aix.pipeline.plan import Planned
from aix.pipeline.worker_messages import Group
from aix.store.fingerprints import Fingerprints

_LARGE_BYTES = 6 * 2**20
_ORDER_BYTES = 32 * 2**20
_ORDER_GROUPS = 800
_ORDERS_PER_WORKER = 4
"""So that no worker is left with nothing to do while another has much."""


def by_group(plan: Iterable[Planned]) -> list[list[Planned]]:
    """Return sources side by side that their importer calls a group."""
    by_name: dict[tuple[str, str], list[Planned]] = {}
    for each in plan:
        by_name.setdefault((each.claim.importer.name, each.source.group or each.source.name), []).append(each)
    return list(by_name.values())


def group_of(
    members: Sequence[Planned], known: Fingerprints, parts: Sequence[Group] = (), *, is_whole: bool = True
) -> Group:
    """Return what tells a worker to read these sources together, in the order of their names."""
    ordered = sorted(members, key=lambda each: each.source.name)
    importer = ordered[0].claim.importer
    return Group(
        importer.name,
        dict(importer.options),
        tuple(each.source for each in ordered),
        sum(each.size_bytes for each in ordered),
        tuple(known[each.id].size_bytes if each.id in known else -1 for each in ordered),
        tuple(parts),
        is_whole,
    )


def portions(groups: Sequence[Group], workers: int) -> Iterator[list[Group]]:
    """Divide groups into what a worker gets at a time: a large one alone, which goes first, small ones together."""
    small: list[Group] = []
    size = 0
    parts = max(workers, 1) * _ORDERS_PER_WORKER
    most_bytes = min(sum(group.size_bytes for group in groups) // parts, _ORDER_BYTES)
    most_groups = min(len(groups) // parts + 1, _ORDER_GROUPS)
    for group in sorted(groups, key=lambda each: -each.size_bytes if each.size_bytes >= _LARGE_BYTES else 0):
        if group.size_bytes >= _LARGE_BYTES:
            yield [group]
            continue
        if len(small) >= most_groups or (small and size + group.size_bytes > most_bytes):
            yield small
            small, size = [], 0
        small.append(group)
        size += group.size_bytes
    if small:
        yield small
