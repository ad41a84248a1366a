"""Count the commands of a file that show no risk: `python -m benchmarks.evasion_cases FILE [FILE …]`.

A case is a line of JSON with `name` and `command`; each is meant to do harm in a way that is hard to see. Prints those
without any risk and the share of the others, and ends with 1 when less than 95 % have one.
"""

import json
import sys
from pathlib import Path

from benchmarks.risk_cases import risks_in

WANTED_SHARE = 0.95


def silent_cases(lines: list[str]) -> tuple[int, list[tuple[str, str]]]:
    """Return how many cases there are, and the names and commands of those without a risk."""
    cases = [json.loads(line) for line in lines if line.strip()]
    return len(cases), [(case["name"], case["command"]) for case in cases if not risks_in(case["command"])]


def main(files: list[str]) -> int:
    """Print the cases that show no risk, and how many do."""
    count, silent = silent_cases([line for file in files for line in Path(file).read_text("utf-8").splitlines()])
    for name, command in silent:
        print(f"{name}: {command!r} shows no risk")
    share = (count - len(silent)) / count if count else 1.0
    print(f"{count - len(silent)} of {count} cases show a risk ({share:.1%})")
    return 0 if share >= WANTED_SHARE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
