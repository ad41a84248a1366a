"""Rows on their way out of an importer, gathered column by column."""

from collections.abc import Iterator

from aix.importing.contract import Rows, Source
from aix.schema import TABLES

_MOST_ROWS = 2_000
_MOST_CHARACTERS = 4_000_000


class RowBuffer:
    """Takes rows one by one and gives them out in batches.

    >>> buffer = RowBuffer(Source("/logs/a.jsonl"))
    >>> buffer.add("tags", entity_type="sessions", entity_id="s", tag="x", added_at=1)
    >>> [(rows.table, rows.columns["tag"]) for rows in buffer.drain()]
    [('tags', ['x'])]
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._columns: dict[tuple[str, int], dict[str, list[object]]] = {}
        self._rows = 0
        self._characters = 0

    def add(self, table: str, /, *, copy: int = 0, **values: object) -> None:
        """Take a row; a column that is not named is NULL or its default."""
        columns = self._columns.get((table, copy))
        if columns is None:
            columns = self._columns[table, copy] = {name: [] for name in TABLES[table].column_names}
        for name, column in columns.items():
            value = values.pop(name, None)
            column.append(value)
            if type(value) is str:
                self._characters += len(value)
        if values:
            raise TypeError(f"the table {table} has no column {', '.join(values)}")
        self._rows += 1

    def is_full(self) -> bool:
        """Whether the rows should be drained before more are added."""
        return self._rows >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS

    def drain(self) -> Iterator[Rows]:
        """Give out all rows."""
        taken, self._columns = self._columns, {}
        self._rows = self._characters = 0
        for (table, copy), columns in taken.items():
            yield Rows(self._source, table, columns, copy)
