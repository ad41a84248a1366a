"""Everything that docs/permissions.md shows is true: its tables, its examples and its figures about the fixtures."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aix.permissions import RISK_FILE, Call, Rule
from aix.permissions.contract import dialects
from aix.permissions.risk_rules import SEVERITIES
from aix.permissions.risks import Risks, load_risks
from aix.permissions.shell import split
from aix.permissions.targets import Part, parts_of
from aix.query.packs import packs, read_packs
from aix.schema import TABLES
from tests import ROOT
from tests.permissions.ledger import settings_of
from tests.support.command_line import run_here

PAGE = (ROOT / "docs" / "permissions.md").read_text("utf-8")
FIELDS = {"Read": "file_path", "Edit": "file_path", "Write": "file_path", "WebFetch": "url", "Bash": "command"}
PROJECTS = ("press", "loom", "mill")

Audit = Callable[..., str]
Row = tuple[str, ...]


def table(*header: str) -> list[Row]:
    """Return the rows of the page's table with this header, without the marks of code."""
    written = PAGE.split(f"| {' | '.join(header)} |\n", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    cells = (re.split(r"(?<!\\)\|", line)[1:-1] for line in written)
    return [tuple(cell.strip().replace("\\|", "|") for cell in row) for row in cells]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def block(language: str) -> str:
    return PAGE.split(f"```{language}\n", 1)[1].split("```", 1)[0]


def look_at(command: str, risks: Risks) -> tuple[tuple[Part, ...], dict[int, dict[str, str]]]:
    """Return the targets of a command that is called in `/p`, and by their number the risks with their severities."""
    script = split(command)
    parts = parts_of("exec", "Bash", command, "/p", "/p", script=script)
    found: dict[int, dict[str, str]] = {}
    for risk in risks.risks_of(parts, script):
        found.setdefault(risk.number, {})[risk.risk] = risk.severity
    return parts, found


def test_every_class_of_risk_is_listed_with_its_severities() -> None:
    written = tomllib.loads(RISK_FILE.read_text("utf-8"))
    severities = {
        risk: {rule["severity"] for rule in written["rule"] if rule["risk"] == risk} for risk in written["risks"]
    }
    assert table("class", "what it means", "severities") == [
        (f"`{risk}`", meaning, ", ".join(each for each in SEVERITIES if each in severities[risk]))
        for risk, meaning in written["risks"].items()
    ]


def test_a_file_of_ones_own_does_what_the_page_says(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(block("toml"), "utf-8")
    found = {
        command: {
            risk: severity for each in look_at(command, load_risks(own))[1].values() for risk, severity in each.items()
        }
        for command in ("kamal deploy", "head exports/march.csv", "git rebase main", "git commit --amend")
    }
    assert found == {
        "kamal deploy": {"package_publish": "high"},
        "head exports/march.csv": {"customer_data": "high"},
        "git rebase main": {"history_rewriting": "low"},
        "git commit --amend": {},
    }
    assert all(f"`{command}`" in PAGE for command in found)


def test_every_query_of_the_pack_is_told_in_a_sentence() -> None:
    queries, problems = read_packs([pack for pack in packs() if pack.name == "permission_usage"])
    assert not problems
    told = {name for query, _ in table("query", "says") for name in code(query)}
    assert {query.name.partition("/")[2] for query in queries} <= told


def test_every_outcome_is_told() -> None:
    told = {
        name for outcome, *_ in table("outcome", "what shows it in Claude Code", "in Cursor") for name in code(outcome)
    }
    [outcome] = [column for column in TABLES["permission_decisions"] if column.name == "outcome"]
    assert told == set(outcome.words)


def test_the_chain_is_split_as_the_page_shows() -> None:
    [command] = re.findall(r"^The command `(.+)`, called in `/p`,$", PAGE, re.MULTILINE)
    parts, risks = look_at(command, load_risks())
    sides = {True: "yes", False: "no", None: ""}
    assert table("number", "kind", "access", "target", "outside", "risks") == [
        (
            str(number),
            part.kind,
            part.access,
            f"`{part.target}`",
            sides[part.is_outside],
            ", ".join(risks.get(number, ())),
        )
        for number, part in enumerate(parts)
    ]
    assert parts[1].wrappers == "sudo"


DECISIONS = table("rules", "tool", "asked for", "decision", "why")


@pytest.mark.parametrize(("rules", "tool", "asked", "decision", "why"), DECISIONS)
def test_rules_decide_as_the_page_says(rules: str, tool: str, asked: str, decision: str, why: str) -> None:
    listed = [rule.partition(" ") for rule in code(rules)]
    in_force = [
        Rule(kind, text, "project", "/p/.claude/settings.json", place, "/p")
        for place, (kind, _, text) in enumerate(listed)
    ]
    given = {FIELDS[tool]: "".join(code(asked))} if tool in FIELDS else {}
    judge = dialects()["claude-code"].judge(in_force, "/h")
    assert str(judge.judge(Call(tool, given, "/p")).decision) == decision, why


@pytest.fixture(scope="module")
def audit(permission_ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Run a command of the audit once, and give the JSON that it wrote."""
    out = tmp_path_factory.mktemp("page") / "out.json"

    @cache
    def run(*arguments: str) -> str:
        run_here("audit", *arguments, "--json", "--ledger", str(permission_ledger), "-o", str(out))
        return out.read_text("utf-8")

    return run


def replay(audit: Audit, project: str, *arguments: str) -> list[dict[str, Any]]:
    """Replay a project's own settings over its history."""
    rows: list[dict[str, Any]] = json.loads(audit("replay", *settings_of(project), "--project", project, *arguments))
    return rows


def listed_in(proposed: dict[str, Any]) -> list[str]:
    rules: list[str] = proposed["settings"]["permissions"]["allow"]
    return rules


def test_the_replay_of_the_example_is_what_the_command_counts(audit: Audit) -> None:
    agrees = {True: "yes", False: "no", None: ""}
    assert table("would", "by", "happened", "calls", "needed_permission", "agrees") == [
        (
            *map(str, (row[name] for name in ("would", "by", "happened", "calls", "needed_permission"))),
            agrees[row["agrees"]],
        )
        for row in replay(audit, "mill")
    ]
    needing = [
        call
        for call in replay(audit, "mill", "--calls")
        if call["happened"] in ("ran", "failed") and not call["by_itself"]
    ]
    allowed = sum(call["would"] == "allow" for call in needing)
    assert f"Of {len(needing)} calls that ran or failed and needed a permission, the rules allow {allowed}." in PAGE


def test_the_proposal_of_the_example_is_what_the_command_gives(audit: Audit) -> None:
    proposed = json.loads(audit("propose", "--project", "mill"))
    assert json.loads(block("json")) == proposed["settings"]
    rules, share = len(listed_in(proposed)), f"{proposed['coverage']:.1%}".replace("%", " %")
    assert f"{rules} rules that allow {proposed['allowed']} of these {proposed['calls']} calls ({share})" in PAGE
    refused = [use["input"]["command"] for use in proposed["refused"] if use["calls"]]
    assert f"{len(refused)} risky calls are left out: `{refused[0]}` and `{refused[1]}`." in PAGE
    half = json.loads(audit("propose", "--project", "mill", "--cover", "50%"))
    assert (len(listed_in(half)), half["allowed"], len(half["still_asked"])) == (2, 6, 4)
    bolder = json.loads(audit("propose", "--project", "mill", "--allow-risk", "destructive"))
    assert (len(listed_in(bolder)), bolder["allowed"]) == (7, 11)


def test_denials_by_rule_are_predicted_as_often_as_the_page_says(audit: Audit) -> None:
    header = ("history", "denials by rule", "deny", "ask, by a rule", "ask, by default", "not predicted")
    told = {row[0].replace("`", "").partition(",")[0]: tuple(map(int, row[1:])) for row in table(*header)}
    for project in (*PROJECTS, "lamp", "drift"):
        denied = Counter(
            (call["would"], call["by"])
            for call in replay(audit, project, "--calls")
            if call["happened"] == "denied_rule"
        )
        predicted = (denied["deny", "rule"], denied["ask", "rule"], denied["ask", "default"])
        assert told[project] == (denied.total(), *predicted, denied.total() - sum(predicted))


def test_the_disagreements_are_those_that_the_page_explains(audit: Audit) -> None:
    told = table("project", "call", "would", "by", "happened", "why")
    assert [(row[0], *code(row[1]), *row[2:5]) for row in told] == [
        (project, call["target"] or call["tool"], call["would"], call["by"], call["happened"])
        for project in (*PROJECTS, "drift")
        for call in replay(audit, project, "--disagreements")
    ]


def test_the_explained_call_is_decided_as_the_page_says(audit: Audit) -> None:
    explained = json.loads(audit("explain", "toolu_denied-by-rule_05"))
    commands = [target for target in explained["targets"] if target["kind"] == "command"]
    assert [(target["command"], target["risks"]) for target in commands] == [
        ("git status", None),
        ("rm -r cache", "destructive"),
    ]
    assert (explained["outcome"], explained["evidence_basis"]) == ("denied_rule", "text")
    assert (len(explained["matching"]), explained["verdict"]["rule"]) == (5, "Bash(rm *)")
    assert f"of the {len(explained['matching'])} rules that match it or a part of it, `Bash(rm *)` decides" in PAGE
