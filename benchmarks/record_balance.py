"""Hold the lines of logs against what an importer gives of them: every record is a row, a counted kind, or a problem.

    python -m benchmarks.record_balance FOLDER

Prints for Claude Code transcripts and session logs how many lines gave a row, were kept as context of a row, are of a
kind that is only counted, or are named by a problem. The exit code is 1 when a line is not among these. Lines are read
with Python's own `json` and found in the rows by the uuid of the record, so that the reading of the importers is not
held against itself; only the lists of counted kinds are theirs.
"""

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from aix.importing import Candidate, Importer, Problem, Rows, Source
from aix_importers.claude_code import ClaudeCodeImporter
from aix_importers.claude_code.classification import COUNTED_PROGRESS
from aix_importers.claude_code.discovery import FileKind, source_file
from aix_importers.common.claude_code_record_types import COUNTED_TYPES
from aix_importers.common.json_text import whole_characters
from aix_importers.session_log import SessionLogImporter
from aix_importers.session_log.discovery import is_program_file

REPAIRS = {
    "bom", "copies_differ", "invalid_utf8", "lone_surrogate", "no_timestamp", "no_uuid", "nul_bytes",
    "odd_progress", "several_values", "spread_message", "unknown_field", "unknown_parent", "wrong_type",
}  # fmt: skip
"""Kinds of problems whose record is kept: of a line that can be read they explain no loss."""
_WARMUP = "Warmup"
_BEFORE_JSON = "\ufeff\x1e \t\r"
"""Marks before a value that readers leave out."""
_BLANK_BYTES = b" \t\r\x0b\x0c\x1e\xef\xbb\xbf"
_DECODER = json.JSONDecoder(strict=False, parse_int=float, parse_constant=str)
"""Reads control characters in texts, numbers of any length, and Infinity as the text that importers make of it."""
_CONSTANTS = {"Infinity", "-Infinity", "NaN"}
WHOLE_FILE = {"no_model_activity", "no_record", "unread_form"}
"""Kinds of problems that explain why nothing of a file was taken."""

Fate = tuple[str, str]
"""`row`, `context`, `counted`, `problem` or `unaccounted`, and the kind of the record or of the problem."""


class Line(NamedTuple):
    """A line of a log, or one of several objects on it."""

    number: int
    record: dict[str, Any] | None
    """An object that it begins with; NULL when it begins with anything else."""


@dataclass
class Outcome:
    """Records and problems that an importer gave of some sources."""

    uuids: set[str] = field(default_factory=set)
    """Records that messages were made of."""
    context: set[str] = field(default_factory=set)
    """Records with a uuid that are kept as context of a message."""
    queued: set[str] = field(default_factory=set)
    """Prompts that waited, which may have no uuid."""
    nameless_context: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By type and timestamp: how many records without a uuid are kept as context."""
    requests: set[str] = field(default_factory=set)
    """Messages of the API that have a request."""
    problems: dict[str, dict[int | None, set[str]]] = field(default_factory=lambda: defaultdict(dict))
    """By file and line: kinds of problems."""

    def add(self, given: Rows | Problem | object) -> None:
        """Take something that an importer gives."""
        if isinstance(given, Problem):
            self.problems[given.source.path].setdefault(given.line, set()).add(given.kind)
        elif isinstance(given, Rows) and given.table == "messages":
            for text, content in zip(given.columns["metadata_json"], given.columns["content"], strict=True):
                self._add_metadata(decode(str(text)), content)
            for text in given.columns.get("context_json", ()):
                self._add_context(decode(str(text)) if text else [])
        elif isinstance(given, Rows) and given.table == "requests":
            self.requests.update(str(name) for name in given.columns.get("origin_message_id", ()) if name)

    def _add_metadata(self, metadata: dict[str, Any], content: object) -> None:
        if metadata.get("queued") and isinstance(content, str):
            self.queued.add(content.strip())
        uuid = metadata.get("uuid")
        self.uuids.update(metadata.get("uuids") or ([uuid] if isinstance(uuid, str) else []))

    def _add_context(self, records: list[dict[str, Any]]) -> None:
        for record in records:
            uuid = record.get("uuid")
            if isinstance(uuid, str):
                self.context.add(uuid)
            else:
                self.nameless_context[_type_of(record), str(record.get("timestamp"))] += 1


class Balance:
    """Fates of the lines of some sources."""

    def __init__(self, outcome: Outcome) -> None:
        self.fates: Counter[Fate] = Counter()
        self.unaccounted: list[tuple[str, Line]] = []
        self._outcome = outcome
        self._explained: dict[str, str] = {}
        """By record that a problem explains: the kind of the problem, which holds for its copies too."""

    def settle(self) -> None:
        """Account for copies of records that a problem explains elsewhere."""
        for _, line in self.unaccounted:
            kind = self._explained.get(name_of(line) or "")
            if kind is not None:
                self.fates["unaccounted", _type(line)] -= 1
                self.fates["problem", kind] += 1
        self.unaccounted = [each for each in self.unaccounted if (name_of(each[1]) or "") not in self._explained]
        self.fates = +self.fates

    def add_transcript(self, source: Source, lines: Iterable[Line]) -> None:
        """Take the lines of a Claude Code transcript."""
        lines = list(lines)
        file = source_file(source)
        is_side = not file.kind.is_conversation
        is_warmup = file.kind is FileKind.AGENT and _is_warmup(lines)
        warmups = _warmups(lines)
        for line in lines:
            fate = self._fate_in_transcript(line)
            if fate is None and (is_side or is_warmup or _uuid(line) in warmups):
                fate = ("counted", "side call" if is_side else "warm-up")
            fate = fate or self._problem(source, line, name_of(line)) or self._fate_in_context(line)
            self._put(source, line, fate)

    def add_session_log(self, source: Source, lines: Iterable[Line]) -> None:
        """Take the lines of a session log."""
        for line in lines:
            uuid = _uuid(line)
            is_row = uuid in self._outcome.uuids
            name = None if uuid in _CONSTANTS else uuid  # numbers are no names in these logs
            self._put(source, line, ("row", "entry") if is_row else self._problem(source, line, name))

    def _put(self, source: Source, line: Line, fate: Fate | None) -> None:
        if fate is None:
            fate = ("unaccounted", _type(line))
            self.unaccounted.append((source.path, line))
        elif fate[0] == "problem" and (name := name_of(line)) is not None:
            self._explained[name] = fate[1]
        self.fates[fate] += 1

    def _problem(self, source: Source, line: Line, name: str | None) -> Fate | None:
        """Return the problem that explains why a line gave nothing; one that repairs it explains nothing."""
        problems = self._outcome.problems[source.path]
        kinds = problems.get(line.number, set())
        losses = kinds - REPAIRS if name is not None else kinds
        if not losses:
            losses = problems.get(None, set()) & WHOLE_FILE
        return ("problem", min(losses)) if losses else None

    def _fate_in_transcript(self, line: Line) -> Fate | None:
        record, outcome = line.record or {}, self._outcome
        kind, uuid = _type(line), _uuid(line)
        if uuid is not None and uuid in outcome.uuids:
            return ("row", kind) if self._has_request(record) else None
        if kind in COUNTED_TYPES:
            return "counted", kind
        if kind == "attachment" and uuid is None and _queued_text(record) in outcome.queued:
            return "row", kind
        if kind == "progress":
            data = record.get("data")
            shown = data.get("type") if isinstance(data, dict) else None
            if isinstance(shown, str) and shown in COUNTED_PROGRESS:
                return "counted", f"progress/{shown}"
            if name_of(line) in outcome.uuids:
                return "row", kind
        return ("context", kind) if uuid in outcome.context else None

    def _fate_in_context(self, line: Line) -> Fate | None:
        """Find a record without a uuid among those that are kept as context; each is found once."""
        key = (_type(line), str((line.record or {}).get("timestamp")))
        if _uuid(line) is not None or self._outcome.nameless_context[key] <= 0:
            return None
        self._outcome.nameless_context[key] -= 1
        return "context", _type(line)

    def _has_request(self, record: dict[str, Any]) -> bool:
        """Whether the usage of an answer is that of a request."""
        message = record.get("message")
        if _type_of(record) != "assistant" or not isinstance(message, dict):
            return True
        name, usage = message.get("id"), message.get("usage")
        if not (isinstance(name, str) and name and isinstance(usage, dict)) or message.get("model") == "<synthetic>":
            return True
        return whole_characters(name) in self._outcome.requests


def decode(text: str) -> Any:  # noqa: ANN401 - JSON may be anything
    """Decode JSON that Python's usual decoder may refuse."""
    return _DECODER.decode(text)


def lines_of(content: bytes) -> Iterator[Line]:
    """Go through the lines of a log that are not blank."""
    for number, data in enumerate(content.split(b"\n"), 1):
        if data.strip(_BLANK_BYTES):
            records = _objects(data)
            yield from (Line(number, record) for record in records)
            if not records:
                yield Line(number, None)


def balance(importer: Importer, sources: Sequence[Source]) -> Balance:
    """Extract sources, all of them together, and hold their lines against what they gave."""
    outcome = Outcome()
    for given in importer.extract(sources):
        outcome.add(given)
    return balance_of(importer, sources, outcome)


def balance_of(importer: Importer, sources: Sequence[Source], outcome: Outcome) -> Balance:
    """Hold the lines of sources against what they gave."""
    found = Balance(outcome)
    for source in sources:
        is_of_programs = isinstance(importer, SessionLogImporter) and is_program_file(source.path)
        if source.path.lower().endswith(".jsonl") and not source.may_hold_secrets and not is_of_programs:
            lines = lines_of(Path(source.path).read_bytes())
            if isinstance(importer, SessionLogImporter):
                found.add_session_log(source, lines)
            else:
                found.add_transcript(source, lines)
    found.settle()
    return found


def sources_in(importer: Importer, folder: Path) -> list[Source]:
    """Return the sources that an importer finds in a folder."""
    paths = sorted(Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return list(importer.discover([Candidate(str(path.absolute()), 1, 0, 0) for path in paths]))


def _objects(data: bytes) -> list[dict[str, Any]]:
    """Return the objects that a line begins with, up to what is not JSON."""
    text = data.strip(b"\0").decode("utf-8", "replace").lstrip(_BEFORE_JSON)
    found: list[dict[str, Any]] = []
    try:
        while text:
            value, end = _DECODER.raw_decode(text)
            found += [value] if isinstance(value, dict) else []
            text = text[end:].lstrip()
    except (ValueError, RecursionError):
        pass
    return found


def _uuid(line: Line) -> str | None:
    record = line.record or {}
    uuid, session = _repaired(record.get("uuid")), record.get("session_id")
    if record.get("uuid") is None and isinstance(session, str) and not isinstance(record.get("sessionId"), str):
        return f"stream:{session}:{line.number}"  # records of captures are named by their lines
    return uuid


def name_of(line: Line) -> str | None:
    """Return the uuid of the record that a line gives: that of progress is the uuid of the record which it shows."""
    data = (line.record or {}).get("data")
    if _type(line) != "progress" or not isinstance(data, dict) or "message" not in data:
        return _uuid(line)
    inner = data["message"].get("uuid") if isinstance(data["message"], dict) else None
    return _repaired(inner)


def _repaired(uuid: object) -> str | None:
    """Return a uuid as rows hold it, which cannot have halves of characters."""
    if not isinstance(uuid, str) or not uuid:
        return None
    return whole_characters(uuid)


def _type(line: Line) -> str:
    return _type_of(line.record or {})


def _type_of(record: dict[str, Any]) -> str:
    kind = record.get("type")
    return kind if isinstance(kind, str) else ""


def _text(record: dict[str, Any]) -> str | None:
    message = record.get("message")
    return _said(message.get("content") if isinstance(message, dict) else None)


def _queued_text(record: dict[str, Any]) -> str | None:
    attachment = record.get("attachment")
    return _said(attachment.get("prompt") if isinstance(attachment, dict) else None)


def _said(content: object) -> str | None:
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return content.strip() if isinstance(content, str) else None


def _is_warmup(lines: list[Line]) -> bool:
    """Whether nothing is asked for in the file of a subagent but to warm up the cache."""
    asked = {_text(line.record) for line in lines if line.record and _type(line) == "user"}
    return asked == {_WARMUP}


def _warmups(lines: list[Line]) -> set[str]:
    """Return the records of sidechains that only warm up the cache: those that ask for it, and what follows them."""
    sidechain = [(uuid, line) for line in lines if (uuid := _uuid(line)) and _side(line, "isSidechain") is True]
    found = {uuid for uuid, line in sidechain if _text(line.record or {}) == _WARMUP}
    agents = {_side(line, "agentId") for uuid, line in sidechain if uuid in found}
    while True:
        more = {
            uuid
            for uuid, line in sidechain
            if _type(line) != "user" and (_side(line, "parentUuid") in found or (_side(line, "agentId") or 0) in agents)
        }
        if more <= found:
            return found
        found |= more


def _side(line: Line, name: str) -> str | bool | None:
    value = (line.record or {}).get(name)
    return value if isinstance(value, str | bool) else None


def main() -> int:
    """Print the balance of a folder; return 1 when a line is unaccounted for."""
    parser = argparse.ArgumentParser(description="Hold the lines of logs against the rows and problems they give.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    is_lost = False
    for importer in (ClaudeCodeImporter({}), SessionLogImporter({})):
        sources = sources_in(importer, folder)
        if not sources:
            continue
        found = balance(importer, sources)
        sums: Counter[str] = Counter()
        print(f"{importer.name}: {len(sources)} sources, {sum(found.fates.values())} lines")
        for (fate, kind), count in sorted(found.fates.items()):
            print(f"  {fate:12} {kind:32} {count:8}")
            sums[fate] += count
        print("  lines =", " + ".join(f"{count} {fate}" for fate, count in sorted(sums.items())))
        for path, line in found.unaccounted[:20]:
            print(f"  unaccounted for: {path}:{line.number}")
        is_lost = is_lost or bool(found.unaccounted)
    return 1 if is_lost else 0


if __name__ == "__main__":
    sys.exit(main())
