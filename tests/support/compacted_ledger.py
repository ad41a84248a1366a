"""A ledger of the logs in which contexts were compacted."""

from pathlib import Path

from aix.pipeline.run import Settings, import_histories
from tests import ROOT

_FIXTURES = ROOT / "fixtures" / "claude_code"
_SITUATIONS = (
    "compaction_auto",
    "compaction_by_summary_only",
    "compaction_in_subagent",
    "compaction_manual",
    "compaction_of_lost_history",
    "compaction_preserved",
    "compaction_twice",
    "compaction_with_summariser",
    "microcompaction",
)


def make_compacted_ledger(folder: Path) -> Path:
    logs = [_FIXTURES / situation / "input" for situation in _SITUATIONS]
    import_histories(folder, logs, Settings(jobs=0, importer="claude_code"))
    return folder
