"""Read mutants of logs and hold what they give against their originals.

    python -m benchmarks.fuzz [--seed N] [--seconds N] [--transcripts N] [--databases N] [--only NAME] [--logs FOLDER]

A mutant is a fixture, or a log of FOLDER, that was changed at random: a Claude Code transcript, a session log, or a
database of Cursor. Discovery and extraction run in this process,
without a ledger. A finding is

- an exception, or a mutant that takes too long,
- a row that breaks the schema,
- a log that two importers claim, or none although it holds records,
- a line that is neither a row, a counted kind nor a problem,
- a text of a line that the mutation left alone which the rows no longer hold although no problem names the record.

The exit code is 1 when there is one. `--mutant N` runs one mutant again and leaves its files in the folder of `--keep`.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Protocol

from aix.importing import Importer, Rows, Source
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns
from aix_importers.claude_code import ClaudeCodeImporter
from aix_importers.claude_code.discovery import source_file
from aix_importers.session_log import SessionLogImporter
from benchmarks import cursor_mutations
from benchmarks.lost_texts import RowTexts, kept_texts, lost_texts
from benchmarks.mutated_lines import mutated
from benchmarks.record_balance import Outcome, balance_of, sources_in

FIXTURES = Path(__file__).parent.parent / "fixtures"
MOST_SECONDS = 60.0
"""Time for one mutant, also on a busy machine; most take a few milliseconds."""
_LARGEST_LOG = 2 * 2**20
_SEARCHED_BYTES = 2**20
"""Files in which no record was found so far are given up behind this."""
_IMPORTERS = (ClaudeCodeImporter({}), SessionLogImporter({}))
_MOST_SHOWN = 20


@dataclass(frozen=True)
class Finding:
    """A mutant that was not read as it should be."""

    target: str
    number: int
    what: str
    """exception, hang, schema, loss or claim."""
    detail: str


@dataclass
class Tally:
    """Counts and findings of a run."""

    mutants: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Take in what another run did."""
        self.mutants += other.mutants
        self.problems += other.problems
        self.findings += other.findings


class Target(Protocol):
    """A kind of log that mutants are made of."""

    name: str

    def run(self, chance: random.Random, folder: Path, tally: Tally) -> Iterator[tuple[str, str]]:
        """Make a mutant in an empty folder, read it, and go through what is wrong: a word and a detail."""


class TimeLimitError(BaseException):
    """A mutant takes too long; not an `Exception`, which importers may catch."""


@dataclass(frozen=True)
class Original:
    """Files that are read together."""

    importer: Importer
    files: Mapping[str, bytes]

    @cached_property
    def logs(self) -> list[str]:
        """The names of those that are logs of JSON lines."""
        others = ("programs.jsonl", "events.jsonl")
        return [name for name in self.files if name.endswith(".jsonl") and not name.endswith(others)]

    @cached_property
    def kept(self) -> dict[bytes, list[str]]:
        """By line: the texts that rows of the original hold."""
        with tempfile.TemporaryDirectory() as folder:
            texts, _, _ = read(self.importer, write(Path(folder), self.files))
        # Files of side calls repeat conversations, and only their usage is read.
        logs = [name for name in self.logs if source_file(Source(name)).kind.is_conversation]
        return {line: found for name in logs for line, found in kept_texts(self.files[name], texts).items()}


class LineLogs:
    """Logs of JSON lines of one importer."""

    def __init__(self, importer: Importer, folders: Iterable[Path]) -> None:
        self.name = importer.name
        self._importer = importer
        self._originals = [each for folder in folders if (each := _original(importer, folder)).logs]

    def run(self, chance: random.Random, folder: Path, tally: Tally) -> Iterator[tuple[str, str]]:
        """Make a mutant in an empty folder, read it, and go through what is wrong."""
        original = chance.choice(self._originals)
        name = chance.choice(original.logs)
        files = {**original.files, name: mutated(original.files[name], chance)}
        sources = write(folder, files)
        yield from self._claims(original, folder, name, files[name])
        texts, outcome, wrong = read(self._importer, sources)
        yield from (("schema", detail) for detail in wrong)
        for problems in outcome.problems.values():
            tally.problems.update(kind for kinds in problems.values() for kind in kinds)
        for path, line in balance_of(self._importer, sources, outcome).unaccounted:
            yield "loss", f"{Path(path).relative_to(folder)}:{line.number} is unaccounted for"
        logs = {str(folder / each): files[each] for each in original.logs}
        for path, line, text in lost_texts(logs, original.kept, texts, outcome):
            yield "loss", f"{Path(path).relative_to(folder)}:{line.number} lost {text[:60]!r}"

    def _claims(self, original: Original, folder: Path, name: str, content: bytes) -> Iterator[tuple[str, str]]:
        """Find out who claims a mutant: it must be one importer while records of the original stand in it."""
        path = str((folder / name).absolute())
        claims = [each.name for each in _IMPORTERS if any(path == source.path for source in sources_in(each, folder))]
        if len(claims) > 1:
            yield "claim", f"{name} is claimed by {' and '.join(claims)}"
        has_records = any(line in original.kept for line in content.split(b"\n"))
        if not claims and has_records and len(content) <= _SEARCHED_BYTES:
            yield "claim", f"{name} holds records of the original and is nobody's"


class CursorDatabases:
    """Databases of Cursor."""

    name = "cursor"

    def __init__(self) -> None:
        self._bases = cursor_mutations.bases()
        self._before: dict[int, cursor_mutations.Extraction] = {}

    def run(self, chance: random.Random, folder: Path, tally: Tally) -> Iterator[tuple[str, str]]:
        """Make a mutant in an empty folder, read it, and go through what is wrong."""
        bench = cursor_mutations.Bench(folder)
        number = chance.randrange(len(self._bases))
        base = self._bases[number]
        if number not in self._before:
            self._before[number] = bench.read(base, base.data)
        mutant = cursor_mutations.mutated(base.data, chance)
        after = bench.read(base, mutant)
        (folder / Path(base.path).name).write_bytes(mutant)
        tally.problems.update(kind.partition(":")[0] for kind in after.problems.elements())
        lost = cursor_mutations.loss(self._before[number], after)
        if lost:
            yield "loss", f"{base.path} lost {lost}"


def write(folder: Path, files: Mapping[str, bytes]) -> list[Source]:
    """Write files, and return those that are logs as sources."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [Source(str(folder / name)) for name in files if name.endswith(".jsonl")]


def read(importer: Importer, sources: Sequence[Source]) -> tuple[RowTexts, Outcome, list[str]]:
    """Extract sources; return the texts of their rows, what became of records, and rows that break the schema."""
    texts, outcome, wrong = RowTexts(), Outcome(), []
    for given in importer.extract(sources):
        outcome.add(given)
        if isinstance(given, Rows):
            texts.add(given)
            try:
                batch_from_columns(TABLES[given.table], given.columns)
            except Exception as error:
                wrong.append(f"{given.table}: {error}")
    return texts, outcome, wrong


def _original(importer: Importer, folder: Path) -> Original:
    found = {source.path for source in sources_in(importer, folder)}
    paths = [path for path in sorted(folder.rglob("*.jsonl")) if str(path.absolute()) in found]
    return Original(importer, {str(path.relative_to(folder)): path.read_bytes() for path in paths})


def targets(logs: Path | None = None) -> dict[str, Target]:
    """Return the kinds of logs by name; with a folder, also its logs, each by itself."""
    found: dict[str, Target] = {}
    for importer in _IMPORTERS:
        folders = [folder / "input" for folder in sorted((FIXTURES / importer.name).iterdir()) if folder.is_dir()]
        if logs is not None:
            sizes = {path.parent: 0 for path in logs.rglob("*.jsonl")}
            folders += [folder for folder in sorted(sizes) if _size(folder) <= _LARGEST_LOG]
        found[importer.name] = LineLogs(importer, folders)
    databases = CursorDatabases()
    return {**found, databases.name: databases}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.jsonl"))


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitError` in this thread, which must be the main one, when the time is over."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TimeLimitError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_mutant(
    target: Target,
    seed: int,
    number: int,
    tally: Tally,
    *,
    keep: Path | None = None,
    most_seconds: float = MOST_SECONDS,
) -> None:
    """Make and read one mutant."""
    tally.mutants[target.name] += 1
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        with time_limit(most_seconds):
            chance = random.Random(f"{seed}:{target.name}:{number}")
            found = [Finding(target.name, number, *each) for each in target.run(chance, folder, tally)]
        tally.findings += found
    except TimeLimitError:
        tally.findings.append(Finding(target.name, number, "hang", f"more than {most_seconds:g} seconds"))
    except Exception:
        last = traceback.format_exc().strip().splitlines()
        tally.findings.append(Finding(target.name, number, "exception", "\n    ".join(last[-5:])))
    finally:
        if keep is not None:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def run(
    wanted: Mapping[str, int], seed: int, seconds: float, *, logs: Path | None = None, share: int = 0, shares: int = 1
) -> Tally:
    """Run this share of the mutants, by kind of log; no new one begins when the time is over."""
    tally = Tally()
    kinds = targets(logs)
    end = time.monotonic() + seconds
    most = max(wanted.values(), default=0)
    for number in range(share, most, shares):
        for name, count in wanted.items():
            if number < count and time.monotonic() < end:
                run_mutant(kinds[name], seed, number, tally)
    return tally


def run_shared(wanted: Mapping[str, int], seed: int, seconds: float, *, logs: Path | None, jobs: int) -> Tally:
    """Run mutants in several processes."""
    with ProcessPoolExecutor(jobs) as pool:
        futures = [
            pool.submit(run, wanted, seed, seconds, logs=logs, share=share, shares=jobs) for share in range(jobs)
        ]
        tally = Tally()
        for future in futures:
            tally.add(future.result())
    return tally


def main() -> int:
    """Run mutants, and print what was found."""
    parser = argparse.ArgumentParser(description="Read mutants of logs and hold what they give against the originals.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--transcripts", type=int, default=20_000, help="mutants of Claude Code and session logs")
    parser.add_argument("--databases", type=int, default=10_000, help="mutants of databases of Cursor")
    parser.add_argument("--only", choices=sorted(targets()), help="one kind of log")
    parser.add_argument("--logs", type=Path, help="a folder of logs to mutate beside the fixtures")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--mutant", type=int, help="run this one again; needs --only")
    parser.add_argument("--keep", type=Path, help="the folder to leave the files of --mutant in")
    given = parser.parse_args()
    began = time.monotonic()
    if given.mutant is not None:
        tally = Tally()
        run_mutant(targets(given.logs)[given.only], given.seed, given.mutant, tally, keep=given.keep)
    else:
        wanted = _wanted(given.transcripts, given.databases, given.only)
        tally = run_shared(wanted, given.seed, given.seconds, logs=given.logs, jobs=given.jobs)
    _show(tally, given.seed, time.monotonic() - began)
    is_short = given.mutant is None and sum(tally.mutants.values()) < sum(wanted.values())
    return 1 if tally.findings or is_short else 0


def _wanted(transcripts: int, databases: int, only: str | None) -> dict[str, int]:
    """Return how many mutants to make of each kind of log; most transcripts are of Claude Code."""
    if only is not None:
        return {only: databases if only == CursorDatabases.name else transcripts}
    entries = transcripts // 4
    return {"claude_code": transcripts - entries, "session_log": entries, CursorDatabases.name: databases}


def _show(tally: Tally, seed: int, seconds: float) -> None:
    kinds = ("exception", "hang", "schema", "claim", "loss")
    print(f"{'mutants of':14} {'count':>8}" + "".join(f" {kind:>10}" for kind in kinds))
    for name, count in sorted(tally.mutants.items()):
        found = Counter(finding.what for finding in tally.findings if finding.target == name)
        print(f"{name:14} {count:8}" + "".join(f" {found[kind]:10}" for kind in kinds))
    print(f"{sum(tally.problems.values())} problems of {len(tally.problems)} kinds, {seconds:.0f} seconds, seed {seed}")
    for finding in tally.findings[:_MOST_SHOWN]:
        print(f"{finding.what} in {finding.target} {finding.number}: {finding.detail}")
        print(f"    python -m benchmarks.fuzz --only {finding.target} --seed {seed} --mutant {finding.number}")


if __name__ == "__main__":
    sys.exit(main())
