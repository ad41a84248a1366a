"""`aix fork-point`, `aix diff` and `aix head`: sessions as branches of a tree of turns."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from aix.cli.command import DATE, Command, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.cli.log import COSTS, COSTS_OF_SUBAGENTS, cost_cell, subagents_cell, without_empty_columns
from aix.config import load_config
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import TITLE_CHARACTERS, counted, grouped, local_time, one_line, short_turn
from aix.reading.branches import Tip, find_tip, read_heads
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.search import names_to_type
from aix.reading.turn_trees import read_prompts

if TYPE_CHECKING:
    from aix.query.dates import Span

_DIFF = "tree/diff"
_SIDES = ("shared", "a", "b")
_COUNTS = ("turns", "failed_turns", "compactions", "tool_calls", "reads", "writes")
_FORK_COLUMNS = listing_columns(
    "side",
    "branch",
    "turn_id",
    "title",
    ("position", "BIGINT"),
    ("first_at", "BIGINT"),
    ("last_at", "BIGINT"),
    *((name, "BIGINT") for name in _COUNTS),
    *((name, "DECIMAL(38,12)" if name.endswith("_usd") else "BIGINT") for name in (*COSTS, *COSTS_OF_SUBAGENTS)),
)
_FORK_PEOPLES_COLUMNS = listing_columns(
    "branch",
    ("turns", "BIGINT"),
    ListingColumn("cost", "BIGINT", tone="cost"),
    ListingColumn("subagents", "BIGINT", priority=3),
    "last turn",
    ListingColumn("when", priority=2),
    ListingColumn("title", priority=4),
)
_HEAD_COLUMNS = listing_columns(
    "session_label",
    "turn_id",
    ("changed_at", "BIGINT"),
    ("left_at", "BIGINT"),
    "next_turn_id",
    ("position", "BIGINT"),
    ("is_head_now", "BOOLEAN"),
    "title",
)
_HEAD_PEOPLES_COLUMNS = listing_columns(
    "turn", "since", "until", ("place", "BIGINT"), ListingColumn("title", priority=2, least=16)
)
_FILES_SHOWN = 20
_NOW = "now"

_Row = dict[str, Any]


@click.command("fork-point", cls=Command)
@click.argument("a", metavar="SESSION|TURN", shell_complete=complete_session)
@click.argument("b", metavar="SESSION|TURN", shell_complete=complete_session)
@ledger_option
@import_first
@listing_output
@click.pass_context
def fork_point(ctx: click.Context, a: str, b: str, ledger: Path) -> Listing:
    """Find the last turn that two branches share, and what each has after it.

    The branches are those that lead to the heads of sessions, or to turns. The line `shared` ends with the fork point;
    the others count what comes after it. What subagents cost stands apart.

    The exit code is 1 when the branches share no turn.

    \b
      aix fork-point 5b1f03ab 9c2e77d0
      aix fork-point 5b1f03ab 7F3KQ2MX --json
    """
    zone = load_config(ctx.obj).timezone
    opened = open_ledger(ledger)
    tips = (find_tip(opened, a), find_tip(opened, b))
    sides = _compared_sides(opened, tips)
    names = _branch_names(opened, tips)
    if "shared" not in sides:
        return Listing(_FORK_COLUMNS, [], empty=f"{names[0]} and {names[1]} share no turn", has_findings=True)
    turns = {side: row["name"] for side, row in sides.items()}
    titles = read_prompts(opened, turns.values())
    labels = dict(zip(_SIDES, ("shared", *names), strict=True))
    rows = [_side_row(side, sides.get(side), labels[side], tips, titles) for side in _SIDES]
    return Listing(
        _FORK_COLUMNS,
        [[row[column.name] for column in _FORK_COLUMNS] for row in rows],
        for_people=without_empty_columns(
            Listing(_FORK_PEOPLES_COLUMNS, _fork_lines(rows, zone), notes=_fork_notes(a, b, tips))
        ),
    )


def _compared_sides(ledger: Ledger, tips: Sequence[Tip]) -> dict[str, _Row]:
    """Return the totals of what two branches share, and of what each has after it, where there is anything."""
    found = ledger.query(_DIFF, a=tips[0].turn_id, b=tips[1].turn_id).dicts()
    return {row["side"]: row for row in found if row["kind"] == "all"}


def _side_row(side: str, row: _Row | None, name: str, tips: Sequence[Tip], titles: Mapping[str, str]) -> _Row:
    """Return the totals of a side; without a turn of its own, a branch ends where the other goes on."""
    if row is None:
        tip = tips[_SIDES.index(side) - 1]
        counts = dict.fromkeys((*_COUNTS, "unpriced_requests", "subagents", "subagents_unpriced_requests"), 0)
        row = dict.fromkeys((column.name for column in _FORK_COLUMNS), None) | counts | {"name": tip.turn_id}
    return row | {"side": side, "branch": name, "turn_id": row["name"], "title": titles.get(row["name"])}


def _branch_names(ledger: Ledger, tips: Sequence[Tip]) -> list[str]:
    names = names_to_type(ledger)
    return [short_turn(tip.turn_id) if tip.label is None else names.get(tip.label, tip.label) for tip in tips]


def _fork_lines(rows: Sequence[_Row], zone: tzinfo) -> Iterator[Sequence[object]]:
    for row in rows:
        has_turns = bool(row["turns"])
        yield (
            row["branch"],
            row["turns"],
            cost_cell(row) if has_turns else "",
            subagents_cell(row),
            short_turn(row["turn_id"]),
            local_time(row["last_at"], zone) if has_turns else "",
            one_line(row["title"] or "", TITLE_CHARACTERS) or None,
        )


def _fork_notes(a: str, b: str, tips: Sequence[Tip]) -> list[str]:
    if not is_screen() or tips[0].turn_id == tips[1].turn_id:
        return []
    return [f"next: `aix diff {quote(a)} {quote(b)}` compares what came after it"]


@click.command(cls=Command)
@click.argument("a", metavar="SESSION|TURN", shell_complete=complete_session)
@click.argument("b", metavar="SESSION|TURN", shell_complete=complete_session)
@click.option("--full", is_flag=True, help="List all files, however many there are.")
@ledger_option
@import_first
@listing_output
def diff(a: str, b: str, full: bool, ledger: Path) -> Listing:
    """Compare what two branches did after their last common turn: turns, cost, tools and files.

    The branches are those that lead to the heads of sessions, or to turns. Files are those that logs name as read or
    written, with the number of messages that did so.

    All formats but table have a row for each total, turn, tool and file of a branch, with exact values.

    \b
      aix diff 5b1f03ab 9c2e77d0
      aix diff 5b1f03ab 7F3KQ2MX --json
    """
    opened = open_ledger(ledger)
    tips = (find_tip(opened, a), find_tip(opened, b))
    names = _branch_names(opened, tips)
    found = opened.query(_DIFF, a=tips[0].turn_id, b=tips[1].turn_id)
    rows = found.dicts()
    sides = {row["side"]: row for row in rows if row["kind"] == "all"}
    files = _names_of(rows, "file")
    shown_files = files if full else files[:_FILES_SHOWN]
    lines = [*_total_lines(sides), *_tool_lines(rows), *_file_lines(rows, shown_files)]
    columns = listing_columns(ListingColumn("", cut="start"), (names[0], "BIGINT"), (names[1], "BIGINT"))
    return replace(
        found.listing(),
        for_people=Listing(columns, lines, notes=list(_diff_notes(sides, names, len(files) - len(shown_files)))),
    )


def _names_of(rows: Sequence[_Row], kind: str) -> list[str]:
    """Return the tools or files of both branches, those with most calls or writes first."""
    counts: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row["kind"] == kind:
            most, others = counts.get(row["name"], (0, 0))
            added = (row["tool_calls"], 0) if kind == "tool" else (row["writes"], row["reads"])
            counts[row["name"]] = (most + added[0], others + added[1])
    return sorted(counts, key=lambda name: (-counts[name][0], -counts[name][1], name))


def _total_lines(sides: Mapping[str, _Row]) -> Iterator[Sequence[object]]:
    both = (sides.get("a"), sides.get("b"))
    for title, name in (("turns", "turns"), ("failed turns", "failed_turns"), ("compactions", "compactions")):
        yield (title, *(grouped(row[name]) if row else "0" for row in both))
    yield ("cost", *(cost_cell(row) if row else "$0.00" for row in both))
    if any(row and row["subagents"] for row in both):
        yield ("subagents", *(grouped(row["subagents"]) if row else "0" for row in both))
        yield ("cost of subagents", *(subagents_cell(row) if row else "" for row in both))
    yield ("tool calls", *(grouped(row["tool_calls"]) if row else "0" for row in both))


def _tool_lines(rows: Sequence[_Row]) -> Iterator[Sequence[object]]:
    calls = {(row["side"], row["name"]): grouped(row["tool_calls"]) for row in rows if row["kind"] == "tool"}
    for name in _names_of(rows, "tool"):
        yield (f"calls of {name}", *(calls.get((side, name), "") for side in _SIDES[1:]))


def _file_lines(rows: Sequence[_Row], files: Sequence[str]) -> Iterator[Sequence[object]]:
    uses = {(row["side"], row["name"]): _uses(row) for row in rows if row["kind"] == "file"}
    for name in files:
        yield (name, *(uses.get((side, name), "") for side in _SIDES[1:]))


def _uses(row: _Row) -> str:
    named = ((row["reads"], "read"), (row["writes"], "written"))
    return ", ".join(f"{word} {count}×" if count > 1 else word for count, word in named if count)


def _diff_notes(sides: Mapping[str, _Row], names: Sequence[str], hidden_files: int) -> Iterator[str]:
    if hidden_files:
        yield f"{counted(hidden_files, 'more file')}; --full lists all"
    if shared := sides.get("shared"):
        turns = counted(shared["turns"], "shared turn")
        yield f"they fork after {short_turn(shared['name'])}: {turns}, {cost_cell(shared)}"
    else:
        yield f"{names[0]} and {names[1]} share no turn"
    if is_screen():
        yield "next: `aix log SESSION` lists the turns of a branch"


@click.command(cls=Command)
@click.argument("name", metavar="SESSION", shell_complete=complete_session)
@click.option("--at", "moment", type=DATE, metavar="TIME", help="The moment, such as 2026-11-01T10:00 or yesterday.")
@click.option("--all", "is_all", is_flag=True, help="List every head that the session had, the newest first.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def head(ctx: click.Context, name: str, moment: "Span | None", is_all: bool, ledger: Path) -> Listing:
    """Show the turn that a session's head pointed to at a moment; without one, the head that it has now.

    TIME is a moment, or a day or month, which stands for its end: `--at yesterday` is the head that yesterday left. A
    head is a turn from the moment at which the turn began, and moves back when somebody rewinds. The column place
    counts the turns from the first one.

    The exit code is 1 when the session had no turn yet, or its log has no times.

    \b
      aix head 5b1f03ab
      aix head 5b1f03ab --at 2026-11-01T10:00:00
      aix head 5b1f03ab --at yesterday --json
      aix head 5b1f03ab --all
    """
    if is_all and moment is not None:
        raise click.UsageError("--all lists every moment: leave --at out.")
    zone = load_config(ctx.obj).timezone
    opened = open_ledger(ledger)
    label = opened.find_session(name)
    movements = read_heads(opened, label)
    titles = read_prompts(opened, (row["turn_id"] for row in movements))
    chosen = movements[::-1] if is_all else movements[-1:]
    if moment is not None:
        chosen = [row for row in movements if _is_before(row["changed_at"], moment)][-1:]
    rows = [row | {"title": titles.get(row["turn_id"])} for row in chosen]
    return Listing(
        _HEAD_COLUMNS,
        [[row[column.name] for column in _HEAD_COLUMNS] for row in rows],
        empty=_no_head(opened, label, movements, zone),
        has_findings=not rows,
        for_people=Listing(_HEAD_PEOPLES_COLUMNS, _head_lines(rows, zone)),
    )


def _is_before(changed_at: int, moment: "Span") -> bool:
    return changed_at <= moment.begin_ms if moment.begin_ms == moment.end_ms else changed_at < moment.end_ms


def _no_head(ledger: Ledger, label: str, movements: Sequence[_Row], zone: tzinfo) -> str:
    name = names_to_type(ledger).get(label, label)
    if not movements:
        turn_id = find_tip(ledger, label).turn_id
        return f"the log of {name} has no times; its head is {short_turn(turn_id)}"
    return f"{name} had no turn yet: its first one began at {local_time(movements[0]['changed_at'], zone)}"


def _head_lines(rows: Sequence[_Row], zone: tzinfo) -> Iterator[Sequence[object]]:
    for row in rows:
        yield (
            short_turn(row["turn_id"]),
            local_time(row["changed_at"], zone),
            _NOW if row["left_at"] is None else local_time(row["left_at"], zone),
            row["position"],
            one_line(row["title"] or "", TITLE_CHARACTERS) or None,
        )
