"""The ledger's schema, defined once.

`TABLES` holds every table; `SCHEMA_VERSION` is what a ledger written today says it is. A stored column changes only
together with a new version, a migration in `aix.schema.migrations`, and a ledger of the old version in
`fixtures/ledgers`.
"""

from aix.errors import UnknownNameError
from aix.schema.canonical import CANONICAL_TABLES
from aix.schema.extensions import CONTEXT_TABLES, IMPORT_TABLES, PERMISSION_TABLES, REQUEST_TABLES
from aix.schema.model import Column, Join, Table, Type, Unit
from aix.schema.ontologies import ONTOLOGY_TABLES
from aix.version import SCHEMA_VERSION

EXTENSION_TABLES = (*REQUEST_TABLES, *CONTEXT_TABLES, *PERMISSION_TABLES, *IMPORT_TABLES, *ONTOLOGY_TABLES)
TABLES: dict[str, Table] = {table.name: table for table in (*CANONICAL_TABLES, *EXTENSION_TABLES)}

__all__ = ["SCHEMA_VERSION", "TABLES", "Column", "Join", "Table", "Type", "Unit", "find_table"]


def find_table(name: str) -> Table:
    """Return the table of that name, or say which names come near.

    >>> find_table("turns").key
    ('id',)
    """
    try:
        return TABLES[name]
    except KeyError:
        raise UnknownNameError("table", name, tuple(TABLES)) from None
