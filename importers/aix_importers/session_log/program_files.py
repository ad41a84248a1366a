"""Files of programs and of their events: JSON lines, an array, an object by id, or an object with lists of both.

Problems have no sample, because it could hold a credential.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from aix.importing import Problem, Source
from aix_importers.common.json_records import RecordReader
from aix_importers.common.json_text import DECODER, is_text, without_lone_surrogates
from aix_importers.common.secrets import is_secret_text, shortened
from aix_importers.session_log.program_events import ProgramEvent, event_kind, read_event
from aix_importers.session_log.programs import LIFECYCLES, Program, read_program
from aix_importers.session_log.references import reference_cycles, references_of

_MOST_BYTES = 64 * 2**20
"""A file that is one JSON value is read as a whole, up to here."""
_FIRST_LINE_BYTES = 2**20
_LISTS = ("programs", "events")
_NO_PROGRAM = "This is no program and no event: it lacks an id or a programType, and states no kind."


class _Found(NamedTuple):
    """A JSON value, and the line that it stands in."""

    value: object
    line: int | None = None
    byte_offset: int | None = None


class _Unread(NamedTuple):
    """A key beside the lists of programs and events."""

    name: str


def programs_in(path: str) -> tuple[Program, ...]:
    """Return the programs of a file, without its events and problems."""
    state = Path(path).stat()
    return _remembered_programs(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)  # thousands of logs lie beside one file
def _remembered_programs(path: str, _modified_at: int, _size: int) -> tuple[Program, ...]:
    return tuple(_programs_of(path))


def _programs_of(path: str) -> Iterator[Program]:
    for found in _found(path, Source(path)):
        for value in () if isinstance(found, Problem) else map(_typed, _parts(found.value)):
            if isinstance(value, dict) and event_kind(value) is None and (program := _program(value)):
                yield program


def _program(value: Mapping[str, object]) -> Program | None:
    try:
        return read_program(value)
    except RecursionError:
        return None


def read_programs(path: str, source: Source) -> Iterator[Program | ProgramEvent | Problem]:
    """Go through the programs and events of a file, each event once, and the problems; those of cycles come last."""
    references: dict[str, list[tuple[str, str]]] = {}
    events: set[int] = set()
    for found in _found(path, source):
        if isinstance(found, Problem):
            yield found
            continue
        problem = partial(Problem, source, line=found.line, byte_offset=found.byte_offset)
        for value in map(_typed, _parts(found.value)):
            if isinstance(value, _Unread):
                name = "…" if is_secret_text(value.name) else shortened(value.name)
                yield problem("unknown_part", f"{name}, beside programs and events, was not read.")
                continue
            try:
                record = _record(value)
            except RecursionError:
                yield problem("too_deep", "The program or event is nested too deeply to be kept.")
                continue
            match record:
                case None:
                    yield problem("not_a_program", _NO_PROGRAM)
                    continue
                case Program():
                    references.setdefault(record.id, []).extend(_references(record))
                case ProgramEvent():
                    number = int(record.id[:16], 16)
                    if number in events:
                        yield problem("repeated_event", "The event stands in the file a second time.")
                        continue
                    events.add(number)
            yield record
            for kind, reason in record.faults:
                yield problem(kind, reason)
    for setting, cycle in reference_cycles(references):
        reason = f"Programs refer to each other in a cycle, as {setting}: {' → '.join(cycle)}; all were kept."
        yield Problem(source, "reference_cycle", reason)


def _references(program: Program) -> list[tuple[str, str]]:
    """Return the references of a program to others."""
    return [(setting, target) for setting, target in references_of(program.config) if target != program.id]


def _record(value: object) -> Program | ProgramEvent | None:
    if not isinstance(value, dict):
        return None
    return read_program(value) if event_kind(value) is None else read_event(value)


def _parts(value: object) -> Iterator[object]:
    """Go through the programs and events that a value holds: itself, a list, lists of both, or an object by id."""
    if isinstance(value, list):
        yield from value
    elif not isinstance(value, dict) or event_kind(value) or _is_program(value):
        yield value
    elif lists := [inner for name in _LISTS if isinstance(inner := value.get(name), list)]:
        for inner in lists:
            yield from inner
        if isinstance(by_id := value.get(_LISTS[0]), dict):
            yield from _parts(by_id)
        for name, inner in value.items():
            if not (name in _LISTS and isinstance(inner, list)) and not (name == _LISTS[0] and isinstance(inner, dict)):
                yield _Unread(name)
    elif value and all(isinstance(inner, dict) for inner in value.values()):
        yield from ({"id": name, **inner} for name, inner in value.items())
    else:
        yield value


def _typed(value: object) -> object:
    """Return a program that states its type as `type` as others do; any other value as it is."""
    if not isinstance(value, dict) or not is_text(value.get("id")):
        return value
    if not is_text(kind := value.get("type")) or kind not in LIFECYCLES:
        return value
    if any(name in value for name in ("programType", "kind", "event", "eventType")):
        return value
    return {("programType" if name == "type" else name): inner for name, inner in value.items()}


def _is_program(value: Mapping[str, object]) -> bool:
    return is_text(value.get("programType")) or value.get("type") == "program"


def _found(path: str, source: Source) -> Iterator[_Found | Problem]:
    with Path(path).open("rb") as file:
        if not _is_of_lines(file.read(_FIRST_LINE_BYTES)):
            file.seek(0)
            data = file.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                yield Problem(source, "file_too_long", f"The file of programs has more than {_MOST_BYTES} bytes.")
                return
            try:
                yield _Found(without_lone_surrogates(DECODER.decode(data.decode("utf-8-sig", "replace"))))
            except RecursionError:
                yield Problem(source, "too_deep", "The file of programs is nested too deeply to be read.")
            except ValueError:
                pass
            else:
                return
        file.seek(0)
        for record in RecordReader(source, file, has_samples=False):
            yield (record if isinstance(record, Problem) else _Found(record.value, record.line, record.byte_offset))


def _is_of_lines(beginning: bytes) -> bool:
    """Whether the first line of a file is a JSON object of its own, or too long to be seen whole."""
    line, end, _ = beginning.lstrip(b"\xef\xbb\xbf\0 \t\r\n").partition(b"\n")
    if not line.startswith(b"{"):
        return False
    if not end:
        return len(beginning) == _FIRST_LINE_BYTES
    try:
        DECODER.decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True
