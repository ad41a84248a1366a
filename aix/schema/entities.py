"""Things that can be tagged: rows that have an id of their own, and nodes of graphs with all their versions."""

import re

from aix.schema import TABLES
from aix.schema.model import Table
from aix.schema.sql import quote_name

NODES = TABLES["dag_nodes"]
VIEW_OF_NODES = "v_dag_nodes"
"""The view that also has nodes which events alone imply."""
_NO_ENTITIES = {"session_aliases", "prices"}
"""An alias stands for its session, and prices are replaced with each table of prices."""


def entity_tables() -> dict[str, Table]:
    """Return the tables whose rows can be tagged, by the word for one of their rows.

    A row with the id of another, such as the decision about a call, is tagged as that one.

    >>> [word for word, table in entity_tables().items() if table.name in ("tool_calls", "dag_nodes", "requests")]
    ['call', 'request', 'node']
    """
    own_id = (
        table
        for table in TABLES.values()
        if len(table.key) == 1 and not table.column(table.key[0]).references and table.name not in _NO_ENTITIES
    )
    named = {_word(table.name): table for table in (*own_id, NODES)}
    return {word: named[word] for word in sorted(named, key=lambda word: list(TABLES).index(named[word].name))}


def entity_key(table: Table) -> str:
    """Return SQL for the id of a row. Ids of nodes are unique among those of their kind: `Message/m-1`."""
    if table is NODES:
        return "kind || '/' || node_id"
    return f"cast({quote_name(table.key[0])} as varchar)"


def _word(table_name: str) -> str:
    return re.sub("^(chat|dag|tool)_|s$", "", table_name).replace("_", "-")
