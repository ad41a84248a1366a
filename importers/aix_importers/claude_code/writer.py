"""Rows on their way out, each with the file that it was read from."""

from collections.abc import Iterator

from aix.importing import RowBuffer, Rows, Source


class Writer:
    """Gathers rows of several sources."""

    def __init__(self) -> None:
        self._buffers: dict[Source, RowBuffer] = {}

    def add(self, source: Source, table: str, /, **values: object) -> None:
        """Take a row."""
        buffer = self._buffers.get(source)
        if buffer is None:
            buffer = self._buffers[source] = RowBuffer(source)
        buffer.add(table, copy=0, **values)

    def mark(self, source: Source, table: str, row_key: str, column: str, basis: str) -> None:
        """Note that a value was concluded rather than read."""
        self.add(source, "inferred_values", table_name=table, row_key=row_key, column_name=column, basis=basis)

    def take(self, *, everything: bool = False) -> Iterator[Rows]:
        """Give out rows of sources that have many, or all of them."""
        for buffer in self._buffers.values():
            if everything or buffer.is_full():
                yield from buffer.drain()
