"""Rows of several readings of a log, joined without a ledger: fast enough to try every byte at which it may end."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial, reduce

from aix.merge.join import Statement, join, join_sets
from aix.schema import TABLES
from aix.store.nodes import is_taken_together
from tests.importers.session_log.logs import Statements


def said_together(*readings: Statements) -> dict[tuple[str, object], object]:
    """Join everything that is said about each row, and about each message's rows that are taken together."""
    rows: dict[tuple[str, object], list[Statement]] = defaultdict(list)
    sets: dict[tuple[str, object], dict[str, Sequence[Statement]]] = defaultdict(dict)
    for number, reading in enumerate(readings):
        for source, tables in reading.items():
            marks: dict[tuple[object, object], set[str]] = defaultdict(set)
            for mark in tables.get("inferred_values", ()):
                marks[mark["table_name"], mark["row_key"]].add(mark["column_name"])
            for name, listed in tables.items():
                for row in () if name == "inferred_values" else listed:
                    if is_taken_together(TABLES[name]):
                        sides = sets[name, row["message_id"]]
                        side = f"{number}:{source}"
                        sides[side] = [*sides.get(side, ()), Statement(row)]
                    else:
                        key = tuple(row[column] for column in TABLES[name].key)
                        rows[name, key].append(Statement(row, frozenset(marks[name, key[0]])))
    single = {
        where: _comparable(reduce(partial(join, TABLES[where[0]]), said, said[0])) for where, said in rows.items()
    }
    together = {
        where: [_comparable(each) for each in reduce(partial(join_sets, TABLES[where[0]]), sides.values())]
        for where, sides in sets.items()
    }
    return {**single, **together}


def _comparable(statement: Statement) -> tuple[object, ...]:
    return repr(sorted(statement.values.items())), sorted(statement.inferred)
