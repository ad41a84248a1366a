"""Findings counted by severity, in a note beside the ledger: an overview needs the counts, and an audit takes longer.

The note holds for one version of the ledger, and for the queries, views and rules on risks that gave the counts.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from aix.derived.cache_key import rows_digest
from aix.errors import QueryFileError
from aix.permissions.audit.audited_packs import OWN_PACK, audits_with_rows, queries_to_run
from aix.permissions.audit.findings import Finding, is_audit
from aix.permissions.audit.run import find_findings
from aix.query.query_file import Query
from aix.reading.ledger import Ledger
from aix.store.durable import write_note
from aix.store.manifest import FINDINGS_FILE
from aix.store.stored_files import read_note

_SECRETS = f"{OWN_PACK}/secrets_seen"
_PATTERN = "pattern"


class FindingCounts(msgspec.Struct, frozen=True):
    """How many findings an audit of permissions has, the secrets among them, and the findings of other packs."""

    severities: dict[str, int]
    secrets: dict[str, int]
    """Secrets by the pattern that they fit."""
    packs: dict[str, dict[str, int]]
    """Findings by severity of each other pack whose tables have rows."""


class _Note(msgspec.Struct, frozen=True):
    version: int
    made_by: str
    counts: FindingCounts


_DECODER = msgspec.json.Decoder(_Note)


def count_findings(ledger: Ledger, filters: Mapping[str, object], zone: str) -> FindingCounts:
    """Count the findings of an audit with these filters; without any, the note has the counts, or gets them."""
    own = [query for query in queries_to_run(OWN_PACK) if is_audit(query)]
    others = {pack: audits for pack, audits in audits_with_rows(ledger).items() if pack != OWN_PACK}
    if filters:
        return _counted(ledger, own, others, filters, zone)
    made_by = _digest(ledger, [*own, *(query for audits in others.values() for query in audits)])
    note = read_note(ledger.path / FINDINGS_FILE, _DECODER.decode)
    if note is not None and (note.version, note.made_by) == (ledger.version, made_by):
        return note.counts
    counts = _counted(ledger, own, others, {}, zone)
    write_note(ledger.path, FINDINGS_FILE, msgspec.json.encode(_Note(ledger.version, made_by, counts)))
    return counts


def _counted(
    ledger: Ledger,
    own: Sequence[Query],
    others: Mapping[str, Sequence[Query]],
    filters: Mapping[str, object],
    zone: str,
) -> FindingCounts:
    findings = find_findings(ledger, own, filters, zone)
    secrets = (str(finding.details[_PATTERN]) for finding in findings if finding.rule == _SECRETS)
    packs: dict[str, dict[str, int]] = {}
    for pack, audits in others.items():
        # One that cannot be narrowed down would count the whole ledger; `aix audit --pack` says what is wrong with one.
        if all(query.parameter(name) for query in audits for name in filters):
            with suppress(QueryFileError):
                packs[pack] = _by_severity(find_findings(ledger, audits, filters, zone))
    return FindingCounts(_by_severity(findings), Counter(secrets), packs)


def _by_severity(findings: Sequence[Finding]) -> dict[str, int]:
    return Counter(str(finding.severity) for finding in findings)


def _digest(ledger: Ledger, audits: Sequence[Query]) -> str:
    texts = [rows_digest(ledger.manifest), *(query.sql for query in audits)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
