"""The permission rules of personas."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.permissions.contract import Call, Decision, Rule
from aix_importers.session_log.permissions import PersonaRules

DIALECT = PersonaRules()
CASES = [json.loads(line) for line in (Path(__file__).parent / "persona_cases.jsonl").read_text("utf-8").splitlines()]


def rules_of(tools: object) -> list[Rule]:
    content = json.dumps({"id": "atlas", "permissions": {"tools": tools}}).encode()
    return DIALECT.read_settings("/srv/atlas.json", content)


def call_of(case: dict[str, object]) -> Call:
    return Call(case["tool"], case["input"], case["cwd"])  # type: ignore[arg-type]


ANY_TEXT = st.text(max_size=30) | st.sampled_from(["Bash", "git log && rm x", "Read(**)", "(", "Bash(rm:*)", "*"])
CALLS = st.sampled_from([call_of(case) for case in CASES]) | st.builds(
    Call,
    ANY_TEXT,
    st.dictionaries(st.sampled_from(["command", "file_path", "url"]), ANY_TEXT | st.integers(), max_size=2),
    ANY_TEXT,
)
TEXTS = st.sampled_from([text for case in CASES for texts in case["tools"].values() for text in texts]) | ANY_TEXT
RULES = st.lists(
    st.builds(
        lambda kind, text: Rule(kind, text, "persona", "p", 0, ""), st.sampled_from(["allow", "ask", "deny"]), TEXTS
    ),
    max_size=5,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_rules_decide_as_they_are_defined(case: dict[str, object]) -> None:
    tools = case["tools"]
    judge = DIALECT.judge(rules_of(tools) if tools else [])
    verdict = judge.judge(call_of(case))
    assert (verdict.decision, verdict.rule and verdict.rule.text) == (case["expect"], case["rule"]), verdict.reason


@given(RULES, CALLS)
def test_any_call_gets_an_answer_and_deny_wins(rules: list[Rule], call: Call) -> None:
    judge = DIALECT.judge(rules)
    verdict = judge.judge(call)
    assert verdict.reason.endswith(".")
    assert verdict.decision is not Decision.NONE
    assert not set(verdict.rules) & {rule for rule, _ in judge.remarks() if rule.kind != "allow"}
    if any(rule.kind == "deny" for rule in judge.matching(call)):
        assert verdict.decision is Decision.DENY


@given(RULES, st.lists(TEXTS, max_size=3), CALLS)
def test_a_deny_rule_never_weakens_a_decision(rules: list[Rule], texts: list[str], call: Call) -> None:
    denying = [Rule("deny", text, "persona", "p", 0, "") for text in texts]
    before = DIALECT.judge(rules).judge(call).decision
    assert DIALECT.judge(rules + denying).judge(call).decision in (before, Decision.DENY)


@given(CALLS, st.data())
def test_the_rules_for_a_call_let_it_pass(call: Call, data: st.DataObject) -> None:
    parts = DIALECT.patterns(call)
    if all(parts):
        rules = [Rule("allow", data.draw(st.sampled_from(part)), "persona", "p", 0, "") for part in parts]
        assert DIALECT.judge(rules).judge(call).decision is Decision.ALLOW


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"tools": ["Bash"]}', b"\xff", b"[" * 100_000])
def test_what_is_no_persona_is_refused(content: bytes) -> None:
    assert not DIALECT.reads("/srv/atlas.json", content)
    with pytest.raises(ValueError, match=r"\w"):
        DIALECT.read_settings("/srv/atlas.json", content)


def test_entries_that_are_no_rules_are_reported() -> None:
    said: list[str] = []
    found = DIALECT.read_settings("p.json", b'{"tools": {"allow": [7, "Bash", ""]}}', report=said.append)
    assert [(rule.kind, rule.text, rule.scope, rule.position) for rule in found] == [("allow", "Bash", "persona", 1)]
    assert said == ["Entry 0 of allow is no text.", "Entry 2 of allow is no text."]


def test_a_rule_that_can_never_decide_says_why() -> None:
    rules = [Rule("deny", "(x)", "persona", "p", 0, ""), Rule("mode", "y", "persona", "p", 0, "")]
    assert [rule for rule, _ in DIALECT.judge(rules).remarks()] == rules
