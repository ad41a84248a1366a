"""The `aix` command itself, and the places of its subcommands."""

from pathlib import Path

import click

from aix.cli.command import LEDGER, LazyGroup, print_and_exit
from aix.cli.stdout import emit_text
from aix.version import __version__

# Commands that a newcomer needs come first. The subcommand NAME is `command` in the module `aix.cli.NAME`, unless
# `PLACES` names another place.
COMMANDS = {
    "import": "Import session histories into the ledger.",
    "overview": "Show cost, savings, waste and findings on one screen.",
    "demo": "Show AIX on invented logs, without touching your ledger.",
    "cost": "Show what was spent, by model, project, day and more.",
    "status": "Say on one line what today, this week and this month cost.",
    "sessions": "List the sessions of the ledger.",
    "show": "Read a session, or a turn.",
    "compactions": "List the compactions of contexts, or show one in detail.",
    "context": "Show what the model saw when a turn began.",
    "audit": "Compare permissions with what agents actually did.",
    "tag": "Give tags to sessions and turns, take them away, list them.",
    "sources": "List the histories on this machine, and what has changed since the last import.",
    "importers": "List what can be imported.",
    "query": "List or run ready-made queries.",
    "sql": "Ask the ledger a question in SQL.",
    "prices": "Show what models cost, and which have no price.",
    "problems": "List what imports could not take as it stood.",
    "check": "Check that the ledger keeps its promises.",
    "export": "Write the ledger as Parquet files or as a DuckDB database.",
    "forget": "Remove sessions from the ledger for good.",
    "vacuum": "Remove files that nobody needs any more.",
    "schema": "List the tables of the ledger, or the columns of one.",
    "config": "Show the settings in force and where each comes from.",
    "golden": "Compare what an importer makes of small logs with what is expected.",
    "completion": "Print a shell completion script.",
    "version": "Print the versions of AIX and what it stands on.",
}
PLACES = {
    "import": "import_:command",
    "context": "compactions:context",
    "sql": "query:sql",
    "problems": "sources:problems",
    "vacuum": "forget:vacuum",
    "schema": "about:schema",
    "config": "about:config",
    "golden": "importers:golden",
    "completion": "about:completion",
    "version": "about:version",
}
"""The module and the name in it of each command that shares a module with others."""


class _Commands(LazyGroup):
    package = "aix.cli"
    members = COMMANDS
    places = PLACES
    unlisted = frozenset({"golden"})


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001 - click's
    if value:
        print_and_exit(ctx, f"aix {__version__}")


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Read settings from FILE instead of the user's config.toml.",
)
@click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Use the ledger in FOLDER; the same option after a command comes first.",
)
@click.pass_context
def aix(ctx: click.Context, config_file: Path | None, ledger: Path | None) -> None:
    """Import the session histories of AI coding assistants into one ledger and ask it questions.

    stdout is data and nothing else; messages go to stderr. Exit codes: 0 fine, 1 findings or failed sources, 2 wrong
    usage, 3 trouble with the ledger.
    """
    ctx.obj = config_file
    ctx.meta[LEDGER] = ledger
    if ctx.invoked_subcommand is None:
        emit_text(ctx.get_help())
