"""Tables of a ledger that follow from a file of personas; `queries/views` says which columns they have.

They are kept in each version with the digest of the file, and are no part of what logs say: two machines that read the
same logs give the same rows of all other tables.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from aix.permissions.rule_book import Row
from aix.personas.persona_book import WORKSPACE, PersonaBook, folder_of
from aix.personas.verdicts import Lists, gains
from aix.query.views import library_views
from aix.schema.sql import empty_select, quote_name, quote_text

if TYPE_CHECKING:
    import pyarrow as pa

    from aix.store.manifest import Manifest

PERSONAS = "personas"
PERMISSIONS = "persona_permissions"
MAPPINGS = "persona_mappings"
GAINS = "persona_gains"
_READ = (PERSONAS, PERMISSIONS, MAPPINGS)
"""Those that say what the file does."""
FILE_TABLES = (*_READ, GAINS)
"""Those that follow from the file alone, and from how dialects read its rules."""
VERDICTS = "persona_verdicts"
LISTED = {"allow": "has_tool_list", "credential": "has_credential_list"} | {
    kind: f"has_{kind}_list" for kind in ("read", "write", "host")
}
"""By kind of a list that allows nothing else: the column that says whether there is one."""


class PersonaTables(msgspec.Struct, frozen=True, dict=True):
    """The rows that say what a file of personas does, by table; the rest follows from them."""

    digest: str | None = None
    rows: Mapping[str, Sequence[Row]] = {}

    @cached_property
    def lists(self) -> dict[str, Lists]:
        """The lists of each persona by kind; one that is missing sets no bound."""
        lists: dict[str, dict[str, list[str]]] = {}
        names = [column.name for column in library_views()[PERSONAS].columns]
        for row in self.rows.get(PERSONAS, ()):
            persona = dict(zip(names, row, strict=True))
            lists[str(persona["persona_id"])] = {kind: [] for kind, column in LISTED.items() if persona[column]}
        for persona_id, kind, _, value in self.rows.get(PERMISSIONS, ()):
            lists[str(persona_id)].setdefault(str(kind), []).append(str(value))
        return cast("dict[str, Lists]", lists)

    def with_texts(self, change: Callable[[str], str]) -> "PersonaTables":
        """Return the same tables with their texts changed."""
        rows = {
            name: [tuple(change(each) if isinstance(each, str) else each for each in row) for row in listed]
            for name, listed in self.rows.items()
        }
        return PersonaTables(self.digest, rows)

    def select(self, name: str) -> str:
        """Return a SELECT of the rows of a table that says what the file does."""
        columns = library_views()[name].columns
        rows = self.rows.get(name, ())
        if not rows:
            return empty_select(columns)
        values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
        typed = ", ".join(
            f"cast({quote_name(each.name)} as {each.type}) as {quote_name(each.name)}" for each in columns
        )
        names = ", ".join(quote_name(each.name) for each in columns)
        return f"select {typed} from (values {values}) given({names})"  # noqa: S608 - quoted

    def batch(self, name: str) -> "pa.RecordBatch | None":
        """Return the rows of a table for a file; None where it has none."""
        rows = list(gains(self.lists)) if name == GAINS else self.rows.get(name, ())
        if not rows:
            return None
        from aix.schema.arrow import batch_from_rows

        return batch_from_rows([(column.name, column.type) for column in library_views()[name].columns], rows)


NOBODY = PersonaTables()
"""Those of no file."""


def tables_of(book: PersonaBook) -> PersonaTables:
    """Return the tables that follow from a file."""
    personas: list[Row] = []
    permissions: list[Row] = []
    for persona_id, persona in book.personas.items():
        listed = tuple(kind in persona.lists for kind in LISTED)
        identity = (persona.name, persona.soul, persona.emoji)
        defaults = (persona.model, persona.thinking, persona.max_tokens, persona.temperature)
        personas.append((persona_id, *identity, *defaults, persona.main, *listed, book.digest))
        for kind, values in persona.lists.items():
            written = dict.fromkeys(each for value in values for each in _written(kind, value))
            permissions += [(persona_id, kind, position, value) for position, value in enumerate(written)]
    mappings: list[Row] = [
        (position, mapped.persona, *row) for position, mapped in enumerate(book.mappings) for row in mapped.rows()
    ]
    return PersonaTables(book.digest, {PERSONAS: personas, PERMISSIONS: permissions, MAPPINGS: mappings})


def stored_tables(ledger: Path, version: "Manifest") -> PersonaTables:
    """Return the tables that a version keeps."""
    from aix.store.manifest import segment_path
    from aix.store.segments import read_row_groups

    if version.personas is None:
        return NOBODY
    rows: dict[str, list[Row]] = {}
    for name in _READ:
        columns = [column.name for column in library_views()[name].columns]
        rows[name] = []
        for segment in version.views.get(name, ()):
            for group in read_row_groups(segment_path(ledger, segment)):
                if not {*columns} <= {*group.column_names}:
                    return NOBODY  # another AIX wrote them: the next import reads the file again
                rows[name] += zip(*(group.column(column).to_pylist() for column in columns), strict=True)
    return PersonaTables(version.personas, rows)


def _written(kind: str, value: str) -> tuple[str, ...]:
    """Return an entry of a list in the forms that are compared: rules and names stay as they are written.

    A call that names a folder in the home may be known with `~`, as where the home of its machine is not known.
    """
    if kind in ("read", "write") and value != WORKSPACE:
        own = value.replace("\\", "/").rstrip("/") if value.startswith("~") else ""
        return (folder_of(value), *([own] if own else []))
    return (value.strip().lower() if kind == "host" else value.strip(),)


def _literal(value: object) -> str:
    if value is None:
        return "null"
    return quote_text(value) if isinstance(value, str) else repr(value).lower()
