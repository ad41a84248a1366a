"""A part of a transcript that fits into an answer, and the arguments that show the next part."""

from collections.abc import Iterator
from datetime import tzinfo

from aix.output.paragraphs import paragraph_lines
from aix.output.transcript.finding import Finder
from aix.output.transcript.forms import paragraphs
from aix.output.transcript.model import Turn, View
from aix.output.transcript.redaction import redacted
from aix.output.transcript.source import WHOLE, Transcript, read_transcript
from aix.reading.ledger import Ledger
from aix.server.answer import MOST_CHARACTERS, Answer, Hiding
from aix.server.arguments import ShowArguments

_FOLDED_CHARACTERS = 20_000
_LINE_CHARACTERS = 10_000


def show(ledger: Ledger, arguments: ShowArguments, hiding: Hiding, zone: tzinfo) -> Answer:
    """Return the turns that are asked for, as far as they fit."""
    finder = None if arguments.find is None else Finder(arguments.find)
    view = View(
        zone,
        is_full=arguments.full,
        with_thinking=arguments.thinking,
        with_tools=arguments.tools,
        spans=None if finder is None else finder.spans,
    )
    first = arguments.first_turn - 1
    last = None if finder else first + arguments.turns + 1  # one more, to know whether there is one
    part = slice(first, last) if arguments.last is None else slice(-arguments.last, None)
    limit = WHOLE if arguments.full or finder else _FOLDED_CHARACTERS
    transcript = redacted(read_transcript(ledger, arguments.name, part=part), hiding.text, limit)
    page = _Page(view)
    page.add(paragraph_lines(paragraphs(Transcript(transcript.header, iter(())), view)))
    most = arguments.turns if arguments.last is None else arguments.last
    for place, turn in enumerate(transcript.turns):
        found = [turn] if finder is None else finder.found_in(Transcript(None, iter([turn])), view).turns
        for each in found:
            if not page.add_turn(each, most, arguments.line if place == 0 else 0):
                return page.answer(has_found=True)
    return page.answer(has_found=finder is None or bool(finder.turns))


class _Page:
    def __init__(self, view: View) -> None:
        self._view = view
        self._lines: list[str] = []
        self._room = MOST_CHARACTERS
        self._turns: list[int] = []
        self._cut = 0
        self.next = ""
        """The arguments that show what follows."""

    def add(self, lines: Iterator[str]) -> int | None:
        """Add lines; return how many fitted where not all did."""
        for place, line in enumerate(lines):
            shown = line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}…"
            if len(shown) > self._room:
                return place
            self._cut += shown is not line
            self._room -= len(shown) + 1
            self._lines.append(shown)
        return None

    def add_turn(self, turn: Turn, most: int, skipped: int) -> bool:
        """Add the lines of a turn after those that are left out; return whether all fitted and more turns may."""
        if len(self._turns) == most:
            self.next = f"first_turn={turn.number}"
            return False
        lines = paragraph_lines(paragraphs(Transcript(None, iter([turn])), self._view))
        for _ in zip(range(skipped), lines, strict=False):
            pass
        fitted = self.add(lines)
        if fitted != 0:
            self._turns.append(turn.number)
        if fitted is None:
            return True
        line = skipped + fitted
        self.next = f"first_turn={turn.number}" + (f" and line={line}" if line else "")
        return False

    def answer(self, *, has_found: bool) -> Answer:
        said = []
        if self._turns:
            first, last = self._turns[0], self._turns[-1]
            said.append(f"Turn {first}." if first == last else f"Turns {first} to {last}.")
        else:
            said.append("No turn is there." if has_found else "No text of these turns has that.")
        if self.next:
            said.append(f"More follows: {self.next} shows it; or the name of one turn, or `find`, shows less at once.")
        if self._cut:
            lines = "1 line was" if self._cut == 1 else f"{self._cut:,} lines were"
            said.append(f"{lines} cut at {_LINE_CHARACTERS:,} characters; the tool sql has the whole texts.")
        return Answer(self._lines, said)
