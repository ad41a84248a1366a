"""The first run: the histories on this machine, and the offer to import them.

`aix` without a command shows `introduction`; a command that finds no ledger calls `make_ledger`.
"""

import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.diagnostics import confirm, is_dialogue, prints_beside
from aix.config import load_config
from aix.errors import LedgerError, LedgerNotFoundError, NoLedgerYetError
from aix.output.humanise import counted, short_ago
from aix.paths import absolute_path
from aix.store.manifest import is_ledger

if TYPE_CHECKING:
    from aix.pipeline.run import Survey

_FOLDERS_OF_LEDGER = {"versions", "staging", "data"}
_QUICK_COMMANDS = ("status",)
"""Commands that run at every prompt: they look for no histories."""
_NOTHING_FOUND = "No histories were found here: try `aix demo`, or name a folder with `aix import FOLDER`"


def introduction(ledger: Path) -> list[str]:
    """Return a few lines: the histories that were found, the ledger, and the next commands."""
    surveyed = _survey(ledger)
    found = _listed(surveyed.sessions_by_tool) or "no histories of AI coding assistants on this machine"
    lines = ["AIX shows what your AI coding assistants did, cost, and were allowed to do.", ""]
    if not is_ledger(ledger):
        lines += [_row("Found", found), _row("Ledger", "none yet")]
        if surveyed.plan:
            lines.append(_row("Next", "`aix import` reads these histories and changes nothing in them"))
        else:
            lines.append(_row("Next", "`aix demo` for a sample, or `aix import FOLDER` for histories elsewhere"))
        return [*lines, _row("Help", "`aix --help` lists all commands")]
    changed = sum(each.state.must_be_read for each in surveyed.plan)
    if changed:
        found += f"; {counted(changed, 'source')} changed since the last import"
    lines += [_row("Found", found), _row("Ledger", _about(ledger))]
    lines.append(_row("Next", f"{'`aix import`, then ' if changed else ''}`aix overview`, `aix cost` or `aix audit`"))
    return [*lines, _row("Help", "`aix --help` lists all commands")]


def make_ledger(ctx: click.Context, missing: LedgerNotFoundError) -> None:
    """Offer to import the histories of this machine; raise an error that says how, unless that was done."""
    given = ctx.params.get("ledger")
    ledger = absolute_path(missing.path)
    if given is None or absolute_path(given) != ledger or _is_something_else(ledger):
        raise missing
    config = load_config(ctx.obj)
    is_named = ledger != absolute_path(config.ledger)
    is_default = not is_named and config.settings["ledger"].origin == "default"
    place = "" if is_default else f"its folder would be {ledger}; `aix config` shows the settings in use"
    command = f"aix import --ledger {shlex.quote(str(ledger))}" if is_named else "aix import"
    if ctx.info_name in _QUICK_COMMANDS:
        raise NoLedgerYetError(missing.path, f"Run `{command}`", place)
    found = _listed(_survey(missing.path).sessions_by_tool)
    if not found:
        raise NoLedgerYetError(missing.path, _NOTHING_FOUND, place)
    if not is_dialogue() or not confirm(f"No ledger yet. Found: {found}. Import them now?"):
        raise NoLedgerYetError(missing.path, f"Run `{command}` (found: {found})", place)
    _import(ctx.find_root(), missing.path)


def _import(root: click.Context, ledger: Path) -> None:
    """Run `aix import` on the histories of this machine."""
    assert isinstance(root.command, click.Group)  # noqa: S101 - `aix` is a group
    command = root.command.get_command(root, "import")
    assert command is not None  # noqa: S101 - which has this command
    with command.make_context("import", ["--ledger", str(ledger)], parent=root) as inner:
        command.invoke(inner)


def _survey(ledger: Path) -> "Survey":
    from aix.pipeline.run import Settings, survey

    with prints_beside():
        return survey(ledger, None, Settings())


def _listed(sessions_by_tool: Mapping[str, int]) -> str:
    return "; ".join(f"{tool}, {counted(count, 'session')}" for tool, count in sessions_by_tool.items())


def _row(name: str, text: str) -> str:
    return f"{name:<8}{text}"


def _about(ledger: Path) -> str:
    from aix.reading.summary import read_summary

    try:
        summary = read_summary(ledger)
    except LedgerError as error:
        return str(error)
    sessions = counted(summary.sessions, "session")
    if summary.imported_at is None:
        return sessions
    return f"{sessions}, last import {short_ago(time.time_ns() // 10**6 - summary.imported_at)}"


def _is_something_else(path: Path) -> bool:
    """Whether there is a file or folder at the path that no import has begun to fill."""
    if not path.is_dir():
        return path.exists()
    names = {each.name for each in path.iterdir()}
    return bool(names) and not names & _FOLDERS_OF_LEDGER
