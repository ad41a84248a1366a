"""Rows on their way out of an importer, gathered until they are many."""

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
        self._rows: dict[tuple[str, int], list[dict[str, object]]] = {}
        self._row_count = 0
        self._characters = 0

    def add(self, table: str, /, *, copy: int = 0, **values: object) -> None:
        """Take a row; a column that is not named is NULL or its default."""
        rows = self._rows.get((table, copy))
        if rows is None:
            rows = self._rows[table, copy] = []
        rows.append(values)
        self._row_count += 1
        self._characters += sum([len(value) for value in values.values() if value.__class__ is str])

    def is_full(self) -> bool:
        """Whether the rows should be drained before more are added."""
        return self._row_count >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS

    def drain(self) -> Iterator[Rows]:
        """Give out all rows."""
        taken, self._rows = self._rows, {}
        self._row_count = self._characters = 0
        for (table, copy), rows in taken.items():
            names = dict.fromkeys(name for row in rows for name in row)
            unknown = names.keys() - set(TABLES[table].column_names)
            if unknown:
                raise TypeError(f"the table {table} has no column {', '.join(sorted(unknown))}")
            columns = {name: [row.get(name) for row in rows] for name in names}
            yield Rows(self._source, table, columns, copy)
