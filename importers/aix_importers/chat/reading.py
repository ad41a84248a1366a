"""From the bytes of a file to its records: JSON lines, an array, or one object that holds arrays by collection."""

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

from aix.importing import Problem, Source
from aix_importers.chat.collections import Collection, collection_named, collection_of_file, collection_of_record
from aix_importers.chat.discovery import MOST_DOCUMENT_BYTES, is_document
from aix_importers.common.json_records import Record, RecordReader
from aix_importers.common.json_text import DECODER, may_hold_surrogates, without_lone_surrogates
from aix_importers.common.recognition import recognise
from aix_importers.common.record_forms import Form
from aix_importers.common.secrets import is_secret_text

_UNREAD_FORMS = (Form.GZIP, Form.ZSTANDARD, Form.UTF_16_LE, Form.UTF_16_BE)
_HEAD_BYTES = 2**16
_BEGINNING_CHARACTERS = 2**14
_MOST_READINGS = 64
_LEAST_EFFORT = 2 * 10**9
"""Characters that may be read over in the search for whole records behind broken places; of long files, a multiple of
their length. A failure counts the lines before it, so its effort is its place in the file."""
_TOO_DEEP_EFFORT = 10**6
_BLANK = b"\0 \t\r\n\xef\xbb\xbf"
_BETWEEN = re.compile(r"[\s\0,\ufeff]*")
_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*')
_OBJECT = re.compile(r'\{\s*"')
_MEMBER = re.compile(r'"(\w{1,80})"\s*:\s*\[')
_BROKEN_OFF = "The file breaks off; it may still be being written."


def shown_name(name: str) -> str:
    """Return the name of a field as a problem may show it: one that is a credential itself is left out.

    >>> shown_name("apiKey"), shown_name("sk-live-0123456789abcdef")
    ('apiKey', '…')
    """
    return "…" if is_secret_text(name) else name


class Found(NamedTuple):
    """A record and its collection; None when its fields are of no collection."""

    collection: Collection | None
    record: Record


def read_records(source: Source) -> Iterator[Found | Problem]:
    """Go through the records of a file; problems lie in between."""
    form = recognise(source.path).form
    if form in _UNREAD_FORMS:
        yield Problem(source, "unread_form", form.value, is_of_whole_source=True)
        return
    path = Path(source.path)
    named = collection_of_file(source.path)
    with path.open("rb") as file:
        begin = file.read(_HEAD_BYTES)
        if _has_a_record_per_line(begin):
            for each in RecordReader(source, file, has_samples=False):
                yield each if isinstance(each, Problem) else Found(collection_of_record(each.value, named), each)
            return
        size = file.seek(0, 2)
        if size > MOST_DOCUMENT_BYTES:
            reason = (
                f"The file is one JSON value of more than {MOST_DOCUMENT_BYTES // 2**20} MiB. Write a record per"
                " line, a file for each collection, with jq -c '.messages[]', then import again."
            )
            yield Problem(source, "file_too_long", reason, is_of_whole_source=True)
            return
        file.seek(0)
        data = file.read(size)
    yield from _Document(source, data, named)


def _has_a_record_per_line(begin: bytes) -> bool:
    """Whether each line is a record, by the first line with anything in it."""
    begin = begin.lstrip(_BLANK)
    if begin.startswith(b"[") or is_document(begin):
        return False
    line, end, _ = begin.partition(b"\n")
    is_spread = end and line.startswith(b"{") and line.rstrip().endswith((b"{", b"[", b","))
    return not is_spread


_Records = Generator[Found | Problem, None, Collection | None]
"""Records of an array; returned is the collection of what follows, which is another one behind a broken place."""


class _Document:
    """Goes through the records of a text, whatever they are nested in."""

    def __init__(self, source: Source, data: bytes, named: Collection | None) -> None:
        self._source = source
        self._named = named
        self._at = 0
        self._counted_at = 0
        self._line = 1
        self._byte_offset = 0
        self._is_cut = False
        self._effort = max(_LEAST_EFFORT, _MOST_READINGS * len(data))
        self._problems: list[Problem] = []
        try:
            self._text = data.decode("utf-8")
        except UnicodeDecodeError:
            self._text = data.decode("utf-8", "replace")
            self._note("invalid_utf8", "The file is not UTF-8; what cannot be read was replaced by U+FFFD.")

    def __iter__(self) -> Iterator[Found | Problem]:
        while self._skip() < len(self._text):
            first = self._text[self._at]
            if first == "[":
                self._at += 1
                yield from self._elements(self._named)
            elif first == '"' or (first == "{" and is_document(self._beginning())):
                self._at += first == "{"
                yield from self._members()
            elif first in "]}":  # the end of what something broken stood in
                self._at += 1
            else:
                yield from self._record(self._named)
            yield from self._taken_problems()
        yield from self._taken_problems()

    def _beginning(self) -> bytes:
        return self._text[self._at : self._at + _BEGINNING_CHARACTERS].encode("utf-8", "replace")

    def _members(self) -> Iterator[Found | Problem]:
        """Go through the collections of an object, up to its end."""
        while self._skip() < len(self._text) and not self._text.startswith("}", self._at):
            found = _NAME.match(self._text, self._at)
            collection = collection_named(found[1]) if found else None
            if found is None:
                yield from self._elements((yield from self._go_on(None)))
            elif collection is not None and self._text.startswith("[", found.end()):
                self._at = found.end() + 1
                yield from self._elements(collection)
            else:
                self._at = found.end()
                yield from self._other_member(found[1])
            yield from self._taken_problems()
        if self._at == len(self._text):
            self._note_end()
        self._at += 1

    def _other_member(self, name: str) -> Iterator[Found | Problem]:
        """Skip a member that is not a collection, with a problem when it holds records."""
        try:
            value, end = DECODER.raw_decode(self._text, self._at)
        except (ValueError, RecursionError):
            yield from self._elements((yield from self._go_on(None)))
            return
        if isinstance(value, list | dict) and value:
            shown = shown_name(name)
            self._note("unknown_record", f"The file holds {shown!r}, which is no collection of chats; it was skipped.")
        self._at = end

    def _elements(self, collection: Collection | None) -> Iterator[Found | Problem]:
        """Go through the records of an array, up to its end."""
        while self._skip() < len(self._text):
            if self._text[self._at] == "]":
                self._at += 1
                return
            collection = yield from self._record(collection)
            yield from self._taken_problems()
        self._note_end()

    def _record(self, collection: Collection | None) -> _Records:
        start = self._at
        try:
            value, self._at = DECODER.raw_decode(self._text, start)
        except (ValueError, RecursionError):
            return (yield from self._go_on(collection))
        yield from self._taken(value, start, collection)
        return collection

    def _taken(self, value: object, start: int, named: Collection | None) -> Iterator[Found | Problem]:
        self._count_to(start)
        if may_hold_surrogates(self._text[start : self._at]):
            cleaned = without_lone_surrogates(value)
            if cleaned != value:
                self._note("lone_surrogate", "The record holds halves of characters; they were replaced by U+FFFD.")
            value = cleaned
        if not isinstance(value, dict):
            self._note("not_an_object", "A value is not an object, and so it is not a record.")
            return
        yield from self._taken_problems()
        yield Found(collection_of_record(value, named), Record(value, self._line, self._byte_offset, None))

    def _go_on(self, collection: Collection | None) -> _Records:
        """Look for the next whole record behind something broken, and take it."""
        broken_at = self._at
        for found in _OBJECT.finditer(self._text, broken_at + 1):
            start = found.start()
            try:
                value, end = DECODER.raw_decode(self._text, start)
            except ValueError as error:
                self._effort -= 2 * getattr(error, "pos", start) - start + 1
            except RecursionError:
                self._effort -= _TOO_DEEP_EFFORT
            else:
                if "_id" in value:  # without it, the object may be a part of what is broken
                    self._note("not_json", "Something here is not JSON; it was skipped, up to the next whole record.")
                    for member in _MEMBER.finditer(self._text, broken_at, start):
                        collection = collection_named(member[1]) or collection
                    self._at = end
                    yield from self._taken(value, start, collection)
                    return collection
            if self._effort <= 0:
                self._is_cut = True
                self._note("not_json", "Too much of the file is not JSON; from here on nothing was read.")
                break
        if not self._is_cut and self._text.rstrip().endswith(("]", "}")):
            self._is_cut = True
            self._note("not_json", "Something here is not JSON, and no whole record follows it.")
        self._note_end()
        self._at = len(self._text)
        return collection

    def _skip(self) -> int:
        found = _BETWEEN.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _count_to(self, position: int) -> None:
        between = self._text[self._counted_at : position]
        self._line += between.count("\n")
        self._byte_offset += len(between.encode("utf-8", "surrogatepass"))
        self._counted_at = max(position, self._counted_at)

    def _note_end(self) -> None:
        if not self._is_cut:
            self._is_cut = True
            self._note("truncated_line", _BROKEN_OFF)

    def _note(self, kind: str, reason: str) -> None:
        self._count_to(self._at)
        self._problems.append(Problem(self._source, kind, reason, self._line, self._byte_offset))

    def _taken_problems(self) -> list[Problem]:
        taken, self._problems = self._problems, []
        return taken
