"""Golden cases: small logs beside what the ledger holds once they are imported. For authors of importers.

    fixtures/<importer>/<situation>/input/…         the logs; NAME.sql becomes the SQLite database NAME
    fixtures/<importer>/<situation>/options.json    options of the importer, where it needs some
    fixtures/<importer>/<situation>/expected.json   statuses, problems, and the rows of every table

`aix golden fixtures/<importer>` compares all cases of an importer and shows what differs; with `--regenerate` it writes
the files that are missing, and with `--force` all of them. With pytest:

    @pytest.mark.parametrize("case", golden_cases(Path("fixtures/notes")), ids=str)
    def test_the_ledger_holds_what_is_expected(case: GoldenCase) -> None:
        case.check()
"""

import difflib
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aix.health import Status, check
from aix.pipeline.run import Settings, import_histories
from aix.schema import TABLES
from aix.schema.extensions import IMPORT_TABLES
from aix.schema.sql import quote_name
from aix.store.manifest import PRICE_TABLES, read_latest
from aix.store.views import create_views

if TYPE_CHECKING:
    import duckdb

__all__ = ["WRITTEN_AT", "GoldenCase", "golden_cases"]

_INPUT = "input"
_EXPECTED = "expected.json"
_OPTIONS = "options.json"
WRITTEN_AT = 1767225600
"""When the logs of a case were written, wherever it lies: rows may depend on that."""
_PROBLEMS = """
    select p.source_key, p.line, p.byte_offset, p.kind, p.reason, p.sample
    from import_problems p left join import_sources s using (source_key)
    where coalesce(s.last_run_id = p.run_id, true)
    order by p.source_key, p.seq
"""

Content = Mapping[str, Sequence[object]]
"""Rows by table, and what was noted on the way."""


@dataclass(frozen=True)
class GoldenCase:
    """One situation: logs, and what the ledger is expected to hold.

    >>> GoldenCase(Path("fixtures/session_log/two_turns")).importer
    'session_log'
    """

    folder: Path

    def __str__(self) -> str:
        return self.folder.name

    @property
    def importer(self) -> str:
        """The importer it is for."""
        return self.folder.absolute().parent.name

    @property
    def expected(self) -> str | None:
        """The expected rows as text; None when there are no expected rows yet."""
        path = self.folder / _EXPECTED
        return path.read_text("utf-8") if path.exists() else None

    def run(self) -> str:
        """Import the logs into a ledger of their own, and return what it holds, as text."""
        options = self.folder / _OPTIONS
        given = {self.importer: json.loads(options.read_text("utf-8"))} if options.exists() else {}
        with tempfile.TemporaryDirectory(prefix="aix-golden-") as scratch:
            ledger, logs = Path(scratch) / "ledger", Path(scratch) / _INPUT
            shutil.copytree(self.folder / _INPUT, logs)
            for script in logs.rglob("*.sql"):
                _build_database(script)
            for path in logs.rglob("*"):
                os.utime(path, (WRITTEN_AT, WRITTEN_AT))
            settings = Settings(jobs=0, importer=self.importer, options=given)
            report = import_histories(ledger, [logs], settings)
            text = _to_text({"refused": report.failures, **(_read(ledger) if report.after else {})})
        return text.replace(str(logs), _INPUT)

    def diff(self) -> str:
        """Return how what the ledger holds differs from what is expected; empty when it does not."""
        before, now = (self.expected or "").splitlines(), self.run().splitlines()
        lines = difflib.unified_diff(before, now, f"{self}/{_EXPECTED}", f"{self}, imported", lineterm="")
        return "\n".join(lines)

    def regenerate(self, *, force: bool = False) -> bool:
        """Write the expected file unless there is one, or anyway with `force`; say whether it has changed."""
        before = self.expected
        if before is not None and not force:
            return False
        now = self.run()
        (self.folder / _EXPECTED).write_text(now, "utf-8")
        return now != before

    def check(self) -> None:
        """Raise AssertionError with the difference, if there is any."""
        difference = self.diff()
        if difference:
            raise AssertionError(f"{difference}\nIf that is right, run: aix golden {self.folder.parent} {self} --force")


def _build_database(script: Path) -> None:
    """Put the database in the place of the statements that make it: as text, it can be read and compared."""
    with closing(sqlite3.connect(script.with_suffix(""))) as database:
        database.executescript(script.read_text("utf-8"))
    script.unlink()


def golden_cases(folder: Path) -> list[GoldenCase]:
    """Return the cases of an importer, by name.

    >>> golden_cases(Path("no such folder"))
    []
    """
    return [GoldenCase(path.parent) for path in sorted(folder.glob(f"*/{_INPUT}")) if path.is_dir()]


def _read(ledger: Path) -> Content:
    # Straight from the files: to judge each statement as one of a user would take longer than all the rest.
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        create_views(connection, ledger, read_latest(ledger))
        sources = "select source_key, session_label, status, reason from import_log order by source_key, seq"
        tables = {
            table.name: _rows(connection, _ordered(table.name))
            for table in TABLES.values()
            if table not in IMPORT_TABLES and table.name not in PRICE_TABLES  # no importer gives prices
        }
        return {
            "broken": [f"{each.name}: {each.reason}" for each in check(ledger) if each.status is Status.ALARM],
            "sources": _rows(connection, sources),
            "problems": _rows(connection, _PROBLEMS),
            **{name: rows for name, rows in tables.items() if rows},
        }


def _rows(connection: "duckdb.DuckDBPyConnection", sql: str) -> list[dict[str, object]]:
    result = connection.execute(sql)
    names = [str(column[0]) for column in result.description or ()]
    rows = (dict(zip(names, row, strict=True)) for row in result.fetchall())
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _ordered(name: str) -> str:
    return f"from {quote_name(name)} order by {', '.join(map(quote_name, TABLES[name].key))}"


def _to_text(content: Content) -> str:
    """Write one row per line, so that a difference shows the row it is in."""
    return "\n".join(["{", ",\n".join(_sections(content)), "}", ""])


def _sections(content: Content) -> Iterator[str]:
    for name, rows in content.items():
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False, default=str)}" for row in rows)
        yield f" {json.dumps(name)}: [\n{lines}\n ]" if rows else f" {json.dumps(name)}: []"
