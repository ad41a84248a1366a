"""Rows of audit queries, and what they say."""

import re
from collections.abc import Mapping

from aix.errors import QueryFileError
from aix.health import Status
from aix.permissions.audit.finding import Evidence, Finding, Severity, finding_id, shortened, shortened_value
from aix.query.query_file import Query

STATUS = "status"
_NEEDED = ("resource", STATUS, "reason", "severity")
_EVIDENCE = ("session_label", "turn_id", "call_id")
_IS_INFERRED = "is_inferred"
_BASES = ("basis", "evidence_basis")
_INFERRED_BASES = ("inferred", "inference", "estimated", "guessed")
_OF_FINDING = frozenset((*_NEEDED, *_EVIDENCE, _IS_INFERRED))
_WORD = re.compile(r"\w+")

Row = Mapping[str, object]


def is_audit(query: Query) -> bool:
    """Whether a query judges what it lists; else it is an inventory."""
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
