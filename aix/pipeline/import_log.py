"""Rows about imports themselves: runs, sources, the sessions that each gave, and problems."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aix.merge.row_batches import Delivery, Files, statement_name
from aix.pipeline.contract import Problem, readable
from aix.pipeline.plan import Planned, source_name, version_of
from aix.pipeline.report import Status
from aix.pipeline.worker_messages import Order, Reading
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns
from aix.version import __version__

_MOST_AT_ONCE = 1_000
_SAMPLE_CHARACTERS = 200
FAILED_KIND = "source_failed"


class ProblemNotes:
    """Takes the problems of a group and writes them, numbered by source."""

    def __init__(self, order: Order, notes: Delivery) -> None:
        self._order = order
        self._notes = notes
        self._held: list[Problem] = []
        self._numbers: Counter[str] = Counter()

    def add(self, problem: Problem) -> None:
        """Take a problem; raise TypeError for anything else."""
        _check(problem)
        self._held.append(problem)
        if len(self._held) >= _MOST_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was taken."""
        if not self._held:
            return
        columns = problem_columns(self._order.run_id, self._order.machine, self._held, self._numbers)
        table = TABLES["import_problems"]
        statements = [statement_name(str(name), "problems") for name in columns["source_key"]]
        self._notes.add(statements, table, batch_from_columns(table, columns))
        self._held.clear()


def _check(problem: Problem) -> None:
    texts = (problem.kind, problem.reason, problem.sample or "")
    numbers = (problem.line or 0, problem.byte_offset or 0)
    if not all(type(text) is str for text in texts) or not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
        raise TypeError(f"it gave a problem that is none: {problem!r}")


def problem_columns(
    run_id: str, machine: str | None, problems: Sequence[Problem], numbers: Counter[str]
) -> dict[str, list[object]]:
    """Return problems as columns of `import_problems`; `numbers` counts those of each source."""
    columns: dict[str, list[object]] = {name: [] for name in TABLES["import_problems"].column_names}
    for problem in problems:
        name = source_name(problem.source, machine)
        row = {
            "run_id": run_id,
            "source_key": name,
            "seq": numbers[name],
            "line": problem.line,
            "byte_offset": problem.byte_offset,
            "kind": problem.kind,
            "reason": problem.reason,
            "sample": problem.sample and problem.sample[:_SAMPLE_CHARACTERS],
        }
        numbers[name] += 1
        for column, value in row.items():
            columns[column].append(value)
    return columns


@dataclass(frozen=True)
class Run:
    """One run of an import."""

    id: str
    started_at: int
    argv: Sequence[str] = ()
    machine: str | None = None
    """The machine that the user named."""
    host: str | None = None
    """The machine it runs on."""


class Entry(msgspec.Struct, frozen=True):
    """A source, what was planned for it, and what became of it."""

    planned: Planned
    reading: Reading
    status: Status
    failure: str = ""


def write_bookkeeping(folder: Path, run: Run, entries: Sequence[Entry], finished_at: int | None) -> Files:
    """Write what is to be noted about a run and the sources it read."""
    rows = {
        "import_runs": [
            {
                "id": run.id,
                "started_at": run.started_at,
                "finished_at": finished_at,
                "tool_version": __version__,
                "argv": json.dumps(list(run.argv)),
            }
        ],
        "import_sources": [_source_row(run, entry) for entry in entries],
        "import_log": [row for entry in entries for row in _log_rows(run, entry)],
    }
    with Delivery(folder) as delivery:
        for name, listed in rows.items():
            if listed:
                columns = {column: [row[column] for row in listed] for column in listed[0]}
                delivery.add("run", TABLES[name], batch_from_columns(TABLES[name], columns))
        _add_failures(delivery, run, entries)
    return delivery.files()


def _source_row(run: Run, entry: Entry) -> dict[str, object]:
    source, importer, reading = entry.planned.source, entry.planned.claim.importer, entry.reading
    stamp = reading.stamps[0].split(":") if reading.stamps and not source.stamp else None
    return {
        "source_key": entry.planned.name,
        "importer": importer.name,
        "importer_version": version_of(importer),
        "kind": "conversation" if source.key else "file",
        "path": readable(source.path),
        "fingerprint": reading.main_hash or reading.content or None,
        "size_bytes": int(stamp[0]) if stamp else None,
        "mtime_ns": int(stamp[1]) if stamp else None,
        "watermark": source.stamp or None,
        "machine": run.machine or run.host,
        "last_run_id": run.id,
    }


def _log_rows(run: Run, entry: Entry) -> list[dict[str, object]]:
    counts = {"rows": dict(sorted(entry.reading.rows.items())), "problems": entry.reading.problems}
    labels: list[str | None] = [*dict.fromkeys(entry.reading.labels)] or [None]
    return [
        {
            "run_id": run.id,
            "source_key": entry.planned.name,
            "seq": number,
            "session_label": label,
            "status": str(entry.status),
            "reason": entry.failure or None,
            "counts_json": json.dumps(counts) if number == 0 else None,
        }
        for number, label in enumerate(labels)
    ]


def _add_failures(delivery: Delivery, run: Run, entries: Sequence[Entry]) -> None:
    failed = [entry for entry in entries if entry.failure]
    if not failed:
        return
    problems = [Problem(entry.planned.source, FAILED_KIND, entry.failure) for entry in failed]
    numbers = Counter({each.planned.name: each.reading.problems for each in failed})
    table = TABLES["import_problems"]
    delivery.add("run", table, batch_from_columns(table, problem_columns(run.id, run.machine, problems, numbers)))
