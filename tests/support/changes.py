"""Commits of one step, which a function describes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from aix.derived.derived_data import DerivedData
from aix.store import commit as commit_module
from aix.store.commit import Change, Stage
from aix.store.commit import commit as commit_change
from aix.store.manifest import Manifest

Function = Callable[[Manifest, Stage], Manifest]


@dataclass(frozen=True)
class FunctionStep:
    """Whatever a function makes of a version."""

    function: Function

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, None]:
        return self.function(base, stage), None


def commit(ledger: Path, function: Function) -> Manifest:
    """Commit what a function makes of the newest version."""
    return commit_change(ledger, Change(leaves=[FunctionStep(function)], derived=DerivedData())).version


def overtake(monkeypatch: pytest.MonkeyPatch, faster: Callable[[], object]) -> None:
    """Let another writer publish a version just before the next commit does."""
    real = commit_module._publish

    def publish(ledger: Path, new: Manifest) -> bool:
        monkeypatch.setattr(commit_module, "_publish", real)
        faster()
        return real(ledger, new)

    monkeypatch.setattr(commit_module, "_publish", publish)
