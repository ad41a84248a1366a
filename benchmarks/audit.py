"""Measure an audit of 100,000 calls, with the rules that the ledger has and with others.

    python -m benchmarks.audit [LEDGER]

Without a ledger, one with as many calls is made. Each form of the report is a process of its own, from its start to its
end. The floor is the time to read all targets once.
"""

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import aix
from benchmarks.generated_ledger import write_ledger
from benchmarks.memory import can_measure_memory, run_measured

_MESSAGES = 205_000
"""Of which every second makes a call."""
_MOST_SECONDS = 5.0
_OTHER_RULES = {"allow": ["Bash(git *)", "Bash(npm *)", "Read", "Edit(/src/**)"], "deny": ["Bash(make *)"]}
_FLOOR = "select count(*), count(distinct target), max(length(command)) from call_targets"


def print_audit() -> None:
    """Make a ledger and print all figures."""
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        write_ledger(ledger, _MESSAGES)
        print_audit_of(ledger)


def print_audit_of(ledger: Path) -> None:
    """Print the seconds and the memory of every form of the audit."""
    with aix.open(ledger) as opened:
        [(calls,)] = opened.sql("select count(*) from tool_calls").rows()
        began = time.perf_counter()
        opened.sql(_FLOOR).rows()
        floor = time.perf_counter() - began
    print(f"audit of {calls:,} calls; floor: all targets read once {floor:.3f} s")
    with TemporaryDirectory() as folder:
        settings = Path(folder) / "settings.json"
        settings.write_text(json.dumps({"permissions": _OTHER_RULES}), "utf-8")
        for name, arguments in (
            ("table", []),
            ("html, with inventories", ["--format", "html"]),
            ("table, other rules", ["--settings", str(settings)]),
            ("replay of other rules", ["replay", str(settings)]),
        ):
            where = ["--ledger", str(ledger), "-o", str(Path(folder) / "report.csv")]
            _print(name, ["audit", *arguments, *where], floor)


def _print(name: str, arguments: list[str], floor: float) -> None:
    command = str(Path(sys.executable).with_name("aix"))
    seconds, peak = run_measured([command, *arguments])
    memory = f"{peak / 2**20:6.0f} MiB" if can_measure_memory() else ""
    limit = f"limit {_MOST_SECONDS:.0f} s{'' if seconds <= _MOST_SECONDS else '  EXCEEDED'}"
    print(f"aix audit {name:26} {seconds:7.3f} s   {seconds / floor:6.1f} x the floor {memory}   {limit}")


if __name__ == "__main__":
    if sys.argv[1:]:
        print_audit_of(Path(sys.argv[1]))
    else:
        print_audit()
