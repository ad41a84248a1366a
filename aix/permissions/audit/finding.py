"""One finding of an audit: a thing that should not be, with its evidence and a name that stays."""

import hashlib
import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import msgspec

from aix.output.text import to_json

LONGEST_TEXT = 2_000
"""Characters of a text of a log that a report shows."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_ID_CHARACTERS = 16
_Count = Annotated[int, msgspec.Meta(ge=1)]
_Id = Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{{_ID_CHARACTERS}}}\Z")]


class Severity(StrEnum):
    """How bad a finding is, the worst first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """Its place, from 0 for the worst."""
        return list(Severity).index(self)


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
