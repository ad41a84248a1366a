"""Values for parameters: days in a time zone, and nothing that is not what the parameter takes."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from aix.errors import ParameterError, UnknownParameterError
from aix.query.query_file import parse_query
from aix.query.values import bind

QUERY = parse_query(
    "pack/costs",
    Path("costs.sql"),
    """\
-- title: Costs
-- question: What did it cost?
-- why: Money is short.
-- grain: day
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param project: text = none; a part of its name
-- param period: text = month; one of day, month
-- param top: integer = 20; how many
-- param limit_usd: number = 5; how much
-- param only_main: flag = no; whether to leave out the rest
-- param timezone: text = UTC; where days begin
-- column day: VARCHAR; the day
select 1
""",
)
NOVEMBER = 1_793_491_200_000
"""The beginning of 2026-11-01 in UTC."""
HOUR = 3_600_000


def bound(**values: object) -> dict[str, object]:
    return {variable.name: variable.value for variable in bind(QUERY, values)}


@pytest.mark.parametrize(
    ("value", "zone", "milliseconds"),
    [
        ("2026-11-01", "UTC", NOVEMBER),
        ("2026-11-01", "Europe/Berlin", NOVEMBER - HOUR),
        ("2026-11-01", "America/Los_Angeles", NOVEMBER + 7 * HOUR),
        ("2026-11-02", "America/Los_Angeles", NOVEMBER + 32 * HOUR),  # the day before has 25 hours
        ("2026-11-01", "Asia/Kolkata", NOVEMBER - 5 * HOUR - HOUR // 2),
        ("2026-11-01T10:00:00", "Europe/Berlin", NOVEMBER + 9 * HOUR),
        ("2026-11-01 10:00", "Europe/Berlin", NOVEMBER + 9 * HOUR),
        ("2026-11-01T10:00:00+02:00", "America/Los_Angeles", NOVEMBER + 8 * HOUR),
        ("2026-11-01T10:00:00Z", "America/Los_Angeles", NOVEMBER + 10 * HOUR),
        (date(2026, 11, 1), "Europe/Berlin", NOVEMBER - HOUR),
        (datetime(2026, 11, 1, 10), "Europe/Berlin", NOVEMBER + 9 * HOUR),
        (datetime(2026, 11, 1, 10, tzinfo=UTC), "Europe/Berlin", NOVEMBER + 10 * HOUR),
        (datetime(2026, 11, 1, 10, tzinfo=timezone(timedelta(hours=2))), "UTC", NOVEMBER + 8 * HOUR),
        (datetime(2026, 11, 1, microsecond=999_999), "UTC", NOVEMBER + 999),
        (NOVEMBER, "Europe/Berlin", NOVEMBER),
    ],
)
def test_a_moment_is_milliseconds_and_a_day_begins_in_its_zone(value: object, zone: str, milliseconds: int) -> None:
    assert bound(since=value, timezone=zone) == {"since": milliseconds, "timezone": zone}


def test_each_type_has_its_own_type_in_duckdb() -> None:
    variables = bind(
        QUERY,
        {"since": 1, "project": "web", "period": "day", "top": "5", "limit_usd": Decimal("2.5"), "only_main": "yes"},
    )
    assert bound(limit_usd=1, only_main=True) == {"limit_usd": 1.0, "only_main": True}
    assert [(each.name, each.type, each.value) for each in variables] == [
        ("since", "BIGINT", 1),
        ("project", "VARCHAR", "web"),
        ("period", "VARCHAR", "day"),
        ("top", "BIGINT", 5),
        ("limit_usd", "DOUBLE", 2.5),
        ("only_main", "BOOLEAN", True),
    ]


def test_what_is_not_given_is_left_to_the_query() -> None:
    assert bound() == {}
    assert bound(since=None, only_main=False, timezone=ZoneInfo("Asia/Kolkata")) == {
        "only_main": False,
        "timezone": "Asia/Kolkata",
    }


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        *(
            ("since", value, "Can't read")
            for value in ("soon", "", "2026-13-01", "2026-02-30", "2026", "2026-11-01T25:00", "2026-W44-1", True, 1.5)
        ),
        ("since", 2**63, "Can't read"),
        ("project", 5, "is no text"),
        ("project", "lone \ud800", "is no text"),
        ("period", "week", "it cannot be 'week'"),
        ("top", "many", "is no whole number"),
        ("top", 1.5, "is no whole number"),
        ("top", True, "is no whole number"),
        ("top", 2**63, "is no whole number"),
        ("limit_usd", "much", "is no number"),
        ("limit_usd", "nan", "is no number"),
        ("limit_usd", True, "is no number"),
        ("only_main", "maybe", "neither yes nor no"),
        *(("timezone", zone, "is no time zone") for zone in ("localtime", "posix/UTC", "Berlin", "", "Europe", 5)),
    ],
)
def test_a_value_that_a_parameter_cannot_have_is_named_with_it(name: str, value: object, problem: str) -> None:
    with pytest.raises(ParameterError) as caught:
        bound(**{name: value})
    assert str(caught.value).startswith(f"{name}: ")
    assert problem in str(caught.value)
    assert caught.value.remedy


def test_the_words_that_are_allowed_and_the_nearest_zone_are_named() -> None:
    with pytest.raises(ParameterError) as caught:
        bound(period="week")
    assert caught.value.remedy == "use one of day, month"
    with pytest.raises(ParameterError) as caught:
        bound(timezone="Europe/Berln")
    assert "Europe/Berlin" in caught.value.remedy


@pytest.mark.parametrize(("since", "until"), [("2026-11-01", "2026-11-01"), ("2026-11-02", "2026-11-01"), (5, 4)])
def test_a_range_that_holds_nothing_is_an_error(since: object, until: object) -> None:
    with pytest.raises(ParameterError, match="the range would end"):
        bound(since=since, until=until, timezone="Europe/Berlin")


def test_a_day_ends_before_the_next_begins() -> None:
    berlin = bound(since="2026-03-29", until="2026-03-30", timezone="Europe/Berlin")
    assert berlin["until"] == 23 * HOUR + int(str(berlin["since"]))


def test_an_unknown_parameter_is_told_which_there_are() -> None:
    with pytest.raises(UnknownParameterError) as caught:
        bound(sinse="2026-11-01")
    assert str(caught.value) == "the query pack/costs has no parameter 'sinse'"
    assert caught.value.remedy.startswith("did you mean since? it has since, until,")


def test_a_zone_is_no_parameter_of_a_query_without_days() -> None:
    header = "-- title: A\n-- question: B?\n-- why: C.\n-- grain: D\n-- column a: BIGINT; E\n"
    query = parse_query("pack/a", Path("a.sql"), f"{header}select 1")
    with pytest.raises(UnknownParameterError):
        bind(query, {"timezone": "UTC"})
