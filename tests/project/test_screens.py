"""Pages for users: their commands run, and print what the pages show."""

import re
import shlex
import subprocess
import sys

import click
import pytest

from aix.cli.root import aix as root_command
from aix.query.packs import find_query
from tests import ROOT

HOWTO = (ROOT / "docs" / "howto.md").read_text("utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", HOWTO, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    if line.startswith("aix ")
]


@pytest.mark.long
def test_readme_and_tutorial_show_what_their_commands_print() -> None:
    process = subprocess.run([sys.executable, "docs/screens.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


def is_understood(command: click.Command, arguments: list[str]) -> bool:
    """Whether a command takes the arguments; files of the reader need not exist here."""
    try:
        command.make_context("aix", list(arguments))
    except click.BadParameter as error:
        return "does not exist" in str(error)
    return True


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_howto_are_understood(line: str) -> None:
    arguments = shlex.split(line)[1:]
    command: click.Command = root_command
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        name = arguments.pop(0)
        found = command.get_command(click.Context(command), name)
        assert found, name
        command = found
    assert is_understood(command, arguments)
    if command.name == "query" and not arguments[0].startswith("-"):
        find_query(arguments[0])


def test_the_howto_has_the_jobs_that_people_ask_for() -> None:
    headings = re.findall(r"^## (.*)$", HOWTO, re.MULTILINE)
    for job in (
        "month",
        "client",
        "team",
        "status line",
        "Cursor",
        "another total",
        "CI",
        "settings",
        "Delete",
        "Spark",
    ):
        assert [heading for heading in headings if job in heading], job
