"""Trees of turns: every turn is on one branch, and sums are those of its turns."""

from collections.abc import Sequence
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from aix.reading.turn_trees import Amount, Figures, TreeSession, TreeTurn, TurnTrees


def tree_turn(number: int, parent: int | None, depth: int, root: int, started_at: int) -> TreeTurn:
    above = None if parent is None else f"t{parent}"
    cost = Amount(Decimal(number), Decimal(number), 0) if number % 3 else Amount()
    return TreeTurn(
        f"t{number}", above, depth, f"t{root}", number % 5 == 4, False, started_at, 1, None, None, None, cost
    )


def trees_of(
    parents: Sequence[int | None],
    heads: Sequence[tuple[int, bool]],
    starters: Sequence[int | None],
    asked: int | None,
    *,
    pace: int = 1,
) -> TurnTrees:
    """Make trees of turns that follow those with their parents' numbers; a session for each head."""
    depths: list[int] = []
    roots: list[int] = []
    for number, parent in enumerate(parents):
        depths.append(1 if parent is None else depths[parent] + 1)
        roots.append(number if parent is None else roots[parent])
    turns = [
        tree_turn(number, parent, depths[number], roots[number], pace * number) for number, parent in enumerate(parents)
    ]
    sessions = [
        TreeSession(
            f"s{place}",
            f"t{head}",
            starter is not None,
            None if starter is None else "s0",
            None if starter is None else f"t{starter}",
            is_active,
            f"t{roots[head]}",
            None if starter is None else f"t{roots[starter]}",
        )
        for place, ((head, is_active), starter) in enumerate(zip(heads, starters, strict=True))
    ]
    in_order = sorted(turns, key=lambda each: each.depth)
    return TurnTrees(in_order, sessions, None if asked is None else f"t{asked}")


@st.composite
def random_trees(draw: st.DrawFn) -> TurnTrees:
    size = draw(st.integers(1, 15))
    parents = [None, *(draw(st.none() | st.integers(0, number - 1)) for number in range(1, size))]
    numbers = st.integers(0, size - 1)
    leaves = [number for number in range(size) if number not in parents]
    more = draw(st.lists(numbers, max_size=3))
    heads = [(head, draw(st.booleans())) for head in (*leaves, *more)]
    starters = [draw(st.none() | numbers) for _ in heads]
    return trees_of(parents, heads, starters, draw(st.none() | numbers))


def turns_drawn(trees: TurnTrees, first: str) -> list[str]:
    """Go through all branches and subagents from a turn on."""
    found = []
    roots = [root for label in trees.labels_on(first) for root in trees.subagents_without_turn(label)]
    waiting = [first, *(roots if trees.is_root(first) else ())]
    while waiting:
        branch = waiting.pop()
        if branch != first and trees.is_root(branch):
            waiting += [root for label in trees.labels_on(branch) for root in trees.subagents_without_turn(label)]
        for stretch in trees.stretches(branch):
            found += [turn.id for turn in stretch.turns]
            waiting += [*stretch.branches, *stretch.subagents]
    return found


@settings(max_examples=50)
@given(random_trees())
def test_every_turn_is_drawn_once_and_counted_once(trees: TurnTrees) -> None:
    drawn = [turn_id for top in trees.tops for turn_id in turns_drawn(trees, top)]
    assert sorted(drawn) == sorted(trees.turns)
    total = Figures()
    for top in trees.tops:
        total += trees.below[top]
    known = [turn.cost.usd for turn in trees.turns.values() if turn.cost.usd is not None]
    counted = [each for each in (total.cost.usd, total.subagents_cost.usd) if each is not None]
    assert sum(counted) == sum(known)
    assert total.subagents == len(trees.starters)


@settings(max_examples=50)
@given(random_trees())
def test_a_branch_ends_at_the_last_turn_of_its_last_stretch(trees: TurnTrees) -> None:
    ends = {first: list(trees.stretches(first))[-1].turns[-1].id for first in trees.turns}
    assert ends == {first: trees.end_of(first) for first in trees.turns}


def test_the_branch_of_an_active_session_ends_at_its_head() -> None:
    trees = trees_of([None, 0, 1, 1], [(1, True), (2, False), (3, False)], [None] * 3, None)
    [stretch] = trees.stretches("t0")
    assert [turn.id for turn in stretch.turns] == ["t0", "t1"]
    assert stretch.branches == ["t2", "t3"]
    assert [trees.is_abandoned(turn_id) for turn_id in trees.turns] == [False, False, True, True]


def test_the_branch_that_is_asked_for_is_the_main_one() -> None:
    parents, heads = [None, 0, 0], [(1, True), (2, False)]
    assert trees_of(parents, heads, [None, None], None).end_of("t0") == "t1"
    assert trees_of(parents, heads, [None, None], 2).end_of("t0") == "t2"


def test_subagents_that_start_each_other_are_drawn_all_the_same() -> None:
    trees = trees_of([None, None], [(0, True), (1, True)], [1, 0], None)
    assert len(trees.tops) == 1
    assert sorted(turns_drawn(trees, trees.tops[0])) == ["t0", "t1"]


def test_a_parent_that_is_missing_makes_a_root() -> None:
    lost = TreeTurn("t1", "gone", 7, "gone", False, False, None, 0, None, None, None, Amount())
    trees = TurnTrees([lost], [], None)
    assert trees.tops == ["t1"]
    assert trees.below["t1"].turns == 1
