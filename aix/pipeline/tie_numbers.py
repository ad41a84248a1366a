"""Ties on their way out of an importer."""

import hashlib
from array import array

import pyarrow as pa
import pyarrow.compute as pc

from aix.pipeline.contract import Importer, Source, Ties
from aix.store.uint64 import of_array, to_file_order


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
