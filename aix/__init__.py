"""AIX: the session histories of AI coding assistants as one ledger, read with SQL."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aix.version import __version__

if TYPE_CHECKING:
    from aix.pipeline.report import Report
    from aix.pipeline.run import Settings
    from aix.query.query_file import Query
    from aix.reading.ledger import Ledger

__all__ = ["__version__", "import_histories", "open", "queries"]


def open(path: Path | str | None = None) -> "Ledger":  # noqa: A001 - read as `aix.open`
    """Open a ledger, by default the one in the configuration, at its newest version.

    >>> with aix.open(folder) as ledger:
    ...     ledger.sql("select count(*) from turns").rows()
    [(6,)]
    """
    from aix.reading.ledger import open_ledger

    return open_ledger(path)


def import_histories(
    paths: Sequence[Path | str] | None = None,
    ledger: Path | str | None = None,
    settings: "Settings | None" = None,
) -> "Report":
    """Import histories from these files and folders, by default from where the tools keep them; say what was done.

    Other ledgers can be named instead: they are joined, and `report.contradictions` has what in them contradicts rows
    of this one.

    Without settings, sources are read in this process. With `Settings(jobs=4)` of `aix.importing.run`, worker processes
    read them; a script then needs the usual `if __name__ == "__main__":`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = aix.import_histories(["fixtures/session_log/two_turns"], folder + "/ledger")
    ...     with aix.open(folder + "/ledger") as imported:
    ...         print(dict(report.statuses), imported.sql("select count(*) from turns").rows())
    {<Status.IMPORTED: 'imported'>: 1} [(2,)]
    """
    from aix.config import load_config
    from aix.pipeline import run

    target = load_config().ledger if ledger is None else Path(ledger)
    places = None if paths is None else [Path(path) for path in paths]
    if settings is None:
        settings = run.Settings(jobs=0, personas=load_config().personas, keeps_personas=True)
    return run.import_histories(target, places, settings)


def queries() -> "list[Query]":
    """Return the queries that `Ledger.query` runs, of all packs that are installed; a file that is wrong is left out.

    >>> next(query.question for query in aix.queries() if query.name == "overview/table_rows")
    'How many rows does each table of the ledger hold?'
    """
    from aix.query.packs import packs, read_packs

    return read_packs(packs())[0]
