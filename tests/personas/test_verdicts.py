"""Decisions of personas about calls: deny before ask before allow, and a list allows nothing else."""

import pytest

from aix.personas.verdicts import Lists, PersonaVerdicts, gains

CLAUDE_CODE = "claude-code"
READER: Lists = {"allow": ["Read", "Bash(git *)", "Bash(ls *)"], "deny": ["Bash(git push *)"]}


def decide(lists: Lists, tool: str, target: str | None, origin: str = CLAUDE_CODE) -> tuple[object, ...] | None:
    rows = PersonaVerdicts({"one": lists}).about(("one", origin, tool, target, "/srv/shop", None))
    return rows["persona_verdicts"][0][1:4] if rows else None


@pytest.mark.parametrize(
    ("lists", "tool", "target", "expected"),
    [
        (READER, "Bash", "git status", ("allow", "allow", "Bash(git *)")),
        (READER, "Bash", "git push origin", ("deny", "deny", "Bash(git push *)")),
        (READER, "Bash", "git status && git push", ("deny", "deny", "Bash(git push *)")),
        (READER, "Bash", "git status && make", ("unlisted", None, None)),
        (READER, "Bash", "ls a && cat secrets.txt", ("unlisted", None, None)),
        (READER, "Bash", "cd docs && git status", ("unlisted", None, None)),
        (READER, "Bash", "git status && ls docs", ("allow", "allow", "Bash(git *)")),
        (READER, "Bash", "ls $(cat secrets.txt)", ("unlisted", None, None)),
        (READER, "Bash", "ls a; echo 'never closed", ("unlisted", None, None)),
        ({"allow": ["Bash"]}, "Bash", "ls a; echo 'never closed", ("allow", "allow", "Bash")),
        ({"allow": ["Bash"]}, "Bash", "cd docs && make", ("allow", "allow", "Bash")),
        (READER, "Bash", "ls docs", ("allow", "allow", "Bash(ls *)")),
        (READER, "Bash", "cat notes.md", ("unlisted", None, None)),
        (READER, "Read", "/srv/shop/a.md", ("allow", "allow", "Read")),
        (READER, "WebFetch", "example.com", ("unlisted", None, None)),
        ({"allow": []}, "Read", "/srv/shop/a.md", ("unlisted", None, None)),
        ({"deny": ["WebFetch"]}, "WebFetch", "example.com", ("deny", "deny", "WebFetch")),
        ({"deny": ["WebFetch"]}, "Bash", "make", ("allow", None, None)),
        ({"deny": ["Read(./.env)"]}, "Bash", "cat .env", ("deny", "deny", "Read(./.env)")),
        ({"deny": []}, "Bash", "make", ("allow", None, None)),
        ({"ask": ["Bash(make *)"], "allow": ["Bash"]}, "Bash", "make all", ("ask", "ask", "Bash(make *)")),
        ({"ask": ["Bash"], "deny": ["Bash(rm *)"]}, "Bash", "rm x", ("deny", "deny", "Bash(rm *)")),
        ({"allow": ["Bash"], "deny": ["Bash"]}, "Bash", "ls", ("deny", "deny", "Bash")),
        ({"host": ["a.example"]}, "Bash", "ls", None),
    ],
)
def test_rules_decide_as_the_tool_reads_them(
    lists: Lists, tool: str, target: str, expected: tuple[str, str | None, str | None] | None
) -> None:
    assert decide(lists, tool, target) == expected


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ({"deny": ["hammer"], "allow": ["hammer"]}, ("deny", "deny", "hammer")),
        ({"ask": ["hammer"]}, ("ask", "ask", "hammer")),
        ({"allow": ["hammer"]}, ("allow", "allow", "hammer")),
        ({"allow": ["saw"]}, ("unlisted", None, None)),
        ({"deny": ["hammer(nails)"]}, ("allow", None, None)),
    ],
)
def test_of_tools_without_known_rules_the_name_counts(
    lists: Lists, expected: tuple[str, str | None, str | None]
) -> None:
    assert decide(lists, "hammer", "nails", origin="workshop") == expected


def test_hostile_calls_are_judged_and_not_run() -> None:
    for target in ("$(" * 500, "a" * 100_000, "\x00", "'never closed", "rm -rf / #"):
        decision = decide({"deny": ["Bash(rm *)"]}, "Bash", target)
        assert decision is not None
        assert decision[0] in ("allow", "deny")


def gained(before: Lists, after: Lists) -> list[tuple[object, ...]]:
    found = gains({"before": before, "after": after})
    rows = [row[3:] for row in found if row[:3] == (CLAUDE_CODE, "before", "after")]
    return [] if rows == [(None, None)] else rows


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"allow": ["Read"]}, {"allow": ["Read"]}, []),
        ({"allow": ["Read"]}, {"allow": ["Read", "Bash(git *)"]}, [("allow", "Bash(git *)")]),
        ({"allow": ["Bash(git *)"]}, {"allow": ["Bash(git log *)", "Bash(git status)"]}, []),
        ({"allow": ["Bash(git log *)"]}, {"allow": ["Bash(git *)"]}, [("allow", "Bash(git *)")]),
        ({"allow": ["Bash"]}, {"allow": ["Bash(rm *)"]}, []),
        ({"allow": ["Read"]}, {}, [("allow", "*")]),
        ({}, {"allow": ["Read", "Bash"]}, []),
        ({"deny": ["Bash(rm *)"]}, {}, [("deny", "Bash(rm *)")]),
        ({"deny": ["Bash(rm *)"]}, {"deny": ["Bash"]}, []),
        ({"deny": ["Bash(rm *)"]}, {"allow": ["Read"]}, []),
        ({"deny": ["Bash(rm *)"]}, {"allow": ["Bash(rm *)"]}, [("allow", "Bash(rm *)"), ("deny", "Bash(rm *)")]),
        ({"deny": ["Bash(git push *)"]}, {"allow": ["Bash(git *)"]}, [("deny", "Bash(git push *)")]),
        ({"ask": ["Bash(git push *)"]}, {"allow": ["Bash(git push *)"]}, [("allow", "Bash(git push *)")]),
        ({"ask": ["Bash(git push *)"]}, {}, [("ask", "Bash(git push *)")]),
        (
            {"allow": ["Bash"], "ask": ["Bash(git push *)"]},
            {"allow": ["Bash"]},
            [("ask", "Bash(git push *)")],
        ),
        ({"allow": ["Read"]}, {"allow": ["Read", "Write"], "deny": ["Write"]}, []),
        ({"write": ["/srv"], "host": ["*.a.example"]}, {"write": ["/srv/shop"], "host": ["b.a.example"]}, []),
        ({"write": ["/srv"]}, {"write": ["/srvs"]}, [("write", "/srvs")]),
        ({"ask": ["Bash(git push *)"]}, {"deny": ["Bash(git push *)"]}, []),
        ({"allow": ["Read"]}, {"allow": ["Read"], "ask": ["WebFetch"]}, [("ask", "WebFetch")]),
        ({"credential": ["A"]}, {"credential": ["A", "B"]}, [("credential", "B")]),
        ({"credential": []}, {}, [("credential", "*")]),
        ({}, {"credential": ["A"], "host": ["x"]}, []),
        ({"write": ["workspace"], "read": ["/a"]}, {"write": ["workspace", "/b"], "read": []}, [("write", "/b")]),
    ],
)
def test_gains_are_what_only_the_second_permits(before: Lists, after: Lists, expected: list[tuple[str, str]]) -> None:
    assert gained(before, after) == expected


def test_origins_without_known_rules_compare_texts() -> None:
    lists: dict[str, Lists] = {"before": {"deny": ["hammer(nails)"]}, "after": {}, "same": {"deny": ["hammer(nails)"]}}
    found = {row[1:3]: row[3:] for row in gains(lists) if row[0] is None}
    assert found["before", "after"] == ("deny", "hammer(nails)")
    assert found["before", "same"] == found["after", "before"] == (None, None)
