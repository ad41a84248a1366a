"""The context of a thread as Markdown, to go on with it in another tool.

It holds what a model would see next: the summary of the last compaction, the turns that it kept, and those since.
Where that is more than is wanted, the oldest of these turns are left out, and the middle of a turn that alone is too
long.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aix.output.formats import prose_line
from aix.output.humanise import TITLE_CHARACTERS, counted, local_time, one_line
from aix.output.transcript.forms import turn_markdown
from aix.output.transcript.model import Turn, View
from aix.output.transcript.redaction import redacted
from aix.output.transcript.source import WHOLE, Transcript, read_turns
from aix.reading.conversation import TURNS_TO_GO_ON_WITH

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_TURNS_AT_ONCE = 16
_FENCE = re.compile("`{3,}")
"""The beginning of a block of code, and all of the line that ends it."""
_SHARE_OF_SUMMARY = 2
"""A summary takes no more than this part of the characters."""


@dataclass(frozen=True)
class Handover:
    """The context of a thread, in Markdown."""

    lines: list[str]
    turns: int
    """How many turns it shows, the summary included."""
    left_out: int
    """How many earlier turns had no room."""


def hand_over(
    ledger: "Ledger",
    thread_id: str,
    view: View,
    *,
    title: str,
    characters: int,
    redact: Callable[[str], str] | None = None,
) -> Handover:
    """Return the context with which a model would go on after a turn, of about so many characters at most."""
    places = [
        (place, turn_id, is_summary) for place, turn_id, is_summary in ledger.own_sql(TURNS_TO_GO_ON_WITH, [thread_id])
    ]
    summaries = [(place, turn_id) for place, turn_id, is_summary in places if is_summary]
    turns = [(place, turn_id) for place, turn_id, is_summary in places if not is_summary]
    writer = _Writer(ledger, view, characters, redact)
    head = [line for lines in writer.write(summaries, characters // _SHARE_OF_SUMMARY) for line in lines]
    shown = writer.write_latest(turns, characters - _size(head))
    left_out = len(turns) - len(shown)
    text = one_line(redact(title) if redact else title, TITLE_CHARACTERS)
    first = f"# {prose_line(text)}", "", "What follows is an earlier conversation. Go on from its end."
    gap = ["", f"*{counted(left_out, 'earlier turn')} left out*"] if left_out else []
    lines = [*first, *head, *gap, *(line for each in shown for line in each)]
    return Handover(lines, len(summaries) + len(shown), left_out)


class _Writer:
    """Writes turns of a ledger, each as lines of Markdown."""

    def __init__(self, ledger: "Ledger", view: View, characters: int, redact: Callable[[str], str] | None) -> None:
        self._ledger = ledger
        self._view = view
        self._limit = max(characters // 4, 1)
        """Of each text: no single one fills what there is room for."""
        self._redact = redact

    def write(self, places: Sequence[tuple[int, str]], characters: int) -> Iterator[list[str]]:
        """Give the lines of each of these turns, shortened to so many characters."""
        limit = WHOLE if self._redact else self._limit
        turns = read_turns(self._ledger, places, limit)
        if self._redact is not None:
            turns = redacted(Transcript(None, turns), self._redact, self._limit).turns
        for turn in turns:
            yield [*self._heading(turn), *_shortened([*turn_markdown(self._view.of(turn), self._view)], characters)]

    def write_latest(self, places: Sequence[tuple[int, str]], characters: int) -> list[list[str]]:
        """Return the lines of as many of the latest turns as fit, at least of one."""
        shown: list[list[str]] = []
        left = characters
        for end in range(len(places), 0, -_TURNS_AT_ONCE):
            batch = [*self.write(places[max(end - _TURNS_AT_ONCE, 0) : end], characters)]
            for lines in reversed(batch):
                left -= _size(lines)
                if shown and left < 0:
                    return shown[::-1]
                shown.append(lines)
        return shown[::-1]

    def _heading(self, turn: Turn) -> list[str]:
        when = "" if turn.started_at is None else f" · {local_time(turn.started_at, self._view.zone)}"
        return ["", f"## Turn {turn.number}{when}"]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _shortened(lines: list[str], characters: int) -> list[str]:
    """Leave out the middle of a turn that is too long, between blocks of its text."""
    if _size(lines) <= characters:
        return lines
    blocks = _blocks(lines)
    sizes = [*map(_size, blocks)]
    first = 0
    held = 0
    while first < len(blocks) and held + sizes[first] <= characters // 3:
        held += sizes[first]
        first += 1
    last = len(blocks)
    while last > first and held + sizes[last - 1] <= characters:
        last -= 1
        held += sizes[last]
    middle = ["", "*… the middle of this turn left out*"]
    return [line for part in (*blocks[:first], middle, *blocks[last:]) for line in part]


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Divide lines where a blank one begins a block; a block of code stays whole."""
    blocks: list[list[str]] = [[]]
    fence: str | None = None
    for line in lines:
        if fence is None and not line:
            blocks.append([])
        blocks[-1].append(line)
        if fence is None:
            opening = _FENCE.match(line)
            fence = opening[0] if opening else None
        elif line == fence:
            fence = None
    return blocks
