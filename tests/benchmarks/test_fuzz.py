"""Mutants of logs raise nothing, end in time, and lose nothing that no problem names."""

import time
from collections.abc import Iterator, Sequence

import pytest

from aix.importing import Problem, Rows, Source
from aix_importers.session_log import SessionLogImporter
from benchmarks.fuzz import FIXTURES, LineLogs, Tally, run, run_mutant

pytestmark = pytest.mark.long

SEED = 17
LOGS = [FIXTURES / "session_log" / name / "input" for name in ("two_turns", "fork", "codeblocks")]


@pytest.mark.parametrize(("name", "count"), [("claude_code", 150), ("session_log", 100), ("cursor", 100)])
def test_mutants_lose_nothing_in_silence(name: str, count: int) -> None:
    tally = run({name: count}, SEED, seconds=300)
    assert tally.findings == []
    assert tally.mutants[name] == count
    assert tally.problems


class WithoutProblems(SessionLogImporter):
    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        return (given for given in super().extract(sources) if isinstance(given, Rows))


class WithoutMessages(SessionLogImporter):
    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        for given in super().extract(sources):
            if isinstance(given, Problem) or given.table != "messages":
                yield given


class Failing(SessionLogImporter):
    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        raise ValueError(sources[0].path)


class Slow(SessionLogImporter):
    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        time.sleep(5)
        return super().extract(sources)


@pytest.mark.parametrize(
    ("importer", "what"),
    [(WithoutProblems, "loss"), (WithoutMessages, "loss"), (Failing, "exception"), (Slow, "hang")],
)
def test_a_faulty_importer_is_found(importer: type[SessionLogImporter], what: str) -> None:
    target, tally = LineLogs(importer({}), LOGS), Tally()
    for number in range(20 if what == "loss" else 1):
        run_mutant(target, SEED, number, tally, most_seconds=0.2 if what == "hang" else 60)
    assert {finding.what for finding in tally.findings} == {what}


def test_a_seed_makes_the_same_mutants_again() -> None:
    first, again, other = (run({"session_log": 10}, seed, seconds=60).problems for seed in (SEED, SEED, SEED + 1))
    assert first == again != other
