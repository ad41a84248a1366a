"""Trees of transcripts for tests: the golden cases, written whole, cut, or one file at a time."""

import os
from collections.abc import Mapping
from pathlib import Path

from aix.pipeline.report import Status
from aix.pipeline.run import Settings, import_histories
from aix.testing import WRITTEN_AT
from tests.importers.claude_code.outlines import FIXTURES

Tree = Mapping[str, bytes]
"""By path below the folder of a case: what the file holds."""


def tree_of(*names: str) -> dict[str, bytes]:
    """Return the files of some cases, each case in a folder of its own."""
    return {
        f"{name}/{path.relative_to(FIXTURES / name / 'input')}": path.read_bytes()
        for name in names
        for path in sorted((FIXTURES / name / "input").rglob("*"))
        if path.is_file()
    }


def write_tree(folder: Path, tree: Tree) -> None:
    for name, content in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (WRITTEN_AT, WRITTEN_AT))


def import_here(ledger: Path, *places: Path) -> None:
    """Import in this process; a beginning of a file that holds no record yet is no transcript, and left alone."""
    report = import_histories(ledger, places, Settings(jobs=0, importer="claude_code"))
    assert [outcome.reason for outcome in report.outcomes if outcome.status is Status.FAILED] == []
