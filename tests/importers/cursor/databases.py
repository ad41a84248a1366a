"""Databases as Cursor writes them, made for tests, and importing them."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from aix.importing import Candidate, Source
from aix.pipeline.report import Report, Status
from aix.pipeline.run import Settings, import_histories
from aix_importers.cursor import CursorImporter
from tests import ROOT

FIXTURES = ROOT / "fixtures" / "cursor"
SITUATIONS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
TABLE = "(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
GLOBAL = "Cursor/User/globalStorage/state.vscdb"

Bubble = dict[str, Any]
Row = tuple[str | None, object]


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def prompt(key: str, second: int, text: str, **fields: object) -> Bubble:
    return {"type": 1, "bubbleId": key, "text": text, "createdAt": moment(second), "requestId": f"r-{key}", **fields}


def answer(key: str, second: int, text: str = "", **fields: object) -> Bubble:
    return {"type": 2, "bubbleId": key, "text": text, "createdAt": moment(second), **fields}


def call(key: str, second: int, name: str, **fields: object) -> Bubble:
    data = {"tool": 15, "name": name, "toolCallId": f"tool_{key}", "status": "completed", "result": "{}", **fields}
    return answer(key, second, capabilityType=15, toolFormerData=data)


def moment(second: int) -> str:
    return f"2026-03-02T{9 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"


def composer(session_id: str, bubbles: Sequence[Bubble], **fields: object) -> list[Row]:
    """Return the rows of a conversation."""
    headers = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
    value = {"composerId": session_id, "createdAt": 1772442000000, "status": "completed", **fields}
    value.setdefault("fullConversationHeadersOnly", headers)
    rows: list[Row] = [(f"composerData:{session_id}", as_json(value))]
    return [*rows, *((f"bubbleId:{session_id}:{bubble['bubbleId']}", as_json(bubble)) for bubble in bubbles)]


def write_database(path: Path, rows: Iterable[Row] = (), items: Iterable[Row] = ()) -> Path:
    """Add rows to a database, as the editor does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        for name in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE IF NOT EXISTS {name} {TABLE}")
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
        database.executemany("INSERT INTO ItemTable VALUES (?, ?)", items)
    return path


def build(folder: Path, situation: str) -> Path:
    """Write the files of a golden case, databases as databases."""
    origin = FIXTURES / situation / "input"
    for path in sorted(origin.rglob("*")):
        target = folder / path.relative_to(origin)
        if not path.is_file():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".sql":
            with closing(sqlite3.connect(target.with_suffix(""))) as database:
                database.executescript(path.read_text("utf-8"))
        else:
            target.write_bytes(path.read_bytes())
    return folder


def import_here(ledger: Path, *places: Path) -> Report:
    """Import in this process; nothing may fail."""
    report = import_histories(ledger, places, Settings(jobs=0, importer="cursor"))
    assert [outcome.reason for outcome in report.outcomes if outcome.status is Status.FAILED] == []
    return report


def sources_in(folder: Path) -> list[Source]:
    """Return what the importer finds in a folder."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            state = path.stat()
            found.append(Candidate(str(path), state.st_size, state.st_mtime_ns, state.st_ino))
    return list(CursorImporter({}).discover(found))
