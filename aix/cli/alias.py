"""`aix alias add`, `aix alias rm` and `aix alias ls`, which is also `aix alias list`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from aix.cli.command import Command, Group, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.stdout import emit_text
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import counted, one_line
from aix.reading.ledger import Ledger, open_ledger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TITLE_CHARACTERS = 72
_CHANGES = listing_columns("alias", "session_label", "change")
_PEOPLES_CHANGES = listing_columns("alias", "session", "change")
_PEOPLES_COLUMNS = listing_columns("alias", "session", "from", ListingColumn("title", priority=2, least=20))


class _AliasGroup(Group):
    aliases = {"list": "ls", "remove": "rm", "delete": "rm"}  # noqa: RUF012 - declared in the base class


@click.group(cls=_AliasGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Give sessions names of your own, take them away, list them.

    A session is found by its aliases wherever a session is named. Aliases that you give stay when histories are
    imported again, and go when their session is forgotten. Others come from the logs.

    \b
      aix alias add login-fix 5b1f03ab
      aix show login-fix
      aix alias ls --by-hand
      aix alias rm login-fix
    """
    if ctx.invoked_subcommand is None:
        emit_text(ctx.get_help())


@command.command(cls=Command)
@click.argument("alias", metavar="NAME")
@click.argument("session", shell_complete=complete_session)
@ledger_option
@listing_output
def add(alias: str, session: str, ledger: Path) -> Listing:
    """Make NAME stand for a session.

    NAME is any text on one line of at most 100 characters that stands for nothing else: no label, no turn, and no
    alias of another session. It comes before beginnings of other names. SESSION is named as for `aix show`; the alias
    stands for that session itself, also where you named it by another alias.

    \b
      aix alias add login-fix 5b1f03ab
      aix alias add "sprint 12" login-fix
    """
    from aix.merge.aliases import add_alias, check_alias

    check_alias(alias)
    with open_ledger(ledger) as opened:
        label = opened.find_session(session)
        others = _sessions_beginning_with(opened, alias, label)
    change = "added" if add_alias(ledger, alias, label) else "had it already"
    notes = []
    if others:
        notes.append(f"{counted(others, 'other session')} can no longer be named by {alias!r} as a beginning of a name")
    if change == "added" and is_screen():
        notes.append(f"next: `aix show {shlex.quote(alias)}`")
    return _changes(ledger, [(alias, label, change)], notes)


@command.command(cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@ledger_option
@listing_output
def rm(names: tuple[str, ...], ledger: Path) -> Listing:
    """Remove aliases that were given by hand.

    An alias that comes from a log cannot be removed: the next reading of the log would bring it back. Either all go or,
    when one cannot, none.

    \b
      aix alias rm login-fix
    """
    from aix.merge.aliases import remove_aliases

    removed = remove_aliases(ledger, names)
    return _changes(ledger, [(each.alias, each.session_label, "removed") for each in removed], [])


@command.command(cls=Command)
@click.option("--session", metavar="SESSION", shell_complete=complete_session, help="Only aliases of this session.")
@click.option("--by-hand", "is_by_hand", is_flag=True, help="Only aliases that people gave.")
@ledger_option
@listing_output
def ls(session: str | None, is_by_hand: bool, ledger: Path) -> Listing:
    """List aliases: first those given by hand, then those that come from logs.

    \b
      aix alias ls --by-hand
      aix alias ls --session 5b1f03ab --json
    """
    from aix.reading.search import list_aliases

    opened = open_ledger(ledger)
    label = None if session is None else opened.find_session(session)
    found = list_aliases(opened, session=label, is_by_hand=is_by_hand)
    hint = "; `aix alias add NAME SESSION` gives one" if session is None else ""
    return replace(
        found.listing(),
        empty=f"No aliases{' given by hand' if is_by_hand else ''} yet{hint}",
        for_people=Listing(_PEOPLES_COLUMNS, _peoples_rows(opened, found)),
    )


def _peoples_rows(ledger: Ledger, found: "Iterable[tuple[object, ...]]") -> "Iterator[tuple[object, ...]]":
    from aix.reading.search import names_to_type

    names = names_to_type(ledger)
    for alias, label, origin, title in found:
        yield alias, names[str(label)], origin, one_line(str(title), _TITLE_CHARACTERS) if title else None


def _changes(ledger: Path, changes: list[tuple[str, str, str]], notes: list[str]) -> Listing:
    from aix.reading.search import names_to_type

    with open_ledger(ledger) as opened:
        names = names_to_type(opened)
    shown = [(alias, names.get(label, label), change) for alias, label, change in changes]
    return Listing(_CHANGES, changes, notes=notes, for_people=Listing(_PEOPLES_CHANGES, shown))


def _sessions_beginning_with(ledger: Ledger, alias: str, label: str) -> int:
    """Return how many other sessions a name begins with this alias: until now it could have been typed for them."""
    from aix.reading.names import NAMES_OF_SESSIONS

    query = f"select count(distinct label) from ({NAMES_OF_SESSIONS}) where starts_with(name, $1) and label <> $2"  # noqa: S608
    [(count,)] = ledger.sql(query, [alias, label]).rows()
    return int(count)
