"""Commands that hide what they do: each shows the risks of what it runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aix.permissions.shell import split
from aix.permissions.shell.indirect import commands_run
from benchmarks.evasion_cases import main
from tests.permissions.risks.test_risks import risks_in

TABLE = Path(__file__).with_name("evasions.txt")


def cases() -> Iterator[tuple[str, frozenset[str]]]:
    for line in TABLE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            expected, _, command = line.partition(" : ")
            yield command.replace("\\n", "\n"), frozenset(each.strip() for each in expected.split(","))


@pytest.mark.parametrize(("command", "expected"), list(cases()))
def test_a_hidden_command_has_the_risks_of_what_it_runs(command: str, expected: frozenset[str]) -> None:
    assert {risk.risk for risk in risks_in(command)} == expected


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("c=rm; $c -rf x", ["$c", "rm"]),
        ("${x:-rm} -rf x", ["${x:-rm}", "rm"]),
        ("flock lock sudo rm x", ["flock", "rm"]),
        ("bash <<E\nrm x\nE", ["bash", "rm"]),
        ("git -c alias.x='!rm y' x", ["git", "rm"]),
        ("ls | grep x", ["ls", "grep"]),
        ("c=a; c=b; $c", ["$c", "a", "b"]),
    ],
)
def test_the_programs_that_a_command_runs_indirectly_are_named(command: str, programs: list[str]) -> None:
    assert list(dict.fromkeys(run.program for run in commands_run(split(command)))) == programs


def test_the_share_of_cases_with_a_risk_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cases.jsonl"
    commands = ["$c -rf x"] * 19 + ["ls"]
    file.write_text("".join(json.dumps({"name": "a", "command": command}) + "\n" for command in commands), "utf-8")
    assert main([str(file)]) == 0
    assert capsys.readouterr().out == "a: 'ls' shows no risk\n19 of 20 cases show a risk (95.0%)\n"
    file.write_text('{"name": "b", "command": "ls"}\n', "utf-8")
    assert main([str(file)]) == 1


ORDINARY = Path(__file__).with_name("ordinary_commands.txt")


def ordinary() -> list[tuple[str, frozenset[str]]]:
    lines = [line for line in ORDINARY.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    parted = [line.partition(" : ") for line in lines]
    return [
        (re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], command), _classes(expected))
        for expected, _, command in parted
    ]


def _classes(expected: str) -> frozenset[str]:
    return frozenset(each.strip() for each in expected.split(",")) - {"quiet"}


def test_no_ordinary_command_has_a_risk_that_it_had_not() -> None:
    listed = ordinary()
    found = {command: {risk.risk for risk in risks_in(command)} for command, _ in listed}
    assert len(found) == 500
    assert {command: found[command] - before for command, before in listed if found[command] - before} == {}
    assert sum(map(bool, found.values())) <= sum(bool(before) for _, before in listed)
