"""Cosines between vectors: exact ones, of all vectors of a table at once.

Each place of a vector is multiplied with how rare its words are in the ledger. The products are whole numbers: the
cosine of two turns is the same whatever the order of rows and files, and on every machine. Arrow does the arithmetic,
on a part of the vectors at a time.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING

from aix.similarity.features import PLACES, rarities
from aix.similarity.vectors import Vectors
from aix.thread_pool import map_in_threads

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS = 6
"""Of a similarity."""
_MOST_BITS = 16
"""Of a weight that others are compared with: the sum of many turns is scaled down, so that products fit in 64 bits."""
Vector = Mapping[int, int]
"""Weights by place."""
Nearest = Iterator[tuple[str, float]]
"""Keys with their cosines, the greatest first."""


class VectorSpace:
    """The vectors of a table, and how rare the words of each place are among them."""

    def __init__(self, parts: Sequence[Vectors]) -> None:
        self._parts = parts
        self._rarities = rarities(sum(len(part.keys) for part in parts), _texts_with(parts))

    def sum_of(self, keys: Collection[str]) -> Vector:
        """Return the sum of the vectors of these keys; a key without one adds nothing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(keys, pa.string())
        total: defaultdict[int, int] = defaultdict(int)
        for part in self._parts:
            rows = pc.indices_nonzero(pc.is_in(part.keys, value_set=wanted))
            places, weights = part.places.take(rows).flatten(), part.weights.take(rows).flatten()
            for place, weight in zip(places.to_pylist(), weights.to_pylist(), strict=True):
                total[place] += weight
        return total

    def nearest(self, vector: Vector) -> Nearest:
        """Go through the vectors that have a place in common with this one."""
        query, length = self._query(vector)

        def cosines(part: Vectors) -> "pa.RecordBatch":
            import pyarrow as pa
            import pyarrow.compute as pc

            places, weights = part.places.flatten(), part.weights.flatten().cast(pa.int64())
            dots = _sums(pc.multiply(query.take(places), weights), part.places.offsets)
            squares = _sums(pc.multiply(self._squares.take(places), pc.multiply(weights, weights)), part.places.offsets)
            return _cosines(part.keys, dots, squares, length)

        return _in_order(map_in_threads(cosines, self._parts))

    def nearest_sums(self, vector: Vector, sums: Mapping[str, str]) -> Nearest:
        """Go through sums of vectors: of all whose keys have the same name in a mapping."""
        import pyarrow as pa
        import pyarrow.compute as pc

        query, length = self._query(vector)
        names = list(dict.fromkeys(sums.values()))
        numbers = {name: number for number, name in enumerate(names)}
        numbers_of_keys = {key: numbers[name] for key, name in sums.items()}

        def add_up(part: Vectors) -> "pa.Table":
            of_rows = pa.array([numbers_of_keys.get(key) for key in part.keys.to_pylist()], pa.int64())
            of_places = of_rows.take(pc.list_parent_indices(part.places))
            places = pc.add(pc.multiply(of_places, PLACES), part.places.flatten().cast(pa.int64()))
            rows = pa.table({"place": places, "weight": part.weights.flatten().cast(pa.int64())})
            return _added_up(rows.filter(pc.is_valid(rows["place"])), "place", "weight")

        parts = map_in_threads(add_up, self._parts)
        if not parts:
            return iter(())
        rows = _added_up(pa.concat_tables(parts), "place", "weight")
        of_rows = pc.shift_right(rows["place"], PLACES.bit_length() - 1)
        places = pc.bit_wise_and(rows["place"], PLACES - 1)
        weights = rows["weight"].cast(pa.float64())
        dots = pc.multiply(query.cast(pa.float64()).take(places), weights)
        squares = pc.multiply(self._squares.cast(pa.float64()).take(places), pc.multiply(weights, weights))
        found = _added_up(pa.table({"row": of_rows, "dot": dots, "square": squares}), "row", "dot", "square")
        found = found.combine_chunks()
        keys = pa.array(names, pa.string()).take(_array(found["row"]))
        return _in_order([_cosines(keys, _array(found["dot"]), _array(found["square"]), length)])

    @cached_property
    def _squares(self) -> "pa.Array":
        import pyarrow as pa

        return pa.array([rarity * rarity for rarity in self._rarities], pa.int64())

    def _query(self, vector: Vector) -> "tuple[pa.Array, float]":
        """Return what the weight of each place is multiplied with, and the length of the vector."""
        import pyarrow as pa

        excess = max(max(vector.values(), default=0).bit_length() - _MOST_BITS, 0)
        weights = [0] * PLACES
        squares = 0
        for place, weight in vector.items():
            weighted = (weight >> excess) * self._rarities[place]
            weights[place] = weighted * self._rarities[place]
            squares += weighted * weighted
        return pa.array(weights, pa.int64()), sqrt(squares)


def _texts_with(parts: Sequence[Vectors]) -> dict[int, int]:
    """Return how many vectors have each place."""
    import pyarrow.compute as pc

    total: defaultdict[int, int] = defaultdict(int)
    for counts in map_in_threads(lambda part: pc.value_counts(part.places.flatten()), parts):
        for place, count in zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True):
            total[place] += count
    return total


def _sums(values: "pa.Array", offsets: "pa.Array") -> "pa.Array":
    """Return the sum of each list of whole numbers: differences of a running total hold even where it overflows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    totals = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(values)]).take(offsets)
    return pc.subtract(totals.slice(1), totals.slice(0, len(totals) - 1))


def _added_up(rows: "pa.Table", key: str, *columns: str) -> "pa.Table":
    summed = rows.group_by(key).aggregate([(column, "sum") for column in columns])
    return summed.select([key, *(f"{column}_sum" for column in columns)]).rename_columns([key, *columns])


def _array(column: "pa.ChunkedArray") -> "pa.Array":
    return column.combine_chunks()


def _cosines(keys: "pa.Array", dots: "pa.Array", squares: "pa.Array", length: float) -> "pa.RecordBatch":
    """Return the keys of vectors that are not at right angles to the other, with the cosines."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.multiply(pc.sqrt(squares.cast(pa.float64(), safe=False)), length)
    cosines = pc.divide(dots.cast(pa.float64(), safe=False), lengths)
    rows = pa.RecordBatch.from_arrays([keys, pc.round(cosines, _DIGITS)], names=["key", "cosine"])
    return rows.filter(pc.greater(dots, 0))


def _in_order(parts: "Sequence[pa.RecordBatch]") -> Nearest:
    import pyarrow as pa

    if not parts:
        return
    rows = pa.Table.from_batches(parts).sort_by([("cosine", "descending"), ("key", "ascending")])
    for batch in rows.to_batches(max_chunksize=1_000):
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
