"""Rows joined into a ledger: the ledger is a function of the set of what was joined into it."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aix.schema import TABLES
from aix.schema.checks import batch_from_rows
from tests.deliveries import as_text, deliver, dump
from tests.sample_ledger import SAMPLE_ROWS
from tests.worlds import Source, sources

EXAMPLES = int(os.environ.get("AIX_PROPERTY_EXAMPLES", "5"))


def test_the_sample_holds_what_follows_from_it(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    expected = {
        name: as_text(tuple(row.values()) for row in batch_from_rows(TABLES[name], rows).to_pylist())
        for name, rows in SAMPLE_ROWS.items()
    }
    found = dump(tmp_path)
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert found.keys() == expected.keys()


def test_joining_twice_adds_nothing(tmp_path: Path) -> None:
    first = deliver(tmp_path, SAMPLE_ROWS)
    assert deliver(tmp_path, SAMPLE_ROWS) == first


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.lists(sources(), min_size=2, max_size=4))
def test_order_split_and_repetition_do_not_show(data: st.DataObject, said: list[Source]) -> None:
    """Each source is told by its name, so that its marks stay with its rows however the sources are batched."""
    named = [(str(number), source) for number, source in enumerate(said)]
    order = data.draw(st.permutations(named))
    cut = data.draw(st.integers(0, len(named)))
    with TemporaryDirectory() as folder:
        together, one_by_one, split = (Path(folder) / name for name in ("together", "one_by_one", "split"))
        deliver(together, *named)
        for source in order:
            deliver(one_by_one, source)
        for part in (order[:cut], order[cut:], order[:1]):
            deliver(split, *part)
        expected = dump(together)
        assert dump(one_by_one) == expected
        assert dump(split) == expected
