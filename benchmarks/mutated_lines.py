"""Logs of JSON lines made wrong: by lines, by bytes, by values, by what clients and copies do to them."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

Lines = list[bytes]
Mutation = Callable[[Lines, random.Random], None]

_ODD_VALUES: list[object] = [
    None, True, 0, -1, 2**63, 10**30, 1.5, "", "x", "2026-02-10T09:00:01.000Z", "msg_01", [], [None], [[]], {},
    {"a": 1}, "\ud800", "a\0b", [{"type": "text"}], [{"type": "tool_result", "tool_use_id": 5}], "<synthetic>",
]  # fmt: skip
_TYPES = ["user", "assistant", "system", "attachment", "progress", "summary", "queue-operation", "result", "", 7]
_UUID = ("uuid", "parentUuid", "logicalParentUuid", "leafUuid")
_NUMBERS = [b"9" * 5_000, b"1e999", b"-1e-999", b"NaN", b"Infinity", b"123456789012345678901234567890", b"-0"]
_TEXT_ENCODINGS = ("utf-16", "utf-16-be", "utf-32", "latin-1", "cp037")
_DEEP = 100_000
_LARGE = 300_000
_PROGRESS_FIELDS = ("type", "agentId", "message", "prompt")
_NESTED_FIELDS = ("type", "uuid", "timestamp", "requestId", "message", "toolUseResult")


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Change a log in a few ways, most of which no client and no accident would come up with."""
    lines = content.split(b"\n")
    for _ in range(chance.randint(1, 4)):
        if lines:
            chance.choice(MUTATIONS)(lines, chance)
    return b"\n".join(lines)


def _drop(lines: Lines, chance: random.Random) -> None:
    del lines[chance.randrange(len(lines))]


def _duplicate(lines: Lines, chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))


def _shuffle(lines: Lines, chance: random.Random) -> None:
    chance.shuffle(lines)


def _move(lines: Lines, chance: random.Random) -> None:
    line = lines.pop(chance.randrange(len(lines)))
    lines.insert(chance.randint(0, len(lines)), line)


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


def _cut_end(lines: Lines, chance: random.Random) -> None:
    """Leave out the end of the log, as when it is copied while it is written."""
    del lines[chance.randint(1, len(lines)) :]
    lines[-1] = lines[-1][: chance.randint(0, len(lines[-1]))]


def _put_bytes(lines: Lines, chance: random.Random) -> None:
    """Put bytes before, behind or into a line that do not belong there."""
    odd = chance.choice((b"\0", b"\0" * 4096, b"\xef\xbb\xbf", b"\xef\xbb\xbf" * 2, b"\x1e", b"\x0b", b"\xff", b" "))
    at = chance.randrange(len(lines))
    place = chance.choice((0, len(lines[at]), chance.randint(0, len(lines[at]))))
    lines[at] = lines[at][:place] + odd + lines[at][place:]


def _insert_line(lines: Lines, chance: random.Random) -> None:
    """Put in a line that is no record."""
    odd = (
        b"", b" \t", b"\0" * 100, b"null", b"[]", b"7", b'"x"', b"// comment", b"{", b"}", b"{}", b"[" * _DEEP,
        b'{"a":' * _DEEP, b'{"type":"user","x":' + b"[" * _DEEP + b"]" * _DEEP + b"}", b"x" * _LARGE, b'{"x":"\xff"}',
    )  # fmt: skip
    lines.insert(chance.randint(0, len(lines)), chance.choice(odd))


def _change_line_ends(lines: Lines, chance: random.Random) -> None:
    lines[:] = [line + b"\r" if line and chance.random() < 0.8 else line for line in lines]


def _change_encoding(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at] = lines[at].decode("utf-8", "replace").encode(chance.choice(_TEXT_ENCODINGS), "replace")


def _repeat_key(lines: Lines, chance: random.Random) -> None:
    """Let an object have a key twice."""
    at = chance.randrange(len(lines))
    record = _record(lines[at])
    if record:
        name = chance.choice(list(record))
        first = json.dumps({name: chance.choice(_ODD_VALUES)})[:-1]
        lines[at] = f"{first}, {json.dumps(record)[1:]}".encode()


def _change_number(lines: Lines, chance: random.Random) -> None:
    """Write a number that no column holds."""
    holders = [(at, record) for at, line in enumerate(lines) if (record := _record(line)) is not None]
    numbers = [(at, record, holder, place) for at, record in holders for holder, place in _numbers_in(record)]
    if numbers:
        at, record, holder, place = chance.choice(numbers)
        holder[place] = "aix:number"
        lines[at] = _line(record).replace(b'"aix:number"', chance.choice(_NUMBERS))


def _lengthen(lines: Lines, chance: random.Random) -> None:
    """Make a text of a record very long."""
    at = chance.randrange(len(lines))
    record = _record(lines[at])
    texts = [(holder, place) for holder, place in _leaves(record) if isinstance(holder[place], str)]
    if texts:
        holder, place = chance.choice(texts)
        holder[place] += chance.choice(("x", "\u20ac", "\n", '"', "\\", "```\n")) * (_LARGE // 10)
        lines[at] = _line(record)


def _break_characters(lines: Lines, chance: random.Random) -> None:
    """Put halves of characters into the texts and keys of a record."""
    at = chance.randrange(len(lines))
    half = chance.choice((b"\\ud83d", b"\\udc00", b"\\uD800\\uD800"))
    before = chance.choice((b'"', b" "))
    lines[at] = lines[at].replace(before, before + half, chance.randint(1, 20))


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


def _make_orphan(lines: Lines, chance: random.Random) -> None:
    """Let a record be a sidechain's, and its parent, call and agent be nowhere."""
    at = chance.randrange(len(lines))
    record = _record(lines[at])
    if record is None:
        return
    record["isSidechain"] = True
    record["parentUuid"] = chance.choice((None, "nobody", record.get("parentUuid")))
    if chance.random() < 0.5:
        record["agentId"] = chance.choice(("nobody", 7))
    for holder, place in _leaves(record):
        if place == "tool_use_id":
            holder[place] = chance.choice(("toolu_nobody", 7, None))
    lines[at] = _line(record)


def _change_progress(lines: Lines, chance: random.Random) -> None:
    """Let the progress of a subagent hold fields of other types, or lack them."""
    records = [(at, record) for at, line in enumerate(lines) if (record := _record(line)) is not None]
    if not records:
        return
    shown = [(at, record) for at, record in records if record.get("type") == "progress"]
    at, record = chance.choice(shown or records)
    if not shown:
        inner = {name: record.get(name) for name in _NESTED_FIELDS}
        record.update(type="progress", parentToolUseID="toolu_nobody", uuid=f"{record.get('uuid')}-p")
        record["data"] = {"type": "agent_progress", "agentId": "a1", "message": inner}
    data = record.get("data")
    message = data.get("message") if isinstance(data, dict) else None
    holder, names = (data, _PROGRESS_FIELDS) if chance.random() < 0.5 else (message, _NESTED_FIELDS)
    if isinstance(holder, dict):
        name = chance.choice(names)
        if chance.random() < 0.3:
            holder.pop(name, None)
        else:
            holder[name] = chance.choice([*_ODD_VALUES, [holder.get(name)], {"message": holder.get(name)}])
    if chance.random() < 0.2:
        record["parentToolUseID"] = chance.choice(_ODD_VALUES)
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


MUTATIONS: list[Mutation] = [
    _drop, _duplicate, _shuffle, _move, _join_lines, _flip_bytes, _cut_line, _cut_end, _put_bytes, _insert_line,
    _change_line_ends, _change_encoding, _repeat_key, _change_number, _lengthen, _break_characters, _swap_uuids,
    _swap_type, _make_orphan, _make_orphan, _change_progress, _change_progress, _change_value, _change_value,
    _change_value, _change_value,
]  # fmt: skip


def _leaves(value: object) -> Iterator[tuple[Any, Any]]:
    """Go through the places in a value that hold neither object nor list: the holder, and the name or number."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, inner in [*places]:
        if isinstance(inner, dict | list):
            yield from _leaves(inner)
        else:
            yield value, place


def _numbers_in(record: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    for holder, place in _leaves(record):
        if isinstance(holder[place], int | float) and not isinstance(holder[place], bool):
            yield holder, place


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _line(record: object) -> bytes:
    return json.dumps(record).encode()
