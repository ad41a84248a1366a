"""Every listing at every width: one line for each row, none longer than the terminal, the first three columns there."""

import io
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from aix.cli import command as command_module
from aix.cli.root import COMMANDS
from aix.cli.root import aix as root_command
from aix.output import Listing
from aix.output.tables import write_to_terminal
from aix.query.packs import own_query_names
from tests.support.command_line import run_here

WIDTHS = (60, 80, 100, 140)
pytestmark = pytest.mark.long
ARGUMENTS = {
    "embed": ["--model", "m", "--dry-run"],
    "forget": ["--match", "tide", "--dry-run"],
    "resolve": ["--trigger"],
    "sql": ["select * from turns"],
    "tree": ["--all"],
}
"""Arguments of listings that need some."""
COMPARES_LEDGERS = "health/append_only"
"""The query that needs another ledger to compare with."""
HIGHEST_HEADER = 5


def listing_commands() -> Iterator[list[str]]:
    """Give the words of every command and subcommand that writes a listing."""
    with click.Context(root_command) as context:
        for name in COMMANDS:
            command = root_command.get_command(context, name)
            members = (
                {
                    "": command,
                    **{member: command.get_command(context, member) for member in command.list_commands(context)},
                }
                if isinstance(command, click.Group)
                else {"": command}
            )
            for member, each in members.items():
                takes_nothing = each and not any(
                    isinstance(parameter, click.Argument) and parameter.required for parameter in each.params
                )
                if each and takes_nothing and {"expanded", "output_format"} <= {param.name for param in each.params}:
                    yield [name, *([member] if member else [])]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    run_here("demo", str(folder), "--end", "2026-11-16")
    return folder / "ledger"


def drawn(listing: Listing, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    stream = io.StringIO()
    write_to_terminal(listing, stream)
    return stream.getvalue().splitlines()


def check_widths(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    listings: list[Listing] = []

    def keep(listing: Listing, **_: object) -> list[str]:
        shown = listing.for_people or listing
        listings.append(replace(shown, rows=list(shown.rows)))
        return []

    monkeypatch.setattr(command_module, "emit", keep)
    run_here(*arguments)
    if not listings:  # an empty listing is a sentence
        assert capsys.readouterr().err.startswith("aix: ")
        return
    [listing] = listings
    rows = len(list(listing.rows))
    for width in WIDTHS:
        lines = drawn(listing, width, monkeypatch)
        assert max(map(cell_len, lines)) <= width
        header = "".join("".join(lines[: len(lines) - rows]).split())
        assert 1 <= len(lines) - rows <= HIGHEST_HEADER, "the header, and a line for each row"
        words = [word for column in listing.columns[:3] for word in column.name.replace("_", " ").split()]
        assert all(word in header for word in words)


@pytest.mark.parametrize("arguments", list(listing_commands()), ids=" ".join)
def test_every_listing_fits(
    arguments: list[str], ledger: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ARGUMENTS.get(arguments[0], [])
    monkeypatch.setenv("AIX_LEDGER", str(ledger))
    check_widths([*arguments, *more], monkeypatch, capsys)


@pytest.mark.parametrize("name", [name for name in own_query_names() if name != COMPARES_LEDGERS])
def test_every_query_fits(
    name: str, ledger: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_widths(["query", name, "--ledger", str(ledger)], monkeypatch, capsys)
