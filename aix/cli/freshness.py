"""An import before a command reads the ledger, when it is cheap; else a line that says how far the ledger is behind."""

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from aix.cli.diagnostics import prints_beside, say, whisper
from aix.cli.stdout import is_terminal
from aix.config import load_config
from aix.errors import AixError
from aix.output.humanise import counted
from aix.store.manifest import RAW_FOLDER, VERSIONS_FOLDER, is_ledger

if TYPE_CHECKING:
    from aix.pipeline.report import Report

_R = TypeVar("_R")
_MOST_SOURCES = 20
_MOST_BYTES = 2 * 2**20
"""To read so much takes a fraction of a second; most of the time is that of the commit, whatever is read."""


def import_first(command: Callable[..., _R]) -> Callable[..., _R]:
    """Let a command that reads `ledger` import what has changed before; `--no-import` skips that."""

    @click.option(
        "--no-import",
        is_flag=True,
        help="Do not import small changes first. Default: as `aix config` shows for auto_import.",
    )
    @wraps(command)
    def freshen_and_run(*args: object, no_import: bool, ledger: Path, **kwargs: object) -> _R:
        if not no_import:
            freshen(click.get_current_context(), ledger)
        return command(*args, ledger=ledger, **kwargs)

    return freshen_and_run


def freshen(ctx: click.Context, ledger: Path) -> None:
    """Import small changes into the configured ledger, if the settings ask for it; no error stops the command."""
    config = load_config(ctx.obj)
    is_wanted = config.auto_import == "always" or (config.auto_import == "terminal" and is_terminal())
    if not is_wanted or ledger != config.ledger or not is_ledger(ledger):
        return
    if not os.access(ledger / VERSIONS_FOLDER, os.W_OK):
        return
    try:
        report = _import_small_changes(ledger, config.prices, config.personas)
    except AixError as error:
        whisper(f"changed logs could not be imported: {error}")
    except Exception as error:  # a defect here must not cost the answer to another question
        whisper(f"changed logs could not be imported: {type(error).__name__}: {error}")
    else:
        _say_outcome(report)


def _import_small_changes(ledger: Path, prices: Path | None, personas: Path | None) -> "Report":
    from aix.cli.import_ import ArrowLoader
    from aix.importing import readable
    from aix.pipeline.freshness import Amount
    from aix.pipeline.run import Settings, import_histories

    settings = Settings(
        at_most=Amount(_MOST_SOURCES, _MOST_BYTES),
        keep_raw=(ledger / RAW_FOLDER).exists(),
        prices=prices,
        personas=personas,
        keeps_personas=True,
        argv=[readable(word) for word in sys.argv[1:]],
    )
    with prints_beside():
        return import_histories(ledger, None, settings, ArrowLoader())


def _say_outcome(report: "Report") -> None:
    """Say what was imported, and what waits."""
    from aix.cli.import_ import deletion_notices
    from aix.pipeline.report import Status

    if report.has_other_personas:
        whisper("the ledger does not have the personas of your file as it is now; run `aix import` to apply it")
    elif report.needs_full_run:
        whisper("the ledger was made by another version of AIX or with other prices; run `aix import` to update it")
    elif report.is_busy:
        whisper("another import is at work; its changes are not shown yet")
    elif count := report.statuses[Status.IMPORTED] + report.statuses[Status.UPSERTED]:
        whisper(f"imported {counted(count, 'changed source')}")
    if report.waiting:
        whisper(f"{counted(report.waiting, 'source')} changed since the last import; run aix import")
        for notice in deletion_notices(report.near_deletion, are_imported=False):
            say(notice)
    if failed := report.statuses[Status.FAILED]:
        whisper(f"{counted(failed, 'changed source')} could not be read; aix import shows why")
