"""The programs that entries refer to, and what a reference stands for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from aix.importing import Problem, Source
from aix_importers.common.json_text import DECODER, leading_values, without_lone_surrogates
from aix_importers.session_log.entries import is_text
from aix_importers.session_log.secrets import without_secrets

_REFERENCE = re.compile(r"@\((.*)\)", re.DOTALL)
_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Program:
    """A node of the graph that takes part in conversations."""

    id: str
    type: str
    lifecycle: str | None
    config: Mapping[str, object]

    def text(self, name: str) -> str | None:
        """Return a setting that is text and not empty."""
        value = self.config.get(name)
        return value if is_text(value) and value else None

    def reference(self, name: str) -> str | None:
        """Return the id of the program that a setting refers to."""
        value = self.text(name)
        return None if value is None else referred_id(value) or value

    def references(self, name: str) -> list[str]:
        """Return the ids of the programs that a setting lists."""
        value = self.config.get(name)
        return [referred_id(each) or each for each in value if is_text(each)] if isinstance(value, list) else []


class Programs:
    """Programs by id; of several with one id the first counts."""

    def __init__(self, programs: Iterable[Program] = ()) -> None:
        self._by_id: dict[str, Program] = {}
        for program in programs:
            self._by_id.setdefault(program.id, program)

    def of_type(self, program_type: str) -> Iterator[Program]:
        """Go through the programs of a type."""
        return (program for program in self._by_id.values() if program.type == program_type)

    def find(self, program_id: str | None, *types: str) -> Program | None:
        """Return the program of that id, if it is of one of the types."""
        program = self._by_id.get(program_id or "")
        return program if program and program.type in types else None

    def session(self, session_id: str, path: str) -> Program | None:
        """Return the program of a session: by its id, else by the log it names."""
        return self.find(session_id, "session") or next(
            (program for program in self.of_type("session") if _names_log(program, path)), None
        )


def referred_id(text: str) -> str | None:
    """Return the id in a reference.

    >>> referred_id("@(claude-balanced)"), referred_id("claude-balanced")
    ('claude-balanced', None)
    """
    found = _REFERENCE.fullmatch(text.strip())
    return found[1].strip() or None if found else None


def read_programs(path: str, source: Source) -> Iterator[Program | Problem]:
    """Go through the programs in a file: an array, an object by id, or JSON lines. Secrets are left out.

    Problems have no sample, because it could hold one.
    """
    with Path(path).open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        yield Problem(source, "file_too_long", f"The file of programs has more than {_MOST_BYTES} bytes.")
        return
    try:
        values = list(_values(data, source))
    except RecursionError:
        values = [Problem(source, "too_deep", "The file of programs is nested too deeply to be read.")]
    yield from values


def _values(data: bytes, source: Source) -> Iterator[Program | Problem]:
    try:
        whole = without_lone_surrogates(DECODER.decode(data.decode("utf-8-sig", "replace")))
    except ValueError:
        yield from _values_of_lines(data, source)
        return
    match whole:
        case list():
            values = whole
        case dict() if not is_text(whole.get("programType")):
            values = [
                {"id": program_id, **value} if isinstance(value, dict) else value for program_id, value in whole.items()
            ]
        case _:
            values = [whole]
    for value in values:
        yield _program(value, source)


def _values_of_lines(data: bytes, source: Source) -> Iterator[Program | Problem]:
    byte_offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.decode("utf-8-sig", "replace")
        values, end = leading_values(text)
        for value in values:
            yield _program(without_lone_surrogates(value), source, number, byte_offset)
        if end < len(text):
            yield Problem(source, "not_json", "The line is not JSON.", number, byte_offset)
        byte_offset += len(line) + 1


def _program(
    value: object, source: Source, line: int | None = None, byte_offset: int | None = None
) -> Program | Problem:
    if isinstance(value, dict) and is_text(value.get("id")) and value["id"] and is_text(value.get("programType")):
        stage = next((value[name] for name in ("lifecycle", "state") if is_text(value.get(name))), None)
        config = value.get("config")
        settings = without_secrets(config) if isinstance(config, dict) else {}
        return Program(value["id"], value["programType"], stage, settings)
    reason = "This is no program: it lacks an id or a programType."
    return Problem(source, "not_a_program", reason, line, byte_offset)


def _names_log(program: Program, path: str) -> bool:
    log = program.text("logFile")
    parts = PurePath(log).parts if log else ()
    return bool(parts) and PurePath(path).parts[-len(parts) :] == parts
