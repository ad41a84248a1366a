"""Golden cases of the importer, imported all together.

Each alone is what `aix golden fixtures/claude_code` imports. Together they take as long as a few alone, and show in
passing that no case changes what another gives.
"""

import json
import shutil
from collections import Counter
from collections.abc import Mapping

import pytest

from aix.testing import GoldenCase
from tests.importers.claude_code.outlines import FIXTURES, SITUATIONS, Tables, expected_tables

NOT_OF_A_CASE = {"refused", "broken", "sources"}
"""Tables about the import itself, which depend on the sources it reads together."""


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The rows of a ledger of all cases."""
    folder = tmp_path_factory.mktemp("golden") / "claude_code" / "all"
    for name in SITUATIONS:
        shutil.copytree(FIXTURES / name / "input", folder / "input" / name)
    text = GoldenCase(folder).run()
    for name in SITUATIONS:
        text = text.replace(f"input/{name}/", "input/")
    found: Tables = json.loads(text)
    return found


def rows_in(tables: Tables) -> Counter[str]:
    return Counter(
        f"{table}: {json.dumps(row, ensure_ascii=False)}"
        for table, rows in tables.items()
        if table not in NOT_OF_A_CASE
        for row in rows
    )


@pytest.fixture(scope="module")
def held(together: Tables) -> Counter[str]:
    return rows_in(together)


@pytest.fixture(scope="module")
def expected() -> Mapping[str, Counter[str]]:
    return {name: rows_in(expected_tables(name)) for name in SITUATIONS}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_ledger_holds_what_is_expected(held: Counter[str], expected: Mapping[str, Counter[str]], name: str) -> None:
    missing = expected[name] - held
    assert not missing, f"missing; see `aix golden fixtures/claude_code {name}`"


def test_the_ledger_holds_nothing_else(held: Counter[str], expected: Mapping[str, Counter[str]]) -> None:
    assert not held - sum(expected.values(), Counter())


def test_all_cases_together_keep_all_promises(together: Tables) -> None:
    assert together["broken"] == []
    assert together["refused"] == []


@pytest.mark.parametrize("name", SITUATIONS)
def test_each_case_alone_keeps_all_promises(name: str) -> None:
    tables = expected_tables(name)
    assert tables["broken"] == []
    assert tables["refused"] == []


def test_a_case_alone_gives_what_it_gives_among_others() -> None:
    GoldenCase(FIXTURES / "rewind").check()
