"""The report of an import run, and the progress on the way to it."""

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from aix.pipeline.discovery import Refusal
from aix.pipeline.freshness import NearDeletion
from aix.store.manifest import Manifest

if TYPE_CHECKING:
    from aix.merge.ledger_merge import Contradiction


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
    notes: int = 0
    """How many of the problems are notes about records that were read whole."""
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
    near_deletion: list[NearDeletion] = msgspec.field(default_factory=list)
    """Logs that are new or have changed, and that their tool deletes soon."""
    waiting: int = 0
    """Sources that have changed, and were left for another run because they are many or large."""
    needs_full_run: bool = False
    """Whether a run of its own has to renew prices or derived tables, or to end another run's work."""
    has_other_personas: bool = False
    """Whether that is because the personas of the ledger are not those of the user's file."""
    is_busy: bool = False
    """Whether nothing was done because another process writes to the ledger."""
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
    def notes(self) -> int:
        """How many of the problems are notes about records that were read whole."""
        return sum(outcome.notes for outcome in self.outcomes if outcome.status is not Status.SKIPPED)

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


class Watcher:
    """Hears how a run goes on; this one does nothing with it."""

    def begin(self, sources: int, size_bytes: int) -> None:
        """So much has to be read."""

    def more(self, sources: int, size_bytes: int) -> None:
        """So much has to be read in addition, or once more."""

    def advance(self, outcome: Outcome) -> None:
        """One source has been read."""

    def contradict(self, found: "Contradiction") -> None:
        """Rows of another ledger contradict those of this one; nothing of it has been joined yet."""


class OutcomeRecorder:
    """Records the outcome of each source in a report: one for each, however often the source was read."""

    def __init__(self, report: Report, watcher: Watcher) -> None:
        self._outcomes = report.outcomes
        self._watcher = watcher
        self._places = {outcome.name: place for place, outcome in enumerate(report.outcomes)}
        self._expects_everything = False

    def expect(self, sources: int, size_bytes: int) -> None:
        """So much is read once more, with what is tied to it."""
        self._expects_everything = True
        self._watcher.more(sources, size_bytes)

    def record(self, outcome: Outcome) -> None:
        """Record the outcome of a source."""
        if self._expects_everything or outcome.status is not Status.SKIPPED:
            self._watcher.advance(outcome)
        place = self._places.setdefault(outcome.name, len(self._outcomes))
        if place == len(self._outcomes):
            self._outcomes.append(outcome)
            return
        before = self._outcomes[place]
        if before.status in (Status.IMPORTED, Status.UPSERTED) and outcome.status is not Status.FAILED:
            # That it was read once more, with what is tied to it, is no other thing that was done with it.
            outcome = msgspec.structs.replace(outcome, status=before.status, reason=before.reason)
        self._outcomes[place] = outcome
