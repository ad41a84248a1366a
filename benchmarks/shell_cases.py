"""Hold the splitter of shell commands against a file of cases: `python -m benchmarks.shell_cases FILE`.

Each line of the file is a JSON object with a command as `cmd` and what it consists of as `simple` and `commands`.
Shows every difference, prints how many there are, and ends with 1 when there are some.
"""

import json
import sys
from pathlib import Path
from typing import Any

from aix.permissions.shell import split


def differences(case: dict[str, Any]) -> list[str]:
    """Return what the splitter answers otherwise than a case says."""
    script = split(case["cmd"])
    found: dict[str, Any] = {
        "simple": [
            {
                "words": list(simple.words),
                "env": list(simple.env),
                "redirects": [{"op": op, "target": target} for op, target in simple.redirects],
            }
            for simple in script.simple
        ],
        "commands": [
            {
                "program": command.program,
                "sub": command.sub,
                "words": list(command.words),
                "env": list(command.env),
                "wrappers": list(command.wrappers),
            }
            for command in script.commands
        ],
    }
    return [
        f"{case.get('id')}: {key}\n  expected {case[key]}\n  found    {found[key]}"
        for key in found
        if key in case and case[key] != found[key]
    ]


def main(path: Path) -> int:
    """Print the differences of a file of cases, and return how many cases differ."""
    cases = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    differing = 0
    for case in cases:
        shown = differences(case)
        differing += bool(shown)
        for difference in shown:
            print(difference)
    print(f"{len(cases)} cases, {differing} differ")
    return differing


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1])) else 0)
