"""The example that docs/compaction.md works out by hand is what the queries give."""

import re
from decimal import Decimal

import pytest

from aix.reading.ledger import Ledger
from tests import ROOT

PAGE = (ROOT / "docs" / "compaction.md").read_text("utf-8")
EXAMPLE = re.findall(r"^\| `(\w+)\.(\w+)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)
SESSION = "claude-code:a0c0de01-5e55-4000-8000-000000000001"


@pytest.mark.parametrize(("query", "column", "written"), EXAMPLE)
def test_the_worked_example_is_what_the_query_gives(query: str, column: str, written: str, filled: Ledger) -> None:
    result = filled.query(f"compaction_impact/{query}", session=SESSION)
    [row] = result.rows()
    value = row[result.columns.index(column)]
    if isinstance(value, float):
        places = len(written.partition(".")[2])
        assert f"{value:.{places}f}" == written
    elif isinstance(value, str):
        assert value == written
    else:
        assert value == Decimal(written.replace(",", ""))


def test_the_example_has_premium_and_break_even() -> None:
    assert {("cost", "rebuild_premium_usd"), ("break_even", "requests_to_break_even")} <= {
        (query, column) for query, column, _ in EXAMPLE
    }
