"""Names of sessions that a shell completes, for all arguments and options that take a session."""

import re
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_MOST = 200
_TITLE_CHARACTERS = 60
_TYPED = re.compile(r"[\w@][\w@./:+,=~-]*", re.ASCII)
"""Names that no shell understands as anything else: completed names come from logs, and are not quoted."""
_TABLES = ("sessions", "session_aliases", "session_context", "inferred_values")
_SESSIONS = """
    select s.label, c.title
    from sessions s
    left join session_context c on c.label = s.label
    left join inferred_values i
      on i.table_name = 'sessions' and i.row_key = s.label and i.column_name = 'updated_at' and i.basis = 'undated'
    order by case when i.row_key is null then s.updated_at end desc nulls last, s.label
"""


def complete_session(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return the names of sessions that begin so, those with the latest activity first; none without a ledger."""
    with suppress(Exception):  # whatever is wrong, a shell that asks for completions must not show an error
        return _completions(_ledger_of(ctx), incomplete)
    return []


def _ledger_of(ctx: click.Context) -> Path:
    from aix.config import load_config

    before = ctx.find_root().params
    given = ctx.params.get("ledger") or before.get("ledger")
    return Path(given).expanduser() if given else load_config(before.get("config_file")).ledger


def _completions(ledger: Path, incomplete: str) -> list[CompletionItem]:
    import duckdb

    from aix.output.humanise import one_line
    from aix.output.text import escape_unsafe
    from aix.reading.names import NAMES_OF_SESSIONS, short_names
    from aix.store.manifest import read_latest
    from aix.store.views import create_views

    # A connection of a Ledger would take twice as long.
    with duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger), _TABLES)
        names = connection.execute(NAMES_OF_SESSIONS).fetchall()
        sessions = connection.execute(_SESSIONS).fetchall()
    short = short_names(names)
    by_label: dict[str, list[str]] = {}
    for name, label in names:
        by_label.setdefault(label, []).append(name)
    items = []
    for label, title in sessions:
        others = sorted(by_label[label], key=lambda name: (len(name), name))
        # All labels of an origin begin alike: they are offered to those who have typed the origin.
        fitting = [short[label], *(name for name in others if ":" in incomplete or ":" not in name)]
        name = next((name for name in fitting if name.startswith(incomplete) and _TYPED.fullmatch(name)), None)
        if name is not None:
            items.append(
                CompletionItem(name, help=escape_unsafe(one_line(title, _TITLE_CHARACTERS)) if title else None)
            )
    return items[:_MOST]
