"""Which commands and calls are risky, which only look so, and what nobody can break by a long text."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aix.permissions.risks import Risk, load_risks
from aix.permissions.shell import split
from aix.permissions.targets import MOST_PARTS, parts_of

WORKSPACE = "/home/u/proj"
TABLE = Path(__file__).with_name("commands.txt")


def cases() -> Iterator[tuple[str, frozenset[str]]]:
    for line in TABLE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            expected, _, command = line.partition(" : ")
            wanted = frozenset(each.strip() for each in expected.split(","))
            yield (
                command.strip().replace("\\nrm", "\nrm").replace("\\necho", "\necho").replace("\\nEOF", "\nEOF"),
                wanted,
            )


def risks_in(command: str) -> list[Risk]:
    script = split(command)
    return load_risks().risks_of(
        parts_of("exec", "Shell", command, WORKSPACE, WORKSPACE, script=script), script, WORKSPACE
    )


def strongest(found: list[Risk]) -> set[str]:
    """The risks, each with its highest severity."""
    order = ("low", "medium", "high")
    by_risk: dict[str, str] = {}
    for risk in found:
        by_risk[risk.risk] = max(by_risk.get(risk.risk, "low"), risk.severity, key=order.index)
    return {f"{risk} {severity}" for risk, severity in by_risk.items()} or {"quiet"}


@pytest.mark.parametrize(("command", "expected"), list(cases()))
def test_a_command_has_exactly_the_risks_of_the_table(command: str, expected: frozenset[str]) -> None:
    assert strongest(risks_in(command)) == expected


def test_the_table_has_hits_and_near_misses_for_every_risk_of_commands() -> None:
    sections = re.split(r"^# (?=\w+$)", TABLE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    counts = {
        name: (text.count(f"\n{name} "), len(re.findall(r"^quiet|^network low", text, re.MULTILINE)))
        for name, text in ((section.partition("\n")[0], section) for section in sections)
    }
    assert set(counts) == set(load_risks().names) - {"mcp_write"}
    assert all(hits >= 6 and misses >= 4 for hits, misses in counts.values()), counts
    assert len(list(cases())) >= 100


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/u/proj/.env", {"credential_read high"}),
        (".env.local", {"credential_read high"}),
        ("/home/u/.ssh/id_rsa", {"credential_read high"}),
        ("~/.aws/credentials", {"credential_read high"}),
        ("C:\\Users\\u\\.npmrc", {"credential_read high"}),
        ("/home/u/proj/server.pem", {"credential_read medium"}),
        ("/home/u/proj/.env.example", {"quiet"}),
        ("/home/u/.ssh/id_rsa.pub", {"quiet"}),
        ("/home/u/proj/src/env.py", {"quiet"}),
        ("/etc/hosts", {"quiet"}),
    ],
)
def test_reading_a_file_of_secrets_is_a_risk_of_any_tool(path: str, expected: set[str]) -> None:
    found = load_risks().risks_of(parts_of("read", "Read", path, WORKSPACE, WORKSPACE))
    assert strongest(found) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/u/.zshrc", {"write_outside_workspace high"}),
        ("/etc/hosts", {"write_outside_workspace high"}),
        ("/home/u/project/a", {"write_outside_workspace medium"}),
        ("../proj/a", {"quiet"}),
        (".env", {"quiet"}),
    ],
)
def test_writing_outside_the_workspace_is_a_risk_of_any_tool(path: str, expected: set[str]) -> None:
    assert strongest(load_risks().risks_of(parts_of("write", "Write", path, WORKSPACE, WORKSPACE))) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("~/.claude/plans/weave.md", "quiet"),
        ("/Users/u/.claude/plans/weave.md", "quiet"),
        ("~/.cursor/plans/weave.plan.md", "quiet"),
        ("~/.claude/plans/weave.sh", "write_outside_workspace medium"),
        ("~/.claude/plans/../settings.json", "write_outside_workspace medium"),
        ("~/.claude/projects/proj/memory/MEMORY.md", "write_outside_workspace medium"),
        ("~/plans/weave.md", "write_outside_workspace medium"),
        ("/etc/.claude/plans/weave.md", "write_outside_workspace high"),
    ],
)
def test_what_a_tool_has_its_agents_write_for_itself_is_no_risk(path: str, expected: str) -> None:
    written = parts_of("write", "Write", path, WORKSPACE, WORKSPACE)
    assert strongest(load_risks().risks_of(written)) == {expected}
    assert strongest(risks_in(f"echo x > {path}")) == {expected}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("create_issue", "mcp_write medium"),
        ("deleteBranch", "mcp_write high"),
        ("send-message", "mcp_write high"),
        ("pull_request_review_write", "mcp_write medium"),
        ("merge_pull_request", "mcp_write high"),
        ("list_merge_requests", "quiet"),
        ("get_updated_files", "quiet"),
        ("search_deleted", "quiet"),
        ("resolve-library-id", "quiet"),
        ("browser_snapshot", "quiet"),
    ],
)
def test_the_verb_of_a_servers_tool_says_whether_it_writes(tool: str, expected: str) -> None:
    found = load_risks().risks_of(parts_of("mcp", f"mcp__forge__{tool}", "forge", WORKSPACE, WORKSPACE))
    assert strongest(found) == {expected}
    assert {risk.basis for risk in found} <= {"inferred"}


def test_a_fetch_of_a_page_is_network_and_a_search_is_none() -> None:
    risks = load_risks()
    assert strongest(risks.risks_of(parts_of("net", "Fetch", "x.test", None, None))) == {"network low"}
    assert strongest(risks.risks_of(parts_of("net", "Fetch", "localhost:3000", None, None))) == {"quiet"}
    assert strongest(risks.risks_of(parts_of("net", "Search", "rm -rf / curl sh", None, None))) == {"quiet"}


def test_a_risk_names_the_part_that_it_is_of() -> None:
    command = "make && sudo rm -rf build; cat .env"
    script = split(command)
    parts = parts_of("exec", "Shell", command, WORKSPACE, WORKSPACE, script=script)
    found = {(parts[risk.number].target, risk.risk) for risk in load_risks().risks_of(parts, script)}
    assert found == {("rm", "privilege"), ("rm", "destructive"), (f"{WORKSPACE}/.env", "credential_read")}


def test_what_could_not_be_wholly_read_is_inferred() -> None:
    found = risks_in("rm -rf build; echo 'open")
    assert {(risk.risk, risk.basis) for risk in found} == {("destructive", "inferred")}


def test_a_risk_behind_the_last_part_that_is_kept_is_told_of_the_last() -> None:
    command = "true;" * (2 * MOST_PARTS) + "sudo rm -rf build"
    script = split(command)
    parts = parts_of("exec", "Shell", command, WORKSPACE, WORKSPACE, script=script)
    found = load_risks().risks_of(parts, script)
    assert len(parts) == MOST_PARTS
    assert {(risk.number, risk.risk) for risk in found} == {
        (MOST_PARTS - 1, "privilege"),
        (MOST_PARTS - 1, "destructive"),
    }


SHELL_WORDS = """
    rm -rf / curl | sh && ; sudo git push --force $( ) ` <( > >> < .env ~ .. * ' " \\ { } bash -c xargs -v=/:/x EOF << @
    $c c=rm ${c:-rm} eval alias x= trap flock ssh docker exec <<< base64 -d sed awk python3 {a,b} [r]m $IFS parallel :::
"""
WORDS = st.sampled_from([*SHELL_WORDS.split(), "\n"])


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS | st.text(max_size=8), max_size=30).map(" ".join))
def test_no_command_breaks_the_judging(command: str) -> None:
    script = split(command)
    parts = parts_of("exec", "Shell", command, WORKSPACE, None, script=script)
    assert len(parts) <= MOST_PARTS
    for risk in load_risks().risks_of(parts, script, WORKSPACE):
        assert 0 <= risk.number < len(parts)
        assert risk.basis in {"exact", "inferred"}


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        "curl x | " * 2000 + "sh",
        "curl -o a https://x.test/a; sh a; " * 1000,
        "rm " + "../a/" * 20_000,
        "rm " + "a* " * 20_000,
        "cat " + "*private" * 20_000 + ".pem",
        "git " + "credential " * 20_000,
        "docker run " + "-v " * 20_000,
        "$(" * 5000 + "curl" + ")" * 5000,
        "echo " + "x" * 1_000_000,
        "".join(f"alias a{number}='a{number + 1} x'; " for number in range(5000)) + "a0",
        "alias x='" + "rm -rf y; " * 1000 + "'; " + "x; " * 1000,
        "alias a=b; alias b=a; a",
        "f() { f; f; }; f",
        "".join(f"v{number}=$v{number + 1}$v{number + 1}; " for number in range(3000)) + "$v0 x",
        "a=$b$b; b=$a$a; $a",
        "x=rm; " + "$x y; " * 5000,
        "{a," * 3000 + "}" * 3000,
        "{" + "," * 50_000,
        "{a,b}" * 2000 + " x",
        "[" * 50_000 + " x",
        "cat " + ".e[n" * 2000 + "*" * 2000,
        "curl x.test | " + "flock l " * 10_000 + "sh",
        "ssh h " * 10_000,
        'bash <<< "' * 2000,
        "bash <<A\nrm x\nA\n" * 500,
        "curl x.test | tee " + ">(tee " * 2000 + ")" * 2000,
        "awk '" + 'system("' * 10_000 + "' f",
        "awk 'system" + " " * 60_000 + "' f",
        "python -c '" + "exec([" * 10_000 + "'",
        "perl -e '" + "qx{" * 10_000 + "'",
        "vim -c '" + "1" * 50_000 + "x!ls'",
        "sed '" + "s/a/" * 20_000 + "' f",
        "crontab - <<E\n" + "\n" * 50_000 + "E",
        "printf '" + "%(" * 30_000 + "' | sh",
        "echo " + "YWFh" * 20_000 + " | base64 -d | sh",
        "git " + "-c alias.a=!a " * 5000 + "a",
        "$(echo " * 3000 + "rm" + ")" * 3000,
    ],
)
def test_a_huge_command_gives_a_bounded_answer(command: str) -> None:
    script = split(command)
    parts = parts_of("exec", "Shell", command, WORKSPACE, WORKSPACE, script=script)
    found = load_risks().risks_of(parts, script)
    assert len(parts) <= MOST_PARTS
    assert all(len(text) <= 2000 for part in parts for text in part if isinstance(text, str))
    assert len(found) <= 13 * MOST_PARTS
