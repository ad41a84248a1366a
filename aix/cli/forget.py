"""`aix forget` and `aix vacuum`: sessions and files that leave the ledger for good."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from aix.cli.command import DATE, Command, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import confirm, is_dialogue, say
from aix.config import load_config
from aix.errors import UnknownSessionError
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import counted, human_bytes, local_time, one_line

_NOTHING_MATCHES = "nothing in the ledger matches; nothing was removed"
_NAMED_SESSIONS = 5
"""How many sessions a question or a note names."""
_TITLE_CHARACTERS = 100
_SUBAGENT = "↳ "
_COLUMNS = listing_columns("what", "name", ("count", "BIGINT"))
_PEOPLES_COLUMNS = listing_columns("session", ListingColumn("title", least=20), "updated", ("turns", "BIGINT"))

if TYPE_CHECKING:
    from aix.merge.forget import Forgotten, Going
    from aix.merge.selection import Selection
    from aix.query.dates import Span
    from aix.store.manifest import Manifest


@click.command(cls=Command)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Sessions and permission rules read from PATH, or below it.",
)
@click.option(
    "--before",
    type=DATE,
    metavar="DATE",
    help="Sessions whose last activity lies before the beginning of DATE, such as 2026-01-01 or 90d.",
)
@click.option("--match", "text", metavar="TEXT", help="Sessions that hold TEXT anywhere, letter for letter.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before removing, also on a terminal.")
@ledger_option
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    session: str | None,
    source: Path | None,
    before: "Span | None",
    text: str | None,
    dry_run: bool,
    yes: bool,
    ledger: Path,
) -> Listing:
    """Remove sessions from the ledger for good.

    SESSION is a label, an alias, or the beginning of one that no other session has. The session is removed with its
    subagents, its problems and tags, and the kept copies of its logs. All older versions of the ledger are removed at
    once, because they hold the same text. With --source, the permission rules of settings files at PATH are removed
    too; the same rule in another file is kept. Rows of graphs, chats and programs that belong to no session do not say
    which file they are from: --match finds them.

    A turn that another session shares, because one was resumed or forked from the other, stays with that session.
    --dry-run and the result name that session, so that you can forget it too.

    On a terminal, the command names the sessions and asks before it removes them; --yes leaves out the question. In a
    script it never asks.

    The tool's own log is not changed. A later import, also the one before `aix cost`, reads it again once it has
    changed, or after an update of its importer: delete the log too if the session must not come back.

    \b
      aix forget 5b1f03ab --dry-run
      aix forget 5b1f03ab
      aix forget --source ~/logs/secret-project --dry-run
      aix forget --source settings.json
      aix forget --before 1y --yes
      aix forget --match "the password"
    """
    if [session, source, before, text].count(None) != 3:
        raise click.UsageError("Name what to forget with exactly one of SESSION, --source, --before and --match.")
    if any(not _is_text(given) for given in (session, text, str(source or ""))):
        raise click.UsageError("SESSION, --source and --match must be UTF-8.")
    if text == "":
        raise click.UsageError("--match needs a text that is not empty.")
    from aix.merge.forget import forget
    from aix.store.garbage import finish_forgetting, is_forgetting_unfinished

    before_ms = before and before.begin_ms
    try:
        selection, going, rules, others = _select(ledger, session, source, before_ms, text)
    except UnknownSessionError:
        if is_forgetting_unfinished(ledger):
            say("older versions still hold sessions that were forgotten before; `aix vacuum` removes them")
        raise
    names, described, subagents = _described(ctx, ledger, going)
    people = Listing(_PEOPLES_COLUMNS, described)
    notes = list(_notes_on(going, rules, names))
    remaining = dict(others)
    counts = {
        "session": len(described) - subagents,
        "subagent": subagents,
        "turn": len(selection.turns),
        "permission rule": remaining.pop("permission_rules", 0),
        "problem": remaining.pop("import_problems", 0),
        "other row": sum(remaining.values()),
    }
    amount = _amount(counts)
    planned = [
        *(("session", label, 1) for label in going.sessions),
        *(("turn of no session", turn_id, 1) for turn_id in selection.turns),
        *(("rules", file, count) for file, count in rules.items()),
        *(
            ("rows of no session", table, count)
            for table, count in others.items()
            if table != "permission_rules" or not rules
        ),
        *_staying(going.sharing_sessions),
    ]
    if dry_run:
        notes = [f"{amount} would be removed for good; nothing was removed (--dry-run)", *notes]
        shown = people if going.sessions else Listing(_COLUMNS, planned)
        return Listing(
            _COLUMNS, planned, empty=_NOTHING_MATCHES, for_people=replace(shown, notes=notes if planned else ())
        )
    asks = bool(planned) and not yes and is_dialogue()
    if asks:
        say(f"this removes {amount} for good, with every older version of the ledger")
        _name_sessions(described, notes)
        if not confirm(f"Remove {amount}?"):
            return Listing(_COLUMNS, [], notes=["nothing was removed"])
    finish_forgetting(ledger)
    forgotten = forget(ledger, selection)
    done = (
        f"removed {amount} for good, with every older version of the ledger",
        *notes,
        "the tools' own logs are unchanged; a later import, also the one before `aix cost`, brings a session back once"
        " its log changes",
    )
    rows = list(_rows(forgotten))
    if asks:  # the question has shown all that goes
        return Listing(_COLUMNS, rows, notes=[done[0], done[-1]], for_people=Listing((), []))
    people = people if going.sessions else Listing(_COLUMNS, rows)
    return Listing(
        _COLUMNS, rows, empty=_NOTHING_MATCHES, for_people=replace(people, notes=done if forgotten.rows else ())
    )


def _described(
    ctx: click.Context, ledger: Path, going: "Going"
) -> tuple[dict[str, str], list[tuple[object, ...]], int]:
    """Return short names of sessions, those that go as people know them, and how many of them are subagents.

    Afterwards nothing of them can be read.
    """
    if not going.sessions:
        return {}, [], 0
    from aix.reading.ledger import open_ledger
    from aix.reading.search import names_to_type

    zone = load_config(ctx.obj).timezone
    rows: list[tuple[object, ...]] = []
    subagents = 0
    with open_ledger(ledger) as opened:
        names = names_to_type(opened)
        found = opened.sessions()
        for row in (dict(zip(found.columns, each, strict=True)) for each in found):
            if row["label"] in going.sessions:
                subagents += row["is_subagent"]
                title = f"{_SUBAGENT if row['is_subagent'] else ''}{one_line(row['title'] or '', _TITLE_CHARACTERS)}"
                rows.append((names[row["label"]], title, local_time(row["updated_at"], zone), row["turns"]))
    return names, rows, subagents


def _name_sessions(described: Sequence[tuple[object, ...]], notes: Iterable[str]) -> None:
    """Say which sessions would go, by name and title, and what stays."""
    for name, title, *_ in described[:_NAMED_SESSIONS]:
        say(f"  {name}  {title}".rstrip())
    if len(described) > _NAMED_SESSIONS:
        say(f"  and {len(described) - _NAMED_SESSIONS} more; --dry-run lists them")
    for note in notes:
        say(note)


def _notes_on(going: "Going", rules: Mapping[str, int], names: Mapping[str, str]) -> Iterator[str]:
    """Say which turns stay, and which files of rules are part of what goes."""
    for file, count in rules.items():
        yield f"{counted(count, 'permission rule')} of {file}"
    shared = list(going.sharing_sessions.items())
    for label, turns in shared[:_NAMED_SESSIONS]:
        verb = "stays" if turns == 1 else "stay"
        yield f"{counted(turns, 'turn')} {verb}: session {names[label]}, which is kept, shares {_them(turns)}"
    if len(shared) > _NAMED_SESSIONS:
        yield f"{len(shared) - _NAMED_SESSIONS} more sessions share turns and are kept; --json lists them"


def _them(turns: int) -> str:
    return "it" if turns == 1 else "them"


def _staying(sharing_sessions: Mapping[str, int]) -> Iterator[tuple[str, str, int]]:
    for label, turns in sharing_sessions.items():
        yield "stays, and keeps shared turns", label, turns


def _with_note(listing: Listing, note: str) -> Listing:
    """Return the listing with a note that the table shows below its rows."""
    return replace(listing, for_people=replace(listing, notes=[note] if listing.rows else ()))


def _amount(counts: Mapping[str, int]) -> str:
    """Write how many there are of each thing, without those that there are none of."""
    *first, last = [counted(count, thing) for thing, count in counts.items() if count] or [counted(0, "session")]
    return f"{', '.join(first)} and {last}" if first else last


def _is_text(given: str | None) -> bool:
    try:
        (given or "").encode()
    except UnicodeEncodeError:
        return False
    return True


def _select(
    ledger: Path, session: str | None, source: Path | None, before_ms: int | None, text: str | None
) -> "tuple[Selection, Going, dict[str, int], dict[str, int]]":
    """Return what was named, all that goes with it, permission rules by file, and rows of no session by table."""
    import duckdb

    from aix.merge.forget import find_going
    from aix.merge.selection import (
        Selection,
        count_rows_of_no_session,
        count_rules,
        select_before,
        select_match,
        select_source,
    )
    from aix.reading.names import find_session
    from aix.store.engine import engine_errors_of
    from aix.store.manifest import read_latest
    from aix.store.views import create_views

    with engine_errors_of(ledger), duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger))
        if session is not None:
            selection = Selection(labels=[find_session(connection, session)])
        elif source is not None:
            selection = select_source(connection, source)
        elif before_ms is not None:
            selection = select_before(connection, before_ms)
        else:
            selection = select_match(connection, text or "")
        others = count_rows_of_no_session(connection, selection)
        return selection, find_going(connection, selection), count_rules(connection, selection), others


def _rows(forgotten: "Forgotten") -> Iterator[tuple[str, str, int]]:
    yield from (("session", label, 1) for label in forgotten.sessions)
    yield from (("rows", table, count) for table, count in forgotten.rows.items())
    if forgotten.raw_copies:
        yield "copies of sources", "raw", forgotten.raw_copies
    if forgotten.files:
        yield "files", "of older versions and left behind", forgotten.files
    yield from _staying(forgotten.sharing_sessions)


@click.command(cls=Command)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Keep what was in use within the last HOURS: a version while a newer one is not older than that.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@ledger_option
@listing_output
def vacuum(grace: float, dry_run: bool, ledger: Path) -> Listing:
    """Remove old versions and files that are no longer needed, and join small files.

    Every import keeps the version before it, so that programs that read it can finish. `aix vacuum` removes such
    versions after --grace hours. It also removes files of interrupted imports, unused cached rows, and kept copies of
    logs that no version refers to. The newest version is never removed.

    When a session grows, its rows are written to new files, and its old rows stay in the old files, marked as dead.
    `aix vacuum` writes these files again without the dead rows.

    With --grace 0, a query that is running may lose its files and fail.

    \b
      aix vacuum --dry-run
      aix vacuum
      aix vacuum --grace 1
    """
    from aix.derived.view_cache import is_cache_of as is_view_of
    from aix.merge.rewriting import tidy_groups, untidy_groups
    from aix.search.index import TextIndex
    from aix.similarity.vectors import VectorFile
    from aix.store.garbage import collect, find_removals

    def is_cache_of(version: "Manifest", path: Path) -> bool:
        return is_view_of(version, path) or TextIndex.is_of(version, path) or VectorFile.is_of(version, path)

    removals = find_removals(ledger, grace * 3600, is_cache_of)
    groups = untidy_groups(ledger) if dry_run else tidy_groups(ledger)
    if not dry_run:
        removals = collect(ledger, grace * 3600, is_cache_of)
    columns = listing_columns("what", "path", ("bytes", "BIGINT"))
    rows = [
        *(("group written again", name, size) for name, size in groups.items()),
        *((removal.kind, removal.path.relative_to(ledger).as_posix(), removal.size_bytes) for removal in removals),
    ]
    size = human_bytes(sum(removal.size_bytes for removal in removals))
    if dry_run:
        note = f"{size} would be removed; nothing was removed (--dry-run)"
    else:
        note = f"removed {size}, wrote {counted(len(groups), 'group')} of files again"
    return _with_note(Listing(columns, rows, empty="there is nothing to remove"), note)
