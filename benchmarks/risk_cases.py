"""Compare the risks of commands with a table of cases: `python -m benchmarks.risk_cases FILE [FILE …]`.

A case is a line of JSON with `cmd`, `risk` (the names of its risks, `["none"]` for none, null when it is not judged)
and `risk_optional` (those that may be there or not). Ends with 1 when a case differs.
"""

import json
import sys
from pathlib import Path

from aix.permissions.risks import load_risks
from aix.permissions.shell import split
from aix.permissions.targets import parts_of

WORKSPACE = "/home/u/proj"


def risks_in(command: str) -> set[str]:
    """Return the names of the risks of a command that is run in a workspace."""
    script = split(command)
    parts = parts_of("exec", "shell", command, WORKSPACE, WORKSPACE, script=script)
    return {risk.risk for risk in load_risks().risks_of(parts, script, WORKSPACE)}


def main(files: list[str]) -> int:
    """Print the cases that differ, and how many there are."""
    count = differing = 0
    for file in files:
        for line in Path(file).read_text("utf-8").splitlines():
            case = json.loads(line)
            if case.get("risk") is None:
                continue
            count += 1
            optional = set(case.get("risk_optional") or ())
            expected = set(case["risk"]) - {"none"}
            found = risks_in(case["cmd"])
            if found - optional != expected - optional or not expected - optional <= found:
                differing += 1
                print(f"{case.get('id')}: {case['cmd']!r}: expected {sorted(expected)}, found {sorted(found)}")
    print(f"{count} cases, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
