"""Figures from the README of the logs for permission audits: when settings were written, and what was counted."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from tests import ROOT

FIXTURES = ROOT / "fixtures" / "permissions"
_SETTINGS = "| file | written | "
_SESSIONS = "| session | project | mode | calls | "
_OUTCOMES = "| outcome | "
_MODES = "| session | mode | from | to | seconds | "
_TARGETS = "| kind | target | calls |"
_NO_CLASS = "none"
_NUMBER = re.compile(r"^\d+")
_CALL = re.compile(r"`(?:toolu?_\S+)`|`_\d+`")


def settings_by_hand() -> dict[str, int]:
    """Return when each settings file was written, in Unix seconds, by the path that it had on its machine."""
    days = {_name(file): day for file, day, *_ in _rows(_SETTINGS)}
    return {file: int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) for file, day in days.items()}


def calls_by_hand() -> dict[str, int]:
    """Return how many calls each session made."""
    return {_name(session): int(calls) for session, _, _, calls, *_ in _rows(_SESSIONS)}


def outcomes_by_hand() -> dict[tuple[str, str | None], int]:
    """Return how many calls there are by outcome and class, without pairs that have no call."""
    classes = _cells(next(line for line in _lines() if line.startswith(_OUTCOMES)))[1:]
    counted = (
        ((_name(outcome), None if name == _NO_CLASS else name), int(count))
        for outcome, *counts in _rows(_OUTCOMES)
        for name, count in zip(classes, counts, strict=True)
    )
    return {key: count for key, count in counted if count}


def modes_by_hand() -> list[tuple[str, str, int, int]]:
    """Return the turns in another mode than the usual one: session, mode, seconds and calls."""
    rows = _rows(_MODES)
    return [(_name(session), mode, int(seconds), int(calls)) for session, mode, _, _, seconds, calls in rows]


def targets_by_hand(kind: str) -> Counter[object]:
    """Return how many calls name each target of a kind, whether or not they reached it."""
    return Counter(
        {
            _name(target): int(number[0]) if (number := _NUMBER.match(calls)) else len(_CALL.findall(calls))
            for name, target, calls in _rows(_TARGETS)
            if name == kind or (kind == "host" and name.startswith(kind))
        }
    )


def _lines() -> list[str]:
    return (FIXTURES / "README.md").read_text("utf-8").splitlines()


def _rows(header: str) -> Iterator[list[str]]:
    """Go through the rows of the table whose header begins like this."""
    lines = iter(_lines())
    next(line for line in lines if line.startswith(header))
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield _cells(line)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _name(cell: str) -> str:
    return cell.strip("`")
