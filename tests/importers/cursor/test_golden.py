"""Golden cases of the importer, imported all together.

Each alone is what `aix golden fixtures/cursor` imports. Together they take as long as a few alone, and show in passing
that no case changes what another gives.
"""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from aix.health import Status, check
from aix.testing import GoldenCase
from tests.importers.cursor.databases import FIXTURES, SITUATIONS, build, import_here, sources_in

NOT_OF_A_CASE = {"refused", "broken", "sources"}


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The rows of a ledger of all cases."""
    folder = tmp_path_factory.mktemp("golden") / "cursor" / "all"
    for name in SITUATIONS:
        shutil.copytree(FIXTURES / name / "input", folder / "input" / name)
    text = GoldenCase(folder).run()
    for name in SITUATIONS:
        text = text.replace(f"input/{name}/", "input/")
    return rows_in(text)


def rows_in(text: str) -> Counter[str]:
    return Counter(
        f"{table}: {json.dumps(row, ensure_ascii=False)}"
        for table, rows in json.loads(text).items()
        if table not in NOT_OF_A_CASE
        for row in rows
    )


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_ledger_holds_what_is_expected(together: Counter[str], situation: str) -> None:
    assert not rows_in((FIXTURES / situation / "expected.json").read_text("utf-8")) - together


def test_the_ledger_holds_nothing_else(together: Counter[str]) -> None:
    expected = (rows_in((FIXTURES / name / "expected.json").read_text("utf-8")) for name in SITUATIONS)
    assert not set(together) - set().union(*expected)


def test_the_ledger_keeps_its_promises_and_holds_no_secret(tmp_path: Path) -> None:
    for name in SITUATIONS:
        build(tmp_path / "trees" / name, name)
    trees = b"".join(path.read_bytes() for path in (tmp_path / "trees").rglob("*") if path.is_file())
    assert b"NEVER-IMPORT" in trees
    import_here(tmp_path / "ledger", tmp_path / "trees")
    assert [each.name for each in check(tmp_path / "ledger") if each.status is Status.ALARM] == []
    written = b"".join(path.read_bytes() for path in (tmp_path / "ledger").rglob("*") if path.is_file())
    assert b"NEVER-IMPORT" not in written


def test_only_conversations_and_settings_are_sources(tmp_path: Path) -> None:
    build(tmp_path, "broken_rows")
    (tmp_path / "notes.txt").write_text("user:\nhello\n")
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0")
    keys = {source.key for source in sources_in(tmp_path)}
    assert keys == {*(f"composer:c-{name}" for name in ("bytes", "cloud", "cut", "null", "odd")), "leftovers:"}
