"""The kinds of column the ledger has, so that a table reads as a list of facts.

Each kind takes the name, the description, and whatever differs from what is usual for the kind.
"""

from functools import partial

from aix.schema.model import Column, Join, Type, Unit

key = partial(Column, type=Type.VARCHAR, unit=Unit.ID, join=Join.KEY, nullable=False)
hashed_key = partial(key, type=Type.BIGINT)
number_key = partial(key, type=Type.BIGINT, unit=Unit.POSITION)
word_key = partial(key, unit=Unit.WORD)

ident = partial(Column, type=Type.VARCHAR, unit=Unit.ID, join=Join.KNOWN)
text = partial(Column, type=Type.VARCHAR, unit=Unit.TEXT, join=Join.KNOWN)
word = partial(Column, type=Type.VARCHAR, unit=Unit.WORD, join=Join.KNOWN)
json = partial(Column, type=Type.VARCHAR, unit=Unit.JSON_OBJECT, join=Join.UNION)

number = partial(Column, type=Type.BIGINT, join=Join.MAX)
tokens = partial(number, unit=Unit.TOKENS)
time = partial(number, unit=Unit.TIME)
flag = partial(Column, type=Type.BOOLEAN, unit=Unit.FLAG, join=Join.MAX)
money = partial(Column, unit=Unit.USD, join=Join.MAX)
vector = partial(Column, type=Type.VECTOR, unit=Unit.VECTOR, join=Join.KNOWN, nullable=False)
