"""Values for the parameters of a query: checked, and in the form in which DuckDB gets them.

A day is meant in a time zone: `since` a day begins with it, `until` a day ends before it begins. Dates are written as
`aix.query.dates` reads them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from math import isfinite, nan
from zoneinfo import ZoneInfo, available_timezones

from aix.errors import ParameterError, UnknownParameterError, nearest_names
from aix.query.dates import ADVICE, Span, read_date, span_of, unreadable, written_bound
from aix.query.query_file import Parameter, ParameterType, Query

TIMEZONE = "timezone"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LARGEST = 2**63 - 1
_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
# Files that lie beside those of the time zones; DuckDB knows none of them.
_NO_ZONE = re.compile("localtime|posixrules|(posix|right)/.*")


@dataclass(frozen=True)
class Variable:
    """A value on its way to DuckDB, which reads it with `getvariable`."""

    name: str
    type: str
    value: object


def takes_timezone(query: Query) -> bool:
    """Whether a time zone makes a difference: to its days, or to those it is given."""
    return any(each.name == TIMEZONE or each.type is ParameterType.TIMESTAMP for each in query.parameters)


def bind(query: Query, given: Mapping[str, object]) -> tuple[Variable, ...]:
    """Return the variables to set for these values; what is None, or not given, is left to the query's default."""
    values = {name: value for name, value in given.items() if value is not None}
    for name in values:
        if query.parameter(name) is None and not (name == TIMEZONE and takes_timezone(query)):
            raise UnknownParameterError(query.name, name, tuple(each.name for each in query.parameters))
    zone = find_zone(values.get(TIMEZONE, "UTC"))
    bound = {
        each.name: Variable(each.name, each.type.sql_type, convert(each, values[each.name], zone))
        for each in query.parameters
        if each.name in values
    }
    if "since" in bound and "until" in bound:
        _check_range(bound["since"].value, bound["until"].value, zone)
    return tuple(bound.values())


def find_zone(name: object) -> ZoneInfo:
    """Return the time zone of that name, which is one for DuckDB too."""
    if isinstance(name, ZoneInfo) and name.key:
        name = name.key
    try:
        if isinstance(name, str) and not _NO_ZONE.fullmatch(name):
            return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        pass
    nearest = nearest_names(str(name), sorted(available_timezones() - {"localtime"})) or ["Europe/Berlin"]
    advice = f"use the name of a zone, such as {' or '.join(nearest)}"
    raise ParameterError(TIMEZONE, f"{name!r} is no time zone", advice)


def convert(parameter: Parameter, value: object, zone: tzinfo) -> object:
    """Return the value in the form in which it is bound."""
    if parameter.name == TIMEZONE:
        return find_zone(value).key
    match parameter.type:
        case ParameterType.TIMESTAMP:
            return _milliseconds(parameter.name, value, zone)
        case ParameterType.TEXT:
            return _text(parameter, value)
        case ParameterType.INTEGER:
            return _integer(parameter.name, value)
        case ParameterType.NUMBER:
            return _number(parameter.name, value)
        case ParameterType.FLAG:
            return _flag(parameter.name, value)


def _check_range(since: object, until: object, zone: tzinfo) -> None:
    if isinstance(since, int) and isinstance(until, int) and since >= until:
        first, end = (_written(moment, zone) for moment in (since, until))
        problem = f"the range would end at {end}, before it begins at {first}"
        raise ParameterError("until", problem, "give a later `until`; in Python and SQL its own day is not counted")


def _written(milliseconds: int, zone: tzinfo) -> str:
    try:
        return (_EPOCH + milliseconds * _MILLISECOND).astimezone(zone).isoformat(" ", "minutes")
    except OverflowError:
        return f"{milliseconds} ms"


def read_parameter_date(name: str, text: str, zone: tzinfo) -> Span:
    """Return the span of the text that is given for a parameter."""
    try:
        return read_date(text, zone)
    except ValueError as error:
        raise ParameterError(name, str(error), ADVICE) from error


def exact_bounds(parameters: Mapping[str, object], zone: tzinfo, *, is_zone_known: bool) -> dict[str, object]:
    """Return parameters with the dates of `since` and `until` as bounds: `until` is the first moment left out.

    They are written in the zone; where the reader of the parameters does not know it, with their distance from UTC.
    """
    exact = dict(parameters)
    for name in {"since", "until"} & parameters.keys():
        span = read_parameter_date(name, str(parameters[name]), zone)
        bound = span.since if name == "since" else span.end
        exact[name] = written_bound(bound, zone) if is_zone_known else bound.isoformat()
    return exact


def _milliseconds(name: str, value: object, zone: tzinfo) -> int:
    match value:
        case int() if not isinstance(value, bool) and abs(value) <= _LARGEST:
            return value
        case date():
            return span_of(value, zone).begin_ms
        case str():
            span = read_parameter_date(name, value, zone)
            return span.since_ms if name == "since" else span.begin_ms
    raise ParameterError(name, unreadable(value), ADVICE)


def _text(parameter: Parameter, value: object) -> str:
    if not isinstance(value, str) or _NO_TEXT.search(value):
        raise ParameterError(parameter.name, f"{value!r} is no text", "give it as a text")
    if parameter.words and value not in parameter.words:
        raise ParameterError(parameter.name, f"it cannot be {value!r}", f"use one of {', '.join(parameter.words)}")
    return value


def _integer(name: str, value: object) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int) or abs(number) > _LARGEST:
        raise ParameterError(name, f"{value!r} is no whole number", "write one such as 20")
    return number


def _number(name: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float | Decimal) else nan
    except (ValueError, OverflowError):
        number = nan
    if isinstance(value, bool) or not isfinite(number):
        raise ParameterError(name, f"{value!r} is no number", "write one such as 0.5")
    return number


def _flag(name: str, value: object) -> bool:
    found = value if isinstance(value, bool) else _FLAGS.get(str(value).lower())
    if found is None:
        raise ParameterError(name, f"{value!r} is neither yes nor no", "write yes or no")
    return found
