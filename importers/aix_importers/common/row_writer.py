"""Rows on their way out, each with the file that it was read from, and those that importers write alike.

The fields of files, code and findings have the names of their columns.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aix.ids import h63
from aix.importing import RowBuffer, Rows, Source

MOST_COPIES = 16
"""Of records of one id: each copy is a statement of its own for the join, whose effort grows with their number."""
_LABEL = re.compile("[a-z][a-z0-9-]*:")


def may_be_label(name: str) -> bool:
    """Whether a name could be the label of a session, and so must not be an alias of another.

    >>> may_be_label("cursor:5f0c"), may_be_label("5f0c")
    (True, False)
    """
    return _LABEL.match(name) is not None


class FileUse(NamedTuple):
    """A file that was read, written, referenced or attached; the last line is included."""

    kind: str
    file_path: str
    line_start: int | None = None
    line_end: int | None = None


class Code(NamedTuple):
    """A block of code, and the place in a file that it is for."""

    content: str
    language: str | None = None
    file_path: str | None = None
    line_start: int | None = None
    line_end: int | None = None


class Lint(NamedTuple):
    """A finding of a linter; lines and columns count from 1, and the end column is the first that is not part of it."""

    file_path: str | None
    message: str | None
    lint_source: str | None
    start_line: int | None
    start_col: int | None
    end_line: int | None
    end_col: int | None
    severity: str | None
    code: str | None = None
    """The linter's code of the rule, for which the table has no column."""


class Writer:
    """Gathers rows of several sources."""

    def __init__(self) -> None:
        self._buffers: dict[int, RowBuffer] = {}
        self._last = RowBuffer(Source(""))

    def add(self, source: Source, table: str, copy: int = 0, /, **values: object) -> None:
        """Take a row."""
        buffer = self._buffers.get(id(source))
        if buffer is None:
            buffer = self._buffers[id(source)] = RowBuffer(source)
        self._last = buffer
        buffer.put(table, values, copy)

    def mark(self, source: Source, table: str, row_key: str, column: str, basis: str | None, *, copy: int = 0) -> None:
        """Note that a value was concluded rather than read, unless the basis is missing."""
        if basis is not None:
            names = {"table_name": table, "row_key": row_key, "column_name": column}
            self.add(source, "inferred_values", copy, **names, basis=basis)

    def add_file(self, source: Source, message_id: str, use: FileUse) -> None:
        """Take a file that a message touches; the caller gives each kind, path and first line once."""
        row_id = h63("message_files", message_id, use.kind, use.file_path, use.line_start)
        self.add(source, "message_files", id=row_id, message_id=message_id, **use._asdict())

    def add_code(self, source: Source, message_id: str, idx: int, code: Code, *, copy: int = 0) -> None:
        """Take a block of code of a message, by its number in it."""
        row_id = h63("message_codeblocks", message_id, idx)
        self.add(source, "message_codeblocks", copy, id=row_id, message_id=message_id, idx=idx, **code._asdict())

    def add_lint(self, source: Source, message_id: str, idx: int, lint: Lint) -> None:
        """Take a finding that came with a message, by its number in it."""
        columns = lint._asdict()
        del columns["code"]
        self.add(source, "message_lints", id=h63("message_lints", message_id, idx), message_id=message_id, **columns)

    def add_decision(
        self,
        source: Source,
        call_id: str,
        turn_id: str,
        mode: str | None,
        access: tuple[str | None, str | None],
        outcome: tuple[str, str | None, bool],
    ) -> None:
        """Take what was decided about a call: its class and target; the outcome, its evidence, if it is inferred."""
        access_class, target = access
        word, evidence, is_inferred = outcome
        self.add(
            source,
            "permission_decisions",
            call_id=call_id,
            turn_id=turn_id,
            mode=mode,
            **{"class": access_class},
            raw_target=target,
            outcome=word,
            evidence=evidence,
            is_inferred=is_inferred,
        )

    def is_full(self) -> bool:
        """Whether the source that the last row is of has many."""
        return self._last.is_full()

    def take(self) -> Iterator[Rows]:
        """Give out all rows."""
        for buffer in self._buffers.values():
            yield from buffer.drain()


def distinct_files(uses: Iterable[FileUse]) -> list[FileUse]:
    """Return each kind, path and first line once, as rows have them."""
    found: dict[tuple[str, str, int | None], FileUse] = {}
    for use in uses:
        found.setdefault((use.kind, use.file_path, use.line_start), use)
    return list(found.values())


def relative_path(path: str, workspace: str | None) -> str | None:
    r"""Return the path of a file below a workspace; NULL where it lies elsewhere.

    >>> relative_path("/w/src/a.py", "/w/"), relative_path("C:\\w\\a.py", "C:\\w"), relative_path("/web/a.py", "/w")
    ('src/a.py', 'a.py', None)
    """
    root = workspace.rstrip("/\\") if workspace else ""
    is_below = bool(workspace) and path.startswith(root) and path[len(root) : len(root) + 1] in ("/", "\\")
    return path[len(root) + 1 :] if is_below else None


def add_rules(
    buffer: RowBuffer, rules: Iterable[tuple[str, str, int]], *, origin: str, scope: str, file: str, seen_at: int
) -> None:
    """Add permission rules, which are kind, text and position; each of a kind once."""
    found: dict[tuple[str, str], int] = {}
    for kind, rule, position in rules:
        found.setdefault((kind, rule), position)
    for (kind, rule), position in found.items():
        buffer.add(
            "permission_rules",
            origin=origin,
            scope=scope,
            file=file,
            position=position,
            kind=kind,
            rule=rule,
            first_seen_at=seen_at,
            last_seen_at=seen_at,
        )
