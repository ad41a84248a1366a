"""Transcripts made wrong: by lines, by bytes, by values."""

import json
import random
from collections.abc import Callable
from typing import Any

Lines = list[bytes]

_ODD_VALUES: list[object] = [
    None, True, 0, -1, 2**63, 10**30, 1.5, "", "x", "2026-02-10T09:00:01.000Z", "msg_01", [], [None], [[]], {},
    {"a": 1}, "\ud800", "a\0b", [{"type": "text"}], [{"type": "tool_result", "tool_use_id": 5}], "<synthetic>",
]  # fmt: skip
_TYPES = ["user", "assistant", "system", "attachment", "progress", "summary", "queue-operation", "result", "", 7]
_UUID = ("uuid", "parentUuid", "logicalParentUuid", "leafUuid")


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Change a transcript in a few ways, most of which no client and no accident would come up with."""
    lines = content.split(b"\n")
    for _ in range(chance.randint(1, 4)):
        if lines:
            chance.choice(_MUTATIONS)(lines, chance)
    return b"\n".join(lines)


def _drop(lines: Lines, chance: random.Random) -> None:
    del lines[chance.randrange(len(lines))]


def _duplicate(lines: Lines, chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))


def _shuffle(lines: Lines, chance: random.Random) -> None:
    chance.shuffle(lines)


def _join_lines(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]


def _flip_bytes(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    line = bytearray(lines[at])
    for _ in range(chance.randint(1, 3)):
        if line:
            line[chance.randrange(len(line))] = chance.choice(b'\0\xff\xc3{}[]",:\\ab10')
    lines[at] = bytes(line)


def _cut_line(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at] = lines[at][: chance.randint(0, len(lines[at]))]


def _swap_uuids(lines: Lines, chance: random.Random) -> None:
    """Let records follow any other, themselves, or nothing that is there."""
    records = [(at, record) for at, line in enumerate(lines) if (record := _record(line)) is not None]
    uuids = [record[name] for _, record in records for name in _UUID if isinstance(record.get(name), str)]
    for at, record in chance.sample(records, min(len(records), 3)):
        name = chance.choice(_UUID)
        record[name] = chance.choice([*uuids, None, "nobody"])
        lines[at] = _line(record)


def _swap_type(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    record = _record(lines[at])
    if record is not None:
        record["type"] = chance.choice(_TYPES)
        lines[at] = _line(record)


def _change_value(lines: Lines, chance: random.Random) -> None:
    """Put something else in the place of any value, however deep it lies."""
    at = chance.randrange(len(lines))
    record = _record(lines[at])
    if not record:
        return
    holder: Any = record
    while True:
        place = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        inner = holder[place]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.7:
            holder = inner
            continue
        break
    if chance.random() < 0.2:
        del holder[place]
    else:
        holder[place] = chance.choice(_ODD_VALUES)
    lines[at] = _line(record)


_MUTATIONS: list[Callable[[Lines, random.Random], None]] = [
    _drop, _duplicate, _shuffle, _join_lines, _flip_bytes, _cut_line, _swap_uuids, _swap_type,
    _change_value, _change_value, _change_value,
]  # fmt: skip


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()
