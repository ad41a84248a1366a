"""Ties on their way out of an importer."""

import hashlib
from array import array

import pyarrow as pa
import pyarrow.compute as pc

from aix.importing.contract import Importer, Source, Ties
from aix.ledger.numbers import of_array, to_file_order


class TieNumbers:
    """Takes the ties of sources that are read together.

    The numbers of each importer and machine are made its own, so that no others meet by chance or by design. Sources of
    one `group` are tied as well, whether or not they were found in the same run.
    """

    def __init__(self, importer: str, machine: str | None) -> None:
        self._own = _number("own", machine or "", importer)
        self._numbers: dict[Source, array[int]] = {}

    def add(self, ties: Ties) -> None:
        """Take ties, or raise TypeError when they are none."""
        numbers = ties.numbers
        is_packed = isinstance(numbers, array) and numbers.typecode == "Q"
        try:
            self._numbers.setdefault(ties.source, array("Q")).extend(numbers if is_packed else iter(numbers))
        except (TypeError, OverflowError):
            raise TypeError(f"it gave ties of {ties.source.name} that are no unsigned numbers of 64 bits") from None

    def of(self, source: Source) -> bytes | None:
        """Return the numbers of a source as they are stored; None when no source gave any."""
        if not self._numbers:
            return None
        numbers = array("Q", self._numbers.get(source, ()))
        if source.group:
            numbers.append(_number("group", source.group))
        own = pc.bit_wise_xor(of_array(numbers), pa.scalar(self._own, pa.uint64()))
        ordered = own.sort()  # first, since Arrow finds what is repeated by a table many times as large
        is_new = pc.not_equal(ordered[1:], ordered[:-1])
        return to_file_order(pa.concat_arrays([ordered[:1], ordered[1:].filter(is_new)]))


def likely_numbers(importer: Importer, source: Source, machine: str | None) -> bytes:
    """Return, as they are stored, the numbers that a glance at a source shows; none where that fails."""
    numbers = TieNumbers(importer.name, machine)
    try:
        numbers.add(Ties(source, importer.likely_ties(source)))
    except Exception:  # a plugin may fail in any way; reading the source will show its ties, or what is wrong
        return b""
    return numbers.of(source) or b""


def _number(*texts: str) -> int:
    text = "\0".join(texts).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.sha256(text).digest()[:8])
