"""Run worked cases of permission rules through a dialect, and say which differ.

    python -m benchmarks.permission_cases FILE [ORIGIN]

Each line of FILE is a JSON object: `rules` (lists allow, ask, deny), `cwd`, `settings_dir`, `home`, `tool`, `input`,
`expect` (allow, ask, deny or none) and `rule`, the text of the one that decides.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aix.permissions import Call, Dialect, Rule
from aix.permissions.contract import dialects


def rules_of(case: Mapping[str, Any]) -> list[Rule]:
    """Return the rules of a case, as if all stood in the project's settings."""
    file = f"{case['settings_dir']}/.claude/settings.json"
    return [
        Rule(kind, text, "project", file, position, case["settings_dir"])
        for kind in ("allow", "ask", "deny")
        for position, text in enumerate(case["rules"].get(kind, ()))
    ]


def outcome(dialect: Dialect, case: Mapping[str, Any]) -> dict[str, object]:
    """Return what the dialect decides about a case, in the case's own fields."""
    verdict = dialect.judge(rules_of(case), case.get("home")).judge(Call(case["tool"], case["input"], case["cwd"]))
    found: dict[str, object] = {"expect": str(verdict.decision), "rule": verdict.rule.text if verdict.rule else None}
    if "rules_used" in case:
        found["rules_used"] = [rule.text for rule in verdict.rules]
    return found


def differing(dialect: Dialect, cases: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return one line for each case that is decided otherwise."""
    lines = []
    for case in cases:
        found = outcome(dialect, case)
        if any(case[name] != value for name, value in found.items()):
            expected = {name: case[name] for name in found}
            lines.append(f"{case['id']} {case.get('category', '')}: expected {expected}, found {found}")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Run the cases of a file."""
    file, origin = Path(arguments[0]), arguments[1] if len(arguments) > 1 else "claude-code"
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    lines = differing(dialects()[origin], cases)
    print(*lines, f"{len(cases)} cases, {len(lines)} differ", sep="\n")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
