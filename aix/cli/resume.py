"""`aix resume`."""

import shlex
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import click

from aix.cli.command import Command, ledger_option, output_option
from aix.cli.completion import complete_session
from aix.cli.diagnostics import say
from aix.cli.freshness import import_first
from aix.cli.redact import chosen_redactor, redact_options, report_redaction
from aix.cli.stdout import emit_lines, is_terminal
from aix.cli.text_index import update_index
from aix.config import load_config
from aix.errors import NoCommandError
from aix.output.humanise import counted
from aix.output.text import is_safe
from aix.output.transcript.model import View
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.routing import Route, resolve

if TYPE_CHECKING:
    from aix.pipeline.resumption import ToolCommand

_CHARACTERS = 100_000
_SESSION = """
    select s.label, s.origin, s.origin_session_id, coalesce(s.is_subagent, 0) = 1 as is_subagent,
      s.parent_session_label, s.status, c.project, c.raw_path
    from sessions s left join session_context c on c.label = s.label
    where s.label = $1
"""
_Session = dict[str, Any]


@click.command(cls=Command)
@click.argument("target", shell_complete=complete_session)
@click.option("--context", "is_context", is_flag=True, help="Print the context as Markdown instead of a command.")
@click.option(
    "--limit",
    "characters",
    type=click.IntRange(min=1_000),
    default=_CHARACTERS,
    show_default=True,
    metavar="N",
    help="Of the context, print about N characters at most: the summary and the latest turns.",
)
@click.option("--full", is_flag=True, help="In the context, show parameters too, and results of tools whole.")
@click.option("--tools/--no-tools", default=True, help="In the context, show calls of tools. Default: yes.")
@redact_options
@output_option
@ledger_option
@import_first
@click.pass_context
def command(
    ctx: click.Context,
    target: str,
    is_context: bool,
    characters: int,
    full: bool,
    tools: bool,
    is_redacted: bool,
    names_file: Path | None,
    path: Path | None,
    ledger: Path,
) -> None:
    """Print how to go on with a thread: a command of its own tool, or its context to paste elsewhere.

    TARGET is named as for `aix resolve`. The command is printed, quoted for a POSIX shell and beginning with the
    session's own folder; it is not run. A tool goes on only where a session stands now, and only with sessions that
    people started. For an earlier turn, a subagent, an archived branch, and tools without such a command, there is the
    context: on a terminal it is printed in place of the command; elsewhere --context asks for it, so that no script
    takes the text of a log for a command. -o and --redact mean the context too.

    The context is what the model would see next, as Markdown: the summary of the last compaction, the turns that it
    kept, and those since. Where it is too long, the oldest turns are left out.

    \b
      aix resume login-fix
      aix resume login-fix --context -o context.md
      aix resume 7F3KQ2MX --context --redact --no-tools
    """
    opened = open_ledger(ledger)
    route = resolve(opened, target, lambda: update_index(opened.path, opened.manifest)).only()
    if route.score is not None:
        say(route.reason)
    if not (is_context or is_redacted or names_file or path):
        command_line, trouble = _command(opened, route)
        if command_line:
            emit_lines([command_line], None)
            return
        if not is_terminal():
            raise NoCommandError(target, trouble)
        say(f"{trouble}; this is the context")
    view = View(load_config(ctx.obj).timezone, is_full=full, with_thinking=False, with_tools=tools)
    _print_context(ctx, opened, route, view, characters)


def _command(ledger: Ledger, route: Route) -> tuple[str, str]:
    """Return the command line with which its tool continues a session; else an empty one, and the reason."""
    if route.session_label is None:
        return "", f"the turn {route.thread_id} stands in no session"
    [session] = ledger.sql(_SESSION, [route.session_label]).dicts()
    if trouble := _reason_against(session, route):
        return "", trouble
    from aix.pipeline.contract import LoggedSession
    from aix.pipeline.resumption import find_command

    logged = LoggedSession(session["origin_session_id"] or "", session["raw_path"])
    found = find_command(session["origin"], logged)
    if not found.words:
        return "", f"AIX knows no command with which {found.tool} goes on with the session {session['label']}"
    folder = _folder(session["project"])
    if folder is not None and not is_safe(folder):
        return "", f"the folder of the session {session['label']} has a name that cannot be shown as it is"
    for note in _notes(session, folder, found):
        say(note)
    changed = f"cd {shlex.quote(folder)} && " if folder else ""
    return f"{changed}{shlex.join(found.words)}", ""


def _reason_against(session: _Session, route: Route) -> str:
    label = session["label"]
    if not route.is_head:
        return f"the turn {route.thread_id} is an earlier one of the session {label}, which tools continue at its head"
    if session["is_subagent"]:
        parent = session["parent_session_label"]
        return (
            f"the session {label} is a subagent{f' of {parent}' if parent else ''}, which no tool continues by itself"
        )
    if session["status"] != "active":
        return f"the session {label} is {session['status']}: its tool no longer goes on with it"
    return ""


def _folder(project: str | None) -> str | None:
    """Return the folder that a session began in; what is not absolute could be anything."""
    if project and (PurePosixPath(project).is_absolute() or PureWindowsPath(project).is_absolute()):
        return project
    return None


def _notes(session: _Session, folder: str | None, found: "ToolCommand") -> list[str]:
    """Say what may stand in the way."""
    if folder is None:
        return [f"no log names the folder of the session; run the command where {found.tool} was started"]
    if not Path(folder).is_dir():
        return [f"the folder {folder} is not on this machine; `--context` prints what to paste elsewhere"]
    if session["raw_path"] and not Path(session["raw_path"]).exists():
        return [f"the log of the session is gone, so {found.tool} may not find it; `--context` prints what it held"]
    return []


def _print_context(ctx: click.Context, ledger: Ledger, route: Route, view: View, characters: int) -> None:
    from aix.output.transcript.handover import hand_over
    from aix.reading.search import names_of_sessions

    options = ctx.params
    redactor = chosen_redactor(ctx, ledger, options["names_file"], is_redacted=options["is_redacted"])
    label = route.session_label
    title = names_of_sessions(ledger, [label])[label] if label else f"Turn {route.thread_id}"
    redact = redactor.text if redactor else None
    handover = hand_over(ledger, route.thread_id, view, title=title, characters=characters, redact=redact)
    emit_lines(handover.lines, options["path"])
    if handover.left_out:
        say(f"{counted(handover.left_out, 'earlier turn')} left out; --limit takes more characters")
    report_redaction(redactor)
