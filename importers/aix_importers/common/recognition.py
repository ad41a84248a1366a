"""Recognition of JSON-lines logs by their records, shared by the importers.

All importers ask the same function, so that no two of them claim one file. A record is recognised wherever it stands
in the beginning of a file: behind a long line, blank lines, NUL bytes, text or records of other tools. How far a file
without any known record is read is bounded.
"""

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import msgspec
from msgspec import Raw, Struct, field

from aix.importing import Problem, Source
from aix_importers.common.claude_code_record_types import STREAMED_TYPES, TYPES_OF_NO_OTHER_TOOL, TYPES_WITHOUT_CHAIN

LINE_SUFFIXES = (".jsonl", ".ndjson")
SUFFIXES = (*LINE_SUFFIXES, *(f"{lines}{packed}" for lines in LINE_SUFFIXES for packed in (".gz", ".zst")))
"""Endings, in lower case, of the names of files that may hold JSON lines."""

PROGRAM_FILES = ("programs.json", "programs.jsonl")
"""Names of files that hold the programs of session logs."""

CURSOR_FOLDER = "agent-transcripts"
_CURSOR_TYPES = {"error", "turn_ended"}

_FIRST_BYTES = 2**14
_LARGEST_PIECE_BYTES = 2**20
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
_UTF_16_LE = re.compile(rb"\xff\xfe|(?:[ \t\r\n]\0)*[\[{]\0[ \t\r\n\"{\[]\0")
_UTF_16_BE = re.compile(rb"\xfe\xff|(?:\0[ \t\r\n])*\0[\[{]\0[ \t\r\n\"{\[]")


class Family(Enum):
    """A kind of log that consists of JSON lines."""

    CLAUDE_CODE = auto()
    SESSION_LOG = auto()
    CURSOR = auto()
    """Its records say little, so they count only below the folder in which Cursor keeps them."""


_FAMILIES = {Family.CLAUDE_CODE, Family.SESSION_LOG}


class Form(Enum):
    """How records are stored. Only lines are read; the values of the others say why not, and what to do."""

    LINES = ""
    GZIP = "The file is compressed with gzip, which is not read. Decompress it with gunzip, then import again."
    ZSTANDARD = "The file is compressed with zstd, which is not read. Decompress it with zstd -d, then import again."
    UTF_16_LE = "The file is UTF-16, which is not read. Convert it with iconv -f UTF-16LE -t UTF-8, then import again."
    UTF_16_BE = "The file is UTF-16, which is not read. Convert it with iconv -f UTF-16BE -t UTF-8, then import again."
    ARRAY = "The file is one JSON array, not a record per line. Convert it with jq -c '.[]', then import again."
    SPREAD = "Records are spread over several lines each. Write one per line with jq -c ., then import again."


class Recognised(NamedTuple):
    """The family of a file, if it is known, and the form of its records."""

    family: Family | None
    form: Form


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class _Shape(Struct, gc=False):
    """Fields of a record that decide which family it is of."""

    type: Raw = _ABSENT
    uuid: Raw = _ABSENT
    parent_uuid: Raw = field(default=_ABSENT, name="parentUuid")
    session_id: Raw = field(default=_ABSENT, name="sessionId")
    snake_session_id: Raw = field(default=_ABSENT, name="session_id")
    message: Raw = _ABSENT
    role: Raw = _ABSENT


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
    form, pieces = _pieces(file)
    found = _recognise_pieces(form, pieces, may_be_cursor=may_be_cursor)
    if found.family is None and form in (Form.UTF_16_LE, Form.UTF_16_BE):  # only its first line may be UTF-16
        file.seek(0)
        found = _recognise_pieces(Form.LINES, _grow(b"", file), may_be_cursor=may_be_cursor)
    return found


def _recognise_pieces(form: Form, pieces: Iterator[bytes], *, may_be_cursor: bool) -> Recognised:
    first = next(pieces, b"")
    families = set(Family) if may_be_cursor else _FAMILIES
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


def _pieces(file: BinaryIO | FileIO) -> tuple[Form, Iterator[bytes]]:
    """Return the form of a file as far as its first bytes show it, and its content as UTF-8, in growing pieces."""
    head = file.read(_FIRST_BYTES) or b""
    if head.startswith(b"\x1f\x8b"):
        return Form.GZIP, _inflated(_grow(head, file))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        import pyarrow

        file.seek(0)
        return Form.ZSTANDARD, _grow(b"", pyarrow.CompressedInputStream(pyarrow.PythonFile(file), "zstd"))
    if _UTF_16_LE.match(head):
        return Form.UTF_16_LE, _transcoded(_grow(head, file), "utf-16-le")
    if _UTF_16_BE.match(head):
        return Form.UTF_16_BE, _transcoded(_grow(head, file), "utf-16-be")
    return Form.LINES, _grow(head, file)


def _grow(head: bytes, file: _Readable) -> Iterator[bytes]:
    """Go through what was read and what follows it, up to damage in a compressed file."""
    if head:
        yield head
    size = _FIRST_BYTES
    while True:
        try:
            piece = file.read(size)
        except OSError:
            return
        if not piece:
            return
        yield piece
        size = min(4 * size, _LARGEST_PIECE_BYTES)


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Go through the content of a gzip file, up to its end or to damage."""
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)
    for piece in pieces:
        packed = piece
        while packed:
            try:
                yield decoder.decompress(packed, _LARGEST_PIECE_BYTES)
            except zlib.error:
                return
            packed = decoder.unconsumed_tail


def _transcoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "replace")


def _family_of_lines(pieces: Iterable[bytes], families: set[Family]) -> Family | None:
    """Return which of the families leads by three records, or has most of the records that were read."""
    votes: list[Family] = []
    begun = _BegunLine()
    objects = ended_bytes = 0
    for piece in pieces:
        end = piece.rfind(b"\n")
        if end >= 0:
            ended_bytes += begun.read_bytes + end + 1
            ended = begun.ended_with(piece[:end])
            begun = _BegunLine()
            for line in ended.split(b"\n") if b"{" in ended else ():
                record = line.strip(_BLANK)
                if not record.startswith(b"{"):
                    continue
                objects += 1
                family = _family_of_line(record)
                if family and family in families:
                    votes.append(family)
                    if 2 * votes.count(family) - len(votes) >= _DECISIVE_LEAD:
                        return family
                if objects == _MOST_OBJECTS:
                    return _most(votes)
        begun.add(piece[end + 1 :])
        found = families & {*votes, begun.family()}
        if len(found) == 1:
            return found.pop()
        if ended_bytes > _MOST_FOREIGN_BYTES or begun.read_bytes > _LONGEST_LINE_BYTES:
            return _most(votes)
    family = _family_of_line(begun.ended_with(b"").strip(_BLANK))
    return _most([*votes, family] if family in families else votes)


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


def _most(votes: list[Family]) -> Family | None:
    """Return the family with most votes; of several the one that was first."""
    return max(dict.fromkeys(votes), key=votes.count, default=None)


def _family_of_line(line: bytes) -> Family | None:
    try:
        return _family_of(_SHAPE.decode(line))
    except _UNREADABLE:
        return _family_of_beginning(line)


def _family_of(shape: _Shape) -> Family | None:
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
    if {"parentUuid", "isSidechain"} <= found.keys():
        return Family.CLAUDE_CODE
    return _family_of(_Shape(*(found.get(name, _ABSENT) for name in _Shape.__struct_encode_fields__)))
