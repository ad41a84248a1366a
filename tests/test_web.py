"""Sets of sources that are tied, directly or through others."""

from array import array

import pytest

from aix.importing.web import Web
from aix.ledger.numbers import of_array, to_file_order
from aix.ledger.ties import SourceTies

TIES = {
    source: SourceTies(numbers=to_file_order(of_array(array("Q", numbers))))
    for source, numbers in {
        "a": [1, 2],
        "b": [2, 3, 2**64 - 1],
        "c": [3],
        "d": [4, 5],
        "e": [5],
        "f": [6],
        "g": [],
    }.items()
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a"], {"abc"}),
        (["c"], {"abc"}),
        (["c", "e"], {"abc", "de"}),
        (["f", "g", "unknown"], set()),
        ([], set()),
        (None, {"abc", "de"}),
    ],
)
def test_sets_are_found_from_any_source_of_them(given: list[str] | None, expected: set[str]) -> None:
    assert {"".join(sorted(each)) for each in Web(TIES).sets_with(given)} == expected


def test_where_nothing_is_known_nothing_is_tied() -> None:
    assert list(Web({}).sets_with(["a"])) == list(Web({}).sets_with(None)) == []
