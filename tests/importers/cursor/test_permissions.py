"""Cursor's permission rules: what they decide, and what holds whatever is called."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.permissions.contract import Call, Decision, Rule
from aix_importers.cursor.permissions import CursorRules
from aix_importers.cursor.tools import access_of

DIALECT = CursorRules()
CASES = [
    json.loads(line) for line in (Path(__file__).parent / "permission_cases.jsonl").read_text("utf-8").splitlines()
]
RULE_TEXTS = sorted({(kind, text) for case in CASES for kind, texts in case["rules"].items() for text in texts})
STRENGTH = [Decision.ALLOW, Decision.NONE, Decision.ASK, Decision.DENY]


def rules_of(
    texts: list[tuple[str, str]], file: str = "/home/ada/.cursor/cli-config.json", folder: str = ""
) -> list[Rule]:
    return [Rule(kind, text, "user", file, number, folder) for number, (kind, text) in enumerate(texts)]


def call_of(case: dict[str, object]) -> Call:
    return Call(case["tool"], case["input"], case["cwd"])  # type: ignore[arg-type]


ANY_TEXT = st.text(max_size=40) | st.sampled_from(
    ["rm -rf x && ls", "git status", "$(((", "'", "a|b|c", "~/x", "..", "src/x.ts", "https://[x", "//", "C:\\x"]
)
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=4,
)
PARAMETERS = ("command", "path", "target_file", "relativeWorkspacePath", "url", "tools", "server", "toModeId")
TOOLS = [*sorted({case["tool"] for case in CASES}), "mcp_", "mcp__", ""]
CALLS = st.sampled_from([call_of(case) for case in CASES]) | st.builds(
    Call,
    st.sampled_from(TOOLS) | ANY_TEXT,
    st.dictionaries(st.sampled_from(PARAMETERS), ANY_TEXT | ANY_VALUE, max_size=3),
    st.sampled_from(["", "/home/ada/lamp", "C:\\lamp"]) | ANY_TEXT,
)
RULES = st.lists(
    st.sampled_from(RULE_TEXTS)
    | st.tuples(st.sampled_from(["allow", "ask", "deny", "mode", "directory"]), ANY_TEXT)
    | st.builds(
        lambda kind, name, text: (kind, f"{name}({text})"),
        st.sampled_from(["allow", "ask", "deny"]),
        st.sampled_from(["Shell", "Read", "Write", "WebFetch", "Mcp", "SwitchMode"]),
        ANY_TEXT,
    ),
    max_size=5,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_rules_decide_as_documented(case: dict[str, object]) -> None:
    texts = [(kind, text) for kind, texts in case["rules"].items() for text in texts]  # type: ignore[attr-defined]
    judge = DIALECT.judge(rules_of(texts, str(case["file"]), str(case["folder"])))
    verdict = judge.judge(call_of(case))
    assert (verdict.decision, verdict.rule and verdict.rule.text) == (case["expect"], case["rule"]), verdict.reason
    assert set(verdict.rules) <= set(judge.matching(call_of(case)))


@given(RULES, CALLS)
def test_any_call_gets_an_answer(texts: list[tuple[str, str]], call: Call) -> None:
    judge = DIALECT.judge(rules_of(texts))
    verdict = judge.judge(call)
    assert set(verdict.rules) <= set(judge.matching(call))
    assert (verdict.rule is None) == (verdict.decision is Decision.NONE)
    assert verdict.rule is None or verdict.rule == verdict.rules[0]
    assert not set(verdict.rules) & {rule for rule, _ in judge.remarks()}
    assert verdict.reason.endswith(".")


@given(RULES, RULES, CALLS)
def test_a_deny_rule_never_weakens_a_decision(
    texts: list[tuple[str, str]], more: list[tuple[str, str]], call: Call
) -> None:
    before = DIALECT.judge(rules_of(texts)).judge(call).decision
    denying = [("deny", text) for kind, text in more if kind != "mode"]
    after = DIALECT.judge(rules_of(texts + denying)).judge(call).decision
    assert after in (before, Decision.DENY)


@given(RULES, CALLS)
def test_deny_wins_wherever_it_matches(texts: list[tuple[str, str]], call: Call) -> None:
    judge = DIALECT.judge(rules_of(texts))
    if any(rule.kind == "deny" for rule in judge.matching(call)):
        assert judge.judge(call).decision is Decision.DENY


@given(RULES, CALLS)
def test_a_protection_never_weakens_a_decision(texts: list[tuple[str, str]], call: Call) -> None:
    protections = [("mode", f"{name}=true") for name in ("yoloDotFilesDisabled", "yoloDeleteFileDisabled")]
    before = DIALECT.judge(rules_of(texts)).judge(call).decision
    after = DIALECT.judge(rules_of([*texts, *protections])).judge(call).decision
    assert STRENGTH.index(after) >= STRENGTH.index(before)


@given(CALLS, st.data())
def test_the_rules_for_a_call_let_it_pass(call: Call, data: st.DataObject) -> None:
    parts = DIALECT.patterns(call)
    assert parts
    if all(parts):
        chosen = [("allow", data.draw(st.sampled_from(part))) for part in parts]
        verdict = DIALECT.judge(rules_of(chosen)).judge(call)
        assert verdict.decision is Decision.ALLOW, chosen


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status -s", [["Shell(git status -s)", "Shell(git status)"]]),
        ("ls; make -j4", [["Shell(ls)"], ["Shell(make -j4)", "Shell(make)"]]),
        ("CI=1 npm run test", [["Shell(CI=1 npm run test)", "Shell(CI=1 npm run)"]]),
        ("sudo apt-get install -y jq", [["Shell(sudo apt-get install -y jq)", "Shell(sudo apt-get install)"]]),
        ("bash -c 'a; b'", [["Shell(bash -c 'a; b')"]]),
        (".venv/bin/python3.12 -c 'a'", [["Shell(.venv/bin/python3.12 -c 'a')"]]),
        ("git -C log log -1", [["Shell(git -C log log -1)", "Shell(git -C log log)"]]),
        ("echo (", [[]]),
    ],
)
def test_no_rule_for_a_command_is_wider_than_a_program_with_its_subcommand(
    command: str, expected: list[list[str]]
) -> None:
    assert DIALECT.patterns(Call("run_terminal_cmd", {"command": command}, "")) == expected


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("read_file", {"target_file": "src/a/b.ts"}, ["Read(src/a/b.ts)", "Read(src/a/**)"]),
        ("edit_file", {"file_path": "/etc/hosts"}, ["Write(/etc/hosts)", "Write(/etc/**)"]),
        ("delete_file", {"relativeWorkspacePath": "x.py"}, ["Write(x.py)"]),
        ("web_fetch", {"url": "https://docs.example.com/x"}, ["WebFetch(docs.example.com)"]),
        ("mcp_github_list", {}, ["Mcp(github:list)", "Mcp(github:*)"]),
        ("todo_write", {}, []),
    ],
)
def test_no_rule_is_wider_than_a_folder_a_host_or_a_server(
    tool: str, given: dict[str, object], expected: list[str]
) -> None:
    assert DIALECT.patterns(Call(tool, given, "/home/ada/lamp")) == [expected]


@pytest.mark.parametrize(
    "tool",
    [
        "run_terminal_cmd", "Shell", "read_file", "read_file_v2", "list_dir", "grep", "grep_search", "codebase_search",
        "glob_file_search", "file_search", "edit_file", "delete_file", "Write", "web_fetch", "web_search", "mcp",
        "mcp_github_list", "CallMcpTool", "task_v2",
    ],
)  # fmt: skip
def test_the_target_of_a_call_leads_back_to_its_parameters(tool: str) -> None:
    given = json.dumps(DIALECT.input_of(tool, "x.test")).encode()
    assert access_of(tool, None, given).target == "x.test"


def test_a_file_of_the_command_line_is_read_with_the_folder_of_its_project() -> None:
    content = b'{"permissions": {"allow": ["Shell(ls)", 7], "deny": ["Read(.env*)"]}, "authInfo": {"x": "NEVER"}}'
    said: list[str] = []
    assert DIALECT.reads("/srv/lamp/.cursor/cli.json", content)
    rules = DIALECT.read_settings("/srv/lamp/.cursor/cli.json", content, report=said.append)
    assert rules == [
        Rule("allow", "Shell(ls)", "project", "/srv/lamp/.cursor/cli.json", 0, "/srv/lamp"),
        Rule("deny", "Read(.env*)", "project", "/srv/lamp/.cursor/cli.json", 0, "/srv/lamp"),
    ]
    assert said == ["Entry 1 of allow is no text."]
    assert DIALECT.judge(rules).judge(Call("read_file", {"path": "/srv/lamp/.env"}, "/srv/lamp/sub")).decision == "deny"


def test_lists_of_the_editor_in_a_file_may_have_comments() -> None:
    content = b"""{
        // what may run
        "terminalAllowlist": ["git", "cargo build", /* not */ "echo //x",],
        "mcpAllowlist": ["github:*"],
    }"""
    path = "/home/ada/.cursor/permissions.json"
    assert DIALECT.reads(path, content)
    found = DIALECT.read_settings(path, content)
    assert [(rule.kind, rule.text, rule.scope, rule.folder) for rule in found] == [
        ("allow", "Shell(git)", "user", ""),
        ("allow", "Shell(cargo build)", "user", ""),
        ("allow", "Shell(echo //x)", "user", ""),
        ("allow", "Mcp(github:*)", "user", ""),
    ]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"permissions": []}', b"\xff", b'{"permissions": 1}', b"[" * 100_000]
)
def test_what_is_no_file_of_rules_is_refused(content: bytes) -> None:
    assert not DIALECT.reads("/srv/lamp/.cursor/cli.json", content)
    with pytest.raises(ValueError, match="no object of permissions"):
        DIALECT.read_settings("/srv/lamp/.cursor/cli.json", content)


def test_a_list_in_a_file_stands_in_place_of_the_one_in_the_editor() -> None:
    editor = Rule("allow", "Shell(rm)", "user", "/x/globalStorage/state.vscdb", 0, "")
    file = Rule("allow", "Shell(git)", "user", "/home/ada/.cursor/permissions.json", 0, "")
    judge = DIALECT.judge([editor, file])
    assert judge.judge(Call("Shell", {"command": "rm x"}, "")).decision is Decision.NONE
    assert judge.remarks() == [(editor, "The list in permissions.json stands in place of the editor's own.")]


def test_rules_that_can_never_decide_say_why() -> None:
    texts = [
        ("allow", "Bash(ls)"), ("deny", "Shell( )"), ("allow", "Read()"), ("allow", "Read(../x)"),
        ("deny", "WebFetch()"),
        ("allow", "Mcp(github)"), ("deny", "SwitchMode(plan)"), ("mode", "agent.autoFix=true"),
        ("mode", "reviewer.autoRun=true"), ("mode", "useYoloMode=maybe"), ("mode", "yoloDotFilesDisabled=false"),
        ("mode", "agent.autoRun=true"), ("allow", "Shell(ls)"),
    ]  # fmt: skip
    remarks = DIALECT.judge(rules_of(texts)).remarks()
    assert [rule.text for rule, _ in remarks] == [text for _, text in texts[:-2]]
    assert all(reason.endswith(".") for _, reason in remarks)


def test_only_tools_whose_target_does_not_tell_enough_must_be_given_whole() -> None:
    assert not DIALECT.judge(rules_of([("allow", "Shell(ls)")])).whole_input_tools
    assert "call_mcp_tool" in DIALECT.judge(rules_of([("allow", "Mcp(a:b)")])).whole_input_tools
    assert "grep" in DIALECT.judge(rules_of([("deny", "Read(x)")])).whole_input_tools


def test_hostile_rules_and_calls_take_no_longer_than_their_length() -> None:
    texts = [("deny", f"Shell({'*a' * 200})"), ("deny", f"Read({'**/*a*/' * 200}b)"), ("allow", f"Mcp({'*a' * 99}:*)")]
    judge = DIALECT.judge(rules_of(texts))
    for tool, name in (("Shell", "command"), ("read_file", "path"), ("CallMcpTool", "server")):
        for text in ("a" * 50_000 + "c", "a/" * 20_000, "(" * 20_000, "a;" * 5_000):
            assert judge.judge(Call(tool, {name: text}, "")).decision in (Decision.NONE, Decision.DENY)
