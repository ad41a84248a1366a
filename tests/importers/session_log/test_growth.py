"""A log that grows says about its beginning what it said before, wherever it was cut."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aix.ids import ulid
from tests.importers.session_log.joining import said_together
from tests.importers.session_log.logs import FIXTURES, SITUATIONS, entry, extract_source, import_logs, write_log
from tests.importers.session_log.random_logs import logs
from tests.support.row_batches import dump

pytestmark = pytest.mark.long

SMALL = settings(
    max_examples=int(os.environ.get("AIX_PROPERTY_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FEW = settings(SMALL, max_examples=2)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_log_cut_anywhere_adds_nothing_to_the_whole(tmp_path: Path, situation: str) -> None:
    for log in (FIXTURES / situation / "input").rglob("*.jsonl"):
        if log.name in ("programs.jsonl", "events.jsonl"):
            continue
        whole = log.read_bytes()
        path = tmp_path / "log.jsonl"
        path.write_bytes(whole)
        reading, _ = extract_source(path)
        expected = said_together(reading)
        for end in range(0, len(whole), 19):
            path.write_bytes(whole[:end])
            assert said_together(extract_source(path)[0], reading) == expected, f"cut at byte {end}"


def test_heads_that_go_back_and_forth_within_one_moment_are_those_of_the_longest_log(tmp_path: Path) -> None:
    entries = [
        entry("u1"),
        entry("a1", "assistant", "u1", situation="coding"),
        entry("a2", "assistant", "u1", situation="quick"),
        entry("u2", parent="a1"),
        entry("u3", parent="a1"),
        entry("u4", parent="u2", session="other"),
        *(entry(f"b{number}", "assistant", f"u{number}") for number in (2, 3)),
        *(entry(f"x{number}", parent=("b2", "b3")[number % 2]) for number in range(6)),
    ]
    readings = [
        extract_source(write_log(tmp_path / "log.jsonl", entries[:count]))[0] for count in range(len(entries) + 1)
    ]
    whole = said_together(readings[-1])
    for count, reading in enumerate(readings):
        assert said_together(reading, readings[-1]) == whole, f"after {count} entries"
    [tables] = readings[-1].values()
    heads = {row["label"]: row["thread_id"] for row in tables["sessions"] if row["origin_session_id"] == "s"}
    leaves = {row["id"] for row in tables["turns"]} - {row.get("parent_turn_id") for row in tables["turns"]}
    assert leaves <= {row["thread_id"] for row in tables["sessions"]}
    assert heads["session-log:s"] == ulid("turn", "session-log", "x5")


@given(log=logs, data=st.data())
@SMALL
def test_a_random_log_cut_anywhere_adds_nothing_to_the_whole(tmp_path: Path, log: bytes, data: st.DataObject) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(log)
    reading, _ = extract_source(path)
    path.write_bytes(log[: data.draw(st.integers(0, len(log)))])
    beginning, _ = extract_source(path)
    assert said_together(beginning, reading) == said_together(reading)


@given(log=logs, data=st.data())
@FEW
def test_a_ledger_is_the_same_whether_its_log_was_imported_once_or_as_it_grew(
    tmp_path_factory: pytest.TempPathFactory, log: bytes, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("growth")
    path = folder / "log.jsonl"
    for end in sorted(data.draw(st.lists(st.integers(0, len(log)), max_size=2))):
        path.write_bytes(log[:end])
        import_logs(folder / "grown", path)
    path.write_bytes(log)
    import_logs(folder / "grown", path)
    import_logs(folder / "once", path)
    assert dump(folder / "grown") == dump(folder / "once")


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    files = sorted(FIXTURES.rglob("*.json*"))
    import_logs(tmp_path / "at-once", FIXTURES)
    half = len(files) // 2
    import_logs(tmp_path / "in-two", *files[half:])
    import_logs(tmp_path / "in-two", *files[:half])
    assert dump(tmp_path / "in-two") == dump(tmp_path / "at-once")


def test_a_file_that_has_vanished_is_an_error_of_the_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        extract_source(tmp_path / "log.jsonl")
