"""Result columns for people, by what their names say: money, shares, tokens, moments, durations.

Names carry their unit (`cost_usd`, `cache_hit_ratio`, `output_tokens`, `started_at`, `latency_ms`), so that one place
knows how each is written. Whoever needs exact values takes a machine format.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import tzinfo
from decimal import Decimal
from functools import partial

from msgspec.structs import replace

from aix.output.humanise import dollars, local_time, per_cent, rounded, short_count, short_duration
from aix.output.listing import Listing, ListingColumn

_Writer = Callable[..., str]


def displayed(columns: tuple[ListingColumn, ...], rows: Iterable[Sequence[object]], zone: tzinfo) -> Listing:
    """Return a listing with the same columns, their values written for people."""
    writers = [_writer_for(column, zone) for column in columns]
    # A moment is read as text; whatever else was a number stays flush right.
    shown = tuple(replace(column, type="VARCHAR") if column.name.endswith("_at") else column for column in columns)
    return Listing(shown, _written(rows, writers))


def _written(rows: Iterable[Sequence[object]], writers: list[_Writer | None]) -> Iterator[tuple[object, ...]]:
    for row in rows:
        yield tuple(
            value if write is None or not isinstance(value, int | float | Decimal) else write(value)
            for value, write in zip(row, writers, strict=True)
        )


def _writer_for(column: ListingColumn, zone: tzinfo) -> _Writer | None:
    if not column.is_number:
        return None
    is_whole = column.type in ("BIGINT", "INTEGER", "HUGEINT")
    if column.name.endswith("_usd"):
        return dollars
    if column.name.endswith(("_share", "_ratio")):
        return per_cent
    if column.name.endswith("_at") and is_whole:
        return partial(local_time, zone=zone)
    if column.name.endswith("tokens") and is_whole:
        return short_count
    if column.name.endswith("_ms") and is_whole:
        return short_duration
    return None if is_whole else rounded
