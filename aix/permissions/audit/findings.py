"""Findings of an audit: rows of its queries that raise the alarm, with evidence and a name that stays."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import msgspec

from aix.errors import QueryFileError
from aix.health import Status
from aix.output.text import to_json
from aix.permissions.audit import Severity
from aix.query.query_file import Query

LONGEST_TEXT = 2_000
"""Characters of a text of a log that a report shows."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_ID_CHARACTERS = 16
_Count = Annotated[int, msgspec.Meta(ge=1)]
_Id = Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{{_ID_CHARACTERS}}}\Z")]
STATUS = "status"
_NEEDED = ("resource", STATUS, "reason", "severity")
_EVIDENCE = ("session_label", "turn_id", "call_id")
_IS_INFERRED = "is_inferred"
_BASES = ("basis", "evidence_basis")
_INFERRED_BASES = ("inferred", "inference", "estimated", "guessed")
_OF_FINDING = frozenset((*_NEEDED, *_EVIDENCE, _IS_INFERRED))
_WORD = re.compile(r"\w+")
Row = Mapping[str, object]


class State(StrEnum):
    """State of a finding since the baseline; without a baseline, every finding is open."""

    NEW = "new"
    """It is not in the baseline, or is less severe there."""
    OPEN = "open"
    RESOLVED = "resolved"
    UNCHECKED = "unchecked"
    """It is in the baseline, and this run did not look where it was."""


class Evidence(msgspec.Struct, frozen=True):
    """Where a finding shows: one call that stands for all, and the rule that it is about."""

    session_label: str | None = None
    turn_id: str | None = None
    call_id: str | None = None
    file: str | None = None
    """The log that the session was read from."""
    line: _Count | None = None
    """The line of the log that first names the call."""
    settings_file: str | None = None
    settings_line: _Count | None = None


class Finding(msgspec.Struct, frozen=True):
    """One thing that an audit query raises the alarm about."""

    id: _Id
    rule: str
    """The full name of the query."""
    severity: Severity
    title: str
    message: str
    resource: str
    is_inferred: bool = False
    """Whether it rests on a conclusion rather than on what a log says."""
    evidence: Evidence = Evidence()
    details: dict[str, object] = {}
    """The other columns of the row."""
    rows: _Count = 1
    """How many rows of the query are this finding; the worst of them stands for all."""
    state: State = State.OPEN

    @property
    def order(self) -> tuple[int, str, str, str]:
        """Sort key of findings, the worst first."""
        return self.severity.rank, self.rule, self.resource, self.id


def finding_id(rule: str, resource: str, key: Sequence[object]) -> str:
    """Return a name that depends on what is found and not on how often, when, or in which order.

    >>> finding_id("pack/query", "rm -rf /", ["project"])
    '9aca364bc8f06d8b'
    """
    parts = json.dumps([rule, resource, *map(to_json, key)])
    return hashlib.sha256(parts.encode()).hexdigest()[:_ID_CHARACTERS]


def shortened(text: str) -> str:
    """Cut a long text and say how much is gone; what cannot be encoded is written as an escape.

    >>> shortened("x" * 2_003)[-25:]
    'xxxx… (3 characters more)'
    """
    cut = len(text) - LONGEST_TEXT
    kept = _SURROGATES.sub(lambda match: json.dumps(match[0])[1:-1], text[:LONGEST_TEXT])
    return f"{kept}… ({cut} characters more)" if cut > 0 else kept


def shortened_value(value: object) -> object:
    """Cut a value that is long as text."""
    if isinstance(value, list | dict | tuple):
        text = to_json(value)
        return value if len(text) <= LONGEST_TEXT and not _SURROGATES.search(text) else shortened(text)
    return shortened(value) if isinstance(value, str) else value


def judges(query: Query) -> bool:
    """Whether a query has the columns of one that judges."""
    return {*_NEEDED} <= {column.name for column in query.columns}


def is_audit(query: Query) -> bool:
    """Whether a query of an audited pack judges what it lists; else it is an inventory."""
    names = {column.name for column in query.columns}
    missing = [name for name in _NEEDED if name not in names]
    if STATUS in names and missing:
        raise QueryFileError(query.path, 1, f"an audit query has the columns {', '.join(_NEEDED)}")
    return STATUS in names


def key_columns(query: Query) -> list[str]:
    """Return the columns that tell findings of one resource apart: those of texts that the grain names."""
    named = {*_WORD.findall(query.grain)} - {*_NEEDED}
    return [column.name for column in query.columns if column.name in named and column.type == "VARCHAR"]


def status_of(query: Query, row: Row) -> Status:
    """Return what a row says."""
    found = str(row[STATUS])
    if found not in list(Status):
        raise QueryFileError(query.path, 1, f"a row has the status {found!r}; it is one of {', '.join(Status)}")
    return Status(found)


def finding_of(query: Query, row: Row) -> Finding:
    """Return what a row raises the alarm about."""
    severity = str(row["severity"])
    if severity not in list(Severity):
        raise QueryFileError(
            query.path, 1, f"an alarm has the severity {severity!r}; it is one of {', '.join(Severity)}"
        )
    resource = text_of(row["resource"])
    return Finding(
        id=finding_id(query.name, resource, [row[name] for name in key_columns(query)]),
        rule=query.name,
        severity=Severity(severity),
        title=query.title,
        message=shortened(text_of(row["reason"])),
        resource=shortened(resource),
        is_inferred=_is_inferred(row),
        evidence=Evidence(
            session_label=_text_or_none(row.get("session_label")),
            turn_id=_text_or_none(row.get("turn_id")),
            call_id=_text_or_none(row.get("call_id")),
            settings_file=_text_or_none(row.get("file")),
        ),
        details={name: shortened_value(value) for name, value in row.items() if name not in _OF_FINDING},
    )


def text_of(value: object) -> str:
    """Return a value of a text column; NULL is no text."""
    return "" if value is None else str(value)


def _text_or_none(value: object) -> str | None:
    return None if value in (None, "") else shortened(str(value))


def _is_inferred(row: Row) -> bool:
    return row.get(_IS_INFERRED) is True or any(row.get(name) in _INFERRED_BASES for name in _BASES)
