"""`aix resolve`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.cli.stdout import emit_lines
from aix.cli.text_index import update_index
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import one_line
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.routing import Resolution, Route, resolve, resolve_trigger

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE_CHARACTERS = 72
_THREAD_CHARACTERS = 8
_MOST_SHOWN = 6
"""Of names that begin alike, no more are looked up."""
_COLUMNS = listing_columns(
    "status", "thread_id", "session_label", ("is_head", "BOOLEAN"), "title", "reason", ("score", "DOUBLE")
)
_PEOPLES_COLUMNS = listing_columns("thread", "session", ListingColumn("title", least=20))
_PEOPLES_SCORED_COLUMNS = (*_PEOPLES_COLUMNS, *listing_columns(("score", "DOUBLE")))


@click.command(cls=Command)
@click.argument("target", required=False, shell_complete=complete_session)
@click.option("--id", "is_id_only", is_flag=True, help="Print only the id of the thread, for scripts.")
@click.option("--trigger", "is_trigger", is_flag=True, help="Say where a trigger routes; TARGET is then a persona.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(ctx: click.Context, target: str | None, is_id_only: bool, is_trigger: bool, ledger: Path) -> Listing:
    """Say to which thread a target leads: the turn that a message would be appended to.

    A thread is a turn with all turns before it. TARGET is one of these; without the word and the colon, they are tried
    from the exact to the vague, in this order:

    \b
      thread:ID     a thread, by the id of its turn or its key
      turn:ID       a turn, by its id, or that of its answer
      session:NAME  the head of a session, by its label or an alias
                    then the beginning of one of these names that no other has
      text:WORDS    the session with the turn that fits the words best
      persona:ID    the main session of a persona; this one always with the word

    A persona's main session is the one that the file of personas names, else the one with the latest activity that is
    active and no subagent. A trigger, such as a timer, names no thread: its messages go to the main session of its
    persona, which decides what follows. Without a persona that is the only one there is.

    When several threads fit, they are listed as candidates, and the exit code is 1. Nothing is sent.

    \b
      aix resolve 5b1f03ab
      aix resolve session:login-fix --json
      aix resolve --trigger
      git notes add -m "thread $(aix resolve login-fix --id)"
    """
    if target is None and not is_trigger:
        raise click.UsageError("Name a target, or ask with --trigger where a trigger routes.")
    if is_id_only and (ctx.params["output_format"] or ctx.params["as_json"] or ctx.params["path"]):
        raise click.UsageError("--id prints the id alone, and takes neither a format nor a file.")
    opened = open_ledger(ledger)
    if is_trigger:
        resolution = resolve_trigger(opened, None if target is None else target.removeprefix("persona:"))
    else:
        resolution = resolve(opened, target or "", lambda: update_index(opened.path, opened.manifest))
    if is_id_only:
        emit_lines([resolution.only().thread_id], None)
        ctx.exit()
    return _listing(opened, resolution)


def _listing(ledger: Ledger, resolution: Resolution) -> Listing:
    from aix.reading.search import names_of_sessions, names_to_type

    routes = [*([resolution.route] if resolution.route else []), *resolution.candidates]
    names = names_to_type(ledger)
    titles = names_of_sessions(ledger, sorted({route.session_label for route in routes if route.session_label}))
    rows = [
        (
            "resolved" if route is resolution.route else "candidate",
            *(route.thread_id, route.session_label, route.is_head),
            *(titles.get(route.session_label or ""), route.reason, route.score),
        )
        for route in routes
    ]
    is_scored = any(route.score is not None for route in routes)
    people = Listing(
        _PEOPLES_SCORED_COLUMNS if is_scored else _PEOPLES_COLUMNS,
        _peoples_rows(routes, names, titles, is_scored=is_scored),
        notes=[*_notes(resolution)],
    )
    return Listing(_COLUMNS, rows, has_findings=resolution.route is None, for_people=people)


def _peoples_rows(
    routes: Sequence[Route], names: dict[str, str], titles: dict[str, str], *, is_scored: bool
) -> "Iterator[tuple[object, ...]]":
    for route in routes:
        label = route.session_label or ""
        title = titles.get(label)
        yield (
            route.thread_id[:_THREAD_CHARACTERS],
            names.get(label),
            one_line(title, _TITLE_CHARACTERS) if title else None,
            *([round(route.score or 0, 2)] if is_scored else []),
        )


def _notes(resolution: Resolution) -> "Iterator[str]":
    if resolution.route is None:
        some = "; these are the first" if len(resolution.candidates) >= _MOST_SHOWN else ""
        yield f"{resolution.target} leads to several threads{some}: name one of these"
        return
    others = "; the others fit less well" if resolution.candidates else ""
    yield f"{resolution.route.reason}{others}"
    if is_screen():
        yield f"next: `aix resume {resolution.route.thread_id[:_THREAD_CHARACTERS]}` continues it"
