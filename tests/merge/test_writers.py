"""Several writers at a time: nothing is lost, and the result is that of one writer."""

import subprocess
import sys
from pathlib import Path

import pytest

from aix.store.manifest import read_latest
from tests.support.growing_ledger import rows_of_step
from tests.support.row_batches import Rows, deliver, dump

pytestmark = pytest.mark.faults

WRITERS = 4
COMMITS = 3


def statements(kind: str, writer: int, commit: int) -> list[Rows]:
    """Return the rows of one commit of a writer: steps of its own, or steps that others join as well."""
    if kind == "disjoint":
        step = writer * 1_000 + commit
        return [rows_of_step(step, 0), rows_of_step(step, 1)]
    return [rows_of_step((writer + commit) % WRITERS, 0), rows_of_step(writer + commit, 1)]


@pytest.mark.parametrize("kind", ["disjoint", "overlapping"])
def test_four_writers_are_as_good_as_one(tmp_path: Path, kind: str) -> None:
    together, alone = tmp_path / "together", tmp_path / "alone"
    command = [sys.executable, "-m", "tests.merge.test_writers", str(together), kind]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(WRITERS)]
    assert [writer.wait(300) for writer in writers] == [0] * WRITERS
    deliver(
        alone,
        *(rows for writer in range(WRITERS) for commit in range(COMMITS) for rows in statements(kind, writer, commit)),
    )
    assert dump(together) == dump(alone)
    if kind == "disjoint":
        assert read_latest(together).version == WRITERS * COMMITS


if __name__ == "__main__":
    for commit in range(COMMITS):
        deliver(Path(sys.argv[1]), *statements(sys.argv[2], int(sys.argv[3]), commit))
