"""The comparison of a ledger with a manifest, on one conversation small enough to write down."""

import copy
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cursor_truth import LedgerFigures, differences, secrets
from tests.importers.cursor.databases import GLOBAL, answer, call, composer, import_here, prompt, write_database

ENTRY: dict[str, Any] = {
    "gen": "G6", "session_id": "c-1", "name": "Small", "user": 1, "assistant": 2, "system": 0, "tool_calls": 1,
    "thinking": 1, "lints": 0, "compactions": 0, "rejected": 0, "codeblocks": 1, "orphan_bubbles": 1,
    "files": {"attached": 0, "referenced": 0, "read": 0, "written": 0},
    "turns": {"normal": 1, "continuation": 0, "compaction": 0},
    "tool_status": {"completed": 1, "failed": 0, "open": 0},
}  # fmt: skip
MANIFEST: dict[str, Any] = {
    "composers": {"c-1": ENTRY},
    "transcripts": {},
    "stores": {},
    "hard_cases": {},
    "totals": {**ENTRY, "sessions": 1, "subagent_sessions": 0},
    "must_not_import": ["KEY-OF-ENCRYPTION"],
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> LedgerFigures:
    folder = tmp_path_factory.mktemp("truth")
    bubbles = [
        prompt("p1", 0, "One"),
        call("t1", 2, "run_terminal_cmd"),
        answer("a1", 4, "```\nx\n```", thinking={"text": "hm"}),
    ]
    rows = composer("c-1", bubbles, name="Small", blobEncryptionKey="KEY-OF-ENCRYPTION")
    orphan = ("bubbleId:c-1:o1", '{"type":2,"text":"replaced"}')
    write_database(folder / "tree" / GLOBAL, [*rows, orphan])
    import_here(folder / "ledger", folder / "tree")
    assert list(secrets(MANIFEST, folder / "ledger")) == []
    assert list(secrets({"must_not_import": ["PAR1"]}, folder / "ledger"))
    return LedgerFigures(folder / "tree", folder / "ledger")


def test_a_ledger_that_holds_what_the_manifest_says_shows_no_difference(figures: LedgerFigures) -> None:
    assert list(differences(Path(), MANIFEST, figures)) == []


@pytest.mark.parametrize("name", ["user", "assistant", "tool_calls", "thinking", "codeblocks", "orphan_bubbles"])
def test_a_figure_that_differs_is_named(figures: LedgerFigures, name: str) -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["composers"]["c-1"][name] = 7
    [(where, difference)] = differences(Path(), manifest, figures)
    assert where == "c-1"
    assert name.replace("_", " ") in difference.replace("_", " ")


def test_sessions_that_should_not_or_should_be_there_are_named(figures: LedgerFigures) -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["composers"] = {"c-2": {**ENTRY, "session_id": "c-2"}}
    assert {where for where, _ in differences(Path(), manifest, figures)} >= {"c-1", "c-2", "totals"}
