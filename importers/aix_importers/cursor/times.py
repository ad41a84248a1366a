"""When each bubble was made: as it says itself, else between those beside it that do."""

from collections.abc import Sequence
from itertools import pairwise

from aix_importers.common.times import UNDATED
from aix_importers.cursor.conversation import Entry

_LAST_MOMENT = 2**62


def set_times(entries: Sequence[Entry], began_at: int | None, ended_at: int | None = None) -> str:
    """Give every entry a time later than the one before it, and say how those without one got theirs.

    Without any time, they count from the start of the conversation, or up to its end where only that is known.
    """
    timed = [place for place, entry in enumerate(entries) if entry.raw_time is not None]
    times = _spread(entries, timed, began_at) if timed else _counted(len(entries), began_at, ended_at)
    last = -1
    for entry, time in zip(entries, times, strict=True):
        entry.time = last = max(time, last + 1)
        entry.is_time_inferred = entry.raw_time is None
    return "neighbour" if timed or began_at is not None or ended_at is not None else UNDATED


def _counted(length: int, began_at: int | None, ended_at: int | None) -> list[int]:
    if began_at is not None or ended_at is None:
        return [(began_at or 0) + place for place in range(length)]
    return [max(0, ended_at - (length - 1 - place)) for place in range(length)]


def _spread(entries: Sequence[Entry], timed: Sequence[int], began_at: int | None) -> list[int]:
    times = [entry.raw_time or 0 for entry in entries]
    first = timed[0]
    start = began_at if began_at is not None and began_at < times[first] else max(0, times[first] - first - 1)
    _fill(times, -1, start, first)
    for before, after in pairwise(timed):
        _fill(times, before, times[before], after)
    for place in range(timed[-1] + 1, len(times)):
        times[place] = min(times[place - 1] + 1, _LAST_MOMENT)
    return times


def _fill(times: list[int], before: int, start: int, after: int) -> None:
    steps = after - before
    for place in range(before + 1, after):
        times[place] = start + (times[after] - start) * (place - before) // steps
