"""An importer for `.yarn` files: each line is a record, and logs copy records from each other.

    yarn
    a1 - first prompt
    a2 a1 second prompt
    b1 a2 a copy of what another log calls c7 =c7

A record is a turn. A record that is a copy is told once, by the record that was copied, if that can be found; what
comes after it then comes after that one. So a log says one thing when it is read alone, and another when it is read
with the log it was copied from. A log that holds nothing but copies is no session. `a.yarn.more` goes on where
`a.yarn` ends.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aix.ids import h63, ulid
from aix.importing import Candidate, Capabilities, Importer, Problem, RowBuffer, Rows, Source, Ties


@dataclass(frozen=True)
class Record:
    """A line of a log."""

    id: str
    parent: str
    text: str
    original: str | None
    number: int


class YarnImporter(Importer):
    """Reads `.yarn` files; those in a folder that ends in `.bundle` are a group."""

    name = "yarns"
    version = "1"
    description = "Yarns, a record per line."
    capabilities = Capabilities()
    suffixes = (".yarn",)

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        # As importers do that are given whole folders: only a file by itself makes them look around it.
        lies_there = Path.exists if len(files) == 1 else {Path(file.path) for file in files}.__contains__
        for file in files:
            if file.name.endswith(".yarn") and (file.claimed_by == self.name or file.head(5) == b"yarn\n"):
                folder = Path(file.path).parent
                more = f"{file.path}.more"
                group = str(folder) if folder.suffix == ".bundle" else ""
                yield Source(file.path, sidecars=(more,) if lies_there(Path(more)) else (), group=group)

    def likely_ties(self, source: Source) -> Sequence[int]:
        """Return what the first record names, or something wrong, as tests ask."""
        match os.environ.get("AIX_YARNS_GLANCE"):
            case "right":
                return [h63("record", name) for record in list(records(source))[:1] for name in names_in(record)]
            case "wrong":
                return [1]
            case "failing":
                raise RuntimeError("it cannot look")
        return ()

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
        note_reading(sources)
        logs = {source: list(records(source)) for source in sources}
        everything = {record.id: record for log in logs.values() for record in log}
        told_by = {record.id: source for source, log in reversed(logs.items()) for record in log}
        for source, log in logs.items():
            named = {name for record in log for name in names_in(record)}
            yield Ties(source, array("Q", (h63("record", name) for name in named)))
            yield Ties(source, [-1 for record in log if record.text == "negative tie"])
            for record in log:
                if record.text == "odd":
                    yield Problem(source, "odd", f"It is odd, among {len(sources)}.", line=record.number)
            yield from self._tell(source, log, everything, told_by)
        if len(sources) > 1 and any(record.text == "alone" for record in everything.values()):
            raise RuntimeError("a log that wants to be alone is not")

    def _tell(
        self, source: Source, log: Sequence[Record], everything: Mapping[str, Record], told_by: Mapping[str, Source]
    ) -> Iterator[Rows | Problem]:
        buffer = RowBuffer(source)
        label = f"yarns:{Path(source.path).stem}"
        own = [record for record in log if found(record.id, everything) == record.id]
        for record in own:
            turn, message = ulid("turn", record.id), ulid("msg", record.id)
            parent = found(record.parent, everything)
            teller = Path(told_by[record.id].path).stem
            buffer.add("session_turns", session_label=label, turn_id=turn)
            buffer.add(
                "turns",
                id=turn,
                parent_turn_id=ulid("turn", parent) if parent in everything else None,
                started_at=record.number,
            )
            buffer.add("threads", turn_id=turn)
            buffer.add("turn_context", turn_id=turn, origin=self.origin, turn_key=f"{teller}:{record.id}")
            buffer.add(
                "messages",
                id=message,
                turn_id=turn,
                role="user",
                source="human",
                content=record.text,
                created_at=record.number,
            )
            buffer.add("message_facts", message_id=message, position=0)
        if own:
            head = ulid("turn", found(log[-1].id, everything))
            times = {"created_at": 1, "updated_at": len(log)}
            buffer.add("sessions", label=label, thread_id=head, origin=self.origin, persona_id="writer", **times)
        yield from buffer.drain()


def records(source: Source) -> Iterator[Record]:
    """Go through the records of a log; what is no record is passed over."""
    lines = [line for path in source.files for line in Path(path).read_text().splitlines()]
    for number, line in enumerate(lines[1:], start=1):
        words = line.split()
        if len(words) > 2:
            original = words.pop()[1:] if words[-1].startswith("=") else None
            yield Record(words[0], words[1], " ".join(words[2:]), original, number)


def names_in(record: Record) -> set[str]:
    """Return the records that a record names, itself included."""
    return {name for name in (record.id, record.parent, record.original) if name and name != "-"}


def found(name: str, everything: Mapping[str, Record]) -> str:
    """Return the record that was copied first, as far as it can be found."""
    seen = {name}
    while name in everything:
        original = everything[name].original
        if original is None or original not in everything or original in seen:
            break
        seen.add(original)
        name = original
    return name


def note_reading(sources: Sequence[Source]) -> None:
    """Write down what is read together, for tests that ask."""
    if "AIX_YARNS_READ" in os.environ:
        with Path(os.environ["AIX_YARNS_READ"]).open("a") as file:
            file.write(" ".join(Path(source.path).stem for source in sources) + "\n")
