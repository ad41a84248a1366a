"""Audits: the findings of a pack of audit queries, compared with an earlier run, in the forms that people and CI read.

An audit query returns `resource`, `status`, `reason` and `severity`, then dimensions; each row that says `alarm` is a
finding. A query of the pack without `status` is an inventory.
"""

from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is, the worst first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """Its place, from 0 for the worst."""
        return list(Severity).index(self)
