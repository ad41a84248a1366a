"""Packs of other distributions stand beside those of AIX; a broken one is named, and the others work."""

import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

import aix
from aix.errors import (
    AmbiguousQueryError,
    QueryFileError,
    QueryPackError,
    UnknownQueryError,
    UnknownSessionError,
    UsageError,
)
from aix.query.packs import find_query, own_query_names, packs, query_names, read_packs
from aix.reading.ledger import Ledger
from tests.queries.other_packs import TURNS_BY_DAY, install

HEADS = """\
-- title: Sessions
-- question: Which sessions are there?
-- why: To see them.
-- grain: session
-- param session: text = none; only this one
-- column label: VARCHAR; the session
select label from sessions where getvariable('session') is null or label = getvariable('session') order by label
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the search path."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def test_a_query_is_found_with_and_without_its_pack() -> None:
    assert find_query("overview/sessions") == find_query("sessions")
    assert find_query("sessions").pack == "overview"


def test_a_pack_of_another_distribution_is_found_by_its_entry_point(installed: Path) -> None:
    install(installed, "acme-queries", "acme", {"turns_by_day.sql": TURNS_BY_DAY, "more/sessions.sql": TURNS_BY_DAY})
    assert set(query_names()) - set(own_query_names()) == {"acme/turns_by_day", "acme/more/sessions"}
    assert find_query("turns_by_day").name == "acme/turns_by_day"
    [pack] = [pack for pack in packs() if pack.name == "acme"]
    assert (pack.distribution, pack.problem) == ("acme-queries", "")
    with pytest.raises(AmbiguousQueryError) as caught:
        find_query("sessions")
    assert caught.value.found == ("overview/sessions", "acme/more/sessions")


def test_the_code_of_a_pack_is_not_run(installed: Path) -> None:
    install(installed, "acme-queries", "acme", {"__init__.py": "1 / 0", "turns_by_day.sql": TURNS_BY_DAY})
    assert find_query("acme/turns_by_day").title == "Turns by day"


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "print('hello')", "1 / 0"])
def test_the_code_around_an_inner_package_is_not_run(
    installed: Path, capfd: pytest.CaptureFixture[str], code: str
) -> None:
    files = {"__init__.py": code, "sub/__init__.py": code, "sub/turns_by_day.sql": TURNS_BY_DAY}
    install(installed, "acme-queries", "acme", files, module="acme_queries.sub")
    assert find_query("acme/turns_by_day").title == "Turns by day"
    assert "acme_queries" not in sys.modules
    assert capfd.readouterr() == ("", "")


def test_a_pack_that_ends_the_search_for_it_is_named_and_the_others_work(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ending:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "acme_queries":
                raise SystemExit(3)

    install(installed, "acme-queries", "acme", {"turns_by_day.sql": TURNS_BY_DAY})
    monkeypatch.setattr(sys, "meta_path", [Ending, *sys.meta_path])
    queries, [problem] = read_packs(packs())
    assert [query.name for query in queries] == own_query_names()
    assert "acme_queries cannot be found: SystemExit: 3" in str(problem)


@pytest.mark.parametrize(
    ("pack", "files", "module", "problem"),
    [
        ("acme", {}, "nowhere_to_be_found", "No package named 'nowhere_to_be_found'"),
        ("acme", {"__init__.py": ""}, None, "holds no SQL file"),
        ("acme", {"__init__.py": "1 / 0"}, "acme_queries.inner", "No package named 'acme_queries.inner'"),
        ("acme", {}, "this", "No package named 'this'"),
        ("overview", {"turns_by_day.sql": TURNS_BY_DAY}, None, "overview is the name of a pack of AIX"),
        ("views", {"turns_by_day.sql": TURNS_BY_DAY}, None, "views is the name of a pack of AIX"),
    ],
)
def test_a_pack_that_cannot_be_used_is_named_and_the_others_work(
    installed: Path, pack: str, files: dict[str, str], module: str | None, problem: str
) -> None:
    install(installed, "acme-queries", pack, files, module=module)
    queries, problems = read_packs(packs())
    assert [query.name for query in queries] == own_query_names()
    [found] = problems
    assert isinstance(found, QueryPackError)
    assert problem in str(found)
    assert "acme-queries" in found.remedy
    if pack == "acme":
        with pytest.raises(QueryPackError, match="pack acme"):
            find_query("acme/turns_by_day")


def test_a_file_that_is_wrong_is_named_and_the_others_of_its_pack_work(installed: Path) -> None:
    files = {"turns_by_day.sql": TURNS_BY_DAY, "broken.sql": "select 1"}
    install(installed, "acme-queries", "acme", files)
    (installed / "acme_queries" / "odd.sql").write_bytes(b"\xff")
    queries, problems = read_packs(packs())
    assert [query.name for query in queries] == [*own_query_names(), "acme/turns_by_day"]
    assert all(isinstance(problem, QueryFileError) for problem in problems)
    assert ["broken.sql:1: the header lacks" in str(problem) for problem in problems] == [True, False]
    with pytest.raises(QueryFileError, match="broken"):
        find_query("acme/broken")


def test_a_pack_shares_the_filters_of_aix(installed: Path, filled: Ledger) -> None:
    files = {"heads.sql": HEADS.replace("-- param session: text = none; only this one\n", "-- params: filters\n")}
    install(installed, "acme-queries", "acme", files)
    assert [each.name for each in find_query("acme/heads").parameters][:2] == ["since", "until"]
    [label, *_] = [row[0] for row in filled.query("acme/heads")]
    assert filled.query("acme/heads", session=label).rows() == [(label,)]


def test_two_distributions_with_one_name_are_both_named(installed: Path) -> None:
    for distribution in ("acme-queries", "bolt-queries"):
        install(installed, distribution, "acme", {"turns_by_day.sql": TURNS_BY_DAY})
    [problem] = read_packs(packs())[1]
    assert "several distributions register it: acme-queries and bolt-queries" in str(problem)


@pytest.mark.parametrize("name", ["sesions", "overview/sesions", "overveiw/sessions"])
def test_the_nearest_query_is_named(name: str) -> None:
    with pytest.raises(UnknownQueryError) as caught:
        find_query(name)
    assert "did you mean overview/sessions" in caught.value.remedy


def test_values_of_one_result_are_not_seen_by_another(installed: Path, filled: Ledger) -> None:
    install(installed, "acme-queries", "acme", {"turns_by_day.sql": TURNS_BY_DAY})
    march = filled.query("turns_by_day", since="2026-03-03", until="2026-03-04")
    all_days = filled.query("turns_by_day")
    failed = filled.query("turns_by_day", status="failed")
    pairs = [list(zip(*(iter(result) for result in (march, all_days, failed)), strict=False)) for _ in range(2)]
    assert pairs[0] == pairs[1]
    assert [row[0] for row in march] == ["2026-03-03"]
    assert march.polars()["day"].to_list() == ["2026-03-03"]
    assert len(all_days.rows()) > 2
    assert filled.sql("select getvariable('since')").rows() == [(None,)]


def test_a_day_is_that_of_the_zone(installed: Path, filled: Ledger) -> None:
    install(installed, "acme-queries", "acme", {"turns_by_day.sql": TURNS_BY_DAY})
    for zone in ("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata"):
        by_day = {row[0]: row[2] for row in filled.query("turns_by_day", timezone=zone)}
        for day, turns in list(by_day.items())[:2]:
            [counted] = filled.query("turns_by_day", since=day, until=next_day(day), timezone=zone)
            assert (counted[0], counted[2]) == (day, turns)


def next_day(day: str) -> str:
    return str(date.fromisoformat(day) + timedelta(days=1))


def test_a_session_is_named_as_everywhere(installed: Path, filled: Ledger) -> None:
    install(installed, "acme-queries", "acme", {"heads.sql": HEADS})
    [label, *_] = [row[0] for row in filled.query("acme/heads")]
    assert filled.query("acme/heads", session=label.partition(":")[2]).rows() == [(label,)]
    with pytest.raises(UnknownSessionError):
        filled.query("acme/heads", session="of nobody")


def test_what_needs_two_versions_is_left_to_the_check(filled: Ledger) -> None:
    with pytest.raises(UsageError, match="aix check"):
        filled.query("health/append_only")


def test_earlier_versions_are_asked_alike(filled: Ledger) -> None:
    with aix.open(filled.path).at(1) as earlier:
        assert earlier.query("table_rows").rows() == filled.query("table_rows").rows()
