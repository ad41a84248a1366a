"""Rows on their way out of an importer, gathered until they are many."""

from collections.abc import Iterator
from operator import itemgetter

from aix.pipeline.contract import Rows, Source
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
        self.put(table, values, copy)

    def put(self, table: str, row: dict[str, object], copy: int = 0) -> None:
        """Take a row that nobody changes afterwards."""
        rows = self._rows.get((table, copy))
        if rows is None:
            rows = self._rows[table, copy] = []
        rows.append(row)
        self._row_count += 1
        characters = 0
        for value in row.values():
            if value.__class__ is str:
                characters += len(value)
        self._characters += characters

    def is_full(self) -> bool:
        """Whether the rows should be drained before more are added."""
        return self._row_count >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS

    def drain(self) -> Iterator[Rows]:
        """Give out all rows."""
        taken, self._rows = self._rows, {}
        self._row_count = self._characters = 0
        for (table, copy), rows in taken.items():
            names = set().union(*rows)
            unknown = names.difference(TABLES[table].column_names)
            if unknown:
                raise TypeError(f"the table {table} has no column {', '.join(sorted(unknown))}")
            are_whole = all(len(row) == len(names) for row in rows)
            columns = {
                name: list(map(itemgetter(name), rows)) if are_whole else [row.get(name) for row in rows]
                for name in TABLES[table].column_names
                if name in names
            }
            yield Rows(self._source, table, columns, copy)
