"""`aix forget` and `aix vacuum`: sessions and files that leave the ledger for good."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from aix.cli.command import DATE, Command, ledger_option, listing_output
from aix.cli.diagnostics import say
from aix.errors import UnknownSessionError
from aix.output import Listing, listing_columns
from aix.output.humanise import counted, human_bytes

_NOTHING_MATCHES = "no session matches; nothing was removed"

if TYPE_CHECKING:
    from aix.merge.forget import Forgotten
    from aix.merge.selection import Selection
    from aix.query.dates import Span


@click.command(cls=Command)
@click.argument("session", required=False)
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
@ledger_option
@listing_output
def command(
    session: str | None,
    source: Path | None,
    before: "Span | None",
    text: str | None,
    dry_run: bool,
    ledger: Path,
) -> Listing:
    """Remove sessions from the ledger for good.

    SESSION is a label, an alias, or the beginning of one that no other session has. The session is removed with its
    subagents, its problems and tags, and the kept copies of its logs. All older versions of the ledger are removed at
    once, because they hold the same text. With --source, the permission rules of settings files at PATH are removed
    too; the same rule in another file is kept.

    A turn that another session shares, because one was resumed or forked from the other, is kept with that session.
    The result names that session, so that you can forget it too.

    The tool's own log is not changed. A later import, also the one before `aix cost`, reads it again once it has
    changed, or after an update of its importer: delete the log too if the session must not come back. Use --dry-run to
    see what would be removed.

    \b
      aix forget session-log:5b1f
      aix forget --source ~/logs/secret-project --dry-run
      aix forget --source settings.json
      aix forget --before 2026-01-01
      aix forget --before 1y --dry-run
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
        selection, rules = _select(ledger, session, source, before_ms, text)
    except UnknownSessionError:
        if is_forgetting_unfinished(ledger):
            say("older versions still hold sessions that were forgotten before; `aix vacuum` removes them")
        raise
    columns = listing_columns("what", "name", ("count", "BIGINT"))
    if dry_run:
        sessions = [("session", label, 1) for label in selection.labels]
        rows = [*sessions, *(("rules", file, count) for file, count in rules.items())]
        amount = _amount(len(sessions), sum(rules.values()))
        note = f"{amount} would be removed; nothing was removed (--dry-run)"
        return _with_note(Listing(columns, rows, empty=_NOTHING_MATCHES), note)
    finish_forgetting(ledger)
    forgotten = forget(ledger, selection)
    amount = _amount(len(forgotten.sessions), sum(rules.values()))
    note = f"removed {amount} for good, with every older version; the logs of the tools are unchanged: "
    note += "a later import, also the one before `aix cost`, reads a log again once it changes"
    return _with_note(Listing(columns, _rows(forgotten), empty=_NOTHING_MATCHES), note)


def _with_note(listing: Listing, note: str) -> Listing:
    """Return the listing with a note that the table shows below its rows."""
    return replace(listing, for_people=replace(listing, notes=[note] if listing.rows else ()))


def _amount(sessions: int, rules: int) -> str:
    """Write how many sessions and permission rules there are, without the rules where there are none."""
    both = [counted(sessions, "session"), counted(rules, "permission rule")]
    return " and ".join(both if sessions and rules else both[1:] if rules else both[:1])


def _is_text(given: str | None) -> bool:
    try:
        (given or "").encode()
    except UnicodeEncodeError:
        return False
    return True


def _select(
    ledger: Path, session: str | None, source: Path | None, before_ms: int | None, text: str | None
) -> "tuple[Selection, dict[str, int]]":
    """Return what to forget, and how many permission rules of each file are part of it."""
    import duckdb

    from aix.merge.selection import Selection, count_rules, select_before, select_match, select_source
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
        return selection, count_rules(connection, selection)


def _rows(forgotten: "Forgotten") -> list[tuple[str, str, int]]:
    return [
        *(("session", label, 1) for label in forgotten.sessions),
        *(("rows", table, count) for table, count in forgotten.rows.items()),
        *([("copies of sources", "raw", forgotten.raw_copies)] if forgotten.raw_copies else []),
        *([("files", "of older versions and left behind", forgotten.files)] if forgotten.files else []),
        *(("stays, and keeps shared turns", label, turns) for label, turns in forgotten.sharing_sessions.items()),
    ]


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
    from aix.derived.view_cache import is_cache_of
    from aix.merge.rewriting import tidy_groups, untidy_groups
    from aix.store.garbage import collect, find_removals

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
