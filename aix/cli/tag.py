"""`aix tag add`, `aix tag rm` and `aix tag ls`, which is also `aix tag list`."""

import shlex
import time
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from aix.cli.command import Command, Group, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.stdout import emit_text
from aix.config import load_config
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import local_time, one_line
from aix.reading.ledger import Ledger, open_ledger

if TYPE_CHECKING:
    from aix.merge.tagging import Entity
    from aix.reading.result import Result

_TITLE_CHARACTERS = 72
_WITH_COST = {"sessions", "turns"}
"""Tables whose rows `aix cost --tag` counts."""
_KEPT = "has it from an event"
_CHANGES = listing_columns("tag", "entity_type", "entity_id", "change")
_PEOPLES_CHANGES = listing_columns("tag", "name", "change", ListingColumn("kind", priority=2))
_PEOPLES_COLUMNS = listing_columns(
    "tag", "name", "title", ListingColumn("kind", priority=2), ListingColumn("added", priority=3)
)


class _TagGroup(Group):
    aliases = {"list": "ls", "remove": "rm", "delete": "rm"}  # noqa: RUF012 - declared in the base class


@click.group(cls=_TagGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Give tags to sessions, turns and anything that has an id, take them away, list them.

    A tag says what no log knows: the customer, the sprint, the experiment. Every question about cost takes --tag.
    Subagents are sessions of their own: a tag of their parent is not theirs. Tags stay when histories are imported
    again, and go when what they were given to is forgotten.

    \b
      aix tag add billing 5b1f03ab 77c0e1d2
      aix tag ls --tag billing
      aix cost --tag billing
      aix tag rm billing 5b1f03ab
    """
    if ctx.invoked_subcommand is None:
        emit_text(ctx.get_help())


@command.command(cls=Command)
@click.argument("tag")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_session)
@ledger_option
@listing_output
def add(tag: str, names: tuple[str, ...], ledger: Path) -> Listing:
    """Give a tag to sessions, turns and anything that has an id.

    Sessions and turns are named as for `aix show`: by label, alias, id, or the beginning of one. Anything else is named
    by its id or at least 8 characters of its beginning, alone or as KIND:ID, where KIND is message, call, request,
    program, program-event, node, event, edge, user, agent, agent-change, conversation, participant, or the name of
    another table whose rows have an id, as message-file. A decision is tagged as its call. Nodes of several kinds can
    have one id: node:Message/m-1 is the message, and @(ID) is the program. TAG is any text on one line of at most 100
    characters. Either all get the tag or, when one is not known, none. An item that already has the tag keeps its
    first time.

    \b
      aix tag add billing 5b1f03ab
      aix tag add "sprint 12" 5b1f03ab 77c0e1d2
      aix tag add trusted program:researcher
    """
    from aix.merge.tagging import add_tag, check_tag

    check_tag(tag)
    entities = _entities(ledger, names)
    new = set(add_tag(ledger, tag, entities, time.time_ns() // 10**6))
    return _changes(ledger, tag, {entity: "added" if entity in new else "had it already" for entity in entities})


@command.command(cls=Command)
@click.argument("tag")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_session)
@click.option("--everywhere", is_flag=True, help="Take the tag from all that have it.")
@ledger_option
@listing_output
def rm(tag: str, names: tuple[str, ...], everywhere: bool, ledger: Path) -> Listing:
    """Take a tag from sessions, turns and anything else that people gave it to.

    A tag that an imported event gives stays until an event takes it away.

    \b
      aix tag rm billing 5b1f03ab
      aix tag rm billing --everywhere
    """
    if everywhere == bool(names):
        raise click.UsageError("Say what to take the tag from: a session, a turn or an id, or --everywhere.")
    from aix.merge.tagging import remove_tag

    entities = None if everywhere else _entities(ledger, names)
    had = remove_tag(ledger, tag, entities)
    changes = dict.fromkeys(entities or had, "did not have it") | dict.fromkeys(had, "removed")
    with open_ledger(ledger) as opened:
        left = opened.sql("select entity_type, entity_id from v_tags where tag = $tag", {"tag": tag}).rows()
    kept = {tuple(row) for row in left}
    return _changes(ledger, tag, {e: _KEPT if (e.table, e.key) in kept else change for e, change in changes.items()})


@command.command(cls=Command)
@click.option("--tag", metavar="TAG", help="Only this tag.")
@ledger_option
@listing_output
@click.pass_context
def ls(ctx: click.Context, tag: str | None, ledger: Path) -> Listing:
    """List tags and the items that have them.

    All formats but the table have every column of queries/overview/tags.sql, with exact values.

    \b
      aix tag ls
      aix tag ls --tag billing --json
    """
    from aix.query.packs import find_query

    opened = open_ledger(ledger)
    tags = find_query("overview/tags").sql
    sql = f"select * from (\n{tags}\n) where $tag is null or tag = $tag order by tag, entity_type, entity_id"  # noqa: S608
    found = opened.sql(sql, {"tag": tag})
    zone = load_config(ctx.obj).timezone
    return replace(
        found.listing(),
        empty="No tags yet; `aix tag add TAG SESSION` gives one" if tag is None else f"Nothing has the tag {tag!r}",
        for_people=Listing(_PEOPLES_COLUMNS, _peoples_rows(opened, found, zone)),
    )


def _entities(ledger: Path, names: tuple[str, ...]) -> list["Entity"]:
    """Return what the names stand for, each once."""
    from aix.merge.tagging import Entity

    with open_ledger(ledger) as opened:
        return list(dict.fromkeys(Entity(*opened.find_anything(name)) for name in names))


def _changes(ledger: Path, tag: str, changes: dict["Entity", str]) -> Listing:
    from aix.reading.names import KINDS_OF_TABLES
    from aix.reading.search import names_to_type

    with open_ledger(ledger) as opened:
        names = names_to_type(opened)
    shown = [
        (
            tag,
            names.get(entity.key, entity.key) if entity.table == "sessions" else entity.key,
            change,
            KINDS_OF_TABLES.get(entity.table, entity.table),
        )
        for entity, change in changes.items()
    ]
    added = {entity.table for entity, change in changes.items() if change == "added"}
    shows = "cost" if added & _WITH_COST else "tag ls"
    return Listing(
        _CHANGES,
        [(tag, entity.table, entity.key, change) for entity, change in changes.items()],
        notes=[f"next: `aix {shows} --tag {shlex.quote(tag)}`"] if added and is_screen() else [],
        for_people=Listing(_PEOPLES_CHANGES, shown),
    )


def _peoples_rows(ledger: Ledger, found: "Result", zone: tzinfo) -> Iterator[tuple[object, ...]]:
    from aix.reading.names import KINDS_OF_TABLES
    from aix.reading.search import names_to_type

    names = names_to_type(ledger)
    for tag, table, key, title, added_at in found:
        yield (
            tag,
            names.get(key, key) if table == "sessions" else key,
            one_line(title, _TITLE_CHARACTERS) if title else None,
            KINDS_OF_TABLES.get(table, table),
            local_time(added_at, zone) if added_at is not None else None,
        )
