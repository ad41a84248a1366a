"""The report of an import run."""

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from aix.pipeline.discovery import Refusal
from aix.store.manifest import Manifest

if TYPE_CHECKING:
    from aix.merge.contradictions import Contradiction


class Status(StrEnum):
    """The status of a source after a run."""

    IMPORTED = "imported"
    UPSERTED = "upserted"
    SKIPPED = "skipped"
    FAILED = "failed"


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The outcome of a run for one source."""

    name: str
    importer: str
    status: Status
    reason: str = ""
    sessions: int = 0
    problems: int = 0
    size_bytes: int = 0
    """Of a source that was read."""
    unread: str = ""
    """Why nothing of it could be read, although reading it did not fail."""


class Report(msgspec.Struct):
    """The outcomes of a run for all sources."""

    outcomes: list[Outcome] = msgspec.field(default_factory=list)
    refusals: list[Refusal] = msgspec.field(default_factory=list)
    """Files that no importer claimed."""
    empty_places: list[str] = msgspec.field(default_factory=list)
    """Places that were given and hold nothing to import."""
    unchanged: int = 0
    """Sources that were skipped without a look at each."""
    before: Manifest | None = None
    after: Manifest | None = None
    contradictions: "list[Contradiction]" = msgspec.field(default_factory=list)
    """Rows of other ledgers that contradict those of this one, by ledger and table."""
    new_rows: dict[str, int] = msgspec.field(default_factory=dict)
    """By table, rows that other ledgers add."""
    seconds: float = 0.0

    @property
    def statuses(self) -> Counter[Status]:
        """How many sources have which status."""
        return Counter(outcome.status for outcome in self.outcomes) + Counter({Status.SKIPPED: self.unchanged})

    @property
    def problems(self) -> int:
        """The number of input records that were skipped or repaired, in sources that are new or have changed."""
        return sum(outcome.problems for outcome in self.outcomes if outcome.status is not Status.SKIPPED)

    @property
    def bytes_read(self) -> int:
        """How large the sources were that were read."""
        return sum(outcome.size_bytes for outcome in self.outcomes if outcome.status is not Status.SKIPPED)

    @property
    def unread(self) -> list[tuple[str, str]]:
        """Sources that are new or have changed and of which nothing could be read, each with the reason."""
        outcomes = (outcome for outcome in self.outcomes if outcome.status is not Status.SKIPPED)
        return [(outcome.name, outcome.unread) for outcome in outcomes if outcome.unread]

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Sources that could not be imported, and why."""
        return [
            *((outcome.name, outcome.reason) for outcome in self.outcomes if outcome.status is Status.FAILED),
            *((refusal.path, refusal.reason) for refusal in self.refusals if refusal.kind.is_failure),
            *((place, "there is nothing to import in it") for place in self.empty_places),
        ]
