"""`aix blame`."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from aix.cli.command import Command, chosen_parameter_options, ledger_option, listing_output
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.config import load_config
from aix.output import Listing, ListingColumn, listing_columns
from aix.output.humanise import TITLE_CHARACTERS, counted, local_time, one_line, short_turn
from aix.reading.ledger import open_ledger
from aix.reading.search import names_to_type
from aix.reading.touched_files import find_file, find_files, plain_path

_QUERY = "tree/blame"
_NAMED = "referenced"
_KINDS = frozenset({"read", "written", "attached"})
_COLUMNS = listing_columns(
    "turn",
    "when",
    "use",
    ListingColumn("title", least=20),
    ListingColumn("tools", priority=2),
    ListingColumn("lines", priority=4),
    ListingColumn("session", priority=3, cut="start"),
)
_FILE = ListingColumn("file", cut="start", least=20)

_Row = dict[str, Any]


@click.command(cls=Command)
@click.argument("name", metavar="PATH")
@click.option("--all", "is_all", is_flag=True, help="Every file that ends with PATH, such as copies in worktrees.")
@click.option("--written", "is_written", is_flag=True, help="Only turns that wrote the file.")
@click.option("--named", "is_named", is_flag=True, help="Also turns that only name it, as in results of a search.")
@chosen_parameter_options("since", "until", "project", "origin", "session")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Only the N latest.")
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    name: str,
    is_all: bool,
    is_written: bool,
    is_named: bool,
    parameters: dict[str, object],
    limit: int | None,
    ledger: Path,
) -> Listing:
    """List the turns that read and wrote a file, from the first to the last.

    PATH is a whole path, or the end of one from a slash on: `src/app.py` is /srv/site/src/app.py. Of several files
    that end so, the one in this folder is meant; else they are listed, and --all takes all of them.

    A line is a turn and a use: read, written, or attached by a person; the tools that did it, and the lines of the
    file that are known. Logs name most of these files. What only the text of a shell command names is there too, with
    basis `command` in the formats other than table, and nothing that was denied or did not run.

    Turns of all sessions are listed, subagents and abandoned branches among them, each once, with the session that it
    counts for.

    \b
      aix blame src/app.py
      aix blame src/app.py --written -n 5
      aix blame README.md --all --since 7d
      aix blame src/app.py --json
    """
    zone = load_config(ctx.obj).timezone
    opened = open_ledger(ledger)
    files = find_files(opened, name, here=Path.cwd()) if is_all else (find_file(opened, name, here=Path.cwd()),)
    path = files[0] if len(files) == 1 else plain_path(name)
    found = opened.query(_QUERY, path=path, **parameters)
    kinds = {"written"} if is_written else _KINDS | ({_NAMED} if is_named else set())
    rows = found.dicts()
    kept = [row for row in rows if row["kind"] in kinds]
    shown = sorted(kept, key=_moment)[-limit:] if limit else kept
    has_several = len({row["file_path"] for row in shown}) > 1
    columns = (*_COLUMNS[:3], _FILE, *_COLUMNS[3:]) if has_several else _COLUMNS
    named = 0 if is_named or is_written else sum(row["kind"] == _NAMED for row in rows)
    listing = found.listing()
    return replace(
        listing,
        rows=[tuple(row.values()) for row in shown],
        arrow_reader=None,
        empty="no turn that is asked for read or wrote that file",
        for_people=Listing(
            columns,
            _lines(shown, names_to_type(opened), zone, has_several=has_several),
            notes=list(_notes(shown, named)),
        ),
    )


def _moment(row: _Row) -> tuple[bool, int]:
    return row["touched_at"] is not None, row["touched_at"] or 0


def _lines(
    rows: Sequence[_Row], names: dict[str, str], zone: tzinfo, *, has_several: bool
) -> Iterator[Sequence[object]]:
    for row in rows:
        first, last = row["line_start"], row["line_end"]
        label = row["session_label"]
        yield (
            short_turn(row["turn_id"]),
            local_time(row["touched_at"], zone),
            "named" if row["kind"] == _NAMED else row["kind"],
            *([row["file_path"]] if has_several else []),
            one_line(row["title"] or "", TITLE_CHARACTERS) or None,
            row["tools"],
            None if first is None else str(first) if first == last else f"{first}–{last}",
            names.get(label, label),
        )


def _notes(rows: Sequence[_Row], named: int) -> Iterator[str]:
    if named:
        verb = "names" if named == 1 else "name"
        yield f"{counted(named, 'turn')} only {verb} it, as in results of a search; --named lists them"
    if rows and is_screen():
        yield "next: `aix show TURN`, with a name of the column turn"
