"""Sets of sources that are tied, directly or through others."""

from array import array

import pytest

from aix.pipeline.ties import SourceGraph
from aix.store.index import of_array, to_file_order
from aix.store.sources import SourceTies


def ties(**numbers: list[int]) -> dict[str, SourceTies]:
    return {source: SourceTies(numbers=to_file_order(of_array(array("Q", each)))) for source, each in numbers.items()}


TIES = ties(a=[1, 2], b=[2, 3, 2**64 - 1], c=[3], d=[4, 5], e=[5], f=[6], g=[])


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
    assert {"".join(sorted(each)) for each in SourceGraph(TIES).sets_with(given)} == expected


@pytest.mark.parametrize(
    ("fresh", "given", "expected"),
    [
        (ties(c=[3, 4]), ["a"], {"abcde"}),
        (ties(b=[7]), ["a", "b"], set()),
        (ties(b=[]), ["a", "b", "c"], set()),
        (ties(b=[], h=[1, 3]), ["a"], {"ach"}),
        (ties(h=[6]), ["h"], {"fh"}),
        (ties(h=[6]), ["e"], {"de"}),
        (ties(h=[6], b=[1]), None, {"ab", "de", "fh"}),
    ],
)
def test_fresh_ties_hold_in_place_of_those_that_were_known(
    fresh: dict[str, SourceTies], given: list[str] | None, expected: set[str]
) -> None:
    web = SourceGraph(TIES)
    assert {"".join(sorted(each)) for each in web.sets_with(given, fresh)} == expected
    assert {"".join(sorted(each)) for each in web.sets_with(None)} == {"abc", "de"}, "they hold for one question"


def test_where_nothing_is_known_nothing_is_tied() -> None:
    assert list(SourceGraph({}).sets_with(["a"])) == list(SourceGraph({}).sets_with(None)) == []
