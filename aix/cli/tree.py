"""`aix tree`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import DATE, Command, ledger_option, listing_output, project_end
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.cli.stdout import chosen_format
from aix.output import Listing, listing_columns
from aix.output.humanise import TITLE_CHARACTERS, counted, one_line, project_names
from aix.output.terminal import terminal_width
from aix.output.tree_drawing import Node, drawn_lines, group_node, is_cut, titles_needed, tree_node
from aix.reading.branches import find_tip
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.search import SessionSearch, names_to_type, search_sessions, titles_of_sessions
from aix.reading.turn_trees import NOTHING, Stretch, TurnTrees, read_all_trees, read_prompts, read_tree

if TYPE_CHECKING:
    from aix.query.dates import Span

_COLUMNS = listing_columns(
    "root_turn_id",
    "first_turn_id",
    "last_turn_id",
    "after_turn_id",
    "started_by_turn_id",
    "kind",
    "session_label",
    "heads",
    ("is_abandoned", "BOOLEAN"),
    ("is_subagent", "BOOLEAN"),
    ("started_at", "BIGINT"),
    ("last_started_at", "BIGINT"),
    "title",
    ("turns", "BIGINT"),
    ("failed_turns", "BIGINT"),
    ("tool_calls", "BIGINT"),
    ("tokens_before", "BIGINT"),
    ("tokens_after", "BIGINT"),
    ("cost_usd", "DECIMAL(38,12)"),
    ("cost_estimated_usd", "DECIMAL(38,12)"),
    ("unpriced_requests", "BIGINT"),
)
_NO_PROJECT = "no project"


@click.command(cls=Command)
@click.argument("name", metavar="[SESSION|TURN]", required=False, shell_complete=complete_session)
@click.option("--all", "is_all", is_flag=True, help="Draw the trees of all sessions, by project; only their forks.")
@click.option("--full", is_flag=True, help="Draw every line, however many there are; with --all, stretches too.")
@click.option("--project", metavar="TEXT", callback=project_end, help="With --all: projects with TEXT in their path.")
@click.option("--origin", metavar="NAME", help="With --all: sessions that came from NAME.")
@click.option("--since", type=DATE, metavar="DATE", help="With --all: sessions with activity since DATE, such as 7d.")
@click.option("--until", type=DATE, metavar="DATE", help="With --all: sessions that began up to DATE.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="With --all: only the N latest trees.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    is_all: bool,
    full: bool,
    project: str | None,
    origin: str | None,
    since: "Span | None",
    until: "Span | None",
    limit: int | None,
    ledger: Path,
) -> Listing:
    """Draw how a session grew: its forks, abandoned branches, compactions and subagents.

    A session's own branch goes straight down from its first turn. Turns that follow each other are one line, with the
    first and the last of them and the first prompt. `fork` begins another branch after the turn above it and names the
    session whose head that leads to; no active session is at the end of an abandoned one. ≡ is a compaction, with the
    tokens of the context before and after; ↳ is a subagent below the turns that started it.

    The columns count turns and costs, those of lines that hang from a line included; what subagents cost stands apart.
    ≥ marks a lower bound, – an unknown cost. … marks what is left out: the middle of more than 40 lines, and the lower
    levels of a tree with more than 200; --full draws all. TURN draws what follows a turn.

    All formats but table have a row for each stretch and compaction, with exact values and full ids: a row hangs from
    the turn after_turn_id, and the first of a subagent from started_by_turn_id. Their costs add up: each turn is in one
    row, however many sessions share it.

    \b
      aix tree 5b1f03ab
      aix tree 7F3KQ2MX
      aix tree --all --since 7d
      aix tree --all --project website -n 20
      aix tree 5b1f03ab --json
    """
    narrowing = {"--project": project, "--origin": origin, "--since": since, "--until": until, "--limit": limit}
    if is_all and name is not None:
        raise click.UsageError(f"--all draws the trees of all sessions: leave it out, or {name!r}.")
    if not is_all and name is None:
        raise click.UsageError("Name a session or a turn, or say --all.")
    if given := [option for option, value in narrowing.items() if value is not None and not is_all]:
        raise click.UsageError(f"{given[0]} is for --all.")
    opened = open_ledger(ledger)
    if name is not None:
        tip = find_tip(opened, name)
        trees = read_tree(opened, tip.turn_id, is_head=tip.label is not None)
        firsts = [trees.root_of(tip.turn_id) if tip.label else tip.turn_id]
        nodes = [tree_node(trees, firsts[0], tip.label, is_full=full)]
    else:
        search = SessionSearch(
            project=project, origin=origin, since_ms=since and since.since_ms, until_ms=until and until.end_ms
        )
        trees = read_all_trees(opened)
        projects = _projects_of_trees(opened, trees, search)
        firsts = list(projects)[:limit]
        nodes = _by_project(trees, {first: projects[first] for first in firsts}, is_full=full)
    given_format = "json" if ctx.params["as_json"] else ctx.params["output_format"]
    chosen = chosen_format(given_format, ctx.params["path"])
    is_drawn = chosen == "table" and not ctx.params["expanded"]
    return Listing(
        _COLUMNS,
        _rows(opened, trees, firsts),
        text=_drawing(opened, nodes) if is_drawn and nodes else (),
        empty="no session in the ledger matches that",
        notes=list(_notes(firsts, is_all=is_all, has_gaps=is_drawn and is_cut(nodes))),
    )


def _projects_of_trees(ledger: Ledger, trees: TurnTrees, search: SessionSearch) -> dict[str, str | None]:
    """Return the roots of trees with sessions that are searched for, the latest first, each with its project."""
    found: dict[str, str | None] = {}
    for row in search_sessions(ledger, search).dicts():
        if row["label"] not in trees.sessions:  # its head is missing
            continue
        top = trees.top_of(row["label"])
        found[top] = found.get(top) or row["project"] or row["workspace_path"]
    return found


def _by_project(trees: TurnTrees, projects: dict[str, str | None], *, is_full: bool) -> list[Node]:
    groups: defaultdict[str, list[Node]] = defaultdict(list)
    names = project_names(filter(None, projects.values()))
    for first, project in projects.items():
        label = next(iter(trees.heads.get(trees.end_of(first), ())), None)
        node = tree_node(trees, first, label, is_brief=not is_full, is_full=is_full)
        groups[names.get(project or "", _NO_PROJECT)].append(node)
    return [group_node(name, nodes) for name, nodes in groups.items()]


def _drawing(ledger: Ledger, nodes: Sequence[Node]) -> list[str]:
    wanted = set(titles_needed(nodes))
    titles = titles_of_sessions(ledger, sorted(wanted)) | read_prompts(ledger, wanted)
    return list(drawn_lines(nodes, names_to_type(ledger), titles, terminal_width()))


def _notes(firsts: Sequence[str], *, is_all: bool, has_gaps: bool) -> Iterator[str]:
    if has_gaps:
        yield "… marks lines that are left out; --full draws all, `aix tree TURN` what follows a turn"
    if not firsts or not is_screen():
        return
    if is_all:
        yield f"{counted(len(firsts), 'tree')}; next: `aix tree SESSION` draws one with its turns"
    else:
        yield "next: `aix log SESSION` lists its turns, `aix show TURN` shows one"


@dataclass(frozen=True, slots=True)
class _Place:
    """The first turn of a branch, and what it hangs from."""

    first: str
    started_by: str | None = None
    """The turn that started the subagent whose tree begins here."""
    is_subagent: bool = False


def _rows(ledger: Ledger, trees: TurnTrees, firsts: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Give a row for each stretch of turns, those of a branch before those that hang from it."""
    waiting = [_Place(first) for first in reversed(firsts)]
    found: list[tuple[_Place, str | None, Stretch]] = []
    while waiting:
        place = waiting.pop()
        below: list[_Place] = []
        if trees.is_root(place.first):
            roots = (each for label in trees.labels_on(place.first) for each in trees.subagents_without_turn(label))
            below += [_Place(each, None, is_subagent=True) for each in roots]
        head = next(iter(trees.heads.get(trees.end_of(place.first), ())), None)
        for stretch in trees.stretches(place.first):
            found.append((place, head, stretch))
            below += [_Place(each, trees.starters[each][0], is_subagent=True) for each in stretch.subagents]
            below += [_Place(each, None, is_subagent=place.is_subagent) for each in stretch.branches]
        waiting += reversed(below)
    titles = read_prompts(ledger, (stretch.turns[0].id for _, _, stretch in found))
    for place, head, stretch in found:
        title = titles.get(stretch.turns[0].id)
        yield _row(stretch, place, head, title, is_abandoned=trees.is_abandoned(stretch.turns[0].id))


def _row(
    stretch: Stretch, place: _Place, head: str | None, title: str | None, *, is_abandoned: bool
) -> tuple[object, ...]:
    turns = stretch.turns
    first, last = turns[0], turns[-1]
    cost = sum((turn.cost for turn in turns), NOTHING)
    return (
        first.root_id,
        first.id,
        last.id,
        first.parent_id,
        place.started_by if first.id == place.first else None,
        "compaction" if first.is_compaction else "stretch",
        head,
        ", ".join(stretch.heads) or None,
        is_abandoned,
        place.is_subagent,
        first.started_at,
        last.started_at,
        one_line(title or "", TITLE_CHARACTERS) or None,
        len(turns),
        sum(turn.is_failed for turn in turns),
        sum(turn.tool_calls for turn in turns),
        first.tokens_before,
        first.tokens_after,
        cost.usd,
        cost.estimated_usd,
        cost.unpriced,
    )
