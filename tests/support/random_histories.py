"""Random histories as a tool may leave them on disk: conversations that fork, repeat themselves and lack things."""

import json
from collections.abc import Mapping
from pathlib import Path

from hypothesis import strategies as st

History = Mapping[str, bytes]
"""Files by their path."""

_MOST_FILES = 3
_MOST_ENTRIES = 7
_SESSIONS = ["morning", "evening", "5f0c"]
_TEXTS = [
    "Why does the build fail?",
    "Because a file is missing:\n```make\nall: main.o\n```",
    "Thanks 😀",
    "",
]
_PROGRAMS = [
    {"id": "model", "programType": "model", "config": {"modelId": "m-2", "provider": "@(vendor)"}},
    {"id": "vendor", "programType": "provider", "config": {"name": "vendor-name"}},
    {"id": "morning", "programType": "session", "config": {"owner": "@(ann)", "model": "@(model)"}},
    {"id": "ann", "programType": "human", "config": {"name": "Ann"}},
]
_SOMETIMES = st.integers(0, 4).map(lambda number: number == 0)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw the logs of a few sessions; sessions and entries stand in several files."""
    said: list[dict[str, object]] = []
    files = {
        f"{draw(st.sampled_from(['', 'deeper/']))}{number}.jsonl": draw(_logs(said))
        for number in range(draw(st.integers(2, _MOST_FILES)))
    }
    if draw(st.booleans()):
        files["programs.jsonl"] = b"".join(map(_line, draw(st.permutations(_PROGRAMS))))
    return files


@st.composite
def _logs(draw: st.DrawFn, said: list[dict[str, object]]) -> bytes:
    lines = []
    for _ in range(draw(st.integers(1, _MOST_ENTRIES))):
        is_repetition = bool(said) and draw(_SOMETIMES)
        entry = draw(_repetitions(said) if is_repetition else _entries(said))
        said.append(entry)
        lines.append(_line(entry))
    return b"".join(lines)


@st.composite
def _entries(draw: st.DrawFn, said: list[dict[str, object]]) -> dict[str, object]:
    """Draw an entry that follows the last one, forks off an earlier one, or lost what it follows."""
    is_answer = draw(st.booleans())
    number = len(said)
    role = "assistant" if is_answer else "user"
    message: dict[str, object] = {"role": role, "content": draw(st.sampled_from(_TEXTS))}
    if is_answer:
        message |= {"model": "@(model)", "usage": {"inputTokens": number, "outputTokens": draw(st.integers(0, 9))}}
    entry: dict[str, object] = {"uuid": f"e{number}", "sessionId": draw(st.sampled_from(_SESSIONS)), "message": message}
    if not draw(_SOMETIMES):
        entry["timestamp"] = f"2026-01-05T10:{draw(st.integers(0, 3)) + number:02}:00.000Z"
    if not draw(_SOMETIMES):
        parents = [str(each["uuid"]) for each in said[-3:]]
        entry["parentUuid"] = draw(st.sampled_from([*parents, *parents, f"e{number + 1}", "lost"]))
    return entry


@st.composite
def _repetitions(draw: st.DrawFn, said: list[dict[str, object]]) -> dict[str, object]:
    """Draw what was said before, as it was said or with another text."""
    entry = draw(st.sampled_from(said))
    if draw(st.booleans()):
        return entry
    message = entry["message"]
    assert isinstance(message, dict)
    return {**entry, "message": {**message, "content": draw(st.sampled_from(_TEXTS))}}


def _line(value: Mapping[str, object]) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False)}\n".encode()


def write_history(folder: Path, history: History) -> None:
    """Write the files that are not there yet, or hold something else.

    A tool leaves alone what it does not change, and the time of a file is that of its programs.
    """
    for name, content in history.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
