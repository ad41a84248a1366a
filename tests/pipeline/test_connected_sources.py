"""Logs that share records: what the ledger holds depends on which of them were imported, and on nothing else."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aix
from aix.health import Status as CheckStatus
from aix.health import check
from aix.merge.forget import forget
from aix.merge.ledger_merge import join_ledger
from aix.merge.selection import Selection
from aix.pipeline.report import Report, Status
from aix.pipeline.run import Settings, import_histories
from aix.store.garbage import collect
from aix.store.manifest import manifest_path, read_latest
from aix.store.sources import read_ties
from tests.pipeline.test_import_properties import EXAMPLES
from tests.support.linked_logs import Yarns, install_here, yarn, yarns
from tests.support.row_batches import facts, rows_of

pytestmark = pytest.mark.faults

A = yarn("a1 - first", "a2 a1 second")
B = yarn("b1 - first =a1", "b2 b1 third")
C = yarn("c1 b2 fourth")


@pytest.fixture(autouse=True, scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for folder in install_here(tmp_path_factory.mktemp("plugin")):
            patch.syspath_prepend(folder)
        yield


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return write(tmp_path / "logs", {"a.yarn": A, "b.yarn": B, "c.yarn": C})


def write(folder: Path, contents: Yarns) -> Path:
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def run(ledger: Path, *places: Path, jobs: int = 0, **settings: object) -> Report:
    report = import_histories(ledger, places, Settings(jobs=jobs, importer="yarns", **settings))  # type: ignore[arg-type]
    names = [outcome.name for outcome in report.outcomes]
    assert len(names) == len(set(names))
    return report


def all_at_once(folder: Path, logs: Path) -> dict[str, list[str]]:
    run(folder / "at once", logs)
    return facts(folder / "at once")


def texts(ledger: Path) -> list[str]:
    return sorted(str(row["content"]) for row in rows_of(ledger, "messages"))


def lost(ledger: Path) -> list[str]:
    return [each.reason for each in check(ledger) if each.name == "append_only" and each.status is CheckStatus.ALARM]


@pytest.fixture
def readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AIX_YARNS_READ", str(tmp_path / "readings"))
    return tmp_path / "readings"


def taken(readings: Path) -> list[str]:
    lines = readings.read_text().splitlines() if readings.exists() else []
    readings.unlink(missing_ok=True)
    return lines


GLANCES = ["", "right", "wrong", "failing"]
"""How the importer of yarns sees before it reads a log what that is tied to."""


@EXAMPLES
@given(contents=yarns(), data=st.data())
def test_the_order_of_imports_does_not_show(contents: Yarns, data: st.DataObject) -> None:
    order = data.draw(st.permutations(sorted(contents)))
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIX_YARNS_GLANCE", data.draw(st.sampled_from(GLANCES)))
        patch.setattr("aix.pipeline.scheduler._COMMIT_BYTES", data.draw(st.sampled_from([0, 2**25])))
        folder = Path(name)
        logs = write(folder / "logs", contents)
        for file in order:
            run(folder / "one by one", logs / file)
        assert facts(folder / "one by one") == all_at_once(folder, logs)


@EXAMPLES
@given(contents=yarns(), data=st.data())
def test_logs_that_grow_while_they_are_imported_give_what_they_give_when_whole(
    contents: Yarns, data: st.DataObject
) -> None:
    cuts = {name: data.draw(st.integers(0, len(content))) for name, content in contents.items()}
    order = data.draw(st.permutations(sorted(contents)))
    is_at_once = data.draw(st.booleans())
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIX_YARNS_GLANCE", data.draw(st.sampled_from(GLANCES)))
        patch.setattr("aix.pipeline.scheduler._COMMIT_BYTES", data.draw(st.sampled_from([0, 2**25])))
        folder = Path(name)
        logs = write(folder / "logs", {name: content[: cuts[name]] for name, content in contents.items()})
        run(folder / "grown", logs)
        for file in order:
            write(logs, {file: contents[file]})
            if not is_at_once:
                run(folder / "grown", logs / file)
        run(folder / "grown", logs)
        assert facts(folder / "grown") == all_at_once(folder, logs)


def test_a_copy_is_told_once_as_soon_as_its_original_is_there(ledger: Path, logs: Path, tmp_path: Path) -> None:
    run(ledger, logs / "b.yarn")
    assert texts(ledger) == ["first", "third"]
    report = run(ledger, logs / "a.yarn")
    assert texts(ledger) == ["first", "second", "third"]
    assert {(Path(each.name).name, each.status) for each in report.outcomes} == {
        ("a.yarn", Status.IMPORTED),
        ("b.yarn", Status.SKIPPED),
    }
    assert read_latest(ledger).replaces_rows
    assert lost(ledger) == []
    run(ledger, logs / "c.yarn")
    assert facts(ledger) == all_at_once(tmp_path, logs)


@pytest.mark.faults
def test_one_job_gives_what_two_give(logs: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        run(tmp_path / str(jobs), logs, jobs=jobs)
        assert facts(tmp_path / str(jobs)) == all_at_once(tmp_path, logs)


def test_a_set_is_read_as_a_whole_and_only_when_one_of_it_has_changed(ledger: Path, logs: Path, readings: Path) -> None:
    write(logs, {"d.yarn": yarn("d1 - apart")})
    run(ledger, logs)
    assert sorted(taken(readings)) == ["a", "a b c", "b", "c", "d"]
    version = read_latest(ledger).version
    assert run(ledger, logs).unchanged == 4
    assert (taken(readings), read_latest(ledger).version) == ([], version)
    for name in ("d", "a"):
        with (logs / f"{name}.yarn").open("a") as file:
            file.write(f"{name}9 {name}1 more\n")
        report = run(ledger, logs)
        assert report.statuses[Status.UPSERTED] == 1
        assert report.statuses[Status.SKIPPED] == 3
        assert taken(readings) == ["d" if name == "d" else "a b c"]
        assert not read_latest(ledger).replaces_rows
        assert lost(ledger) == []
    assert read_latest(ledger).version == version + 2


def test_a_set_that_shows_at_a_glance_is_read_once(
    ledger: Path, logs: Path, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(logs, {"d.yarn": yarn("d1 - apart")})
    monkeypatch.setenv("AIX_YARNS_GLANCE", "right")
    run(ledger, logs / "b.yarn")
    run(ledger, logs)
    assert sorted(taken(readings)) == ["a b c", "b", "d"]
    run(tmp_path / "again", write(logs, {"c.yarn": yarn("c1 b1 fourth")}))
    assert sorted(taken(readings)) == ["a b c", "d"]


@pytest.mark.parametrize("glance", GLANCES)
def test_a_glance_changes_no_row(ledger: Path, logs: Path, monkeypatch: pytest.MonkeyPatch, glance: str) -> None:
    write(logs, {"d.yarn": yarn("d1 - apart")})
    monkeypatch.setenv("AIX_YARNS_GLANCE", glance)
    monkeypatch.setattr("aix.pipeline.scheduler._COMMIT_BYTES", 0)
    run(ledger, logs)
    monkeypatch.setenv("AIX_YARNS_GLANCE", "")
    assert facts(ledger) == all_at_once(ledger.parent, logs)


def test_a_file_that_is_imported_by_itself_brings_along_what_is_tied_to_it(
    ledger: Path, logs: Path, readings: Path
) -> None:
    for name in "abc":
        run(ledger, logs / f"{name}.yarn")
    taken(readings)
    with (logs / "c.yarn").open("a") as file:
        file.write("c9 c1 more\n")
    run(ledger, logs / "c.yarn")
    assert taken(readings) == ["a b c"]


def test_what_lies_beside_partners_is_read_with_them(ledger: Path, logs: Path, tmp_path: Path) -> None:
    write(logs, {"a.yarn.more": "a3 a2 beside\n"})
    run(ledger, logs)
    with (logs / "c.yarn").open("a") as file:
        file.write("c9 c1 more\n")
    run(ledger, logs / "c.yarn")
    assert "beside" in texts(ledger)
    assert facts(ledger) == all_at_once(tmp_path, logs)


@pytest.mark.parametrize("now", [None, "a3 a2 other\n"])
@pytest.mark.parametrize("fails_first", [False, True])
def test_what_a_sidecar_no_longer_says_stays(ledger: Path, logs: Path, now: str | None, *, fails_first: bool) -> None:
    beside = write(logs, {"a.yarn.more": "a3 a2 beside\na4 a3 last\n"}) / "a.yarn.more"
    run(ledger, logs)
    beside.unlink() if now is None else beside.write_text(now)
    if fails_first:
        write(logs, {"a.yarn": A + "a5 a2 negative tie\n"})
        assert run(ledger, logs / "a.yarn").failures
    write(logs, {"a.yarn": A + "a5 a2 more\n"})
    run(ledger, logs)
    assert {"last", "more"} <= set(texts(ledger))
    assert lost(ledger) == []


def test_problems_are_those_of_the_latest_reading(ledger: Path, logs: Path) -> None:
    write(logs, {"a.yarn": A + "a3 a2 odd\n", "d.yarn": yarn("d1 - apart")})
    assert run(ledger, logs).problems == 1
    for number in range(2):
        assert [row["reason"] for row in rows_of(ledger, "import_problems")] == ["It is odd, among 3."]
        with (logs / "b.yarn").open("a") as file:
            file.write(f"b{number + 5} b2 more\n")
        assert run(ledger, logs).problems == 0
    write(logs, {"a.yarn": yarn("a1 - written anew")})
    run(ledger, logs)
    assert [row["reason"] for row in rows_of(ledger, "import_problems")] == ["It is odd, among 3."]


@pytest.mark.parametrize("other", ["new", "outside"])
def test_what_is_read_by_another_version_is_replaced_whatever_is_tied_to_it(
    ledger: Path, tmp_path: Path, other: str
) -> None:
    tied = {"n.yarn": yarn("n1 x1 tied")}
    logs = write(tmp_path / "logs", {"a.yarn": yarn("a1 - old"), **(tied if other == "outside" else {})})
    run(ledger, logs)
    run(ledger, write(logs, {"a.yarn": yarn("x1 - anew")}))
    assert "old" in texts(ledger)
    write(logs, tied)
    run(ledger, logs / "a.yarn" if other == "outside" else logs, reparse=True)
    assert texts(ledger) == ["anew", "tied"]


class CrashError(Exception):
    """Stands for the end of a process."""


def test_a_run_that_dies_leaves_nothing_for_the_next_to_put_right(
    ledger: Path, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(logs, {"d.yarn": yarn("d1 - apart")})

    def crash(*_: object) -> None:
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr("aix.pipeline.scheduler._COMMIT_BYTES", 0)  # commits after each source, before others are read
        patch.setattr("aix.pipeline.connected_sources.ConnectedSources.groups_of", crash)
        with pytest.raises(CrashError):
            run(ledger, logs)
    for name in "ad":  # b and c are tied to a, and wait
        run(tmp_path / "apart", logs / f"{name}.yarn")
    assert facts(ledger) == facts(tmp_path / "apart")
    assert not read_latest(ledger).unfinished
    run(ledger, logs)
    assert facts(ledger) == all_at_once(tmp_path, logs)


def test_a_source_that_waits_for_a_set_is_not_lost_when_the_set_is_gone(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = write(tmp_path / "logs", {"b.yarn": yarn("b1 - first", "b2 b1 second")})
    run(ledger, logs)
    monkeypatch.setattr("aix.pipeline.scheduler._COMMIT_BYTES", 0)
    # When a is read, it is tied to b by b2, which b no longer has when it is read next.
    write(logs, {"a.yarn": yarn("a1 b2 news"), "b.yarn": yarn("b1 - first", "b9 b1 other and longer text")})
    run(ledger, logs)
    assert "news" in texts(ledger)


@pytest.mark.parametrize("glance", GLANCES)
def test_rows_that_a_log_no_longer_gives_go_whatever_a_glance_shows(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, glance: str
) -> None:
    grown = ["y1 - base", "x1 - copy"]
    logs = write(tmp_path / "logs", {"c.yarn": yarn(*grown)})
    monkeypatch.setenv("AIX_YARNS_GLANCE", glance)
    run(ledger, logs)
    assert texts(ledger) == ["base", "copy"]
    others = {"a.yarn": yarn("a1 - one"), "b.yarn": yarn("b1 a1 two")}
    run(ledger, write(logs, {"c.yarn": yarn(*grown, "x1 - copy =y1"), **others}))
    assert texts(ledger) == ["base", "one", "two"]


@pytest.mark.parametrize("commit_bytes", [0, 2**25])
@pytest.mark.parametrize("place", ["a.yarn", "b.yarn", "d.yarn", ""])
def test_what_a_run_of_an_earlier_release_that_died_has_left_is_done_by_the_next(
    ledger: Path, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, commit_bytes: int
) -> None:
    write(logs, {"d.yarn": yarn("d1 - apart")})
    with monkeypatch.context() as patch:  # it committed what is tied before it had read it together, and said so
        patch.setattr("aix.pipeline.connected_sources.ConnectedSources._sets_left", lambda *_: [])
        run(ledger, logs)
    assert facts(ledger) != all_at_once(tmp_path, logs)
    newest = manifest_path(ledger, read_latest(ledger).version)
    newest.write_bytes(msgspec.json.encode(msgspec.structs.replace(read_latest(ledger), unfinished=("it died",))))
    monkeypatch.setattr("aix.pipeline.scheduler._COMMIT_BYTES", commit_bytes)
    with (logs / "d.yarn").open("a") as file:
        file.write("d2 d1 more\n")
    run(ledger, logs / place)
    assert not read_latest(ledger).unfinished
    run(ledger, logs)
    assert facts(ledger) == all_at_once(tmp_path / "more", logs)


def test_what_is_gone_from_disk_stays(ledger: Path, logs: Path) -> None:
    run(ledger, logs)
    before = texts(ledger)
    (logs / "a.yarn").unlink()
    with (logs / "b.yarn").open("a") as file:
        file.write("b3 b2 more\n")
    run(ledger, logs)
    assert set(before) | {"more"} <= set(texts(ledger))
    assert not read_latest(ledger).replaces_rows
    assert lost(ledger) == []


def test_nothing_goes_while_a_log_that_is_tied_to_it_is_gone(ledger: Path, tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", {"a.yarn": A, "b.yarn": yarn("b1 - first =a1", "b2 b1 third =c1")})
    run(ledger, logs)
    (logs / "a.yarn").unlink()
    run(ledger, write(logs, {"c.yarn": yarn("c1 - third")}))
    assert texts(ledger).count("third") == 2
    assert not read_latest(ledger).replaces_rows


@pytest.mark.parametrize("content", [yarn("a1 - first"), yarn("a2 - second, in other words"), yarn("x - other")])
def test_what_a_log_no_longer_holds_stays(ledger: Path, logs: Path, content: str) -> None:
    run(ledger, logs)
    before = {str(row["id"]) for row in rows_of(ledger, "messages")}
    for change in (content, content + "z1 - more\n"):
        write(logs, {"a.yarn": change})
        run(ledger, logs)
        assert before <= {str(row["id"]) for row in rows_of(ledger, "messages")}
        assert not read_latest(ledger).replaces_rows


def test_a_log_that_was_cut_off_in_a_word_leaves_no_trace_of_it(ledger: Path, tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", {"a.yarn": "yarn\na1 - first\na2 a1 x =a"})
    run(ledger, logs)
    write(logs, {"a.yarn": "yarn\na1 - first\na2 a1 x =a1\n"})
    run(ledger, logs)
    assert texts(ledger) == ["first"]
    assert read_latest(ledger).replaces_rows
    assert lost(ledger) == []


@pytest.mark.parametrize("first", ["theirs", "ours"])
def test_what_another_ledger_has_of_a_log_at_the_same_path_stays(ledger: Path, tmp_path: Path, first: str) -> None:
    logs, other = tmp_path / "logs", tmp_path / "other"
    run(other, write(logs, {"a.yarn": yarn("x1 - theirs")}))
    if first == "theirs":
        join_ledger(ledger, other)
    run(ledger, write(logs, {"a.yarn": yarn("a1 - ours")}))
    if first == "ours":
        join_ledger(ledger, other)
    run(ledger, write(logs, {"a.yarn": yarn("a1 - ours", "a2 a1 more")}))
    assert texts(ledger) == ["more", "ours", "theirs"]
    version = read_latest(ledger).version
    join_ledger(ledger, other)
    assert read_latest(ledger).version == version


def set_clock(monkeypatch: pytest.MonkeyPatch, *, ahead_seconds: int) -> None:
    now = time.time_ns
    monkeypatch.setattr("time.time_ns", lambda: now() + ahead_seconds * 10**9)


def test_what_a_machine_with_a_clock_that_is_ahead_has_of_a_log_stays(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = write(tmp_path / "logs", {"a.yarn": yarn("x1 - theirs")})
    with monkeypatch.context() as patch:
        set_clock(patch, ahead_seconds=3600)
        run(tmp_path / "other", logs)
    join_ledger(ledger, tmp_path / "other")
    for content in (yarn("y1 - ours"), yarn("y1 - ours", "y2 y1 more")):
        run(ledger, write(logs, {"a.yarn": content}))
    assert texts(ledger) == ["more", "ours", "theirs"]


def test_what_a_log_gives_takes_its_place_though_the_clock_was_set_back(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = write(tmp_path / "logs", {"a.yarn": "yarn\na1 - first\n"})
    with monkeypatch.context() as patch:
        set_clock(patch, ahead_seconds=60)
        run(ledger, logs)
    write(logs, {"a.yarn": "yarn\na1 - first\na2 a1 x =a"})
    run(ledger, logs)
    run(ledger, write(logs, {"a.yarn": "yarn\na1 - first\na2 a1 x =a1\n"}))
    assert texts(ledger) == ["first"]
    times = [(row["started_at"], row["finished_at"]) for row in rows_of(ledger, "import_runs")]
    assert sorted(set(times)) == sorted(times)
    assert all(str(started) <= str(finished) for started, finished in times)


def test_ties_that_are_no_numbers_of_64_bits_fail_their_source(ledger: Path, tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", {"a.yarn": yarn("a1 - first"), "b.yarn": yarn("b1 - negative tie")})
    [(name, reason)] = run(ledger, logs).failures
    assert (name, texts(ledger)) == (str(logs / "b.yarn"), ["first"])
    assert "no unsigned numbers of 64 bits" in reason


def test_logs_of_another_machine_or_another_importer_are_not_tied(ledger: Path, logs: Path, readings: Path) -> None:
    run(ledger, logs / "a.yarn")
    run(ledger, logs / "b.yarn", machine="other")
    assert taken(readings) == ["a", "b"]
    assert texts(ledger) == ["first", "first", "second", "third"]
    run(ledger, logs / "a.yarn", machine="other")
    assert taken(readings) == ["a", "a b"]


def test_sources_of_a_group_are_tied_even_when_they_are_imported_one_by_one(
    ledger: Path, tmp_path: Path, readings: Path
) -> None:
    logs = write(tmp_path / "logs.bundle", {"a.yarn": yarn("a1 - first"), "b.yarn": yarn("b1 - second")})
    run(ledger, logs / "a.yarn")
    run(ledger, logs / "b.yarn")
    assert taken(readings) == ["a", "a b"]
    assert facts(ledger) == all_at_once(tmp_path, logs)


def test_what_cannot_be_read_with_others_is_read_by_itself_and_said(ledger: Path, logs: Path, readings: Path) -> None:
    run(ledger, logs)
    write(logs, {"c.yarn": C + "c2 c1 alone\n"})
    taken(readings)
    for _ in range(2):
        report = run(ledger, logs)
        version = read_latest(ledger).version
        assert taken(readings) == ["a b c", "c"]
        [(name, reason)] = report.failures
        assert name == str(logs / "c.yarn")
        assert reason.startswith("it could not be read with the sources it is tied to: the importer failed")
        assert "alone" in texts(ledger)
    assert read_latest(ledger).version == version
    write(logs, {"d.yarn": yarn("d1 c1 new")})
    report = run(ledger, logs / "d.yarn")
    assert "new" in texts(ledger)
    assert report.statuses == {Status.FAILED: 2}


def test_problems_of_a_reading_that_failed_are_not_kept(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aix.pipeline.scheduler._ORDERS_PER_WORKER", 1)  # so that others are read in the same order
    apart = {"a.yarn": yarn("a1 - odd", "a2 a1 alone"), "b.yarn": yarn("b1 a2 odd")}
    logs = write(tmp_path / "logs", {**apart, "p.yarn": yarn("p1 - one"), "q.yarn": yarn("q1 p1 two")})
    assert len(run(ledger, logs).failures) == 2
    with aix.open(ledger) as opened:
        reasons = opened.sql("select reason from import_problems where kind = 'odd'").rows()
    assert reasons == [("It is odd, among 1.",)] * 2


def test_ties_of_old_versions_are_collected_and_those_of_the_newest_kept(ledger: Path, logs: Path) -> None:
    for name in "abc":
        run(ledger, logs / f"{name}.yarn")
    newest = read_latest(ledger)
    collect(ledger, 0)
    assert len(read_ties(ledger, newest.ties)) == 3
    assert {path.name for path in (ledger / "data").glob("ties-*")} == {Path(file.path).name for file in newest.ties}


def test_what_was_forgotten_does_not_come_back_with_what_it_was_tied_to(ledger: Path, logs: Path) -> None:
    run(ledger, logs)
    forget(ledger, Selection(labels=["yarns:c"]))
    assert "fourth" not in texts(ledger)
    with (logs / "b.yarn").open("a") as file:
        file.write("b3 b2 more\n")
    run(ledger, logs)
    assert "more" in texts(ledger)
    assert "fourth" not in texts(ledger)
    with (logs / "c.yarn").open("a") as file:
        file.write("c2 c1 fifth\n")
    run(ledger, logs)
    assert {"fourth", "fifth"} <= set(texts(ledger))
