"""Session logs for tests: writing them, reading them with the importer, and joining what it gives."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from aix.importing import Candidate, Problem, Source
from aix.merge.merge_rows import add
from aix.merge.row_batches import Delivery
from aix.schema import TABLES
from aix.store.locks import staging_folder
from aix_importers.session_log import SessionLogImporter
from tests import ROOT
from tests.support.sample_conversation import Row
from tests.support.sample_ledger import batch_from_rows

FIXTURES = ROOT / "fixtures" / "session_log"
SITUATIONS = sorted(path.name for path in FIXTURES.iterdir())

Statements = dict[str, dict[str, list[Row]]]
"""By source and copy, the rows of each table."""


def candidates(*paths: Path) -> list[Candidate]:
    files = sorted(file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())
    return [Candidate(str(file), file.stat().st_size, file.stat().st_mtime_ns, file.stat().st_ino) for file in files]


def sources_in(*paths: Path, **options: str) -> list[Source]:
    return list(SessionLogImporter(options).discover(candidates(*paths)))


def extract(*paths: Path, **options: str) -> tuple[Statements, list[Problem]]:
    return _extract(sources_in(*paths, **options), options)


def extract_source(path: Path, *sidecars: Path) -> tuple[Statements, list[Problem]]:
    """Read a file as a session log, whatever it looks like."""
    return _extract([Source(str(path), sidecars=tuple(map(str, sidecars)))], {})


def _extract(sources: Sequence[Source], options: Mapping[str, str]) -> tuple[Statements, list[Problem]]:
    statements: Statements = {}
    problems = []
    for source in sources:
        for each in SessionLogImporter(options).extract([source]):
            if isinstance(each, Problem):
                problems.append(each)
                continue
            tables = statements.setdefault(f"{source.name}~{each.copy}", {})
            rows = [dict(zip(each.columns, values, strict=True)) for values in zip(*each.columns.values(), strict=True)]
            tables.setdefault(each.table, []).extend(
                {name: value for name, value in row.items() if value is not None} for row in rows
            )
    return statements, problems


def import_logs(ledger: Path, *paths: Path, **options: str) -> list[Problem]:
    """Join the logs in these files and folders into a ledger, and return the problems."""
    statements, problems = extract(*paths, **options)
    if statements:
        with staging_folder(ledger) as folder:
            with Delivery(folder) as delivery:
                for source, tables in statements.items():
                    for name, rows in tables.items():
                        delivery.add(source, TABLES[name], batch_from_rows(TABLES[name], rows))
            add(ledger, [delivery.files()])
    return problems


def write_log(path: Path, entries: Iterable[Mapping[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), "utf-8")
    return path


def entry(
    uuid: str,
    role: str = "user",
    parent: str | None = None,
    second: int = 0,
    session: str = "s",
    message: Mapping[str, object] | None = None,
    **fields: object,
) -> dict[str, object]:
    """Return an entry like those of the real writer, with the fields given."""
    linked: dict[str, object] = {"uuid": uuid} if parent is None else {"uuid": uuid, "parentUuid": parent}
    return {
        **linked,
        "sessionId": session,
        "timestamp": f"2026-01-05T10:00:{second:02}.000Z",
        "message": {"role": role, "content": f"text of {uuid}", **(message or {})},
        **fields,
    }


def usage(input_tokens: int, output_tokens: int, **more: int) -> Mapping[str, object]:
    return {"usage": {"inputTokens": input_tokens, "outputTokens": output_tokens, **more}}


def kinds(problems: Sequence[Problem]) -> list[str]:
    return [problem.kind for problem in problems]
