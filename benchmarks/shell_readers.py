"""Measure what stands beside the grammar of bash: `python -m benchmarks.shell_readers FILE [FILE …]`.

Each line of a file is a JSON object with a command as `cmd` or `command`. Prints how long splitting takes with and
without the reader of plain texts, and how many commands the grammar alone does not read: it finds no valid shell,
loses a program that the tokens show, or would take too long.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from aix.permissions.shell import reading, split
from aix.permissions.shell.masking import mask
from aix.permissions.shell.tree import parse

_ROUNDS = 3


def print_readers(commands: Sequence[str]) -> None:
    """Print the times and counts for commands."""
    split("echo $(date)")  # loads the grammar
    with_plain = _seconds(commands)
    with patch.object(reading, "read_plain", lambda _: None):
        without = _seconds(commands)
        unread = sum(not split(command).is_whole for command in commands)
    plain = sum(reading.read_plain(command) is not None for command in commands)
    lost = _lost_without_tokens(commands)
    print(f"{len(commands)} commands, {plain} of them plain")
    print(f"splitting all takes {with_plain:.2f} s, without the reader of plain texts {without:.2f} s")
    print(f"the grammar alone does not read {unread} of them; {lost} programs are found by tokens only")


def _seconds(commands: Sequence[str]) -> float:
    return min(_timed(commands) for _ in range(_ROUNDS))


def _timed(commands: Sequence[str]) -> float:
    start = time.process_time()
    for command in commands:
        split(command)
    return time.process_time() - start


def _lost_without_tokens(commands: Sequence[str]) -> int:
    lost = 0
    for command in commands:
        masked = mask(command)
        if parse(masked.text).root_node.has_error:
            lost += len(split(command).commands)
    return lost


def main(files: Sequence[str]) -> int:
    """Read the files, and print what is measured."""
    cases = (json.loads(line) for file in files for line in Path(file).read_text("utf-8").splitlines() if line)
    print_readers([case.get("cmd") or case["command"] for case in cases])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
