"""Importers for `.note` files: each line is a prompt, and the file is a session."""

import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from aix.ids import ulid
from aix.importing import Answer, Candidate, Capabilities, Importer, Problem, RowBuffer, Rows, Source


class NotesImporter(Importer):
    """Reads `.note` files; an empty line is a problem, a `.extra` file beside a note is read along."""

    name = "notes"
    version = os.environ.get("AIX_NOTES_VERSION", "1")
    description = "Notes, a prompt per line."
    capabilities = Capabilities(files=Answer.NO)
    suffixes = (".note",)
    option_help: ClassVar = {"shout": "Whether prompts are written in capitals: yes or no."}

    def default_places(self) -> Iterable[Path]:
        return [Path.home() / "notes"]

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        for file in files:
            if file.name.endswith(".note") and (file.claimed_by == self.name or file.head(5) == b"note\n"):
                extra = Path(file.path).with_suffix(".extra")
                yield Source(file.path, sidecars=(str(extra),) if extra.exists() else (), group=self._group(file))

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        for source in sources:
            buffer = RowBuffer(source)
            label = f"notes:{Path(source.path).stem.partition('.')[2] or Path(source.path).stem}"
            parent = None
            offset = 0
            lines = Path(source.path).read_bytes().splitlines(keepends=True)
            if source.sidecars:
                lines += Path(source.sidecars[0]).read_bytes().splitlines(keepends=True)
            for number, line in enumerate(lines):
                text = line.decode().strip()
                offset += len(line)
                if number == 0:
                    continue
                if not text:
                    yield Problem(source, "empty_line", "The line is empty.", number + 1, offset - len(line), "x" * 999)
                    continue
                if text.startswith("session "):
                    label = f"notes:{text.split()[1]}"
                    continue
                if text.startswith(os.environ.get("AIX_NOTES_SKIPS", "\n")):
                    continue
                self.act(text)
                parent = self._add_turn(buffer, label, text, parent, number)
            if parent:
                times = {"created_at": 1, "updated_at": len(lines)}
                buffer.add("sessions", label=label, thread_id=parent, origin=self.origin, persona_id="writer", **times)
            yield from buffer.drain()

    def act(self, text: str) -> None:
        """Do what a line says; these are only words here."""

    def _group(self, file: Candidate) -> str:
        return "" if "together" not in file.path else str(Path(file.path).parent)

    def _add_turn(self, buffer: RowBuffer, label: str, text: str, parent: str | None, number: int) -> str:
        content = text.upper() if self.options.get("shout") == "yes" else text
        turn = ulid("turn", self.origin, label, str(number))
        message = ulid("msg", self.origin, label, str(number))
        buffer.add("turns", id=turn, parent_turn_id=parent, started_at=number)
        buffer.add("threads", turn_id=turn)
        buffer.add("turn_context", turn_id=turn, origin=self.origin, turn_key=f"{label}:{number}")
        buffer.add(
            "messages", id=message, turn_id=turn, role="user", source="human", content=content, created_at=number
        )
        buffer.add("message_facts", message_id=message, position=0)
        buffer.add("session_turns", session_label=label, turn_id=turn)
        return turn


class TroubledImporter(NotesImporter):
    """Reads `.trouble` files, whose lines are acted upon."""

    name = "troubled"
    suffixes = (".trouble",)

    def default_places(self) -> Iterable[Path]:
        return []

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        for file in files:
            if file.name == "discovery.trouble":
                raise RuntimeError("no way to look at this")
            if file.name.endswith(".trouble"):
                yield Source(file.path)

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        yield from super().extract(sources)
        if b"bad problem" in Path(sources[0].path).read_bytes():
            yield Problem(sources[0], "kind", "reason", sample=b"bytes")  # type: ignore[arg-type]

    def fingerprint(self, source: Source) -> str:
        if b"no fingerprint" in Path(source.path).read_bytes():
            return None  # type: ignore[return-value]
        return super().fingerprint(source)

    def act(self, text: str) -> None:
        match text.split():
            case ["raise"]:
                raise RuntimeError("line cannot be read")
            case ["raise", "half"]:
                raise RuntimeError("half a pair: \ud800")
            case ["print"]:
                print("not data")
            case ["die"]:
                os.kill(os.getpid(), signal.SIGKILL)
            case ["die", "unless", path] if not Path(path).exists():
                os.kill(os.getpid(), signal.SIGKILL)
            case ["wait", "for", path]:
                Path(f"{path}.waiting").write_text(str(os.getpid()))
                while not Path(path).exists():
                    time.sleep(0.01)
            case ["append", path]:
                with Path(path).open("a") as file:
                    file.write("more\n")

    def _add_turn(self, buffer: RowBuffer, label: str, text: str, parent: str | None, number: int) -> str:
        turn = super()._add_turn(buffer, label, text, parent, number)
        if text == "bad mark":
            buffer.add("inferred_values", table_name="turns", row_key=turn, column_name="id")
        if text == "odd label":
            buffer.add("session_turns", session_label=f"{label}\ud800", turn_id=turn)
        if text == "wrong":
            buffer.add("tags", entity_type="turns", entity_id=turn, tag="x", added_at="yesterday")
        return turn


class GreedyImporter(NotesImporter):
    """Claims notes whose name says so, which the other importer claims as well."""

    name = "greedy"

    def default_places(self) -> Iterable[Path]:
        return []

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        return [Source(file.path) for file in files if file.name.endswith("both.note")]
