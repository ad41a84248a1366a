"""`aix sessions`."""

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from aix.cli.command import DATE, Command, ledger_option, listing_output, project_end
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.config import load_config
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import (
    TITLE_CHARACTERS,
    bounded_dollars,
    counted,
    local_time,
    one_line,
    project_names,
    short_count,
)
from aix.reading.branches import find_tip
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.search import (
    ORDERS,
    SessionSearch,
    count_shared_turns,
    names_to_type,
    search_sessions,
    sessions_without_own_turns,
)
from aix.schema import TABLES
from aix.store.manifest import count_rows

if TYPE_CHECKING:
    from aix.query.dates import Span

_PEOPLES_COLUMNS = listing_columns(
    "updated",
    ListingColumn("session", cut="start"),  # names that had to be long begin alike
    ListingColumn("title", least=20),
    ListingColumn("project", priority=2, cut="start"),
    ListingColumn("turns", "BIGINT", priority=3),
    ListingColumn("tokens", "BIGINT", priority=4),
    ListingColumn("cost", "BIGINT", tone="cost"),
)


@click.command(cls=Command)
@click.option("--origin", metavar="NAME", help="Sessions that came from NAME.")
@click.option(
    "--project",
    metavar="TEXT",
    callback=project_end,
    help="Sessions with TEXT in the project's name or the workspace's path.",
)
@click.option("--since", type=DATE, metavar="DATE", help="Sessions with activity since DATE, such as 7d.")
@click.option("--until", type=DATE, metavar="DATE", help="Sessions that began up to DATE; a day or month is included.")
@click.option("--model", metavar="TEXT", help="Sessions in which a model with TEXT in its name answered.")
@click.option("--tag", metavar="TAG", help="Sessions with that tag.")
@click.option("--search", "text", metavar="TEXT", help="Sessions with TEXT in label, title or first prompt.")
@click.option(
    "--containing",
    "turn",
    metavar="TURN",
    shell_complete=complete_session,
    help="Sessions whose thread holds that turn, named as for `aix show`.",
)
@click.option("--subagents/--no-subagents", default=None, help="Only subagents, or none. Default: both.")
@click.option(
    "--status", type=click.Choice(TABLES["sessions"].column("status").words), help="Only sessions of that status."
)
@click.option(
    "--sort", "order", type=click.Choice(tuple(ORDERS)), default="updated", show_default=True, help="What to sort by."
)
@click.option("--reverse", is_flag=True, help="Sort the other way round.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    origin: str | None,
    project: str | None,
    since: "Span | None",
    until: "Span | None",
    model: str | None,
    tag: str | None,
    text: str | None,
    turn: str | None,
    subagents: bool | None,
    status: str | None,
    order: str,
    reverse: bool,
    limit: int | None,
    ledger: Path,
) -> Listing:
    """List the sessions, those with the latest activity first.

    The table shows what people look for: when, the shortest name that `aix show` understands, the title (else the
    first prompt; ↳ marks a subagent), the project, turns, tokens and their list price. All other formats have every
    column of queries/overview/sessions.sql, with exact values. Days and times are those of the configured time zone.
    TEXT is found whether in capitals or not. ≥ marks a cost that is a lower bound: some logs
    omit final output counts, or some requests have no price.

    A session whose log has no time at all comes last, with – as its time.

    --containing lists the sessions on whose way to the head a turn lies; a session stands for its last turn.

    A turn that several sessions share, because one was resumed or forked from another, counts for each of them. The
    mark (earlier state) says that a session was left for another one, which `aix cost` counts all its turns for.

    \b
      aix sessions --limit 20
      aix sessions --project website --since 2026-11-01
      aix sessions --search "login page" --no-subagents
      aix sessions --sort cost --limit 10 --json
      aix sessions --containing 7F3KQ2MX
      aix sessions --origin session-log --format csv -o sessions.csv
    """
    zone = load_config(ctx.obj).timezone
    opened = open_ledger(ledger)
    search = SessionSearch(
        origin=origin,
        project=project,
        since_ms=since and since.since_ms,
        until_ms=until and until.end_ms,
        model=model,
        tag=tag,
        is_subagent=None if subagents is None else int(subagents),
        status=status,
        text=text,
        turn=None if turn is None else find_tip(opened, turn).turn_id,
    )
    found = search_sessions(opened, search, order=order, reverse=reverse, limit=limit)
    rows = found.dicts()
    return replace(
        found.listing(),
        notes=[] if rows else [_nothing_found(opened, is_narrowed=search != SessionSearch())],
        for_people=Listing(_PEOPLES_COLUMNS, _peoples_rows(opened, rows, zone), notes=[*_notes(opened, rows)]),
    )


def _nothing_found(ledger: Ledger, *, is_narrowed: bool) -> str:
    if is_narrowed or count_rows(ledger.manifest, "sessions"):
        return "no session in the ledger matches that"
    return "the ledger has no sessions; `aix overview` shows what it has"


def _notes(ledger: Ledger, rows: list[dict[str, Any]]) -> Iterator[str]:
    if shared := count_shared_turns(ledger, [row["label"] for row in rows]):
        verbs = "is shared with others and counts" if shared == 1 else "are shared with others and count"
        yield (
            f"{counted(shared, 'turn')} of the sessions above {verbs} in each of them;"
            " `aix cost` counts every turn once"
        )
    if rows and is_screen():
        if subagents := sum(row["is_subagent"] for row in rows):
            yield f"{counted(len(rows) - subagents, 'session')} and {counted(subagents, 'subagent')} (↳)"
        yield "next: `aix show SESSION`, with a name of the column session"


def _peoples_rows(ledger: Ledger, rows: list[dict[str, Any]], zone: tzinfo) -> Iterator[tuple[object, ...]]:
    names, left = names_to_type(ledger), sessions_without_own_turns(ledger)
    places = [row["project"] or row["workspace_path"] for row in rows]
    projects = project_names(filter(None, places))
    for row, place in zip(rows, places, strict=True):
        tokens = row["total_tokens"]
        yield (
            local_time(row["updated_at"], zone),
            names[row["label"]],
            _title(row, is_counted_elsewhere=row["label"] in left),
            projects.get(place),
            row["turns"],
            None if tokens is None else short_count(tokens),
            bounded_dollars(row["cost_usd"], row["cost_estimated_usd"], row["unpriced_requests"]),
        )


def _title(row: dict[str, Any], *, is_counted_elsewhere: bool) -> str | None:
    """Return the title behind the marks that say why not to add the row up; a long title is cut at its end."""
    status = "earlier state" if is_counted_elsewhere and row["status"] == "archived" else row["status"]
    marks = ("↳ " if row["is_subagent"] else "", f"({status}) " if status != "active" else "")
    return f"{''.join(marks)}{one_line(row['title'] or '', TITLE_CHARACTERS)}".strip() or None
