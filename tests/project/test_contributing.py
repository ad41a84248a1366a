"""CONTRIBUTING.md says where each kind of change goes: the rooms that it names exist, and it names every room."""

import re

import pytest

from tests import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
CHANGES = {
    "new importer", "record type of a log", "query", "view", "chart", "price", "risk class", "shell wrapper",
    "output format", "error", "migration", "CLI command",
}  # fmt: skip
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.partition("## Where a change goes")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| change ") and not line.startswith("| room ")
]
CHANGE_ROWS = {row[0]: row[1] for row in ROWS if len(row) == 3}


def test_twelve_kinds_of_change_have_a_room() -> None:
    assert set(CHANGE_ROWS) == CHANGES


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_the_room_of_a_change_exists(change: str) -> None:
    paths = re.findall(r"`([^`]+)`", CHANGE_ROWS[change])
    assert paths
    for path in paths:
        known = re.split(r"(?:NAME|PACK)", path)[0]
        assert (ROOT / known).exists(), f"{path} does not exist"


def test_every_folder_of_code_is_described() -> None:
    folders = {
        path.parent for room in ("aix", "importers/aix_importers") for path in (ROOT / room).glob("*/__init__.py")
    }
    # Thin public modules and importers that have a page of their own need no row.
    elsewhere = {"importing", "exporting", "agent_dag", "chat", "claude_code", "cursor", "session_log"}
    missing = {folder.name for folder in folders if f"{folder.relative_to(ROOT)}/" not in PAGE} - elsewhere
    assert not missing
