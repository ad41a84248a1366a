"""Progress of an import, and the outcome of each source in its report."""

from typing import TYPE_CHECKING

import msgspec

from aix.pipeline.report import Outcome, Report, Status

if TYPE_CHECKING:
    from aix.merge.contradictions import Contradiction


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
