"""Numbers of ties, as importers give them and as they are stored."""

from collections.abc import Iterator, Sequence

import pytest

from aix.importing import Capabilities, Importer, Problem, Rows, Source, Ties
from aix.pipeline.ties import TieNumbers, likely_numbers
from aix.store.index import from_file_order

SOURCE = Source("/logs/a.jsonl", group="/logs/a")


class Glancing(Importer):
    """Shows what it is given."""

    name, version, description, capabilities = "glancing", "1", "", Capabilities()
    shown: Sequence[object] = ()

    def discover(self, files: object) -> Sequence[Source]:
        del files
        return ()

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
        yield Ties(sources[0], [])

    def likely_ties(self, source: Source) -> Sequence[int]:
        del source
        return self.shown  # type: ignore[return-value]


def glance(shown: Sequence[object], machine: str | None = None) -> bytes:
    importer = Glancing()
    importer.shown = shown
    return likely_numbers(importer, SOURCE, machine)


def read(numbers: Sequence[int], machine: str | None = None) -> bytes:
    given = TieNumbers("glancing", machine)
    given.add(Ties(SOURCE, numbers))
    return given.of(SOURCE) or b""


def as_set(stored: bytes) -> set[int]:
    return set(from_file_order(stored).to_pylist())


@pytest.mark.parametrize("numbers", [[], [5], [5, 2, 5], [0, 2**64 - 1]])
def test_a_glance_gives_the_numbers_that_reading_gives(numbers: list[int]) -> None:
    assert as_set(glance(numbers)) == as_set(read(numbers))


def test_numbers_of_another_machine_are_others() -> None:
    assert as_set(glance([5])).isdisjoint(as_set(glance([5], "laptop")))


@pytest.mark.parametrize("wrong", [[-1], [2**64], ["5"], [None], [5, 1.5]])
def test_a_glance_that_shows_no_numbers_shows_nothing(wrong: list[object]) -> None:
    assert glance(wrong) == b""
