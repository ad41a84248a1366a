"""Transcripts that agents leave beside a project: JSON lines, JSON, or plain text. None of them keeps results."""

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Raw

from aix.importing import Problem, Source
from aix_importers.common.jsonl import RawLine, raw_lines
from aix_importers.common.recognition import may_hold_lines, unread_form
from aix_importers.common.row_writer import FileUse
from aix_importers.common.times import UNDATED
from aix_importers.cursor.calls import Call, Outcome, make_call
from aix_importers.cursor.code import fences
from aix_importers.cursor.conversation import Conversation, Part, Said
from aix_importers.cursor.messages import Listed, make_conversation, query_of
from aix_importers.cursor.paths import normal_path
from aix_importers.cursor.values import (
    ABSENT,
    closed,
    field,
    fields,
    is_filled,
    is_list,
    items,
    json_of,
    json_text,
    read_list,
    sample_of,
    text,
)

_LARGEST_FILE = 256 * 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ROLES = ("user", "assistant")
_PARTS = ("text", "tool_use", "image")
_THOUGHT = re.compile(r"<think>\n?(.*?)\n?</think>\n?", re.DOTALL)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_TOOLS = ("ApplyPatch", "apply_patch")
_SPEAKER = re.compile(r"(user|assistant):")
_CALL = re.compile(r"\[Tool call\] (.+)")
_RESULT = re.compile(r"\[Tool result\](?: .*)?")
_PARAMETER = re.compile(r"  ([^\s:][^:]*): ?(.*)")


@dataclasses.dataclass(slots=True)
class Block:
    """Words and calls of the user or the assistant."""

    role: str
    lines: list[str] = dataclasses.field(default_factory=list)
    calls: list[tuple[str, dict[str, str]]] = dataclasses.field(default_factory=list)
    has_results: bool = False

    @property
    def text(self) -> str:
        """Text that was said."""
        return "\n".join(self.lines).strip("\n")


def blocks_of(written: str) -> Iterator[Block]:
    r"""Go through the blocks of a transcript. What looks like the start of one inside a prompt still is part of it.

    Text before the first block comes as a block without a role.

    >>> blocks = blocks_of("user:\nhi\n\nassistant:\n[Tool call] ls\n  path: .\n")
    >>> [(block.role, block.text, block.calls) for block in blocks]
    [('user', 'hi', []), ('assistant', '', [('ls', {'path': '.'})])]
    """
    block: Block | None = None
    given: dict[str, str] | None = None
    last_name = ""
    is_query_open = False
    for line in written.replace("\r\n", "\n").split("\n"):
        speaker = None if is_query_open else _SPEAKER.fullmatch(line)
        if speaker:
            if block is not None:
                yield block
            block, given = Block(speaker[1]), None
            continue
        if block is None:
            block = Block("")
        is_query_open = (is_query_open or "<user_query>" in line) and "</user_query>" not in line
        call = _CALL.fullmatch(line) if block.role == "assistant" else None
        if call:
            given = {}
            block.calls.append((call[1], given))
            continue
        if block.role == "assistant" and _RESULT.fullmatch(line):
            block.has_results, given = True, None
            continue
        if given is not None:
            parameter = _PARAMETER.fullmatch(line)
            if parameter:
                last_name = parameter[1]
                given[last_name] = parameter[2]
                continue
            if line.startswith("  ") and last_name in given:
                given[last_name] += f"\n{line[2:]}"
                continue
            if not line:
                continue
            given = None
        block.lines.append(line)
    if block is not None:
        yield block


def transcript_id(path: str) -> tuple[str, str | None]:
    """Return the session that a transcript is of, and the one that started it.

    >>> transcript_id("/p/agent-transcripts/a/subagents/b.jsonl"), transcript_id("/p/agent-transcripts/a.txt")
    (('b', 'a'), ('a', None))
    """
    parts = path.replace(os.sep, "/").split("/")
    stem = parts[-1].rpartition(".")[0] or parts[-1]
    is_child = len(parts) > 2 and parts[-2] == "subagents"
    return stem, parts[-3] if is_child else None


def read_transcript(source: Source) -> Conversation:
    """Return the conversation in a transcript."""
    session_id, parent_id = transcript_id(source.path)
    reader = _TranscriptReader(source, session_id)
    listed = list(reader.messages())
    reader.settle_calls()
    if not listed and not reader.problems:
        reader.problems.append(Problem(source, "empty", "The transcript holds no message."))
    is_timed = any(each.time is not None for each in listed)
    ended_at = None if is_timed else Path(source.path).stat().st_mtime_ns // 10**6
    conversation = make_conversation(source, session_id, listed, None, ended_at)
    if not is_timed:  # the date of the file is no time of the conversation
        conversation.time_basis, conversation.updated_at = UNDATED, None
    conversation.parent_id = parent_id
    conversation.problems = reader.problems
    conversation.was_stopped = reader.was_stopped
    return conversation


class _TranscriptReader:
    """Reads one transcript."""

    def __init__(self, source: Source, session_id: str) -> None:
        self._source = source
        self._id = session_id
        self._place = 0
        self._open: list[tuple[Said, Call]] = []
        self._last: Said | None = None
        self._line: RawLine | None = None
        self.problems: list[Problem] = []
        self.was_stopped = False

    def messages(self) -> Iterator[Listed]:
        """Go through the messages."""
        path = self._source.path
        if may_hold_lines(path):
            return self._lines()
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST_FILE)
            if file.read(1):
                self._note("too_long", f"The transcript was read up to its first {_LARGEST_FILE} bytes.")
        if path.lower().endswith(".json"):
            return self._records(data)
        return self._blocks(data)

    def settle_calls(self) -> None:
        """Leave calls at the very end open, unless something says that the turn has ended."""
        for said, call in self._open:
            call.status, call.result = "running", None
            call.outcome = Outcome("pending", "no_result_is_kept", is_inferred=True)
            said.files.clear()

    def _lines(self) -> Iterator[Listed]:
        problem = unread_form(self._source)
        if problem:
            self.problems.append(problem)
            return
        with Path(self._source.path).open("rb") as file:
            for line in raw_lines(file):
                data = line.data.strip(b"\0 \r\t")
                if line.number == 1:
                    data = data.removeprefix(_BYTE_ORDER_MARK)
                if not data and b"\0" not in line.data:
                    continue
                self._line = line
                record = fields(data)
                if not record or line.is_too_long:
                    self._note("not_json", "The line is no JSON object.", data)
                    continue
                yield from self._record(record, data)
        self._line = None

    def _note(self, kind: str, reason: str, data: bytes | Raw | None = None) -> None:
        line = self._line
        number, offset = (line.number, line.byte_offset) if line else (None, None)
        self.problems.append(Problem(self._source, kind, reason, number, offset, sample_of(data)))

    def _record(self, record: dict[str, Raw], data: bytes) -> Iterator[Listed]:
        kind, role = text(record.get("type", ABSENT)), text(record.get("role", ABSENT))
        if kind == "turn_ended":
            self._open.clear()
            self.was_stopped = text(record.get("status", ABSENT)) in ("aborted", "error")
            self._note_error(record.get("error", ABSENT))
            return
        if kind == "error":
            self._note_error(record.get("error", ABSENT))
            return
        content = field(record.get("message", ABSENT), "content")
        pieces = items(content)
        written = text(content)
        if written is None:
            if role in _ROLES and not is_list(content):
                self._note("unreadable_message", "The content of a message is neither text nor a list.", data)
            said = [text(field(piece, "text")) for piece in pieces if text(field(piece, "type")) == "text"]
            written = "\n".join(each for each in said if each is not None)
            unread = sum(text(field(piece, "type")) not in _PARTS for piece in pieces) + said.count(None)
            if unread:
                self._note("unknown_parts", f"Left out, since they cannot be read: {unread} parts of a message.", data)
        if role not in _ROLES:
            self._note("unknown_record", "The record is of no known kind.", data)
        elif role == "user":
            yield self._input(written)
        else:
            used = (piece for piece in pieces if text(field(piece, "type")) == "tool_use")
            yield self._answer(written, [(text(field(use, "name")), field(use, "input")) for use in used])

    def _records(self, data: bytes) -> Iterator[Listed]:
        data = data.removeprefix(_BYTE_ORDER_MARK).strip(b"\0 \r\n\t")
        listed = read_list(data)
        if listed is None:
            self._note("not_json", "The transcript is no JSON list; its messages before the damage were read.", data)
            listed = read_list(closed(data)) or []
        for raw in listed:
            role, written = text(field(raw, "role")), text(field(raw, "text")) or ""
            if not written and is_filled(field(raw, "text")):
                self._note("unreadable_message", "The text of a message is no text.", raw)
            if role == "user":
                yield self._input(written)
            elif role == "assistant":
                used = items(field(raw, "toolCalls"))
                yield self._answer(written, [(text(field(use, "toolName")), field(use, "args")) for use in used])
            elif role == "tool":
                self._open.clear()
            else:
                self._note("unknown_record", "The record is of no known kind.", raw)

    def _blocks(self, data: bytes) -> Iterator[Listed]:
        try:
            written = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self._note("not_utf8", "The transcript is not UTF-8: bytes that are not were replaced.")
            written = data.decode("utf-8", "replace").removeprefix("\ufeff")
        for block in blocks_of(written):
            if not block.role:
                if block.text.strip("\0 \n\r\t"):
                    reason = "Text before the first message belongs to nobody, and was left out."
                    self._note("unknown_record", reason, block.text.encode("utf-8", "replace"))
                continue
            if block.role == "user":
                yield self._input(block.text)
            else:
                calls = [(name, Raw(json_text(given).encode())) for name, given in block.calls]
                yield self._answer(block.text, calls)
                if block.has_results:
                    self._open.clear()

    def _next_key(self) -> str:
        self._place += 1
        return f"{self._id}:{self._place - 1}"

    def _input(self, written: str) -> Listed:
        self._open.clear()
        asked = query_of(written)
        key = self._next_key()
        if asked is None or asked.is_injected:
            self._last = Said("system", asked.text if asked else written)
            return Listed(key, Part.NOTE, self._last, asked.time if asked else None)
        self.was_stopped = False
        self._last = Said("user", asked.text)
        if asked.before:
            self._last.context["preamble"] = asked.before
        return Listed(key, Part.QUERY, self._last, asked.time)

    def _answer(self, written: str, calls: Sequence[tuple[str | None, Raw]]) -> Listed:
        self._open.clear()
        key = self._next_key()
        thoughts = "\n".join(_THOUGHT.findall(written)) or None
        content = _THOUGHT.sub("", written) if thoughts else written
        said = Said("assistant", content or None, thoughts, code=fences(content), are_outcomes_inferred=bool(calls))
        for number, (name, given) in enumerate(calls):
            self._add_call(said, f"cursor:{key}:{number}", name or "unknown", given)
        self._last = said
        return Listed(key, Part.ANSWER, said)

    def _add_call(self, said: Said, call_id: str, name: str, given: Raw) -> None:
        patch = text(given)
        params = json_text({"text": patch}) if patch is not None else json_of(given) or "{}"
        if params[:1] != "{":
            params = f'{{"value":{params}}}'
        call = make_call(name, params, "null", "completed", Outcome("unknown", "no_result_is_kept", is_inferred=True))
        said.take_call(call_id, call)
        self._open.append((said, call))
        if patch is not None and name.strip() in _PATCH_TOOLS:
            paths = (normal_path(path.strip()) for path in _PATCHED.findall(patch))
            said.files += [FileUse("written", path) for path in paths if path]

    def _note_error(self, raw: Raw) -> None:
        written = text(raw) or json_of(raw)
        if written and self._last is not None:
            known = self._last.metadata.setdefault("errors", [])
            if isinstance(known, list):
                known.append(written)
