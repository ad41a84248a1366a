"""Drawings of trees: never wider than the terminal, never longer than a reader can follow."""

import re
from collections.abc import Sequence

import pytest
from rich.cells import cell_len

from aix.output.text import is_safe
from aix.output.tree_drawing import drawn_lines, is_cut, tree_node
from aix.reading.turn_trees import TurnTrees
from tests.reading.test_turn_trees import trees_of

Parents = Sequence[int | None]
CHAIN: Parents = [None, *range(599)]
COMB: Parents = [None, *(number - 2 + number % 2 for number in range(1, 600))]
STAR: Parents = [None, *[0] * 599]
SHAPES = {
    "chain": (CHAIN, 1),
    "comb": (COMB, 1),
    # The earlier branches are the main ones, and the others hang from each other.
    "stairs": (COMB, -1),
    "star": (STAR, 1),
}


def forest(shape: str) -> TurnTrees:
    parents, pace = SHAPES[shape]
    leaves = sorted(set(range(len(parents))) - set(parents))
    return trees_of(parents, [(leaf, True) for leaf in leaves], [None] * len(leaves), None, pace=pace)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [60, 200])
def test_a_large_tree_is_drawn_within_its_width_and_length(shape: str, width: int) -> None:
    trees = forest(shape)
    node = tree_node(trees, "t0", "s0")
    titles = dict.fromkeys(trees.turns, "日本語 \x1b[31m\u202e ├─ " * 40)
    lines = list(drawn_lines([node], {"s0": "z\n" * 50}, titles, width))
    assert len(lines) <= 201
    assert is_cut([node])
    assert not [line for line in lines if cell_len(line) > width or not is_safe(line)]
    assert re.search(r" 600( |$)", lines[1])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_whole_drawing_has_every_turn(shape: str) -> None:
    trees = forest(shape)
    node = tree_node(trees, "t0", "s0", is_full=True)
    assert node.figures is not None
    assert node.figures.turns == 600
    assert len(list(drawn_lines([node], {}, {}, 80))) > 64


def test_what_is_left_out_is_counted() -> None:
    node = tree_node(forest("star"), "t0", "s0")
    [more] = [each for each in node.below if each.name.endswith("more lines")]
    assert more.figures is not None
    shown = sum(each.figures.turns for each in node.below if each.figures is not None)
    assert shown == 600
