"""Rows on their way out, each with the file that it was read from."""

from collections.abc import Iterator

from aix.importing import RowBuffer, Rows, Source


class Writer:
    """Gathers rows of several sources."""

    def __init__(self) -> None:
        self._buffers: dict[int, RowBuffer] = {}
        self._last = RowBuffer(Source(""))

    def add(self, source: Source, table: str, /, **values: object) -> None:
        """Take a row."""
        buffer = self._buffers.get(id(source))
        if buffer is None:
            buffer = self._buffers[id(source)] = RowBuffer(source)
        self._last = buffer
        buffer.put(table, values)

    def mark(self, source: Source, table: str, row_key: str, column: str, basis: str) -> None:
        """Note that a value was concluded rather than read."""
        self.add(source, "inferred_values", table_name=table, row_key=row_key, column_name=column, basis=basis)

    def is_full(self) -> bool:
        """Whether the source that the last row is of has many."""
        return self._last.is_full()

    def take(self) -> Iterator[Rows]:
        """Give out all rows."""
        for buffer in self._buffers.values():
            yield from buffer.drain()
