"""Timestamps of entries, to and from Unix milliseconds."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN_EPOCH = _EPOCH.replace(tzinfo=None)
_MILLISECOND = timedelta(milliseconds=1)
_LEAST_NUMBER = 10**11
"""Less than that is rather a number of seconds: as milliseconds it would be before March 1973."""
_FIRST_OF_YEAR_10000 = 253_402_300_800_000
UNDATED = "undated"
"""The basis of a time where the log has none at all: the date of its file stands there, or 0."""


def read_time(value: object) -> int | None:
    """Return the Unix milliseconds of ISO 8601 text or of a number of them; NULL when it is neither.

    >>> read_time("2026-01-02T03:04:05.678+01:00"), read_time(1767319445678), read_time("soon")
    (1767319445678, 1767319445678, None)
    >>> read_time(1767319445) is None
    True
    """
    match value:
        case str():
            return _read_text(value)
        case bool():
            return None
        case int() | float() if _LEAST_NUMBER <= value < _FIRST_OF_YEAR_10000:
            return round(value)
        case _:
            return None


@lru_cache(maxsize=16_384)  # logs are read twice, and records that stand side by side often have one time
def _read_text(text: str) -> int | None:
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    moment = ((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND
    return moment if 0 <= moment < _FIRST_OF_YEAR_10000 else None


def write_time(moment: int) -> str:
    """Return the text that JavaScript writes for a moment.

    >>> write_time(1767319445678)
    '2026-01-02T02:04:05.678Z'
    """
    return f"{(_PLAIN_EPOCH + timedelta(milliseconds=moment)).isoformat(timespec='milliseconds')}Z"
