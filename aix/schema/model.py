"""The parts of a table definition.

Everything AIX knows about a stored column stands in one `Column`; Arrow schemas, views, row checks and the reference
in `docs/ledger.md` are made from it.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Self

import msgspec


class Type(StrEnum):
    """How a column is stored, as SQL writes it. Ids and JSON are VARCHAR: every Parquet reader has it."""

    VARCHAR = "VARCHAR"
    BIGINT = "BIGINT"
    BOOLEAN = "BOOLEAN"
    PRICE = "DECIMAL(18,12)"
    COST = "DECIMAL(38,12)"
    VECTOR = "FLOAT[]"


class Unit(StrEnum):
    """The unit of the values of a column."""

    ID = "id"
    NAME = "name"
    WORD = "word"
    TEXT = "text"
    PATH = "path"
    HASH = "hash"
    JSON_ARRAY = "JSON array"
    JSON_OBJECT = "JSON object"
    JSON = "JSON"
    FLAG = "flag"
    TIME = "Unix ms"
    FILE_TIME = "Unix ns"
    DURATION = "ms"
    TOKENS = "tokens"
    BYTES = "bytes"
    CHARACTERS = "characters"
    COUNT = "count"
    POSITION = "position"
    LINE = "line, from 1"
    LINE_COLUMN = "column, from 1"
    USD = "USD"
    VECTOR = "vector"


class Join(StrEnum):
    """How the values of one column become one when two rows of the same key meet (`aix.merge.join`).

    What was read beats what was inferred, that beats a placeholder, and that beats NULL; the rule decides between
    values of the same standing.
    """

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Self:
        """Make a rule of its word and what it means."""
        rule = str.__new__(cls, word)
        rule._value_ = word
        rule.meaning = meaning
        return rule

    KEY = "key", "Names the row: equal by definition."
    MIN = "min", "The smallest value."
    MAX = "max", "The largest value."
    FURTHEST = "furthest", "The word that stands last in the column's list of words."
    ALONG = "along", "The value from the row whose `furthest` word was taken; from two such rows as by `known`."
    KNOWN = "known", "The longer text or list, then the greater value."
    NEWEST = "newest", "The value from the row whose `updated_at` is greatest; from two such rows the greater value."
    UNION = (
        "union",
        "JSON arrays: the union of their elements. JSON objects: the union of their keys, equal keys joined again.",
    )
    SET = (
        "set",
        "All rows of one message are taken together from the side that has more of them; of equally many, from the side"
        " whose rows are greater in byte order.",
    )
    LATEST = "latest", "The value of the latest run: for bookkeeping and prices, which no log contains."
    DERIVED = "derived", "Computed by AIX from other rows whenever they change; what a source says is ignored."


INFERENCE_FLAG = "is_inferred"
"""The column by which a row itself says that its `furthest` word was concluded rather than read."""


class _Described(msgspec.Struct, frozen=True):
    name: str
    description: str
    words: tuple[str, ...] = ()
    """The only values allowed, least advanced first; empty when any value is allowed."""


class Column(_Described, frozen=True, kw_only=True):
    """One stored column and everything that is promised about it."""

    type: Type
    unit: Unit
    join: Join
    nullable: bool = True
    default: str | int | None = None
    """The value of a row that does not name the column."""
    placeholder: str | None = None
    """The value that means "not known" in a column that cannot be NULL."""
    references: str | None = None
    """The `table.column` this value is found in, when it is not NULL."""
    session_origin: str | None = None
    """The origin of the session that the row belongs to: its label is `ORIGIN:VALUE`."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One table of the ledger."""

    name: str
    description: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    """Further groups of columns in which no two rows are equal."""
    canonical: bool = False
    """Whether the Agents Ledger Schema defines the table; the canonical export holds only these."""

    def __iter__(self) -> Iterator[Column]:
        """Go through the columns in their stored order."""
        return iter(self.columns)

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns in their stored order."""
        return tuple(column.name for column in self.columns)
