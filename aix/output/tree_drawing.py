"""Drawings of trees of turns: a line for each stretch of turns, compaction, subagent and branch, with its figures.

The figures of a line are in columns at the right, and include those of the lines that hang from it. A long list is
drawn without its middle, and a tree with too many lines only down to some level; what is left out stays in the figures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rich.cells import cell_len

from aix.output.humanise import TITLE_CHARACTERS, bounded_dollars, grouped, in_words, one_line, short_count, short_turn
from aix.output.tables import shortened, shown
from aix.output.text import NULL, escape_unsafe
from aix.reading.turn_trees import Amount, Figures, Stretch, TurnTrees

"""The characters of a turn's id that name it."""
_WIDEST = 120
_NARROWEST_TEXT = 24
_NAME_CELLS = 24
_GAP = "  "
_MOST_LEVELS = 8
_MOST_LEVELS_OF_ALL = 64
_MOST_LINES = 40
_MOST_LINES_OF_TREE = 200
_FIRST_LINES = 12
_LAST_LINES = 24
_SUBAGENT = "↳"
_COMPACTION = "≡"


@dataclass(slots=True)
class Node:
    """A line of a drawing, and those that hang from it."""

    mark: str = ""
    label: str | None = None
    """The session that the line names."""
    name: str = ""
    """The name of anything else."""
    note: str = ""
    title_of: str | None = None
    """The label or the turn whose title stands at the end."""
    figures: Figures | None = None
    is_cut: bool = False
    """Whether lines that hang from it, or that it stands for, are left out."""
    below: "list[Node]" = field(default_factory=list)


def tree_node(
    trees: TurnTrees, first: str, label: str | None, *, is_brief: bool = False, is_full: bool = False
) -> Node:
    """Return the drawing of the branches from a turn on, under the session that names it; in brief, only the forks."""

    def draw(levels: int) -> Node:
        layout = _Layout(trees, levels, is_brief=is_brief, is_full=is_full)
        return Node(
            label=label,
            name="" if label else short_turn(first),
            title_of=label or first,
            figures=trees.below[first],
            below=layout.branch(first, label, 1),
        )

    if is_full:
        return draw(_MOST_LEVELS_OF_ALL)
    drawn = draw(1)
    for levels in range(2, _MOST_LEVELS + 1):
        if not is_cut([drawn]):
            break
        deeper = draw(levels)
        if sum(1 for _ in _in_order([deeper])) > (_MOST_LINES if is_brief else _MOST_LINES_OF_TREE):
            break
        drawn = deeper
    return drawn


def is_cut(nodes: Iterable[Node]) -> bool:
    """Whether lines are left out of a drawing."""
    return any(node.is_cut for node, _ in _in_order(nodes))


def group_node(name: str, nodes: Sequence[Node], *, is_open: bool = True) -> Node:
    """Return a line with the figures of others together, which hang from it when it is open."""
    total = Figures()
    for node in nodes:
        total += node.figures or Figures()
    return Node(name=name, figures=None if total == Figures() else total, below=list(nodes) if is_open else [])


def compaction_note(before: int | None, after: int | None, trigger: str | None) -> str:
    """Write what a compaction did to the context, as far as that is known.

    >>> compaction_note(91_000, 15_000, "context_limit"), compaction_note(None, None, None)
    ('91k → 15k, auto', 'compaction')
    """
    sizes = " → ".join(NULL if size is None else short_count(size) for size in (before, after))
    known = [*([] if before is after is None else [sizes]), *([] if trigger is None else [in_words(trigger)])]
    return ", ".join(known) or "compaction"


class _Layout:
    """Lines of a tree, as they hang from each other."""

    def __init__(self, trees: TurnTrees, levels: int, *, is_brief: bool, is_full: bool) -> None:
        self._trees = trees
        self._levels = levels
        self._is_brief = is_brief
        self._is_full = is_full

    def branch(self, first: str, label: str | None, level: int, *, is_delegated: bool = False) -> list[Node]:
        """Return the lines of a branch that stand below its name."""
        nodes: list[Node] = []
        if self._trees.is_root(first) and not self._is_brief:
            labels = self._trees.labels_on(first)
            roots = (root for each in labels for root in self._trees.subagents_without_turn(each))
            nodes += [self._subagent(root, level) for root in roots]
        for stretch in self._trees.stretches(first):
            if not self._is_brief:
                nodes.append(self._stretch(stretch, level, is_delegated=is_delegated))
            nodes += [Node(mark="head of", label=each) for each in stretch.heads if each != label]
            nodes += [self._fork(each, level, is_delegated=is_delegated) for each in stretch.branches]
        return nodes if self._is_full else _without_middle(nodes)

    def _stretch(self, stretch: Stretch, level: int, *, is_delegated: bool) -> Node:
        first, last = stretch.turns[0], stretch.turns[-1]
        name = short_turn(first.id) if first is last else f"{short_turn(first.id)}…{short_turn(last.id)}"
        note = ""
        if first.is_compaction:
            note = compaction_note(first.tokens_before, first.tokens_after, first.trigger)
        elif first is last and first.is_failed:
            note = "(failed)"
        subagents = [self._subagent(root, level) for root in stretch.subagents]
        return Node(
            mark=_COMPACTION if first.is_compaction else "",
            name=name,
            note=note,
            title_of=None if first.is_compaction else first.id,
            figures=stretch.figures.delegated() if is_delegated else stretch.figures,
            below=subagents if self._is_full else _without_middle(subagents),
        )

    def _fork(self, first: str, level: int, *, is_delegated: bool) -> Node:
        heads = self._trees.heads.get(self._trees.end_of(first), [])
        label = heads[0] if heads else None
        figures = self._trees.below[first]
        node = Node(
            mark="fork",
            label=label,
            name="" if label else short_turn(first),
            note="(abandoned)" if self._trees.is_abandoned(first) else "",
            title_of=first,
            figures=figures.delegated() if is_delegated else figures,
        )
        return self._with_branch(node, first, label, level, is_delegated=is_delegated)

    def _subagent(self, root: str, level: int) -> Node:
        labels = self._trees.labels_on(root)
        node = Node(
            mark=_SUBAGENT,
            label=labels[0],
            title_of=labels[0],
            figures=self._trees.below[root].delegated(1),
        )
        return self._with_branch(node, root, labels[0], level, is_delegated=True)

    def _with_branch(self, node: Node, first: str, label: str | None, level: int, *, is_delegated: bool) -> Node:
        """Hang the lines of a branch from the line that names it, unless they say no more: a single stretch."""
        if level < self._levels:
            below = self.branch(first, label, level + 1, is_delegated=is_delegated)
            is_single = len(below) == 1 and not below[0].below and not below[0].mark
            node.below = [] if is_single else below
        else:
            node.is_cut = self._has_lines(first)
        return node

    def _has_lines(self, first: str) -> bool:
        """Whether anything would hang from the line that names a branch."""
        if self._is_brief:
            return any(each.branches for each in self._trees.stretches(first))
        stretches = list(islice(self._trees.stretches(first), 2))
        return len(stretches) > 1 or bool(stretches[0].branches or stretches[0].subagents)


def _without_middle(nodes: list[Node]) -> list[Node]:
    if len(nodes) <= _MOST_LINES:
        return nodes
    hidden = nodes[_FIRST_LINES:-_LAST_LINES]
    more = group_node(f"{grouped(len(hidden))} more lines", hidden, is_open=False)
    more.is_cut = True
    return [*nodes[:_FIRST_LINES], more, *nodes[-_LAST_LINES:]]


def titles_needed(nodes: Iterable[Node]) -> Iterator[str]:
    """Give the labels and turns whose titles a drawing shows."""
    for node, _ in _in_order(nodes):
        if node.title_of is not None:
            yield node.title_of


def drawn_lines(
    nodes: Sequence[Node], names: Mapping[str, str], titles: Mapping[str, str], width: int
) -> Iterator[str]:
    """Give the lines of a drawing, cut to a width, with names of sessions, and titles of sessions and turns."""
    placed = list(_in_order(nodes))
    columns = [
        ["turns", *(_turns(node) for node, _ in placed)],
        ["cost", *(_cost(node) for node, _ in placed)],
        ["subagents", *(_subagents_cost(node) for node, _ in placed)],
    ]
    columns = [cells for cells in columns if any(cells[1:])]
    widths = [max(map(cell_len, cells)) for cells in columns]
    room = max(min(width, _WIDEST) - sum(widths) - len(_GAP) * len(widths), _NARROWEST_TEXT)
    texts = ["", *(f"{prefix}{_text(node, names, titles)}" for node, prefix in placed)]
    for row, text in enumerate(texts):
        cut = shortened(text, room, "end")
        cells = (
            f"{' ' * (size - cell_len(cells[row]))}{cells[row]}" for cells, size in zip(columns, widths, strict=True)
        )
        yield _GAP.join([f"{cut}{' ' * (room - cell_len(cut))}", *cells]).rstrip()


def _in_order(nodes: Iterable[Node]) -> Iterator[tuple[Node, str]]:
    """Give every node, with the lines that are drawn before it."""
    waiting = [(node, "", "") for node in reversed(list(nodes))]
    while waiting:
        node, prefix, indent = waiting.pop()
        yield node, prefix
        last = len(node.below) - 1
        waiting += reversed(
            [
                (each, f"{indent}{'└─ ' if place == last else '├─ '}", f"{indent}{'   ' if place == last else '│  '}")
                for place, each in enumerate(node.below)
            ]
        )


def _text(node: Node, names: Mapping[str, str], titles: Mapping[str, str]) -> str:
    name = shown(node.name)
    if node.label is not None:
        name = shortened(shown(names.get(node.label, node.label)), _NAME_CELLS, "start")
    title = escape_unsafe(one_line(titles.get(node.title_of or "", ""), TITLE_CHARACTERS))
    words = " ".join(each for each in (node.mark, name, node.note, "…" if node.is_cut else "") if each)
    return f"{words}{_GAP}{title}" if title else words


def _turns(node: Node) -> str:
    return grouped(node.figures.turns) if node.figures is not None and node.figures.turns else ""


def _cost(node: Node) -> str:
    return _money(node.figures.cost) if node.figures is not None and node.figures.turns else ""


def _subagents_cost(node: Node) -> str:
    figures = node.figures
    is_shown = figures is not None and (figures.subagents or not figures.turns)
    return _money(figures.subagents_cost) if figures is not None and is_shown else ""


def _money(amount: Amount) -> str:
    return bounded_dollars(amount.usd, amount.estimated_usd, amount.unpriced) or NULL
