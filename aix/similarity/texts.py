"""The texts that say what a turn or a program is about, read from the files of a group.

Of a turn these are its prompt, the summary of its compaction, the paths of its files, its answer, the names of its
tools and what the model thought; not what tools got and gave, which is most of a log and says little about the work.
Of a program they are its id and its settings.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aix.search.texts import input_text
from aix.store.cache_files import numbered_row_groups
from aix.store.manifest import COMPONENT, Segment, segment_path
from aix.thread_pool import ahead

if TYPE_CHECKING:
    pass


class Part(IntEnum):
    """The parts of what a turn says, those first that say most about it."""

    PROMPT = 0
    SUMMARY = 1
    PATH = 2
    ANSWER = 3
    TOOL = 4
    THINKING = 5


TURNS, PROGRAMS = "turns", "programs"
_COLUMNS = {
    "compactions": ("turn_id", "summary"),
    "messages": ("turn_id", "id", "role", "sequence", "content", "thinking"),
    "message_files": ("message_id", "file_path"),
    "tool_calls": ("turn_id", "tool_name"),
}
"""The tables with texts of turns, and the columns that are read of each; messages come before their files."""
TABLES_READ = (TURNS, *_COLUMNS, PROGRAMS)
MOST_CHARACTERS = 4_000
"""The characters that are read of each text: people paste logs into prompts."""
_PARTS_OF_ROLES = {"user": Part.PROMPT, "assistant": Part.ANSWER}


@dataclass
class Texts:
    """The texts of a turn or a program, in pieces."""

    table: str
    key: str
    component: int | None
    """The number of its family in its group."""
    most_characters: int | None = MOST_CHARACTERS
    _pieces: dict[tuple[Part, int, str], None] = field(default_factory=dict)

    def add(self, part: Part, place: int, text: str) -> None:
        """Add a text at a place among those of its part."""
        self._pieces[part, place, text[: self.most_characters]] = None

    def pieces(self) -> list[tuple[Part, str]]:
        """Return the texts in an order that does not depend on that of rows in files."""
        return [(part, text) for part, _, text in sorted(self._pieces)]


class GroupTexts:
    """The texts of a group of files, or those of some of its turns and programs."""

    def __init__(
        self,
        ledger: Path,
        files: dict[str, list[Segment]],
        wanted: Collection[tuple[str, str]] | None = None,
        most_characters: int | None = MOST_CHARACTERS,
    ) -> None:
        self._ledger = ledger
        self._most_characters = most_characters
        self._files = files
        self._wanted = wanted
        self._turns: dict[str, Texts] = {}
        self._turns_of_messages: dict[str, Texts] = {}
        self.found: list[Texts] = []
        """Turns and programs, once they are read."""

    def read(self) -> Iterator[int]:
        """Read them; give, step by step, how many bytes of the files were read."""
        for segment in self._files.get(TURNS, ()):
            for (turn_id,), component in self._rows(segment, ("id",)):
                self._turns[turn_id] = Texts(TURNS, turn_id, component, self._most_characters)
            yield segment.size_bytes or 0
        if self._wanted is not None:
            self._turns = {key: texts for key, texts in self._turns.items() if (TURNS, key) in self._wanted}
        for table in _COLUMNS:
            for segment in self._files.get(table, ()) if self._turns else ():
                for row, _ in self._rows(segment, _COLUMNS[table]):
                    self._add(table, row)
                yield segment.size_bytes or 0
        self.found = list(self._turns.values())
        for segment in self._files.get(PROGRAMS, ()):
            for (key, config), component in self._rows(segment, ("id", "config_json")):
                if self._wanted is None or (PROGRAMS, key) in self._wanted:
                    texts = Texts(PROGRAMS, key, component, self._most_characters)
                    texts.add(Part.PROMPT, 0, f"{key}\n{input_text(config)}" if config else key)
                    self.found.append(texts)
            yield segment.size_bytes or 0

    def _rows(self, segment: Segment, columns: tuple[str, ...]) -> Iterator[tuple[tuple[Any, ...], int | None]]:
        for batch in ahead(numbered_row_groups(segment_path(self._ledger, segment), columns)):
            numbers = batch.column(COMPONENT).to_pylist() if COMPONENT in batch.column_names else ()
            rows: Iterable[tuple[Any, ...]] = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
            yield from zip_longest(rows, numbers)

    def _add(self, table: str, row: tuple[Any, ...]) -> None:
        of_files = table == "message_files"
        texts = (self._turns_of_messages if of_files else self._turns).get(row[0])
        if texts is None:
            return
        match table:
            case "messages":
                _, message_id, role, sequence, content, thinking = row
                self._turns_of_messages[message_id] = texts
                if content and role in _PARTS_OF_ROLES:
                    texts.add(_PARTS_OF_ROLES[role], sequence or 0, content)
                if thinking:
                    texts.add(Part.THINKING, sequence or 0, thinking)
            case "compactions" if row[1]:
                texts.add(Part.SUMMARY, 0, row[1])
            case "message_files":
                texts.add(Part.PATH, 0, row[1])
            case "tool_calls":
                texts.add(Part.TOOL, 0, row[1])
