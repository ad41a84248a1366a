"""Claude Code's permission rules: what they decide, and what holds whatever is called."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from aix.permissions import Call, Decision, Rule
from aix.permissions.globs import GlobError
from aix.permissions.shell import split
from aix_importers.claude_code.permissions import ClaudeCodeRules
from aix_importers.claude_code.permissions.paths import CallSite, GitignoreRules, compile_path
from aix_importers.claude_code.permissions.patterns import HostRules, PatternIndex, compile_host, compile_pattern

DIALECT = ClaudeCodeRules()
CASES = [
    json.loads(line) for line in (Path(__file__).parent / "permission_cases.jsonl").read_text("utf-8").splitlines()
]
HOME = "/home/ada"
RULE_TEXTS = sorted({(kind, text) for case in CASES for kind, texts in case["rules"].items() for text in texts})
STRENGTH = (Decision.ALLOW, Decision.NONE, Decision.ASK, Decision.DENY)

Texts = list[tuple[str, str]]


def rules_of(texts: Texts, folder: str = "/w/shop") -> list[Rule]:
    file = f"{folder}/.claude/settings.json"
    return [Rule(kind, text, "project", file, number, folder) for number, (kind, text) in enumerate(texts)]


def call_of(case: dict[str, Any]) -> Call:
    return Call(case["tool"], case["input"], case["cwd"])


ANY_TEXT = st.text(max_size=40) | st.sampled_from(
    [
        "rm -rf x && ls",
        "git log > a",
        "$(((",
        "'",
        "a|b|c",
        "~/x",
        "..",
        "src/x.ts",
        "https://[x",
        "//",
        "C:\\x",
        "*",
        "!a",
    ]
)
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=4,
)
PARAMETERS = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "filePath",
    "url",
    "subagent_type",
    "skill",
    "args",
    "model",
)
TOOLS = [*sorted({case["tool"] for case in CASES}), "mcp__", "mcp__a", "LS", "SlashCommand", ""]
CALLS = st.sampled_from([call_of(case) for case in CASES]) | st.builds(
    Call,
    st.sampled_from(TOOLS) | ANY_TEXT,
    st.dictionaries(st.sampled_from(PARAMETERS), ANY_TEXT | ANY_VALUE, max_size=3),
    st.sampled_from(["", "/w/shop", "C:\\shop"]) | ANY_TEXT,
)
KINDS = st.sampled_from(["allow", "ask", "deny"])
RULES = st.lists(
    st.sampled_from(RULE_TEXTS)
    | st.tuples(st.sampled_from(["allow", "ask", "deny", "mode", "directory"]), ANY_TEXT)
    | st.builds(
        lambda kind, tool, text: (kind, f"{tool}({text})"),
        KINDS,
        st.sampled_from(
            ["Bash", "PowerShell", "Read", "Edit", "Write", "WebFetch", "Agent", "Skill", "mcp__a__b", "X"]
        ),
        ANY_TEXT,
    ),
    max_size=5,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_rules_decide_as_documented(case: dict[str, Any]) -> None:
    texts = [(kind, text) for kind, texts in case["rules"].items() for text in texts]
    judge = DIALECT.judge(rules_of(texts, case["settings_dir"]), case["home"])
    verdict = judge.judge(call_of(case))
    assert (verdict.decision, verdict.rule and verdict.rule.text) == (case["expect"], case["rule"]), verdict.reason
    assert [rule.text for rule in verdict.rules] == case.get("rules_used", [rule.text for rule in verdict.rules])
    assert set(verdict.rules) <= set(judge.matching(call_of(case)))


@given(RULES, CALLS, st.none() | st.just(HOME) | ANY_TEXT)
def test_any_call_gets_an_answer(texts: Texts, call: Call, home: str | None) -> None:
    judge = DIALECT.judge(rules_of(texts), home)
    verdict = judge.judge(call)
    matching = judge.matching(call)
    assert set(verdict.rules) <= set(matching)
    assert verdict.rule is None or verdict.rule == verdict.rules[0]
    assert verdict.rule is not None or verdict.decision is not Decision.ALLOW
    assert verdict.reason.endswith(".")
    assert [rule for rule, reason in judge.remarks() if not reason.endswith(".")] == []
    assert judge.judge(call) == verdict


@given(RULES, CALLS)
def test_deny_comes_before_ask_and_ask_before_allow(texts: Texts, call: Call) -> None:
    verdict = DIALECT.judge(rules_of(texts), HOME).judge(call)
    for kind in ("deny", "ask"):
        alone = DIALECT.judge(rules_of([each for each in texts if each[0] == kind]), HOME).judge(call)
        if alone.rule is not None:
            assert verdict.decision is alone.decision
            assert verdict.rule is not None
            assert verdict.rule.text == alone.rule.text
            return
    assert verdict.rule is None or verdict.decision is Decision.ALLOW


@given(RULES, RULES, CALLS)
def test_a_deny_or_ask_rule_more_never_weakens_a_decision(texts: Texts, more: Texts, call: Call) -> None:
    added = [(kind, text) for kind, text in more if kind in ("deny", "ask") and "!" not in text]
    before = DIALECT.judge(rules_of(texts), HOME).judge(call).decision
    after = DIALECT.judge(rules_of(texts + added), HOME).judge(call).decision
    assert STRENGTH.index(after) >= STRENGTH.index(before)


@given(RULES, CALLS, st.randoms())
def test_the_order_of_rules_changes_no_decision(texts: Texts, call: Call, random: Random) -> None:
    kept = [(kind, text) for kind, text in texts if "!" not in text]
    shuffled = random.sample(kept, len(kept))
    decisions = {DIALECT.judge(rules_of(each), HOME).judge(call).decision for each in (kept, shuffled)}
    assert len(decisions) == 1


SUBSTITUTED = st.sampled_from(sorted({case["input"]["command"] for case in CASES if case["tool"] == "Bash"})) | ANY_TEXT


@given(SUBSTITUTED)
@example("cat a\nrm -rf x")
@example("ls; A=1 cat b")
def test_only_what_runs_by_itself_needs_no_rule_in_an_argument(command: str) -> None:
    inner = split(command)
    if not inner.is_whole or not inner.simple:
        return
    judge = DIALECT.judge(rules_of([("allow", "Bash(stamp *)")]), HOME)
    call = Call("Bash", {"command": f'stamp "$({command}\n)"'}, "/w/shop")
    if judge.judge(call).decision is Decision.ALLOW:
        assert judge.runs_by_itself(Call("Bash", {"command": command}, "/w/shop"))


@given(CALLS)
@example(Call("WebFetch", {"url": "https://example.com../"}, ""))
@example(Call("Read", {"file_path": "a\x1f"}, "/w/shop"))
@example(Call("Skill", {"command": "//"}, ""))
def test_proposed_rules_let_the_call_pass(call: Call) -> None:
    proposed = DIALECT.patterns(call)
    if not all(proposed) or not proposed:
        return
    for chosen in ([part[0] for part in proposed], [part[-1] for part in proposed]):
        rules = [Rule("allow", text, "local", "/w/settings.json", 0, "") for text in chosen]
        assert DIALECT.judge(rules).judge(call).decision is Decision.ALLOW, chosen


@pytest.mark.parametrize(
    ("tool", "given_input", "proposed"),
    [
        ("Bash", {"command": "git push origin main"}, [["Bash(git push origin main)", "Bash(git push *)"]]),
        ("Bash", {"command": "npm run test -- -u"}, [["Bash(npm run test -- -u)", "Bash(npm run test *)"]]),
        ("Bash", {"command": "timeout 9 ls -l | wc"}, [["Bash(ls -l)", "Bash(ls *)"], ["Bash(wc)", "Bash(wc *)"]]),
        ("Bash", {"command": "python3 a.py 1"}, [["Bash(python3 a.py 1)", "Bash(python3 a.py *)"]]),
        ("Bash", {"command": "python3 -c 'x'"}, [["Bash(python3 -c 'x')"]]),
        ("Bash", {"command": ".venv/bin/python -c 'x'"}, [["Bash(.venv/bin/python -c 'x')"]]),
        ("Bash", {"command": "git -C log log"}, [["Bash(git -C log log)", "Bash(git -C log log *)"]]),
        ("Bash", {"command": "rm -rf out"}, [["Bash(rm -rf out)"]]),
        ("Bash", {"command": "rm -rf /"}, [["Bash(rm -rf /)"], []]),
        ("Bash", {"command": "watch ls"}, [["Bash(watch ls)"]]),
        ("Bash", {"command": "make > a/b.log"}, [["Bash(make)", "Bash(make *)"]]),
        (
            "Bash",
            {"command": "make > /srv/a/b.log"},
            [["Bash(make)", "Bash(make *)"], ["Edit(//srv/a/b.log)", "Edit(//srv/a/**)"]],
        ),
        ("Bash", {"command": 'make V="$(cat a)"'}, [['Bash(make V="$(cat a)")', "Bash(make *)"]]),
        ("Bash", {"command": "make > $X"}, [["Bash(make)", "Bash(make *)"], []]),
        ("Bash", {"command": "LD_PRELOAD=x make"}, [["Bash(LD_PRELOAD=x make)"]]),
        ("Edit", {"file_path": "/w/shop/src/a.py"}, [["Edit(/src/a.py)", "Edit(/src/**)"]]),
        ("Write", {"file_path": "/w/shop/a.py"}, [["Edit(/a.py)"]]),
        ("Read", {"file_path": "/srv/x/[a].py"}, [[r"Read(//srv/x/\[a\].py)", "Read(//srv/x/**)"]]),
        ("Edit", {"file_path": "/w/shop/.git/config"}, [[]]),
        ("WebFetch", {"url": "https://docs.test/a"}, [["WebFetch(domain:docs.test)"]]),
        ("mcp__tracker__list", {}, [["mcp__tracker__list", "mcp__tracker"]]),
        ("Task", {"subagent_type": "Plan"}, [["Agent(Plan)"]]),
        ("Skill", {"skill": "release", "args": "1"}, [["Skill(release)", "Skill(release *)"]]),
        ("PowerShell", {"command": "gci x"}, [["PowerShell(get-childitem x)", "PowerShell(get-childitem *)"]]),
        ("TodoWrite", {}, [["TodoWrite"]]),
    ],
)
def test_rules_are_proposed_from_the_narrowest(
    tool: str, given_input: dict[str, Any], proposed: list[list[str]]
) -> None:
    assert DIALECT.patterns(Call(tool, given_input, "/w/shop")) == proposed


REMARKS = {
    "allow": [
        "",
        "Bash(make",
        "Shell(make)",
        "Write(a/**)",
        "*",
        "mcp__*",
        "Agent(model:opus)",
        "Read([x)",
        "mcp__a(b)",
    ],
    "deny": ["Bash(command:rm *)", "Glob(a/**)", "EndConversation", "WebFetch(https://x.test)", "Cd(~/x)", "Stop Task"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in REMARKS.items() for text in texts])
def test_a_rule_that_never_decides_is_remarked_on(kind: str, text: str) -> None:
    [(rule, reason)] = DIALECT.judge(rules_of([(kind, text)])).remarks()
    assert (rule.text, reason[-1:]) == (text, ".")


def test_usual_rules_get_no_remark() -> None:
    texts = [
        "Bash",
        "Bash(a:*)",
        "Read(~/x)",
        "Edit(/a/**)",
        "WebFetch(domain:x.test)",
        "mcp__a",
        "Agent(Plan)",
        "Task(x)",
    ]
    kinds = [(kind, text) for text in texts for kind in ("allow", "ask", "deny")]
    assert DIALECT.judge(rules_of([*kinds, ("deny", "*"), ("deny", "Agent(model:opus)")])).remarks() == []


def test_tools_are_named_whose_rules_speak_of_more_than_their_target() -> None:
    assert {"Agent", "Task"} <= set(DIALECT.judge(rules_of([("deny", "Agent(model:opus)")])).whole_input_tools)
    assert not {"Agent", "Bash"} & set(DIALECT.judge(rules_of([("allow", "Bash(ls *)")])).whole_input_tools)


@pytest.mark.parametrize(
    ("directory", "command"),
    [("../lib", "make < ../lib/a"), ("~/data", "make < ~/data/a"), ("/srv/in", "make < /srv/in/a")],
)
def test_working_directories_may_be_added(directory: str, command: str) -> None:
    call = Call("Bash", {"command": command}, "/w/shop")
    texts = [("allow", "Bash(make *)")]
    assert DIALECT.judge(rules_of(texts), HOME).judge(call).decision is Decision.NONE
    assert DIALECT.judge(rules_of([*texts, ("directory", directory)]), HOME).judge(call).decision is Decision.ALLOW


NAMES = st.sampled_from(["a", "b", "ab", "ba", "aab", "a.b", "c"])
GLOBS = st.sampled_from(["a", "b", "*", "**", "a*", "*b", "?", "a*b*", "[ab]", "[!a]", "*a*", "a**", "[a-b]*", "\\*"])


@given(st.sampled_from(["", "/"]), st.lists(GLOBS, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=5))
def test_path_patterns_match_as_those_of_gitignore(start: str, globs: Sequence[str], names: Sequence[str]) -> None:
    pattern, path = start + "/".join(globs), "/".join(names)
    if pattern.endswith("/**"):
        return  # a rule for all that lies in a folder means the folder too
    expression = compile_path(pattern, is_allow=False).expression
    assert (re.match(expression, path, re.DOTALL) is not None) == GitIgnoreSpec.from_lines([pattern]).match_file(path)


@given(st.text(max_size=30), st.text(max_size=30), st.booleans())
def test_any_path_pattern_can_be_held_against_any_path(pattern: str, path: str, is_allow: bool) -> None:  # noqa: FBT001
    try:
        expression = compile_path(pattern, is_allow=is_allow).expression
    except GlobError:
        return
    re.match(expression, path, re.DOTALL)


def test_many_stars_take_no_longer_than_few() -> None:
    hostile = "a" * 100_000
    assert not compile_pattern("a" + "*a" * 500 + "b").matches(hostile)
    expression = re.compile(compile_path("a" + "*a" * 50 + "b", is_allow=True).expression, re.DOTALL)
    assert expression.match(hostile) is None
    assert expression.match("a/" * 50_000) is None


@pytest.mark.parametrize(
    ("path", "content", "reads"),
    [
        ("/w/.claude/settings.json", {"permissions": {"allow": ["Bash"]}}, True),
        ("/w/.claude/settings.json", {"model": "opus"}, True),
        ("/w/any.json", {"permissions": {}}, True),
        ("/w/any.json", {"allow": ["Bash"]}, True),
        ("/w/any.json", {"model": "opus"}, False),
        ("/w/any.json", [1], False),
        ("/w/.cursor/cli.json", {"permissions": {"allow": ["Read(**)"]}}, False),
    ],
)
def test_settings_are_known_by_what_they_hold(path: str, content: object, reads: bool) -> None:  # noqa: FBT001
    assert DIALECT.reads(path, json.dumps(content).encode()) == reads


@pytest.mark.parametrize(
    ("path", "scope", "folder"),
    [
        ("/w/shop/.claude/settings.json", "project", "/w/shop"),
        ("/w/shop/.claude/settings.local.json", "local", "/w/shop"),
        ("/home/ada/.claude/settings.json", "user", "/home/ada/.claude"),
        ("/etc/claude-code/managed-settings.json", "managed", ""),
        ("/w/ci/rules.json", "command_line", "/w/ci"),
    ],
)
def test_rules_start_from_where_their_file_lies(path: str, scope: str, folder: str) -> None:
    expected = [Rule("allow", "Read(/a)", scope, path, 0, folder)]
    assert DIALECT.read_settings(path, b'{"permissions": {"allow": ["Read(/a)"]}}') == expected
    assert DIALECT.read_settings(path, b'{"allow": ["Read(/a)"]}') == expected
    assert [rule.folder for rule in DIALECT.read_settings(path, b'{"allow": ["Read(/a)"]}', "/x")] == ["/x"]


def test_what_is_no_rule_is_reported() -> None:
    reported: list[str] = []
    rules = DIALECT.read_settings("/w/rules.json", b'{"allow": ["Bash", 1, ""]}', None, reported.append)
    assert ([rule.text for rule in rules], len(reported)) == (["Bash"], 2)
    with pytest.raises(ValueError, match="no JSON object"):
        DIALECT.read_settings("/w/rules.json", b"[]")


@pytest.mark.parametrize(
    ("tool", "name"), [("Bash", "command"), ("Read", "file_path"), ("WebFetch", "url"), ("Agent", "subagent_type")]
)
def test_a_call_can_be_made_of_its_target(tool: str, name: str) -> None:
    assert DIALECT.input_of(tool, "x") == {name: "x"}
    assert DIALECT.input_of("mcp__a__b", "a") == {}


def test_an_index_of_patterns_finds_what_each_of_them_fits() -> None:
    patterns = [
        compile_pattern(text)
        for text in ("git", "git push", "git push *", "git*", "* push", "*", "g* push", "git:*", "git push", "* a *")
    ]
    index = PatternIndex(enumerate(patterns))
    for text in ("git", "git push", "git push x", "gitk", "got push", "push", "x a b", "", " ", "git push "):
        found = {number for number, _ in index.matching(text)}
        assert found == {number for number, pattern in enumerate(patterns) if pattern.matches(text)}, text


def test_rules_on_hosts_find_what_each_of_them_fits() -> None:
    texts = ("a.b", "*.b", "*.a.b", "*", "A.B.", "x*.b", "*.x*", "b", "*.", "*..", "", "*.b*.c", "..", "a.*", "*.*")
    rules = HostRules()
    for number, text in enumerate(texts):
        rules.add(number, text)
    for host in ("a.b", "c.a.b", "b", "x.b", "xy.b", "a.xy", "a.b.c", "z.a.bb.c", "", ".", "..", "a..b", "." * 99):
        found = sorted(rules.matching(host))
        assert found == [number for number, text in enumerate(texts) if compile_host(text).matches(host)], host


@given(st.lists(st.tuples(st.sampled_from(["", "/", "//w/", "~/", "!"]), st.lists(GLOBS, min_size=1, max_size=3))))
def test_rules_on_paths_find_what_each_of_them_fits(listed: Sequence[tuple[str, Sequence[str]]]) -> None:
    place = CallSite.of("/w/c", "/w")
    every, alone = GitignoreRules(), [GitignoreRules() for _ in listed]
    for number, (start, globs) in enumerate(listed):
        pattern = compile_path(start.removeprefix("!") + "/".join(globs), is_allow=False)
        for rules in [*alone, every] if start == "!" else [alone[number], every]:
            rules.add(number, pattern, "", "one list", is_carving=start == "!")
    for path in ("/w/c/a", "/w/c/a/b", "/w/c/ab/a/c", "/w/a/b", "/w/c", "/a", "/w/c/*/b", "/w/aab/b/a/a"):
        assert set(every.matching(path, place)) == {number for each in alone for number in each.matching(path, place)}


@pytest.mark.parametrize(
    ("command", "is_free"),
    [
        ("ls -la", True),
        ("git status -s", True),
        ("git log --oneline | head", True),
        ("grep -o x src/a.py", True),
        ("git push", False),
        ("git diff --output=x", False),
        ("sort -o x y", False),
        ("sort y", True),
        ("find . -name x", True),
        ("find . -fprint x", False),
        ("find . -delete", False),
        ("find . '-delete'", False),
        ('sort "-o" x y', False),
        ("sort -uo x y", False),
        ("date -Iseconds", True),
        ("\x0c", False),
        ("uniq a", True),
        ("uniq a b", False),
        ("date -s tomorrow", False),
        ("rg --pre sh x", False),
        ("cat /etc/passwd", False),
        ("echo x > y", False),
        ("cat a && make", False),
    ],
)
def test_commands_that_only_read_in_the_workspace_run_by_themselves(command: str, *, is_free: bool) -> None:
    call = Call("Bash", {"command": command}, "/home/ada/press")
    assert ClaudeCodeRules().judge(()).runs_by_itself(call) is is_free


@pytest.mark.parametrize(
    ("tool", "given", "is_free"),
    [
        ("Read", {"file_path": "/srv/types/a.json"}, True),
        ("Read", {"file_path": "../ink/a.md"}, True),
        ("Read", {"file_path": "~/notes/a.md"}, True),
        ("Read", {"file_path": "/srv/typesetting/a.json"}, False),
        ("Read", {"file_path": "/srv/types/../keys"}, False),
        ("Grep", {"pattern": "x", "path": "/srv/types"}, True),
        ("Bash", {"command": "cat a.md /srv/types/a.json | head"}, True),
        ("Bash", {"command": "cat /srv/types/a.json > /srv/types/b.json"}, False),
        ("Edit", {"file_path": "/srv/types/a.json"}, False),
    ],
)
def test_reading_in_additional_directories_needs_no_rule(tool: str, given: dict[str, object], *, is_free: bool) -> None:
    call = Call(tool, given, "/home/ada/press")
    rules = [
        Rule("directory", text, "project", "/home/ada/press/.claude/settings.json", 0, "/home/ada/press")
        for text in ("/srv/types", "../ink", "~/notes/")
    ]
    judge = ClaudeCodeRules().judge(rules)
    assert judge.runs_by_itself(call) is is_free
    assert bool(judge.matching(call)) is (is_free or "/srv/types/a.json" in str(given))
    assert not ClaudeCodeRules().judge(()).runs_by_itself(call)
