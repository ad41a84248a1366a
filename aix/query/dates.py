"""Dates as people write them, for every option, parameter and argument that takes one.

    2026-11-01, 20261101          a day of the time zone
    2026-11                       a month
    2026-11-01T10:00:00           a moment; with Z or +02:00 that of another zone
    today, yesterday, monday      a day; of a weekday the latest, which may be today
    7d, 2w, 3m, 1y                the day that many days, weeks, months or years ago; `since` counts from the day after
    5h, now                       the moment that many hours ago, and the present one

A date is a span: `since` counts from its beginning, but from the end of a day that is so long ago, so that 7d means
seven days, today included. On the command line `until` counts to its end, so that a day or a
month is included; in SQL and Python `until` is the first moment that no longer counts, the beginning of the span.
"""

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import final

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = timedelta(days=1)
_FULL_DAY = re.compile(r"(\d{4})(-?)(\d{2})\2(\d{2})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ].+")
_AGO = re.compile(r"(\d{1,4})([hdwmy])")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORTEST_WEEKDAY = 3
ADVICE = "also understood: 20261101, 2026-11, 2026-11-01T10:00:00, today, yesterday, monday, 2w, 3m, 1y, 5h, now"
"""The ways to write a date, for a message beside the two that `unreadable` names."""


@final
@dataclass(frozen=True)
class Span:
    """The time that a date stands for; a moment ends when it begins."""

    begin: datetime
    end: datetime
    """The first moment after it."""
    is_ago: bool = False
    """Whether it is the day before the last so many days, weeks, months or years."""

    @property
    def since(self) -> datetime:
        """The first moment that counts since that date."""
        return self.end if self.is_ago else self.begin

    @property
    def since_ms(self) -> int:
        """The first moment that counts since that date as Unix milliseconds."""
        return (self.since - _EPOCH) // _MILLISECOND

    @property
    def begin_ms(self) -> int:
        """The beginning as Unix milliseconds."""
        return (self.begin - _EPOCH) // _MILLISECOND

    @property
    def end_ms(self) -> int:
        """The first moment after it as Unix milliseconds."""
        return (self.end - _EPOCH) // _MILLISECOND


def present() -> datetime:
    """Return the present moment; tests put another in its place."""
    return datetime.now(UTC)


def unreadable(value: object) -> str:
    """Return the message for a text that is not a date.

    >>> unreadable("7x")
    "Can't read '7x' as a date; try 2026-11-01 or 7d"
    """
    return f"Can't read {value!r} as a date; try 2026-11-01 or 7d"


def read_date(text: str, zone: tzinfo, now: datetime | None = None) -> Span:
    """Return the span of a text, in the time zone; raise ValueError when the text is not a date.

    >>> noon = datetime(2026, 11, 18, 12, tzinfo=UTC)
    >>> [str(read_date(text, UTC, noon).begin.date()) for text in ("7d", "yesterday", "monday", "20260201", "2026-02")]
    ['2026-11-11', '2026-11-17', '2026-11-16', '2026-02-01', '2026-02-01']
    """
    word = text.strip()
    try:
        if _MOMENT.fullmatch(word):
            return span_of(datetime.fromisoformat(word), zone)
        if found := _FULL_DAY.fullmatch(word):
            return span_of(date(int(found[1]), int(found[3]), int(found[4])), zone)
        if found := _MONTH.fullmatch(word):
            first = date(int(found[1]), int(found[2]), 1)
            return Span(_midnight(first, zone), _midnight(first + _DAY * monthrange(first.year, first.month)[1], zone))
        return _relative(word.lower(), zone, (now or present()).astimezone(zone))
    except (ValueError, OverflowError) as error:
        raise ValueError(unreadable(text)) from error


def span_of(value: date, zone: tzinfo) -> Span:
    """Return the span of a day, or of a moment when the value is a datetime; one without a zone is in this one."""
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=zone)
        return Span(moment, moment)
    return Span(_midnight(value, zone), _midnight(value + _DAY, zone))


def written_bound(moment: datetime, zone: tzinfo) -> str:
    """Write a bound of a span in the zone, as a day where one begins, so that `read_date` finds the same moment.

    >>> written_bound(datetime(2026, 11, 1, tzinfo=UTC), UTC), written_bound(datetime(2026, 11, 1, 10, tzinfo=UTC), UTC)
    ('2026-11-01', '2026-11-01T10:00:00+00:00')
    """
    local = moment.astimezone(zone)
    if local.time() == time() and _midnight(local.date(), zone) == local:
        return local.date().isoformat()
    return local.isoformat()


def last_day(until: str) -> str:
    """Return the last day that counts, for people, from a written bound that no longer counts; a moment stays.

    >>> last_day("2026-11-11"), last_day("2026-11-11T10:00:00+00:00")
    ('2026-11-10', '2026-11-11T10:00:00+00:00')
    """
    return until if "T" in until else (date.fromisoformat(until) - _DAY).isoformat()


def _relative(word: str, zone: tzinfo, now: datetime) -> Span:
    today = now.date()
    if word == "now":
        return Span(now, now)
    if word in ("today", "yesterday"):
        return span_of(today - _DAY * (word == "yesterday"), zone)
    if found := _AGO.fullmatch(word):
        count = int(found[1])
        match found[2]:
            case "h":
                moment = now.astimezone(UTC) - timedelta(hours=count)
                return Span(moment, moment)
            case "d" | "w" as unit:
                day = today - _DAY * count * (7 if unit == "w" else 1)
            case unit:
                day = _months_before(today, count * (12 if unit == "y" else 1))
        return replace(span_of(day, zone), is_ago=count > 0)
    named = [day for day in _WEEKDAYS if word in (day, day[:_SHORTEST_WEEKDAY])]
    if not named:
        raise ValueError(word)
    return span_of(today - _DAY * ((today.weekday() - _WEEKDAYS.index(named[0])) % 7), zone)


def _months_before(day: date, count: int) -> date:
    """Return the same day of an earlier month, or its last day where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone)
