"""Tables as lists of facts: the kinds of column the ledger has, each with what is usual for it.

A kind takes the name, the description, and whatever differs from what is usual. The key of a table is made of those of
its columns that are keys.
"""

from functools import partial

import msgspec

from aix.schema.model import Column, Join, Table, Type, Unit

key = partial(Column, type=Type.VARCHAR, unit=Unit.ID, join=Join.KEY, nullable=False)
name_key = partial(key, unit=Unit.NAME)
word_key = partial(key, unit=Unit.WORD)
hashed_key = partial(key, type=Type.BIGINT)
number_key = partial(key, type=Type.BIGINT, unit=Unit.POSITION)

text = partial(Column, type=Type.VARCHAR, unit=Unit.TEXT, join=Join.KNOWN)
ident = partial(text, unit=Unit.ID)
name = partial(text, unit=Unit.NAME)
path = partial(text, unit=Unit.PATH)
word = partial(text, unit=Unit.WORD)
state = partial(word, join=Join.FURTHEST, nullable=False)
json = partial(text, unit=Unit.JSON_OBJECT, join=Join.UNION)
json_array = partial(json, unit=Unit.JSON_ARRAY)

number = partial(Column, type=Type.BIGINT, join=Join.MAX)
tokens = partial(number, unit=Unit.TOKENS)
time = partial(number, unit=Unit.TIME)
flag = partial(Column, type=Type.BOOLEAN, unit=Unit.FLAG, join=Join.MAX)
money = partial(Column, type=Type.COST, unit=Unit.USD, join=Join.MAX)
price = partial(money, type=Type.PRICE, join=Join.LATEST)
vector = partial(Column, type=Type.VECTOR, unit=Unit.VECTOR, join=Join.KNOWN, nullable=False)


def table(
    table_name: str,
    description: str,
    *columns: Column,
    unique: tuple[tuple[str, ...], ...] = (),
    canonical: bool = False,
    join: Join | None = None,
) -> Table:
    """Return a table; `join` is the rule of all columns that are not keys, where they have the same."""
    if join is not None:
        columns = tuple(
            column if column.join is Join.KEY else msgspec.structs.replace(column, join=join) for column in columns
        )
    own_key = tuple(column.name for column in columns if column.join is Join.KEY)
    return Table(
        name=table_name, description=description, key=own_key, columns=columns, unique=unique, canonical=canonical
    )


canonical = partial(table, canonical=True)
