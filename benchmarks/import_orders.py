"""Import the same logs in many orders and in two steps while they grow: every ledger must hold the same rows.

    python benchmarks/import_orders.py FOLDER [--jobs 1 2] [--seeds 5] [--cuts 20 50 80] [--files N] [--keep DIR]

The first ledger is made of all logs at once. Others are made with worker processes; log by log, in a shuffled order;
and of logs cut at a percentage of their bytes, then of the whole ones. Each is compared with the first, table by table
and row by row, but for the tables and columns about the imports themselves. The exit code is 1 when any differs.
"""

import argparse
import os
import random
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aix
from aix.pipeline.report import Status
from aix.pipeline.run import Settings
from aix.schema import TABLES
from aix.schema.sql import quote_name

_TABLES = [name for name in TABLES if name not in ("import_runs", "import_log", "import_problems")]
_OF_IMPORTS = {
    "import_sources": {"last_run_id"},
    "permission_rules": {"first_seen_at", "last_seen_at"},
}
"""Columns that tell when something was imported."""
_ROWS_SHOWN = 5
_WIDEST = 120

Key = tuple[object, ...]
Row = dict[str, Any]
Content = dict[str, dict[Key, Row]]


@dataclass(frozen=True)
class Bench:
    """Where it all happens: logs always at the same path, and a new ledger for every way of importing them."""

    folder: Path
    originals: Path

    @property
    def logs(self) -> Path:
        """The folder that is imported."""
        return self.folder / "logs"

    def ledger(self, name: str) -> Path:
        """Return where a new ledger goes."""
        path = self.folder / "ledgers" / name
        shutil.rmtree(path, ignore_errors=True)
        return path

    def files(self) -> list[Path]:
        """Return the files, by name."""
        return sorted(path.relative_to(self.originals) for path in self.originals.rglob("*") if path.is_file())

    def place(self, files: Sequence[Path], percent: int = 100) -> None:
        """Put the first part of these files where logs are imported from; tools write other than lines at once."""
        for file in files:
            target = self.logs / file
            target.parent.mkdir(parents=True, exist_ok=True)
            size = shutil.copyfile(self.originals / file, target).stat().st_size
            if percent < 100 and file.suffix != ".json":
                os.truncate(target, size * percent // 100)
            else:
                written = (self.originals / file).stat()
                os.utime(target, ns=(written.st_atime_ns, written.st_mtime_ns))


def together(bench: Bench, jobs: int) -> Path:
    """Import all logs at once."""
    ledger = bench.ledger(f"together-{jobs}-jobs")
    _import([bench.logs], ledger, jobs)
    return ledger


def one_by_one(bench: Bench, files: Sequence[Path], seed: int) -> Path:
    """Import each log by itself, in an order that the seed decides."""
    ledger = bench.ledger(f"shuffled-{seed}")
    units = with_companions(files)
    random.Random(seed).shuffle(units)
    for unit in units:
        _import([bench.logs / file for file in unit], ledger)
    return ledger


def in_two_steps(bench: Bench, files: Sequence[Path], percent: int) -> Path:
    """Import the first part of all logs, then, at the same paths, all of them."""
    ledger = bench.ledger(f"cut-{percent}")
    bench.place(files, percent)
    _import([bench.logs], ledger)
    bench.place(files)
    _import([bench.logs], ledger)
    return ledger


def _import(paths: Sequence[Path], ledger: Path, jobs: int = 0) -> None:
    report = aix.import_histories(paths, ledger, Settings(jobs=jobs))
    for outcome in report.outcomes:
        if outcome.status is Status.FAILED:
            print(f"    {outcome.name} failed: {outcome.reason}", flush=True)


def with_companions(files: Sequence[Path]) -> list[list[Path]]:
    """Put files together that share a folder and the beginning of their names: `a.jsonl` and `a.meta.json`."""
    units = defaultdict(list)
    for file in files:
        units[file.parent, file.name.partition(".")[0]].append(file)
    return list(units.values())


def some_files(files: Sequence[Path], number: int, seed: int) -> list[Path]:
    """Return about so many files: whole folders, as they come in an order that the seed decides."""
    holders = {file.parent for file in files}
    folders = defaultdict(list)
    for file in files:
        above = [parent for parent in reversed(file.parents) if parent in holders and parent != Path()]
        folders[above[0] if above else file].append(file)
    order = sorted(folders)
    random.Random(seed).shuffle(order)
    chosen: list[Path] = []
    for folder in order:
        if len(chosen) >= number:
            break
        chosen += folders[folder]
    return sorted(chosen)


def read(ledger: Path) -> Content:
    """Return all rows that do not tell of the imports, by table and key; rows that share a key are told apart."""
    content: Content = {name: {} for name in _TABLES}
    if not ledger.exists():
        return content
    with aix.open(ledger) as opened:
        for name, rows in content.items():
            result = opened.sql(f"from {quote_name(name)}")
            columns = [column for column in result.columns if column not in _OF_IMPORTS.get(name, ())]
            for values in result:
                row = dict(zip(result.columns, values, strict=True))
                key: Key = tuple(row[column] for column in TABLES[name].key)
                while key in rows:
                    key = (*key, "again")
                rows[key] = {column: row[column] for column in columns}
    return content


def differences(whole: Content, other: Content) -> Iterator[str]:
    """Say for each table how many rows differ, and how the first ones do."""
    for name in _TABLES:
        sentences = list(_row_differences(whole[name], other[name]))
        if sentences:
            yield f"{name}: {len(sentences):,} of {len(whole[name]):,} rows differ"
            yield from (f"    {sentence}" for sentence in sentences[:_ROWS_SHOWN])


def _row_differences(whole: dict[Key, Row], other: dict[Key, Row]) -> Iterator[str]:
    for key in sorted(whole.keys() | other.keys(), key=repr):
        name = ", ".join(map(str, key))
        if key not in other:
            yield f"{name}: missing: {_short(whole[key])}"
        elif key not in whole:
            yield f"{name}: too many: {_short(other[key])}"
        elif whole[key] != other[key]:
            columns = [column for column, value in whole[key].items() if value != other[key][column]]
            shown = [f"{column} {_short(whole[key][column])} became {_short(other[key][column])}" for column in columns]
            yield f"{name}: {'; '.join(shown)}"


def _short(value: object) -> str:
    text = repr({name: each for name, each in value.items() if each is not None} if isinstance(value, dict) else value)
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def ways(bench: Bench, files: Sequence[Path], arguments: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """Give every way of importing, and the ledger that it made."""
    for jobs in arguments.jobs:
        yield f"together, {jobs} jobs", together(bench, jobs)
    for seed in range(arguments.seeds):
        yield f"one by one, order {seed}", one_by_one(bench, files, seed)
    for percent in arguments.cuts:
        yield f"cut at {percent} %, then whole", in_two_steps(bench, files, percent)


def run(bench: Bench, arguments: argparse.Namespace) -> int:
    """Import in every way and print how the ledgers differ; return how many do."""
    files = bench.files()
    if arguments.files:
        files = some_files(files, arguments.files, arguments.files_seed)
    bench.place(files)
    began = time.monotonic()
    whole = read(together(bench, 0))
    rows = sum(map(len, whole.values()))
    print(f"{'together':28}{time.monotonic() - began:7.1f} s   {len(files):,} files, {rows:,} rows", flush=True)
    if not rows:
        raise SystemExit("no importer took any of these files")
    differing = 0
    began = time.monotonic()
    for name, ledger in ways(bench, files, arguments):
        found = list(differences(whole, read(ledger)))
        differing += bool(found)
        print(f"{name:28}{time.monotonic() - began:7.1f} s   {'DIFFERS' if found else 'the same'}", flush=True)
        for sentence in found:
            print(f"    {sentence}", flush=True)
        began = time.monotonic()
    print(f"{differing} ledgers differ")
    return differing


@contextmanager
def work_folder(keep: Path | None) -> Iterator[Path]:
    """Give the folder to work in: one that stays, or one that does not."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.absolute()
        return
    with TemporaryDirectory(prefix="aix-orders-") as folder:
        yield Path(folder)


def use_empty_home(folder: Path) -> None:
    """See to it that no settings or logs of the user are found, in this process or a worker."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("AIX_", "XDG_", "CLAUDE_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(folder)


def main() -> int:
    """Run all ways; return 1 when any ledger differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--jobs", type=int, nargs="*", default=[1, 2], help="worker processes to import all at once with"
    )
    parser.add_argument("--seeds", type=int, default=5, help="how many shuffled orders")
    parser.add_argument("--cuts", type=int, nargs="*", default=[20, 50, 80], help="percentages to cut at")
    parser.add_argument("--files", type=int, help="take about so many files, whole folders of them")
    parser.add_argument("--files-seed", type=int, default=0, help="which ones")
    parser.add_argument("--keep", type=Path, help="work in this folder, and leave logs and ledgers there")
    arguments = parser.parse_args()
    with work_folder(arguments.keep) as folder:
        use_empty_home(folder / "home")
        shutil.rmtree(folder / "logs", ignore_errors=True)
        return int(run(Bench(folder, arguments.folder.absolute()), arguments) > 0)


if __name__ == "__main__":
    sys.exit(main())
