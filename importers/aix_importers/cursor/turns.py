"""How the bubbles of a conversation make turns, and when each was made."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from msgspec import Raw

from aix_importers.common.times import UNDATED
from aix_importers.cursor.conversation import Conversation, Entry, Part, Turn
from aix_importers.cursor.values import ABSENT, field, is_filled, text

_LAST_MOMENT = 2**62


@dataclasses.dataclass(slots=True)
class TurnFacts:
    """Facts that are known of a turn so far."""

    started_at: int
    is_start_inferred: bool = False
    last_at: int = 0
    ended_at: int | None = None
    model: str | None = None
    mode: str | None = None
    tools: list[str] = dataclasses.field(default_factory=list)
    is_agentic: bool | None = None
    gauge: int | None = None
    spawns: bool = False


def arrange(
    conversation: Conversation, began_at: int | None, ended_at: int | None, own: Collection[str | None] = ()
) -> None:
    """Give the entries of a conversation their times, and make turns of them, each the child of the one before it.

    `own` has up to which bubble the summaries reach that have a bubble: of those, none is put in again.
    """
    entries = conversation.entries
    conversation.time_basis = _set_times(entries, began_at, ended_at)
    conversation.turns = turns = _divide(entries)
    _add_latest_summary(turns, entries, conversation.composer.latest_conversation_summary, own)
    for before, turn in pairwise(turns):
        turn.parent = before


def _divide(entries: Iterable[Entry]) -> list[Turn]:
    """Return the turns of a conversation.

    Prompts that follow each other open one turn. A summary is a turn of its own and cuts the one that runs: what the
    assistant says after it is a turn that continues the one before.
    """
    turns: list[Turn] = []
    current: Turn | None = None
    cut: Turn | None = None
    early: list[Entry] = []
    for entry in entries:
        if entry.part is Part.ARTEFACT:
            entry.turn = current or (turns[-1] if turns else None)
            continue
        if entry.part is Part.NOTE:
            if current is None:
                early.append(entry)
            else:
                _join(current, [entry])
            continue
        if entry.part is Part.SUMMARY:
            cut, current = current, None
            turns.append(_turn(f"s:{entry.key}", entry, is_compaction=True))
            continue
        if entry.part is Part.QUERY and (current is None or current.is_answered):
            current, cut = _turn(entry.key, entry, early), None
            turns.append(current)
            continue
        if current is None:
            current = _turn(f"{'c' if cut else 'a'}:{entry.key}", entry, early)
            current.continues, cut = cut, None
            turns.append(current)
            continue
        _join(current, [entry])
    if turns:
        _join(turns[-1], early)
    return turns


def _turn(key: str, entry: Entry, early: list[Entry] | None = None, *, is_compaction: bool = False) -> Turn:
    """Make a turn of its first entry, and of what was put in before it."""
    turn = Turn(key, is_compaction)
    _join(turn, early or [])
    _join(turn, [entry])
    if early:
        early.clear()
    return turn


def _join(turn: Turn, entries: Iterable[Entry]) -> None:
    for entry in entries:
        turn.entries.append(entry)
        entry.turn = turn


def _add_latest_summary(turns: list[Turn], entries: Sequence[Entry], latest: Raw, own: Collection[str | None]) -> None:
    """Put the summary that a composer keeps of itself behind the turn at which it was made."""
    if not is_filled(latest) or not turns:
        return
    summary = field(latest, "summary")
    through = text(field(summary, "truncationLastBubbleIdInclusive"))
    if through and through in own:
        return
    turn_of = {entry.key: entry.turn for entry in entries}
    last_id = text(field(latest, "lastBubbleId"))
    if not last_id and not through and summary is ABSENT:
        return
    at = turn_of.get(last_id or "") or turn_of.get(through or "") or turns[-1]
    made = Turn(f"s:{last_id or through or at.key}", is_compaction=True, summary=latest)
    if made.key not in {turn.key for turn in turns}:
        turns.insert(turns.index(at) + 1, made)


def _set_times(entries: Sequence[Entry], began_at: int | None, ended_at: int | None) -> str:
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
