"""The `aix` command itself, and the places of its subcommands."""

from pathlib import Path

import click

from aix.cli.command import LEDGER, LazyGroup, print_and_exit
from aix.cli.stdout import emit_text
from aix.version import __version__

# The subcommand NAME is `command` in the module `aix.cli.NAME`, unless `PLACES` names another place.
COMMANDS = {
    "import": "Import session histories into the ledger.",
    "overview": "Show cost, savings, waste and findings on one screen.",
    "demo": "Show AIX on invented logs, without touching your ledger.",
    "cost": "Show what was spent, by model, project, day and more.",
    "status": "Show on one line what today, this week and this month cost.",
    "sessions": "List sessions, the latest first.",
    "show": "Read a session or a turn.",
    "compactions": "List compactions, or show one in detail.",
    "context": "Show what the model saw when a turn began.",
    "tag": "Add, remove and list tags.",
    "program": "List programs, such as agents and tasks, or show one.",
    "search": "Find turns by the words in their texts.",
    "similar": "Find turns, sessions and programs like a text or another.",
    "embed": "Store vectors that a command of your own makes.",
    "log": "List the turns of a session, the newest first.",
    "tree": "Draw forks, compactions and subagents of sessions.",
    "fork-point": "Find the last turn that two branches share.",
    "diff": "Compare two branches after their last common turn.",
    "head": "Show where a session stood at a moment.",
    "blame": "List the turns that read and wrote a file.",
    "resolve": "Say to which thread a name, persona or id leads.",
    "resume": "Print how to go on with a session: a command, or its context.",
    "alias": "Add, remove and list other names of sessions.",
    "personas": "List personas, or show what holds for a thread.",
    "audit": "Compare permissions with what agents actually did.",
    "report": "Make a page with figures, charts and tables.",
    "notebook": "Copy notebooks to start from, and open them in Jupyter.",
    "mcp": "Serve the ledger to AI assistants, read-only.",
    "query": "List or run ready-made queries.",
    "sql": "Run your own SQL on the ledger.",
    "export": "Write the ledger as Parquet, a DuckDB database or logs of sessions.",
    "events": "Compute and verify the ids of events of an agent graph.",
    "schema": "List the tables of the ledger, or the columns of one.",
    "prices": "Show prices of models, and models without a price.",
    "sources": "List histories on this machine, and which changed since the last import.",
    "importers": "List the tools whose histories can be imported.",
    "problems": "List lines that could not be fully read.",
    "check": "Check the ledger for inconsistencies.",
    "forget": "Remove sessions from the ledger for good.",
    "vacuum": "Remove old versions and files that are no longer needed.",
    "config": "Show the settings in use and where each comes from.",
    "golden": "Compare the rows of an importer with expected ones.",
    "completion": "Print a shell completion script.",
    "version": "Print the versions of AIX and its libraries.",
}
JOBS = {
    "Every day": (
        *("import", "overview", "report", "demo", "cost", "status"),
        *("sessions", "show", "compactions", "context", "tag", "program"),
    ),
    "Find and walk": (
        *("search", "similar", "embed"),
        *("log", "tree", "fork-point", "diff", "head", "blame"),
        *("resolve", "resume", "alias"),
    ),
    "Permissions": ("audit", "personas"),
    "Data": ("query", "sql", "notebook", "export", "mcp", "events", "schema", "prices"),
    "Maintenance": (
        *("sources", "importers", "problems", "check", "forget", "vacuum"),
        *("config", "completion", "version"),
    ),
}
"""The commands of each section of the help."""
UNLISTED = frozenset({"golden"})
"""Commands that the help does not list: only authors of importers need them."""
PLACES = {
    "import": "import_:command",
    "context": "compactions:context",
    "fork-point": "branches:fork_point",
    "diff": "branches:diff",
    "head": "branches:head",
    "program": "programs:command",
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
    sections = JOBS
    unlisted = UNLISTED


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
    """Show what AI coding assistants did, what it cost, and what they were allowed to do.

    AIX imports their session histories into one ledger on this machine, and answers questions about it. Start with
    `aix import` and `aix overview`; `aix COMMAND --help` explains a command with examples.

    \b
      aix import
      aix overview
      aix cost --by day
      aix audit

    Data goes to stdout, messages go to stderr. Exit codes: 0 success, 1 findings or sources that could not be imported,
    2 wrong usage, 3 no usable ledger.
    """
    ctx.obj = config_file
    ctx.meta[LEDGER] = ledger
    if ctx.invoked_subcommand is None:
        from aix.cli.first_run import introduction
        from aix.config import load_config

        emit_text("\n".join(introduction(ledger or load_config(config_file).ledger)))
