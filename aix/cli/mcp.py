"""`aix mcp`."""

import sys
from importlib.util import find_spec
from pathlib import Path

import click

from aix.cli.command import Command, ledger_option
from aix.cli.diagnostics import report_defect, say
from aix.config import load_config
from aix.errors import MissingExtraError, UsageError

_LIBRARY = "mcp_types"
"""A module that only the second generation of the SDK brings along."""


@click.command(cls=Command)
@click.option(
    "--redact/--no-redact",
    "is_redacted",
    default=True,
    help="Hide secrets, e-mail addresses, home folders, user and host names. Default: yes.",
)
@click.option(
    "--redact-names",
    "names_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Hide the names in FILE too, one to a line. Default: the file that `aix config` shows.",
)
@ledger_option
@click.pass_context
def command(ctx: click.Context, is_redacted: bool, names_file: Path | None, ledger: Path) -> None:
    """Serve the ledger to AI assistants, read-only, over stdin and stdout.

    A client of the Model Context Protocol starts this command and calls its tools: search, sessions, show, context,
    cost, sql and schema. docs/mcp.md shows how clients are told to. It needs a package that is installed with

    \b
      pip install 'aix-ledger[mcp]'

    Text of logs is marked as untrusted, secrets are hidden, answers are bounded, and nothing can be changed. Each call
    reads the newest version of the ledger; nothing is imported by the server. The first search makes the index of
    texts. The server ends when stdin does.

    \b
      aix mcp
      aix mcp --ledger ~/histories/ledger
      aix mcp --redact-names team.txt
    """
    if find_spec(_LIBRARY) is None:
        raise MissingExtraError("the package mcp 2", "mcp")
    config = load_config(ctx.obj)
    names = names_file or config.redact_names
    from aix.server.calls import Calls
    from aix.server.latest_ledger import LatestLedger
    from aix.server.protocol import serve

    if sys.stdin is None:
        raise UsageError("stdin is closed; a client of the protocol starts this command, as docs/mcp.md shows")
    if sys.stdin.isatty():
        say("this waits for a client on stdin; docs/mcp.md shows how clients start it, and Ctrl-D ends it")
    opened = LatestLedger(ledger, is_redacted=is_redacted, names_file=names)
    with Calls(opened, config.timezone, report_defect) as calls:
        serve(calls, sys.stdin.buffer)
