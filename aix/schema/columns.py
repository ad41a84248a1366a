"""Short constructors for the kinds of column the ledger has, so that a table reads as a list of facts."""

from aix.schema.model import Column, Join, Type, Unit


def ident(
    name: str,
    description: str,
    *,
    join: Join = Join.KNOWN,
    nullable: bool = True,
    references: str | None = None,
) -> Column:
    """Make a column that holds the id of something."""
    return Column(
        name=name,
        type=Type.VARCHAR,
        unit=Unit.ID,
        join=join,
        description=description,
        nullable=nullable,
        references=references,
    )


def key(name: str, description: str, *, references: str | None = None, unit: Unit = Unit.ID) -> Column:
    """Make a text column that names the row."""
    return Column(
        name=name,
        type=Type.VARCHAR,
        unit=unit,
        join=Join.KEY,
        description=description,
        nullable=False,
        references=references,
    )


def hashed_key(name: str, description: str) -> Column:
    """Make a 63-bit column that names the row."""
    return Column(name=name, type=Type.BIGINT, unit=Unit.ID, join=Join.KEY, description=description, nullable=False)


def text(
    name: str,
    description: str,
    *,
    unit: Unit = Unit.TEXT,
    join: Join = Join.KNOWN,
    nullable: bool = True,
    default: str | None = None,
) -> Column:
    """Make a column of free text: a name, a path, a message."""
    return Column(
        name=name,
        type=Type.VARCHAR,
        unit=unit,
        join=join,
        description=description,
        nullable=nullable,
        default=default,
    )


def word(
    name: str,
    description: str,
    words: tuple[str, ...],
    *,
    join: Join = Join.KNOWN,
    nullable: bool = True,
    default: str | None = None,
) -> Column:
    """Make a column that holds one of a closed list of words."""
    return Column(
        name=name,
        type=Type.VARCHAR,
        unit=Unit.WORD,
        join=join,
        description=description,
        nullable=nullable,
        words=words,
        default=default,
    )


def json(name: str, description: str, *, unit: Unit = Unit.JSON_OBJECT, join: Join = Join.UNION) -> Column:
    """Make a nullable column that holds JSON as text."""
    return Column(name=name, type=Type.VARCHAR, unit=unit, join=join, description=description)


def number(
    name: str,
    description: str,
    *,
    unit: Unit,
    join: Join = Join.MAX,
    nullable: bool = True,
    default: int | None = None,
) -> Column:
    """Make a 64-bit integer column."""
    return Column(
        name=name,
        type=Type.BIGINT,
        unit=unit,
        join=join,
        description=description,
        nullable=nullable,
        default=default,
    )


def tokens(name: str, description: str, *, join: Join = Join.MAX) -> Column:
    """Make a nullable count of tokens; unknown is NULL, never 0."""
    return number(name, description, unit=Unit.TOKENS, join=join)


def time(name: str, description: str, *, join: Join, nullable: bool = True) -> Column:
    """Make a moment in Unix milliseconds, UTC."""
    return number(name, description, unit=Unit.TIME, join=join, nullable=nullable)


def flag(name: str, description: str, *, join: Join = Join.MAX) -> Column:
    """Make a nullable yes-or-no column; yes wins over no where two rows meet."""
    return Column(name=name, type=Type.BOOLEAN, unit=Unit.FLAG, join=join, description=description)


def money(
    name: str,
    description: str,
    exactness: Type,
    *,
    join: Join = Join.MAX,
    nullable: bool = True,
) -> Column:
    """Make an amount of US dollars, exact to twelve places."""
    return Column(name=name, type=exactness, unit=Unit.USD, join=join, description=description, nullable=nullable)


def word_key(name: str, description: str, words: tuple[str, ...]) -> Column:
    """Make a column that names the row with one of a closed list of words."""
    return word(name, description, words, join=Join.KEY, nullable=False)


def number_key(name: str, description: str, *, unit: Unit) -> Column:
    """Make a column that names the row with a number."""
    return number(name, description, unit=unit, join=Join.KEY, nullable=False)


def vector(name: str, description: str) -> Column:
    """Make a column that holds a list of numbers."""
    return Column(
        name=name, type=Type.VECTOR, unit=Unit.VECTOR, join=Join.KNOWN, description=description, nullable=False
    )
