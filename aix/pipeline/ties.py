"""Ties of sources: the numbers that importers give, and the graph of sources that they connect."""

import hashlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from aix.pipeline.contract import Importer, Source, Ties
from aix.store.index import WIDTH, Families, Pairs, from_file_order, neighbours, of_array, to_file_order
from aix.store.sources import NO_TIES, StoredTies

_BITS = 32


class TieNumbers:
    """Takes the ties of sources that are read together.

    The numbers of each importer and machine are made its own, so that no others meet by chance or by design. Sources of
    one `group` are tied as well, whether or not they were found in the same run.
    """

    def __init__(self, importer: str, machine: str | None) -> None:
        self._own = _own_number(importer, machine)
        self._numbers: dict[Source, list[pa.Array]] = {}

    def add(self, ties: Ties) -> None:
        """Take ties, or raise TypeError when they are none.

        They are sorted here and not at the end of a source, when the memory of its extraction is not yet given back.
        """
        numbers = ties.numbers
        try:
            packed = numbers if isinstance(numbers, array) and numbers.typecode == "Q" else array("Q", iter(numbers))
        except (TypeError, OverflowError):
            raise TypeError(f"it gave ties of {ties.source.name} that are no unsigned numbers of 64 bits") from None
        self._numbers.setdefault(ties.source, []).append(self._made_own(packed))

    def of(self, source: Source) -> bytes | None:
        """Return the numbers of a source as they are stored; None when no source gave any."""
        if not self._numbers:
            return None
        group = self._made_own(array("Q", _group_numbers(source)))
        return to_file_order(_distinct(pa.concat_arrays([*self._numbers.get(source, ()), group])))

    def _made_own(self, numbers: "array[int]") -> pa.Array:
        return _distinct(pc.bit_wise_xor(of_array(numbers), pa.scalar(self._own, pa.uint64())))


def _distinct(numbers: pa.Array) -> pa.Array:
    """Sort numbers and leave out repeated ones; Arrow's own `unique` needs many times as much memory."""
    ordered = numbers.sort()
    return pa.concat_arrays([ordered[:1], ordered[1:].filter(pc.not_equal(ordered[1:], ordered[:-1]))])


def likely_numbers(importer: Importer, source: Source, machine: str | None) -> bytes:
    """Return, as they are stored, the numbers that a glance at a source shows; none where that fails."""
    own = _own_number(importer.name, machine)
    try:
        numbers = array("Q", (number ^ own for number in (*importer.likely_ties(source), *_group_numbers(source))))
    except Exception:  # a plugin may fail in any way; reading the source will show its ties, or what is wrong
        return b""
    return to_file_order(of_array(numbers))


def _own_number(importer: str, machine: str | None) -> int:
    return _number("own", machine or "", importer)


def _group_numbers(source: Source) -> list[int]:
    return [_number("group", source.group)] if source.group else []


def _number(*texts: str) -> int:
    text = "\0".join(texts).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.sha256(text).digest()[:8])


def reading_of(contents: Mapping[str, str]) -> bytes:
    """Return what stands for sources that are read together, given by id, and for what they hold."""
    lines = "\n".join(f"{source}:{content}" for source, content in sorted(contents.items()))
    return hashlib.sha256(lines.encode()).digest()[:16]


class SourceGraph:
    """The ties of sources, as one long list of numbers and one of the places of the sources they belong to."""

    def __init__(self, ties: StoredTies) -> None:
        self.stored = ties
        self._ties = {source: each.numbers for source, each in ties.items() if each.numbers}
        self._ids = list(self._ties)
        self._numbers, self._owners = _listed(self._ties.values())

    def sets_with(self, sources: Iterable[str] | None, fresh: StoredTies = NO_TIES) -> Iterator[frozenset[str]]:
        """Go through the sets of sources that are tied and of which one is given, or through all of them.

        `fresh` holds the ties of some sources as they are by now.
        """
        newer = SourceGraph(fresh)
        ties = {**{source: each for source, each in self._ties.items() if source not in fresh}, **newer._ties}
        given = ties.keys() if sources is None else ties.keys() & set(sources)
        reached, new = list(given), given
        while new and sources is not None:
            wanted = from_file_order(b"".join(ties[source] for source in new))
            found = (self._with_any(wanted) - fresh.keys()) | newer._with_any(wanted)
            new = found.difference(reached)
            reached += new
        families = Families([_links([ties[source] for source in reached])])
        sets: dict[int, set[str]] = {}
        for place, number in zip(families.nodes.to_pylist(), families.numbers.to_pylist(), strict=True):
            sets.setdefault(number, set()).add(reached[place])
        return (frozenset(each) for each in sets.values())

    def _with_any(self, numbers: pa.Array) -> set[str]:
        """Return the sources that have any of these numbers."""
        places = pc.unique(self._owners.filter(pc.is_in(self._numbers, value_set=numbers)))
        return {self._ids[place] for place in places.to_pylist()}


def _links(ties: Collection[bytes]) -> Pairs:
    """Return pairs of places in a list of ties that have a number in common, so many that every set hangs together."""
    numbers, owners = _listed(ties)
    one, other = neighbours(owners, numbers)
    # Not at the top of the module: a worker loads it before Arrow is kept from looking for pandas.
    bits, lower = pa.scalar(_BITS, pa.uint64()), pa.scalar(2**_BITS - 1, pa.uint64())
    pairs = pc.unique(pc.bit_wise_or(pc.shift_left(one, bits), other))  # of which there are far fewer
    return pc.shift_right(pairs, bits), pc.bit_wise_and(pairs, lower)


def _listed(ties: Collection[bytes]) -> tuple[pa.Array, pa.Array]:
    """Return all numbers of a list of ties, and the place in the list of each."""
    ends = pa.array(accumulate(len(each) // WIDTH for each in ties), pa.int64())
    owners = pa.RunEndEncodedArray.from_arrays(ends, pa.array(range(len(ties)), pa.uint64()))
    return from_file_order(b"".join(ties)), pc.run_end_decode(owners)
