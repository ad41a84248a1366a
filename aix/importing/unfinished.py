"""Runs that have yet to read together what is tied: what a version says of them.

A run that reads much commits some of it before it knows what else must be read along. If it dies in between, the
version it leaves says so, and the next run does what is left.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass
class Unfinished:
    """How a run leaves the mark of itself and of those before it."""

    run_id: str
    inherited: Collection[str] = ()
    """Runs that died, whose work this run does."""
    has_ties: bool = False
    """Whether this run has noted ties."""

    def after(self, runs: Sequence[str], *, is_finished: bool) -> tuple[str, ...]:
        """Return the runs that are unfinished after a commit of this one."""
        if is_finished:
            return tuple(run for run in runs if run != self.run_id and run not in self.inherited)
        return tuple(dict.fromkeys([*runs, self.run_id])) if self.has_ties else tuple(runs)
