"""Measure the import of 10,000 logs: for the first time, when nothing has changed, and after all were touched.

Before that, the search for them is measured when all are new: every file is opened to recognise it.
"""

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from aix.store.manifest import read_latest

_SOURCES = 10_000
_PER_FOLDER = 100
_ENTRIES = 4
_RUNS = 7
_WORDS = 20_000
_TEXT_CHARACTERS = 8_000_000
_WALK = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        os.stat(f"{folder}/{name}")
"""
_FIND = """
import sys
from pathlib import Path
from aix.pipeline.run import Settings, survey
survey(Path(sys.argv[1]) / "no-ledger", [Path(sys.argv[1])], Settings())
"""
# In a small process of its own: the peak of a process counts what the one that started it had in memory then.
_MEASURE = """
import json, os, sys, time
nowhere = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
began = time.perf_counter()
as_installed = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], as_installed, file_actions=[nowhere]), 0)
seconds = time.perf_counter() - began
print(json.dumps([seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
sys.exit(status != 0)
"""


class Text:
    """An endless supply of text."""

    def __init__(self) -> None:
        dice = random.Random(1)
        words = ["".join(dice.choices("etaoinshrdlu_.", k=dice.randint(2, 9))) for _ in range(_WORDS)]
        chosen = (words[int(dice.random() ** 3 * _WORDS)] for _ in range(_TEXT_CHARACTERS // 5))
        self._text = " ".join(chosen)

    def cut(self, dice: random.Random, length: int) -> str:
        """Return so many characters."""
        start = dice.randrange(len(self._text) - length)
        return self._text[start : start + length]


@dataclass(frozen=True)
class _Cost:
    seconds: float
    processor_seconds: float
    peak_mib: float


def print_unchanged_sources() -> None:
    """Print seconds and memory of each import, beside a walk through the files and an empty interpreter."""
    with TemporaryDirectory() as folder:
        logs, ledger = Path(folder) / "logs", Path(folder) / "ledger"
        size = write_logs(logs)
        command = [str(Path(sys.executable).with_name("aix")), "import", str(logs), "--ledger", str(ledger)]
        walk = _fastest([sys.executable, "-c", _WALK, str(logs)])
        _print("found as new", _fastest([sys.executable, "-c", _FIND, str(logs)]), walk)
        first = _run(command)
        print(
            f"first import       {first.seconds:6.2f} s wall   {_SOURCES / first.seconds:6,.0f} sources/s"
            f"   {size / 1e6 / first.seconds:5.2f} MB/s of {size / 1e6:.0f} MB"
        )
        version = read_latest(ledger).version
        empty = _fastest([sys.executable, "-c", "pass"])
        print(f"empty interpreter  {empty.seconds:6.3f} s wall   {empty.peak_mib:3.0f} MiB")
        _print("unchanged", _fastest(command), walk)
        for path in logs.rglob("*.json*"):
            os.utime(path, (1, 1))
        _print("touched", _run(command), walk)
        _print("unchanged again", _fastest(command), walk)
        if read_latest(ledger).version != version:
            raise SystemExit("an import of what has not changed made a new version")


def write_logs(folder: Path) -> int:
    """Write logs of a few kilobytes, and the programs they refer to; return how many bytes they have."""
    folder.mkdir()
    program = {"id": "model", "programType": "model", "config": {"modelId": "m-1"}}
    (folder / "programs.json").write_text(json.dumps([program]))
    text, dice, size = Text(), random.Random(1), 0
    for number in range(_SOURCES):
        place = folder / f"{number // _PER_FOLDER:03}"
        place.mkdir(exist_ok=True)
        lines = [json.dumps(_entry(text, dice, number, position)) for position in range(_ENTRIES)]
        size += (place / f"{number:05}.jsonl").write_text("\n".join([*lines, ""]))
    return size


def _entry(text: Text, dice: random.Random, session: int, position: int) -> dict[str, object]:
    is_answer = position % 2 == 1
    message = {
        "role": "assistant" if is_answer else "user",
        "content": text.cut(dice, dice.randint(100, 850)),
        **({"model": "@(model)"} if is_answer else {}),
    }
    return {
        "uuid": f"{session}-{position}",
        **({"parentUuid": f"{session}-{position - 1}"} if is_answer else {}),
        "sessionId": f"session-{session}",
        "timestamp": f"2026-01-05T10:00:{position:02}.000Z",
        "message": message,
    }


def _fastest(command: list[str]) -> _Cost:
    return min((_run(command) for _ in range(_RUNS)), key=lambda cost: cost.seconds)


def _run(command: list[str]) -> _Cost:
    measuring = [sys.executable, "-S", "-c", _MEASURE, *command]
    return _Cost(*json.loads(subprocess.run(measuring, check=True, capture_output=True, text=True).stdout))


def _print(name: str, cost: _Cost, walk: _Cost) -> None:
    print(
        f"{name:18} {cost.seconds:6.3f} s wall   {cost.seconds / walk.seconds:5.2f} x a walk through the files"
        f" ({walk.seconds:.3f} s)   {cost.processor_seconds:.3f} s of processor   {cost.peak_mib:3.0f} MiB"
    )


if __name__ == "__main__":
    print_unchanged_sources()
