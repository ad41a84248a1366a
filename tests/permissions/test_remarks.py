"""Remarks on rules, made without any call."""

import pytest

from aix.permissions.rule_book import rule_book
from aix.permissions.rule_rows import remark_rows

ADA, PRESS, LOCAL = (
    ("user", "/home/ada/.claude/settings.json"),
    ("project", "/home/ada/press/.claude/settings.json"),
    ("local", "/home/ada/press/.claude/settings.local.json"),
)


def remarks(*rules: tuple[tuple[str, str], str, str]) -> dict[tuple[str, str], tuple[object, object]]:
    """Return remark and other rule, by scope and rule."""
    rows = [("claude-code", *place, number, kind, text) for number, (place, kind, text) in enumerate(rules)]
    found = remark_rows(rule_book(rows), {(*row[:3], *row[4:]) for row in rows})
    return {(str(scope), str(text)): (remark, by) for _, scope, _, _, text, remark, by, _, _ in found}


def test_what_a_project_repeats_of_its_user_is_redundant_there_and_not_at_the_user() -> None:
    found = remarks((ADA, "allow", "Bash(git *)"), (PRESS, "allow", "Bash(git *)"), (LOCAL, "allow", "Bash(git log)"))
    assert found == {
        ("project", "Bash(git *)"): ("redundant", "Bash(git *)"),
        ("local", "Bash(git log)"): ("redundant", "Bash(git *)"),
    }


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_rules_that_match_the_same_one_stays(order: int) -> None:
    first, second = ["Bash(git:*)", "Bash(git *)"][::order]
    assert remarks((PRESS, "allow", first), (PRESS, "allow", second)) == {("project", second): ("redundant", first)}


def test_paths_from_the_settings_and_from_the_call_are_not_the_same() -> None:
    assert remarks((PRESS, "allow", "Edit(src/**)"), (PRESS, "allow", "Edit(/src/**)")) == {}
    assert remarks((ADA, "allow", "Edit(src/**)"), (ADA, "allow", "Edit(/src/**)")) == {}
    assert remarks((PRESS, "allow", "Edit(/src/**)"), (PRESS, "allow", "Edit(/**)")) == {
        ("project", "Edit(/src/**)"): ("redundant", "Edit(/**)")
    }


def test_what_a_project_denies_shadows_its_own_rules_only() -> None:
    found = remarks((ADA, "allow", "Bash(npm *)"), (PRESS, "deny", "Bash(npm *)"), (PRESS, "allow", "Bash(npm test)"))
    assert found == {("project", "Bash(npm test)"): ("shadowed", "Bash(npm *)")}


@pytest.mark.parametrize(
    "texts", [[f"*{number}*" for number in range(5_000)], ["*a" * 2_000 + str(n) for n in range(50)]]
)
def test_very_many_or_long_rules_are_not_compared_with_each_other(texts: list[str]) -> None:
    many = [(PRESS, "allow", f"Bash({text})") for text in texts]
    assert remarks(*many, (PRESS, "allow", "Bash(")) == {("project", "Bash("): ("unreachable", None)}
