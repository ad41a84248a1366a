"""Recognition of JSON-lines logs by their records, shared by the importers.

All importers ask the same function, so that no two of them claim one file. A record is recognised wherever it stands
in the beginning of a file: behind a long line, blank lines, NUL bytes, text or records of other tools. How far a file
without any known record is read is bounded.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
from msgspec import Raw, Struct, field

from aix.importing import Problem, Source
from aix_importers.common.agent_dag_words import EDGE_TYPES, EVENT_KINDS, NODE_TYPES
from aix_importers.common.claude_code_record_types import STREAMED_TYPES, TYPES_OF_NO_OTHER_TOOL, TYPES_WITHOUT_CHAIN
from aix_importers.common.program_event_kinds import PROGRAM_EVENT_KINDS
from aix_importers.common.record_forms import Form, grow, pieces_of

LINE_SUFFIXES = (".jsonl", ".ndjson")
SUFFIXES = (*LINE_SUFFIXES, *(f"{lines}{packed}" for lines in LINE_SUFFIXES for packed in (".gz", ".zst")))
"""Endings, in lower case, of the names of files that may hold JSON lines."""

PROGRAM_FILES = ("programs.json", "programs.jsonl")
"""Names of files that hold the programs of session logs."""

CURSOR_FOLDER = "agent-transcripts"
_CURSOR_TYPES = {"error", "turn_ended"}

_CHAT_KINDS = {"participant", "system", "user", "agent"}
_CHAT_AGENT_KINDS = {"user_agent", "system_agent"}
_CHAT_COMPANY = {"name", "email", "image", "title", "createdBy", "agentId"}
"""Fields of records that stand beside those of chats: people, agents, titles and changes, which many tools have."""
_CHAT_WORDS = (b'"conversationId"', b'"lastMessageTime"', b'"systemAgentKind"', b'"personality"')
"""Without one of these, a line is of no chat."""
_MOST_COMPANY_BYTES = 2**28
"""So much is searched for records of chats behind those that stand beside them."""

_MOST_FOREIGN_BYTES = 2**20
"""Lines that are not records are read up to here."""
_MOST_OBJECTS = 1_000
"""So many lines that begin like JSON objects decide: without a known record they are of another tool."""
_LONGEST_LINE_BYTES = 2**25
_PREFIX_BYTES = 2**16
"""So much of a line is searched for fields when the line is not complete JSON."""
_DECISIVE_LEAD = 3
_BLANK = b"\0 \t\r\xef\xbb\xbf"
_ABSENT = Raw(b"")
_TOKEN = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)(?:(")\s*(:?)|\\?\Z)|[{}\[\]]', re.DOTALL)
_OBJECT_LINE = re.compile(rb"^[\0 \t\r\xef\xbb\xbf]*(?=\{)", re.MULTILINE)
_ARRAY = re.compile(rb"[\0\s\xef\xbb\xbf]*\[\s*(?=\{)")


class Family(Enum):
    """A kind of log that consists of JSON lines."""

    CLAUDE_CODE = auto()
    SESSION_LOG = auto()
    AGENT_DAG = auto()
    PROGRAMS = auto()
    """Programs of session logs, and their events."""
    CHAT = auto()
    CURSOR = auto()
    """Its records say little, so they count only below the folder in which Cursor keeps them."""
    LIKE_AGENT_DAG = auto()
    """Never that of a file: records like those of a graph, of unknown kinds. A file of nothing else is a graph."""


_FAMILIES = {Family.CLAUDE_CODE, Family.SESSION_LOG, Family.AGENT_DAG, Family.PROGRAMS, Family.CHAT}


class Recognised(NamedTuple):
    """The family of a file, if it is known, and the form of its records."""

    family: Family | None
    form: Form


class _Shape(Struct, gc=False):
    """Fields of a record that decide which family it is of."""

    type: Raw = _ABSENT
    uuid: Raw = _ABSENT
    parent_uuid: Raw = field(default=_ABSENT, name="parentUuid")
    session_id: Raw = field(default=_ABSENT, name="sessionId")
    snake_session_id: Raw = field(default=_ABSENT, name="session_id")
    message: Raw = _ABSENT
    role: Raw = _ABSENT
    kind: Raw = _ABSENT
    event_id: Raw = _ABSENT
    ts: Raw = _ABSENT
    run_id: Raw = _ABSENT
    agent_id: Raw = _ABSENT
    node: Raw = _ABSENT
    id: Raw = _ABSENT
    edge: Raw = _ABSENT
    src: Raw = _ABSENT
    dst: Raw = _ABSENT
    event: Raw = _ABSENT
    program_type: Raw = field(default=_ABSENT, name="programType")
    document_id: Raw = field(default=_ABSENT, name="_id")
    conversation_id: Raw = field(default=_ABSENT, name="conversationId")
    author_participant_id: Raw = field(default=_ABSENT, name="authorParticipantId")
    author: Raw = _ABSENT
    added_at: Raw = field(default=_ABSENT, name="addedAt")
    is_removed: Raw = field(default=_ABSENT, name="isRemoved")
    last_message_time: Raw = field(default=_ABSENT, name="lastMessageTime")
    personality: Raw = _ABSENT
    system_agent_kind: Raw = field(default=_ABSENT, name="systemAgentKind")
    created_by: Raw = field(default=_ABSENT, name="createdBy")


class _Message(Struct, gc=False):
    role: Raw = _ABSENT


_SHAPE = msgspec.json.Decoder(_Shape)
_MESSAGE = msgspec.json.Decoder(_Message)
_TEXT = msgspec.json.Decoder(str)
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def may_hold_lines(name: str) -> bool:
    """Whether a file may hold JSON lines, by its name.

    >>> may_hold_lines("A.JSONL"), may_hold_lines("a.jsonl.gz"), may_hold_lines("a.json")
    (True, True, False)
    """
    return name.lower().endswith(SUFFIXES)


def without_suffix(name: str) -> str:
    """Return a name or path without the suffix of JSON lines, if it has one.

    >>> without_suffix("a.b.NDJSON"), without_suffix("a.jsonl.gz")
    ('a.b', 'a.jsonl.gz')
    """
    return name[: name.rfind(".")] if name.lower().endswith(LINE_SUFFIXES) else name


def recognise(path: str) -> Recognised:
    """Return the family of a file and the form of its records; a file that cannot be opened has no family."""
    try:
        with Path(path).open("rb", buffering=0) as file:
            return recognise_file(file, may_be_cursor=CURSOR_FOLDER in path and is_below_cursor_folder(path))
    except OSError:
        return Recognised(None, Form.LINES)


def unread_form(source: Source) -> Problem | None:
    """Return the problem of a source whose form is not read; None when its form is read."""
    form = recognise(source.path).form
    return None if form is Form.LINES else Problem(source, "unread_form", form.value, is_of_whole_source=True)


def is_below_cursor_folder(path: str) -> bool:
    """Whether a file lies where Cursor keeps transcripts, by its path.

    >>> is_below_cursor_folder("/p/agent-transcripts/a/subagents/b.jsonl"), is_below_cursor_folder("/p/a.jsonl")
    (True, False)
    """
    return CURSOR_FOLDER in Path(path).parts[-5:-1]


def recognise_file(file: BinaryIO | FileIO, *, may_be_cursor: bool = False) -> Recognised:
    """Return the family of an open file, and the form of its records."""
    form, pieces = pieces_of(file)
    found = _recognise_pieces(form, pieces, may_be_cursor=may_be_cursor)
    if found.family is None and form in (Form.UTF_16_LE, Form.UTF_16_BE):  # only its first line may be UTF-16
        file.seek(0)
        found = _recognise_pieces(Form.LINES, grow(b"", file), may_be_cursor=may_be_cursor)
    return found


def _recognise_pieces(form: Form, pieces: Iterator[bytes], *, may_be_cursor: bool) -> Recognised:
    first = next(pieces, b"")
    families = _FAMILIES | {Family.CURSOR} if may_be_cursor else _FAMILIES
    family = _family_of_lines(chain([first], pieces), families)
    if family:
        return Recognised(family, form)
    array = _ARRAY.match(first)
    begin = array or _OBJECT_LINE.search(first)
    family = _family_of_beginning(first[begin.end() :]) if begin else None
    if family not in families:
        return Recognised(None, form)
    if form is Form.LINES:
        form = Form.ARRAY if array else Form.SPREAD
    return Recognised(family, form)


def _family_of_lines(pieces: Iterable[bytes], families: set[Family]) -> Family | None:
    """Return which of the families leads by three records, or has most of the records that were read."""
    votes: list[Family] = []
    is_like_graph = False
    begun = _BegunLine()
    objects = ended_bytes = 0
    record = b""
    pieces = iter(pieces)
    for piece in pieces:
        end = piece.rfind(b"\n")
        if end >= 0:
            ended_bytes += begun.read_bytes + end + 1
            ended = begun.ended_with(piece[:end])
            begun = _BegunLine()
            lines = ended.split(b"\n") if b"{" in ended else []
            for number, line in enumerate(lines, start=1):
                stripped = line.strip(_BLANK)
                if not stripped.startswith(b"{"):
                    continue
                record = stripped
                objects += 1
                family = _family_of_line(record)
                is_like_graph = is_like_graph or family is Family.LIKE_AGENT_DAG
                if family and family in families:
                    votes.append(family)
                    if 2 * votes.count(family) - len(votes) >= _DECISIVE_LEAD:
                        return family
                if objects == _MOST_OBJECTS:
                    if votes or is_like_graph or not _is_beside_chats(record):
                        return _most(votes, is_like_graph=is_like_graph)
                    return _chat_behind(b"\n".join((*lines[number:], piece[end + 1 :])), pieces)
        begun.add(piece[end + 1 :])
        found = families & {*votes, begun.family()}
        if len(found) == 1:
            return found.pop()
        if ended_bytes > _MOST_FOREIGN_BYTES or begun.read_bytes > _LONGEST_LINE_BYTES:
            if votes or is_like_graph or not _is_beside_chats(record):
                return _most(votes, is_like_graph=is_like_graph)
            return _chat_behind(begun.ended_with(b""), pieces)
    family = _family_of_line(begun.ended_with(b"").strip(_BLANK))
    is_like_graph = is_like_graph or family is Family.LIKE_AGENT_DAG
    return _most([*votes, family] if family and family in families else votes, is_like_graph=is_like_graph)


def _is_beside_chats(record: bytes) -> bool:
    """Whether a record may stand beside those of chats."""
    fields = fields_of_beginning(record)
    return _has_text_id(fields) and not _CHAT_COMPANY.isdisjoint(fields)


def _has_text_id(fields: Mapping[str, Raw]) -> bool:
    return bytes(fields.get("_id", b"null")) != b"null"


def _chat_behind(begun: bytes, pieces: Iterator[bytes]) -> Family | None:
    """Search what follows many people and agents for a record of chats; most lines are not looked at closely.

    The search ends where a piece begins with a record that has no `_id`, which is of another tool.
    """
    read_bytes = 0
    for piece in chain(pieces, [b"\n"]):
        begun += piece
        read_bytes += len(piece)
        end = begun.rfind(b"\n") + 1
        ended, begun = begun[:end], begun[end:]
        if any(word in ended for word in _CHAT_WORDS):
            lines = [line for line in ended.split(b"\n") if any(word in line for word in _CHAT_WORDS)]
            if any(_family_of_line(line.strip(_BLANK)) is Family.CHAT for line in lines):
                return Family.CHAT
        first = ended[: ended.find(b"\n") + 1].strip(_BLANK + b"\n")
        if first.startswith(b"{") and not _has_text_id(fields_of_beginning(first)):
            return None
        if read_bytes > _MOST_COMPANY_BYTES or len(begun) > _LONGEST_LINE_BYTES:
            return None
    return None


class _BegunLine:
    """A line whose end was not read yet."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._family: Family | None = None
        self._judged_bytes = 0
        self.read_bytes = 0

    def add(self, piece: bytes) -> None:
        """Add what follows; blanks and NUL bytes before the line are left out."""
        self.read_bytes += len(piece)
        piece = piece if self._pieces else piece.lstrip(_BLANK)
        if piece:
            self._pieces.append(piece)

    def ended_with(self, piece: bytes) -> bytes:
        """Return the line with what follows it."""
        return b"".join((*self._pieces, piece))

    def family(self) -> Family | None:
        """Return the family that the beginning of the line shows."""
        if self._judged_bytes < _PREFIX_BYTES and self._family is None:
            beginning = b"".join(self._pieces)
            self._family = _family_of_beginning(beginning)
            self._judged_bytes = len(beginning)
        return self._family


def _most(votes: list[Family], *, is_like_graph: bool) -> Family | None:
    """Return the family with most votes; of several the one that was first."""
    return max(dict.fromkeys(votes), key=votes.count, default=Family.AGENT_DAG if is_like_graph else None)


def _family_of_line(line: bytes) -> Family | None:
    try:
        return _family_of(_SHAPE.decode(line))
    except _UNREADABLE:
        return _family_of_beginning(line)


def _family_of(shape: _Shape) -> Family | None:
    if _is_of_programs(shape):
        return Family.PROGRAMS
    family = _family_of_conversation(shape)
    if family not in (None, Family.CURSOR):
        return family
    if _is_of_agent_dag(shape):
        return Family.AGENT_DAG
    if _is_of_chat(shape):
        return Family.CHAT
    return Family.LIKE_AGENT_DAG if family is None and _is_like_agent_dag(shape) else family


def _is_of_programs(shape: _Shape) -> bool:
    """Whether a record is a program, or an event of one."""
    kinds = (_text(stated) for stated in (shape.type, shape.kind, shape.event) if stated is not _ABSENT)
    return shape.program_type is not _ABSENT or any(kind in PROGRAM_EVENT_KINDS for kind in kinds)


def _is_of_agent_dag(shape: _Shape) -> bool:
    """Whether a record is a node, an edge or an event that agent graphs have."""
    if shape.node is not _ABSENT and shape.id is not _ABSENT and _text(shape.node) in NODE_TYPES:
        return True
    if _has_ends(shape) and _text(shape.edge) in EDGE_TYPES:
        return True
    has_time = shape.event_id is not _ABSENT or shape.ts is not _ABSENT
    return has_time and shape.kind is not _ABSENT and _text(shape.kind) in EVENT_KINDS


def _is_like_agent_dag(shape: _Shape) -> bool:
    """Whether a record is a node, an edge or an event of a kind that agent graphs do not have."""
    if shape.node is not _ABSENT and shape.id is not _ABSENT:
        return (_text(shape.node) or "")[:1].isupper() and _text(shape.id) is not None
    if _has_ends(shape):
        return None not in map(_text, (shape.edge, shape.src, shape.dst))
    has_time = shape.event_id is not _ABSENT or shape.ts is not _ABSENT
    return has_time and None not in map(_text, (shape.kind, shape.run_id, shape.agent_id))


def _has_ends(shape: _Shape) -> bool:
    return shape.edge is not _ABSENT and shape.src is not _ABSENT and shape.dst is not _ABSENT


def _family_of_conversation(shape: _Shape) -> Family | None:
    if shape.type is _ABSENT:
        if shape.role is not _ABSENT and shape.session_id is _ABSENT:
            return Family.CURSOR
        is_entry = shape.uuid is not _ABSENT and shape.session_id is not _ABSENT and _has_role(shape.message)
        return Family.SESSION_LOG if is_entry else None
    kind = _text(shape.type)
    if kind is None:
        return None
    if shape.session_id is not _ABSENT:
        is_record = shape.uuid is not _ABSENT or shape.parent_uuid is not _ABSENT or kind in TYPES_WITHOUT_CHAIN
    elif shape.snake_session_id is not _ABSENT:
        is_record = shape.uuid is not _ABSENT or kind in STREAMED_TYPES
    elif kind in _CURSOR_TYPES:
        return Family.CURSOR
    else:
        is_record = kind in TYPES_OF_NO_OTHER_TOOL
    return Family.CLAUDE_CODE if is_record else None


def _is_of_chat(shape: _Shape) -> bool:
    """Whether a record is an agent, a chat, or a message or participant of one."""
    if shape.document_id is _ABSENT:
        return False
    kind = _text(shape.kind) if shape.kind is not _ABSENT else None
    if shape.conversation_id is not _ABSENT:
        own = [shape.author_participant_id, shape.added_at, shape.is_removed]
        is_by_someone = shape.author is not _ABSENT and _text(shape.author) is not None
        return kind in _CHAT_KINDS or is_by_someone or any(each is not _ABSENT for each in own)
    is_agent = shape.created_by is not _ABSENT or kind in _CHAT_AGENT_KINDS
    own = [shape.last_message_time, shape.system_agent_kind, *([shape.personality] if is_agent else [])]
    return any(each is not _ABSENT for each in own)


def _has_role(message: Raw) -> bool:
    try:
        return _MESSAGE.decode(message).role is not _ABSENT
    except _UNREADABLE:
        return False


def _text(raw: Raw) -> str | None:
    try:
        return _TEXT.decode(raw)
    except _UNREADABLE:
        return None


def _family_of_beginning(data: bytes) -> Family | None:
    """Return the family of an object that breaks off, by the fields that it shows until then."""
    if not data.startswith(b"{"):
        return None
    return family_of_fields(fields_of_beginning(data))


def family_of_fields(found: Mapping[str, Raw]) -> Family | None:
    """Return the family of an object with these fields."""
    if {"parentUuid", "isSidechain"} <= found.keys():
        return Family.CLAUDE_CODE
    return _family_of(_Shape(*(found.get(name, _ABSENT) for name in _Shape.__struct_encode_fields__)))


def fields_of_beginning(data: bytes) -> dict[str, Raw]:
    """Return the fields that the beginning of an object shows; a value that is not a text is null.

    >>> {name: bytes(value) for name, value in fields_of_beginning(b'{"_id":"m1","meta":{"a":[1,2').items()}
    {'_id': b'"m1"', 'meta': b'null'}
    """
    found: dict[str, Raw] = {}
    depth = 0
    key = outer_key = ""
    for token in _TOKEN.finditer(data, 0, _PREFIX_BYTES):
        if token[0] in (b"{", b"["):
            depth += 1
            outer_key = key if depth == 2 else outer_key
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                break
        elif not token[2]:
            break  # a text breaks off
        elif token[3]:
            key = token[1].decode("utf-8", "replace")
            if depth == 1:
                found[key] = Raw(b"null")
            elif depth == 2 and outer_key == "message" and key == "role":
                found["message"] = Raw(b'{"role":null}')
        elif depth == 1:
            found[key] = Raw(b'"%s"' % token[1])
    return found
