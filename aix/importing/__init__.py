"""The contract for importers; it knows nothing of the ledger or the command line.

from aix.importing import Capabilities, Importer, Problem, Rows, Source, readable
"""

from aix.pipeline.contract import (
    Answer,
    Candidate,
    Capabilities,
    Importer,
    LoggedSession,
    Problem,
    Retention,
    RowBuffer,
    Rows,
    Source,
    Ties,
    readable,
)

__all__ = [
    "Answer",
    "Candidate",
    "Capabilities",
    "Importer",
    "LoggedSession",
    "Problem",
    "Retention",
    "RowBuffer",
    "Rows",
    "Source",
    "Ties",
    "readable",
]
