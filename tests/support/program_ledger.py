"""The ledger on which questions about programs are tried: `fixtures/programs`, imported."""

from pathlib import Path

from aix.pipeline.run import Settings, import_histories
from tests import ROOT


def build_program_ledger(folder: Path) -> Path:
    """Import the story of programs: agents, tasks, models and humans, with their events and conversations."""
    import_histories(folder, [ROOT / "fixtures" / "programs"], Settings(jobs=0))
    return folder
