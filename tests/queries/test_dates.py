"""Dates as people write them: what each stands for on a fixed day, in its time zone."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest

import aix
from aix.cli.command import exact_dates
from aix.errors import ParameterError
from aix.query import dates
from aix.query.dates import read_date
from tests.support.command_line import run_here
from tests.support.priced_ledger import make_priced_ledger

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 31, 23, 30, tzinfo=UTC)
"""A Tuesday in UTC, and 1:30 on Wednesday in Berlin, whose clocks changed on the Sunday before."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger with requests on 2026-03-01, 2026-03-02 and 2026-04-01, each at 10 o'clock UTC."""
    return make_priced_ledger(tmp_path_factory.mktemp("dates") / "ledger")


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("2026-02-01", "2026-02-01", "2026-02-02"),
        ("20260201", "2026-02-01", "2026-02-02"),
        ("2026-02", "2026-02-01", "2026-03-01"),
        ("2025-12", "2025-12-01", "2026-01-01"),
        (" Today ", "2026-04-01", "2026-04-02"),
        ("yesterday", "2026-03-31", "2026-04-01"),
        ("0d", "2026-04-01", "2026-04-02"),
        ("7d", "2026-03-25", "2026-03-26"),
        ("2w", "2026-03-18", "2026-03-19"),
        ("1m", "2026-03-01", "2026-03-02"),
        ("14m", "2025-02-01", "2025-02-02"),
        ("1y", "2025-04-01", "2025-04-02"),
        ("wednesday", "2026-04-01", "2026-04-02"),
        ("Thu", "2026-03-26", "2026-03-27"),
        ("monday", "2026-03-30", "2026-03-31"),
    ],
)
def test_a_date_is_a_day_or_month_of_its_zone(text: str, begin: str, end: str) -> None:
    span = read_date(text, BERLIN, NOW)
    assert [span.begin, span.end] == [datetime.fromisoformat(day).replace(tzinfo=BERLIN) for day in (begin, end)]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-02-01T10:00:00", "2026-02-01T09:00+00:00"),
        ("2026-02-01 10:00", "2026-02-01T09:00+00:00"),
        ("2026-02-01T10:00:00Z", "2026-02-01T10:00+00:00"),
        ("now", "2026-03-31T23:30+00:00"),
        ("5h", "2026-03-31T18:30+00:00"),
        ("72h", "2026-03-28T23:30+00:00"),  # across the change of the clocks
    ],
)
def test_a_moment_ends_when_it_begins(text: str, moment: str) -> None:
    span = read_date(text, BERLIN, NOW)
    assert span.begin == span.end == datetime.fromisoformat(moment)


def test_a_month_ago_is_the_last_day_of_a_shorter_month() -> None:
    assert str(read_date("1m", UTC, NOW).begin.date()) == "2026-02-28"


def test_the_day_on_which_clocks_change_has_23_hours() -> None:
    span = read_date("2026-03-29", BERLIN)
    assert span.end_ms - span.begin_ms == 23 * 3_600_000


@pytest.mark.parametrize(
    "text",
    [
        "7x",
        "",
        "d",
        "-7d",
        "7 days",
        "mo",
        "2026",
        "2026-13",
        "2026-02-30",
        "202602",
        "2026-0201",
        "9999-12-31",
        "9999y",
    ],
)
def test_other_texts_are_refused_with_two_examples(text: str) -> None:
    with pytest.raises(ValueError, match="try 2026-11-01 or 7d") as caught:
        read_date(text, UTC, NOW)
    assert str(caught.value) == f"Can't read {text!r} as a date; try 2026-11-01 or 7d"


@pytest.mark.long
@pytest.mark.parametrize(
    ("zone", "now", "arguments", "days"),
    [
        ("UTC", "2026-03-07T12:00Z", ["--since", "7d"], ["2026-03-01", "2026-03-02", "2026-04-01"]),
        ("UTC", "2026-03-08T12:00Z", ["--since", "1w"], ["2026-03-02", "2026-04-01"]),
        ("UTC", "2026-04-01T12:00Z", ["--since", "1m"], ["2026-03-02", "2026-04-01"]),
        ("UTC", "2026-03-02T12:00Z", ["--since", "1d"], ["2026-03-02", "2026-04-01"]),
        ("UTC", "2026-03-02T12:00Z", ["--since", "0d"], ["2026-03-02", "2026-04-01"]),
        ("UTC", "2026-03-09T12:00Z", ["--until", "7d"], ["2026-03-01", "2026-03-02"]),
        ("UTC", "2026-03-02T12:00Z", ["--until", "yesterday"], ["2026-03-01"]),
        ("UTC", "2026-03-02T12:00Z", ["--since", "2026-03-02", "--until", "2026-03-02"], ["2026-03-02"]),
        ("UTC", "2026-03-02T12:00Z", ["--since", "2026-03", "--until", "2026-03"], ["2026-03-01", "2026-03-02"]),
        ("UTC", "2026-03-02T12:00Z", ["--until", "20260301"], ["2026-03-01"]),
        ("UTC", "2026-03-02T12:00Z", ["--until", "2026-03-02T00:00:00"], ["2026-03-01"]),
        ("Asia/Tokyo", "2026-03-01T20:00Z", ["--since", "today"], ["2026-03-02", "2026-04-01"]),
    ],
)
def test_options_count_from_the_beginning_of_since_to_the_end_of_until(
    ledger: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    zone: str,
    now: str,
    arguments: list[str],
    days: list[str],
) -> None:
    monkeypatch.setattr(dates, "present", lambda: datetime.fromisoformat(now))
    options = ["--timezone", zone, "--format", "csv", "--ledger", str(ledger)]
    run_here("cost", "--by", "day", *arguments, *options)
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == days


def test_a_parameter_is_read_as_the_option_of_its_name(
    ledger: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dates, "present", lambda: datetime(2026, 3, 1, 20, tzinfo=UTC))
    place = ["--timezone", "Asia/Tokyo", "--format", "csv", "--ledger", str(ledger)]
    run_here("query", "cost_by_day", "--param", "since=today", "--param", "until=2026-03", *place)
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["2026-03-02"]
    with aix.open(ledger) as opened:
        days = opened.query("cost_by_day", since="today", until="2026-04", timezone="Asia/Tokyo").rows()
        last = opened.query("cost_by_day", since="1d", until="2026-04", timezone="Asia/Tokyo").rows()
    assert [str(day) for day, *_ in days] == ["2026-03-02"], "in Python `until` is not counted itself"
    assert last == days


@pytest.mark.parametrize(
    ("arguments", "labels"),
    [
        (["--since", "yesterday"], ["log:other"]),
        (["--since", "2d"], ["log:other"]),
        (["--since", "1d"], []),
        (["--until", "1969-12"], []),
        (["--until", "1970-01"], ["log:helper", "log:main", "log:other"]),
        (["--since", "monday", "--until", "today"], ["log:other"]),
    ],
)
def test_sessions_are_chosen_by_the_same_words(
    ledger: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    labels: list[str],
) -> None:
    monkeypatch.setattr(dates, "present", lambda: datetime(2026, 4, 2, tzinfo=UTC))
    run_here("sessions", *arguments, "--format", "csv", "--ledger", str(ledger))
    assert sorted(line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]) == labels


def test_a_command_says_which_option_it_cannot_read(ledger: Path) -> None:
    with pytest.raises(click.BadParameter, match="Can't read '7x' as a date; try 2026-11-01 or 7d"):
        run_here("sessions", "--since", "7x", "--ledger", str(ledger))
    with pytest.raises(ParameterError, match="since: Can't read '7x' as a date; try 2026-11-01 or 7d"):
        run_here("cost", "--since", "7x", "--ledger", str(ledger))


def test_a_command_without_a_zone_of_its_own_means_days_of_the_configured_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIX_TIMEZONE", "Asia/Tokyo")
    given = {"since": "2026-03-01", "until": "2026-03-01"}
    with click.Context(click.Command("replay")):
        assert exact_dates(given, is_zone_known=False) == {
            "since": "2026-03-01T00:00:00+09:00",
            "until": "2026-03-02T00:00:00+09:00",
        }
        assert exact_dates(given, is_zone_known=True) == {"since": "2026-03-01", "until": "2026-03-02"}
