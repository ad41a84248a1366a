"""Findings counted by severity, in a note beside the ledger: an overview needs the counts, and an audit takes longer.

The note holds for one version of the ledger, and for the queries, views and rules on risks that gave the counts.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping

import msgspec

from aix.derived.cache_key import rows_digest
from aix.permissions.audit.findings import Finding
from aix.permissions.audit.run import audit_queries, find_findings
from aix.reading.ledger import Ledger
from aix.store.durable import write_note
from aix.store.manifest import FINDINGS_FILE
from aix.store.stored_files import read_note

_PACK = "permission_usage"
_SECRETS = f"{_PACK}/secrets_seen"
_PATTERN = "pattern"


class FindingCounts(msgspec.Struct, frozen=True):
    """How many findings an audit of permissions has, and how many secrets are among them."""

    severities: dict[str, int]
    secrets: dict[str, int]
    """Secrets by the pattern that they fit."""


class _Note(msgspec.Struct, frozen=True):
    version: int
    made_by: str
    counts: FindingCounts


_DECODER = msgspec.json.Decoder(_Note)


def count_findings(ledger: Ledger, filters: Mapping[str, object], zone: str) -> FindingCounts:
    """Count the findings of an audit with these filters; without any, the note has the counts, or gets them."""
    if filters:
        return _counted(find_findings(ledger, _PACK, filters, zone))
    made_by = _digest(ledger)
    note = read_note(ledger.path / FINDINGS_FILE, _DECODER.decode)
    if note is not None and (note.version, note.made_by) == (ledger.version, made_by):
        return note.counts
    counts = _counted(find_findings(ledger, _PACK, {}, zone))
    write_note(ledger.path, FINDINGS_FILE, msgspec.json.encode(_Note(ledger.version, made_by, counts)))
    return counts


def _counted(findings: list[Finding]) -> FindingCounts:
    secrets = (str(finding.details[_PATTERN]) for finding in findings if finding.rule == _SECRETS)
    return FindingCounts(Counter(str(finding.severity) for finding in findings), Counter(secrets))


def _digest(ledger: Ledger) -> str:
    texts = [rows_digest(ledger.manifest), *(query.sql for query in audit_queries(_PACK))]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
