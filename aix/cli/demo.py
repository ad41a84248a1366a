"""`aix demo`: invented logs in a folder of their own, imported into a ledger of their own, and shown."""

import shlex
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import DATE, Command
from aix.cli.diagnostics import prints_beside, say
from aix.paths import absolute_path, check_ledger_path
from aix.sample import installed_samples

if TYPE_CHECKING:
    from aix.query.dates import Span

_MARK = "DEMO.txt"
_MARK_TEXT = """\
`aix demo` wrote this folder. `logs` holds invented logs, `ledger` the ledger that they were imported into.
`aix demo` replaces both the next time. You can delete the whole folder.
"""
_NEXT_COMMANDS = ("sessions", "audit")


@click.command(cls=Command)
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--end",
    type=DATE,
    metavar="DATE",
    help="Last day of the demo, such as 2026-11-17. Default: yesterday.",
)
@click.pass_context
def command(ctx: click.Context, folder: Path | None, end: "Span | None") -> None:
    """Show AIX on invented logs, without touching your ledger.

    Writes three weeks of logs of an invented team into FOLDER, imports them into the ledger FOLDER/ledger, and shows
    its overview. Without FOLDER, the demo lies beside your own ledger in your data folder. An earlier demo in FOLDER
    is replaced. Your histories and your ledger are neither read nor changed.

    The days are moved so that the demo ends yesterday, or on --end. All figures are the same on every day.

    \b
      aix demo
      aix demo /tmp/demo
      aix demo /tmp/demo --end 2026-11-17
    """
    from aix.config import load_config

    config = load_config(ctx.obj)
    place = (absolute_path(folder) if folder else _default_folder()).resolve()
    ledger = check_ledger_path(place / "ledger")
    if config.ledger.resolve().is_relative_to(place):
        raise click.UsageError(f"your own ledger is in {place}; name another folder for the demo.")
    last_day = end.begin.date() if end else datetime.now(config.timezone).date() - timedelta(days=1)
    samples = installed_samples()
    logs = _make_room(place)
    for sample in samples:
        sample(logs, last_day)
    _import_logs(logs, ledger, config.prices)
    _show_overview(ctx, ledger)
    say(f"this team is invented; its logs and its ledger are in {place}")
    for words in _NEXT_COMMANDS:
        say(f"try aix {words} --ledger {shlex.quote(str(ledger))}")


def _default_folder() -> Path:
    import platformdirs

    return platformdirs.user_data_path("aix") / "demo"


def _make_room(place: Path) -> Path:
    """Remove an earlier demo and return the empty folder for the logs; refuse a folder that holds other files."""
    mark, logs, ledger = place / _MARK, place / "logs", place / "ledger"
    is_demo = mark.is_file() and mark.read_bytes() == _MARK_TEXT.encode()
    is_foreign = place.is_dir() and any(place.iterdir()) and not is_demo
    if is_foreign or logs.is_symlink() or ledger.is_symlink():
        raise click.UsageError(f"{place} holds other files; name a new or an empty folder for the demo.")
    for old in (logs, ledger):
        if old.exists():
            shutil.rmtree(old)
    logs.mkdir(parents=True)
    mark.write_text(_MARK_TEXT, "utf-8")
    return logs


def _import_logs(logs: Path, ledger: Path, prices: Path | None) -> None:
    from aix.process import hold_little_memory, load_arrow

    hold_little_memory()
    load_arrow()
    from aix.pipeline.run import Settings, import_histories

    with prints_beside():
        report = import_histories(ledger, [logs], Settings(prices=prices, argv=["demo"]))
    for name, reason in report.failures:
        say(f"{name}: {reason}")


def _show_overview(ctx: click.Context, ledger: Path) -> None:
    """Run `aix overview` on the ledger of the demo."""
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)  # noqa: S101 - `aix` is a group
    overview = root.command.get_command(root, "overview")
    assert overview is not None  # noqa: S101 - which has this command
    with overview.make_context("overview", ["--ledger", str(ledger)], parent=root) as inner:
        overview.invoke(inner)
