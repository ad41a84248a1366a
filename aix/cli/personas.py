"""`aix personas`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from aix.cli.command import Command, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.cli.text_index import update_index
from aix.config import load_config
from aix.errors import UnknownHolderError, UnknownSessionError
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import grouped, local_time, one_line
from aix.personas.in_force import Holding, Overrides, holdings
from aix.personas.persona_book import is_rule
from aix.reading.ledger import Ledger, open_ledger

if TYPE_CHECKING:
    from aix.reading.routing import Route

_ID_CHARACTERS = 30
_VALUE_CHARACTERS = 200
_THREAD_CHARACTERS = 8
_MOST_NAMED = 3
_PEOPLES_COLUMNS = listing_columns(
    ListingColumn("persona", least=12),
    ListingColumn("sessions", "BIGINT"),
    ListingColumn("turns", "BIGINT", priority=2),
    ListingColumn("rules", "BIGINT", priority=3),
    ListingColumn("last active", priority=1),
    ListingColumn("main session", priority=1, least=8),
    ListingColumn("model", priority=4),
)
_HELD_COLUMNS = listing_columns("setting", "value", "source")
_PEOPLES_HELD_COLUMNS = listing_columns("setting", ListingColumn("value", least=20), "from")


@click.command(cls=Command)
@click.argument("target", required=False, shell_complete=complete_session)
@click.option("--model", metavar="MODEL", help="Show what holds when a router chooses MODEL.")
@click.option("--allow", multiple=True, metavar="RULE", help="… when it allows only what RULE names. Repeatable.")
@click.option("--ask", multiple=True, metavar="RULE", help="… when it asks for what RULE names as well. Repeatable.")
@click.option("--deny", multiple=True, metavar="RULE", help="… when it denies what RULE names as well. Repeatable.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    target: str | None,
    model: str | None,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    deny: tuple[str, ...],
    ledger: Path,
) -> Listing:
    """List personas, or show the persona, model and permissions with which a thread goes on.

    A persona is who an agent is, what it may do, and the model that it thinks with by default. Logs name some; the file
    that `aix config` shows as `personas` describes them and says which sessions are theirs. `aix import` applies it.
    docs/personas.md shows an example.

    TARGET is a persona, a session, a turn, or anything else that `aix resolve` takes. The options are what a router
    may choose for the next turn. What is denied stays denied, whoever allows it.

    \b
      aix personas
      aix personas login-fix
      aix personas persona:builder --model small-model --deny "Bash(git push *)"
    """
    for rule in (*allow, *ask, *deny):
        if not is_rule(rule):
            raise click.UsageError(f"{rule!r} is no rule; write Tool or Tool(specifier).")
    overrides = Overrides(model or None, allow, ask, deny)
    opened = open_ledger(ledger)
    if target is None:
        if overrides != Overrides():
            raise click.UsageError("Name the TARGET for which the router chooses.")
        return _list(opened, load_config(ctx.obj).timezone, load_config(ctx.obj).personas)
    route = _route(opened, target)
    held = holdings(opened, route.thread_id, route.session_label, overrides)
    shown = [
        (each.setting, None if each.value is None else one_line(each.value, _VALUE_CHARACTERS), each.source)
        for each in held
    ]
    return Listing(
        _HELD_COLUMNS,
        [(each.setting, each.value, each.source) for each in held],
        for_people=Listing(_PEOPLES_HELD_COLUMNS, shown, notes=[*_held_notes(held, route.thread_id, route.reason)]),
    )


def _route(ledger: Ledger, target: str) -> "Route":
    """Return the thread that a target leads to; the id of a persona alone is one."""
    from aix.reading.routing import known_personas, resolve

    personas = known_personas(ledger)
    meant = f"persona:{target}" if target in personas else target
    try:
        return resolve(ledger, meant, lambda: update_index(ledger.path, ledger.manifest)).only()
    except UnknownSessionError as error:
        if ":" in target:
            raise
        raise UnknownHolderError(target, (*personas, *error.known)) from None


def _list(ledger: Ledger, zone: tzinfo, file: Path | None) -> Listing:
    found = ledger.query("overview/personas")
    rows = found.dicts()
    return replace(
        found.listing(),
        for_people=Listing(_PEOPLES_COLUMNS, _peoples_rows(ledger, rows, zone), notes=[*_notes(ledger, rows, file)]),
    )


def _peoples_rows(ledger: Ledger, rows: Sequence[Mapping[str, Any]], zone: tzinfo) -> Iterator[tuple[object, ...]]:
    from aix.reading.search import names_to_type

    names = names_to_type(ledger)
    for row in rows:
        main = row["main_session_label"]
        yield (
            one_line(row["persona_id"], _ID_CHARACTERS),
            grouped(row["sessions"]),
            grouped(row["turns"]),
            grouped(row["rules"]) if row["is_described"] else None,
            local_time(row["last_active_at"], zone) if row["last_active_at"] is not None else None,
            names.get(main, main) if main else None,
            row["model"],
        )


def _notes(ledger: Ledger, rows: Sequence[Mapping[str, Any]], file: Path | None) -> Iterator[str]:
    unused = [row["persona_id"] for row in rows if row["is_described"] and not row["sessions"]]
    if unused:
        named = ", ".join(one_line(name, _ID_CHARACTERS) for name in unused[:_MOST_NAMED])
        yield f"no session is given to {named}: see [[mappings]] in the file"
    if file is None and ledger.manifest.personas is None:
        yield "these are the personas that logs name; docs/personas.md shows how to describe your own"
    elif is_screen():
        yield "next: `aix cost --by persona`, `aix audit`"


def _held_notes(held: Sequence[Holding], thread_id: str, reason: str) -> Iterator[str]:
    yield f"thread {thread_id[:_THREAD_CHARACTERS]}: {reason}"
    settings = {each.setting for each in held}
    is_described = any(each.source == "persona" for each in held)
    if "allow" not in settings and is_described:
        yield "no list of what is allowed: all that is not denied is"
    elif settings & {"deny", "ask"}:
        yield "deny wins over ask, and ask over allow"
