"""The rows of an import depend on the logs, and on nothing else."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from aix.health import Status as CheckStatus
from aix.health import check
from aix.merge import groups
from aix.pipeline.report import Status
from aix.pipeline.run import Settings, import_histories
from aix.store.manifest import read_latest
from tests.importers.session_log.logs import FIXTURES, entry, write_log
from tests.support.random_histories import History, histories, write_history
from tests.support.row_batches import facts

pytestmark = pytest.mark.long

EXAMPLES = settings(
    max_examples=int(os.environ.get("AIX_PROPERTY_EXAMPLES", "2")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an example takes seconds: to shrink one would take minutes
)


KNOWN_LIMITS = {"leaf_is_session"}
"""Two logs of one session that went on separately: the README of the importer says what becomes of them."""


def import_here(ledger: Path, *places: Path, jobs: int = 0) -> dict[Status, int]:
    """Import without worker processes, and return how many sources have which status."""
    report = import_histories(ledger, places, Settings(jobs=jobs))
    assert report.failures == []
    return dict(report.statuses)


def broken_promises(ledger: Path) -> list[str]:
    alarms = [each for each in check(ledger) if each.status is CheckStatus.ALARM]
    return [f"{each.name}: {each.reason}" for each in alarms if each.name not in KNOWN_LIMITS]


def test_a_second_import_only_skips_and_another_ledger_holds_the_same(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "ledger", tmp_path / "another" / "place"
    count = import_here(here, FIXTURES)[Status.IMPORTED]
    first = facts(here)
    assert import_here(here, FIXTURES) == {Status.SKIPPED: count}
    assert read_latest(here).version == 1
    import_here(elsewhere, FIXTURES)
    assert facts(here) == facts(elsewhere) == first
    assert broken_promises(here) == []


def test_what_was_touched_is_skipped_and_what_has_grown_is_upserted(tmp_path: Path) -> None:
    ledger, logs = tmp_path / "ledger", tmp_path / "logs"
    kept = write_log(logs / "kept.jsonl", [entry("k1", session="kept")])
    grown = write_log(logs / "grown.jsonl", [entry("g1", session="grown")])
    assert import_here(ledger, logs) == {Status.IMPORTED: 2}
    os.utime(kept, (1, 1))
    for _ in range(2):
        assert import_here(ledger, logs) == {Status.SKIPPED: 2}
    assert read_latest(ledger).version == 1
    with grown.open("a") as file:
        file.write(json.dumps(entry("g2", "assistant", "g1", 1, "grown")))
    assert import_here(ledger, logs) == {Status.SKIPPED: 1, Status.UPSERTED: 1}
    import_here(tmp_path / "once", logs)
    assert facts(ledger) == facts(tmp_path / "once")


@EXAMPLES
@given(history=histories(), data=st.data())
def test_logs_imported_while_they_were_written_are_those_imported_when_they_were_whole(
    history: History, data: st.DataObject
) -> None:
    beginnings = {name: content[: data.draw(st.integers(0, len(content)))] for name, content in history.items()}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "_TIMES_LARGER", data.draw(st.sampled_from([0, 8])))  # with 0, dead rows stay
        logs, grown, whole = (Path(folder) / name for name in ("logs", "grown", "whole"))
        write_history(logs, beginnings)
        import_histories(grown, [logs], Settings(jobs=0))
        write_history(logs, history)
        import_here(grown, logs)
        import_here(whole, logs)
        assert facts(grown) == facts(whole)
        if len(history) == 1:  # two logs may contradict each other about what follows from what
            assert broken_promises(grown) == []


@EXAMPLES
@given(history=histories(), data=st.data())
def test_the_order_in_which_files_are_imported_does_not_show(history: History, data: st.DataObject) -> None:
    order = data.draw(st.permutations(sorted(history)))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "_TIMES_LARGER", data.draw(st.sampled_from([0, 8])))
        logs, one_by_one, at_once = (Path(folder) / name for name in ("logs", "one_by_one", "at_once"))
        write_history(logs, history)
        for name in order:
            import_here(one_by_one, logs / name)
        import_here(at_once, logs)
        assert facts(one_by_one) == facts(at_once)


@pytest.fixture
def large_and_small_logs(tmp_path: Path) -> Path:
    """So much that several workers get something to do."""
    logs = tmp_path / "logs"
    for name in ("large", "larger"):
        text = {"content": name * 1_000_000}
        write_log(logs / f"{name}.jsonl", [entry(f"{name}{n}", session=name, message=text, second=n) for n in range(2)])
    write_log(logs / "small.jsonl", [entry("large0", session="large"), entry("small", session="small")])
    return logs


def test_one_worker_gives_what_two_give(large_and_small_logs: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for jobs, ledger in ((1, one), (2, two)):
        assert import_here(ledger, large_and_small_logs, jobs=jobs) == {Status.IMPORTED: 3}
    assert facts(one) == facts(two)
