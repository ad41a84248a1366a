"""Rows about imports themselves: runs, sources, the sessions that each gave, and problems."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aix.merge.row_batches import Delivery, Files
from aix.pipeline.contract import Problem, readable
from aix.pipeline.plan import Planned, version_of
from aix.pipeline.problems import problem_columns
from aix.pipeline.report import Status
from aix.pipeline.worker_messages import Reading
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns
from aix.version import __version__

FAILED_KIND = "source_failed"


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
