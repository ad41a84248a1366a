"""`aix events`."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import click

from aix.canonical_json import JsonReader, canonical_form, content_hash
from aix.cli.command import Command, Group, listing_output
from aix.cli.stdout import emit_text
from aix.errors import NotCanonicalError, UsageError
from aix.events import EVENT_ID, payload_of_event, record_form
from aix.output import DISPENSABLE, Listing, ListingColumn, listing_columns
from aix.output.humanise import counted

_STDIN = "-"
_ID_CHARACTERS = 64
_SHORT = 12
"""Characters of an id that a table of people shows."""
_MOST_NOTES = 5
_NOT_LINES = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")
"""Beginnings of gzip, zstd and UTF-16."""


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Compute and verify the ids of events.

    An event is a JSON object on a line of its own that has a `kind`, and an `event_id` or a `ts`. Its id is the SHA-256
    of its canonical JSON (RFC 8785) without `event_id`: the order of its keys, blanks and the spelling of numbers do
    not change it, and every change of a value does. docs/agent-graph.md describes such files.

    \b
      aix events hash graph.jsonl
      aix events verify graph.jsonl
    """
    if ctx.invoked_subcommand is None:
        emit_text(ctx.get_help())


class _Event(NamedTuple):
    """An event of a file."""

    line: int
    kind: str
    id: str
    claimed: str | None

    @property
    def verdict(self) -> str:
        """Whether the id that the event claims is right, wrong or missing."""
        return "missing" if self.claimed is None else "right" if self.claimed == self.id else "wrong"


@command.command("hash", cls=Command, short_help="Print the id of each event of a file.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@listing_output
def hash_events(file: Path) -> Listing:
    """Print the id of each event of FILE, with the number of its line.

    FILE holds JSON lines; - reads them from stdin. Lines that are nodes or edges have no such id and are left out. The
    `event_id` that an event has is not used: `aix events verify` compares it. The exit code is 1 when a line could not
    be read.

    \b
      aix events hash graph.jsonl
      aix events hash graph.jsonl --format csv
      tail -n 1 graph.jsonl | aix events hash - --json
    """
    found = _Findings(file)
    id_column = ListingColumn(EVENT_ID, least=_ID_CHARACTERS)
    columns = listing_columns(("line", "BIGINT"), id_column, ListingColumn("kind", priority=DISPENSABLE))
    rows = ((event.line, event.id, event.kind) for event in found.events())
    return Listing(
        columns,
        chain(rows, found.computed()),
        has_findings=lambda: found.unread > 0,
        notes=found.notes,
    )


@command.command("verify", cls=Command, short_help="Compare the ids in a file with computed ones.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@listing_output
def verify(file: Path) -> Listing:
    """Say for each event of FILE whether its `event_id` is right, wrong or missing.

    FILE holds JSON lines; - reads them from stdin. An id is wrong when it is not the SHA-256 of the event's canonical
    JSON without `event_id`: the event was changed after it got its id, or its writer computes ids in another way. The
    import keeps such an event under its computed id. The exit code is 1 when an id is wrong, when a line could not be
    read, and when there is no event.

    \b
      aix events verify graph.jsonl
      aix events verify graph.jsonl --format csv
      grep run-7 graph.jsonl | aix events verify -
    """
    found = _Findings(file)
    columns = listing_columns(("line", "BIGINT"), "verdict", "kind", EVENT_ID, "computed_event_id")
    rows = ((event.line, event.verdict, event.kind, event.claimed, event.id) for event in found.events())
    people = Listing(
        listing_columns(("line", "BIGINT"), "verdict", "kind", ListingColumn("in the file", priority=2), "computed"),
        chain(
            ((each.line, each.verdict, each.kind, _short(each.claimed), _short(each.id)) for each in found.events()),
            found.compared(),
        ),
    )
    return Listing(
        columns,
        chain(rows, found.compared()),
        has_findings=lambda: found.is_in_doubt,
        notes=found.notes,
        for_people=people,
    )


def _short(event_id: str | None) -> str | None:
    return event_id if event_id is None or len(event_id) <= _SHORT + 1 else f"{event_id[:_SHORT]}…"


class _Findings:
    """Goes through the events of a file one by one, and counts what it finds; the notes are whole at the end."""

    def __init__(self, file: Path) -> None:
        self.notes: list[str] = []
        self.unread = 0
        """Lines that are not JSON, or not records."""
        self._file = file
        self._verdicts = {"right": 0, "wrong": 0, "missing": 0}
        self._remarks = 0
        self._is_stdin = str(file) == _STDIN
        if not self._is_stdin:
            _open(file).close()

    @property
    def is_in_doubt(self) -> bool:
        """Whether an id is wrong, or not everything could be verified."""
        return self.unread > 0 or self._verdicts["wrong"] > 0 or not any(self._verdicts.values())

    def events(self) -> Iterator[_Event]:
        """Go through the events of the file."""
        reader = JsonReader()
        with nullcontext(sys.stdin.buffer) if self._is_stdin else _open(self._file) as stream:
            for line, data in enumerate(stream, 1):
                if line == 1 and data.startswith(_NOT_LINES):
                    raise UsageError(f"{self._file} is compressed or UTF-16; events are read from lines of UTF-8")
                text, notes = _decoded(data)
                text = text.lstrip("\ufeff\x1e").strip("\0 \t\r\n")
                try:
                    for value in reader.read_all(text):
                        event = self._event(line, value, notes + reader.notes)
                        if event:
                            self._verdicts[event.verdict] += 1
                            yield event
                except (NotCanonicalError, RecursionError):
                    self._skip(line, "it is nested too deeply")
                except ValueError:
                    self._skip(line, "it is not JSON")

    def computed(self) -> Iterator[tuple[object, ...]]:
        """Write the notes about ids that were computed; give no row."""
        next_step = f"next: `aix events verify {shlex.quote(str(self._file))}` compares the ids in it"
        self._end(f"{counted(self._total, 'id')} computed", *([] if self._is_stdin else [next_step]))
        yield from ()

    def compared(self) -> Iterator[tuple[object, ...]]:
        """Write the notes about ids that were compared; give no row."""
        listed = ", ".join(f"{count:,} {verdict}" for verdict, count in self._verdicts.items())
        wrong = self._verdicts["wrong"]
        self._end(f"{counted(self._total, 'event')}: {listed}", *([_advice(wrong)] if wrong else []))
        yield from ()

    @property
    def _total(self) -> int:
        return sum(self._verdicts.values())

    def _end(self, summary: str, *notes: str) -> None:
        if not self._total:
            file, other = ("stdin", "FILE") if self._is_stdin else (self._file, shlex.quote(str(self._file)))
            self.notes[:] = [
                f"No event in {file}: an event has `kind`, and `event_id` or `ts` (docs/agent-graph.md)."
                f" To import other histories: `aix import {other}`"
            ]
            return
        self.notes.insert(0, summary)
        if self._remarks > _MOST_NOTES:
            self.notes.append(f"{counted(self._remarks - _MOST_NOTES, 'more line')} like these")
        if self.unread:
            lines = counted(self.unread, "line")
            self.notes.append(f"{lines} could not be read, so not everything in the file was verified")
        self.notes.extend(notes)

    def _event(self, line: int, value: object, notes: list[tuple[str, str]]) -> _Event | None:
        form = record_form(value) if isinstance(value, dict) else None
        kind = value.get("kind") if isinstance(value, dict) else None
        if form in ("node", "edge"):
            return None
        if form is None or not isinstance(value, dict) or not isinstance(kind, str) or not kind:
            self._skip(line, "it is neither an event nor a node nor an edge")
            return None
        payload, claimed = payload_of_event(value)
        text, refusal = canonical_form(payload)
        reasons = [reason for _, reason in notes]
        reasons += [f"{refusal}; it was hashed as a text."] if refusal else []
        if EVENT_ID in payload:
            claimed = canonical_form(payload[EVENT_ID])[0]
            is_number = isinstance(payload[EVENT_ID], int | float) and not isinstance(payload[EVENT_ID], bool)
            reasons.append(f"Its event_id is {'a number' if is_number else 'not a string'}; an id must be a string.")
        if reasons:
            self._remark(f"line {line:,}: {' '.join(reasons)}")
        return _Event(line, kind, content_hash(text), claimed)

    def _skip(self, line: int, reason: str) -> None:
        self.unread += 1
        self._remark(f"line {line:,} was skipped: {reason}")

    def _remark(self, note: str) -> None:
        self._remarks += 1
        if self._remarks <= _MOST_NOTES:
            self.notes.append(note)


def _decoded(data: bytes) -> tuple[str, list[tuple[str, str]]]:
    """Return the text of a line, and a note if some bytes of it are not UTF-8."""
    try:
        return data.decode(), []
    except UnicodeDecodeError:
        reason = "Bytes that are not UTF-8 were hashed as the character U+FFFD."
        return data.decode("utf-8", "replace"), [("invalid_utf8", reason)]


def _advice(wrong: int) -> str:
    """Say why ids are wrong, and under which ids an import keeps their events."""
    said = (
        "id is wrong: the event was changed, or its"
        if wrong == 1
        else "ids are wrong: the events were changed, or their"
    )
    kept = "it under the computed id" if wrong == 1 else "them under the computed ids"
    return f"{wrong:,} {said} writer computes ids differently. The import keeps {kept}."


def _open(file: Path) -> BinaryIO:
    if file.is_dir():
        example = min(file.glob("*.jsonl"), default=file / "graph.jsonl")
        raise UsageError(f"{file} is a folder; name one file, such as {example}")
    try:
        return file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
