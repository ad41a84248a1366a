"""Nodes that are tied together, directly or through others, are of one family."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from aix.store.index import Families, neighbours

_NODES = st.integers(0, 12) | st.integers(2**64 - 3, 2**64 - 1)
_LINKS = st.lists(st.lists(st.tuples(_NODES, _NODES), max_size=20), max_size=4)


def pairs_of(links: list[tuple[int, int]]) -> tuple[pa.Array, pa.ChunkedArray]:
    ones, others = (pa.array([link[side] for link in links], pa.uint64()) for side in (0, 1))
    return ones, pa.chunked_array([others])


def sets_of(links: list[tuple[int, int]]) -> set[frozenset[int]]:
    """Put sets together one by one."""
    sets: list[frozenset[int]] = []
    for link in links:
        tied = [each for each in sets if not each.isdisjoint(link)]
        sets = [each for each in sets if each not in tied] + [frozenset(link).union(*tied)]
    return set(sets)


def sets_in(families: Families) -> set[frozenset[int]]:
    found: dict[int, set[int]] = {}
    for node, number in zip(families.nodes.to_pylist(), families.numbers.to_pylist(), strict=True):
        found.setdefault(number, set()).add(node)
    return {frozenset(nodes) for nodes in found.values()}


@given(_LINKS)
def test_families_are_what_hangs_together(lists: list[list[tuple[int, int]]]) -> None:
    families = Families([pairs_of(links) for links in lists])
    links = [link for each in lists for link in each]
    assert sets_in(families) == sets_of(links)
    assert len(families.nodes) == len({node for link in links for node in link})


@given(_LINKS)
def test_each_node_finds_its_family(lists: list[list[tuple[int, int]]]) -> None:
    families = Families([pairs_of(links) for links in lists])
    assert families.of(families.nodes[::-1]).to_pylist() == families.numbers[::-1].to_pylist()
    for number in families.numbers.unique():
        nodes, numbers = families.part(pa.array([number.as_py()], pa.int32()))
        assert numbers.unique().to_pylist() == [number.as_py()]
        assert frozenset(nodes.to_pylist()) in sets_in(families)


def test_a_long_chain_is_one_family() -> None:
    count = 50_000
    for ones in (range(count), reversed(range(count))):
        chain = pa.array(ones, pa.uint64())
        assert Families([(chain[1:], chain[:-1])]).numbers.unique().to_pylist() == [0]


def test_a_family_is_numbered_by_its_first_node() -> None:
    families = Families([pairs_of([(5, 5), (7, 8), (8, 9), (3, 5)])])
    assert families.nodes.to_pylist() == [5, 7, 8, 3, 9]
    assert families.numbers.to_pylist() == [0, 1, 1, 0, 1]


@given(st.lists(st.tuples(_NODES, st.integers(0, 4)), unique_by=lambda each: each[0]))
def test_neighbours_tie_all_nodes_of_a_number(numbered: list[tuple[int, int]]) -> None:
    nodes, numbers = pairs_of(numbered)
    by_number: dict[int, set[int]] = {}
    for node, number in numbered:
        by_number.setdefault(number, set()).add(node)
    ones, others = neighbours(nodes, numbers.combine_chunks())
    assert sets_in(Families([(ones, others)])) == {frozenset(each) for each in by_number.values() if len(each) > 1}
