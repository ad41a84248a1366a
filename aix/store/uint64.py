"""Many unsigned numbers of 64 bits, in Arrow and in files, where they are little-endian."""

import sys
from array import array

import pyarrow as pa

WIDTH = 8


def to_file_order(numbers: pa.Array) -> bytes:
    """Return numbers, none of them NULL, as they are stored.

    >>> from_file_order(to_file_order(pa.array([3, 2**64 - 1], pa.uint64()).slice(1))).to_pylist()
    [18446744073709551615]
    """
    _, values = numbers.buffers()
    return _swapped(bytes(memoryview(values)[numbers.offset * WIDTH :][: len(numbers) * WIDTH]) if values else b"")


def from_file_order(content: bytes) -> pa.Array:
    """Return numbers from how they are stored."""
    return pa.Array.from_buffers(pa.uint64(), len(content) // WIDTH, [None, pa.py_buffer(_swapped(content))])


def few_from_file_order(content: bytes) -> "array[int]":
    """Return a few numbers that are stored; to make an Arrow array of them would take longer than to look at them."""
    return array("Q", _swapped(content))


def of_array(numbers: "array[int]") -> pa.Array:
    """Return the numbers of an array whose items are such."""
    return pa.Array.from_buffers(pa.uint64(), len(numbers), [None, pa.py_buffer(numbers)])


def _swapped(content: bytes) -> bytes:
    if sys.byteorder == "little":
        return content
    numbers = array("Q", content)
    numbers.byteswap()
    return numbers.tobytes()
