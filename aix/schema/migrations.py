"""How tables of earlier schema versions are read as if they were written today.

A migration is data: what one version changed in the tables that existed before it. `upgrade_select` turns the
migrations between two versions into one SELECT, which serves both ways to open an old ledger for ever: as a view over
the old files, and as the query that rewrites them in a commit. A table that a version added needs no entry: in an
older ledger it has no files and reads as empty.
"""

from collections.abc import Mapping, Sequence

import msgspec

from aix.schema.model import Table
from aix.schema.sql import name_list, quote_name


class TableChange(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a version in one table, as SQL expressions over the columns of the version before.

    A rename is an added column that reads the old one, and the old one dropped.
    """

    added: Mapping[str, str] = msgspec.field(default_factory=dict)
    changed: Mapping[str, str] = msgspec.field(default_factory=dict)
    dropped: Sequence[str] = ()
    former_node: str | None = None
    """Where the key changed: the first node (`aix.store.nodes`) that rows of the version before have."""


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """The step from the schema version before to `version`."""

    version: int
    reason: str
    tables: Mapping[str, TableChange] = msgspec.field(default_factory=dict)
    dropped: Sequence[str] = ()
    """Tables that are no longer stored."""


_LATEST_TIME = 253_402_300_799_999
"""The last moment of the year 9999 in Unix ms."""


def _payload(*members: str) -> str:
    """Return SQL for the JSON object of attributes, which may be NULL, with the columns that stood beside them."""
    attributes = "case when json_valid(attrs_json) then attrs_json end"
    return f"cast(json_merge_patch(coalesce({attributes}, '{{}}'), json_object({', '.join(members)})) as varchar)"


def _moment(column: str) -> str:
    """Return SQL for a member of a payload that is a time; it is left out where the column has none."""
    is_time = f"{column} between 0 and {_LATEST_TIME}"
    return (
        f"'{column}', case when {is_time} then strftime(make_timestamp({column} * 1000), '%Y-%m-%dT%H:%M:%S.%gZ') end"
    )


_VALIDITY = (_moment("valid_from"), _moment("valid_to"))


MIGRATIONS: tuple[Migration, ...] = (
    Migration(version=2, reason="the extension tables were added"),
    Migration(
        version=3,
        reason="what derived columns are made of is kept: places, ends, stated models, errors, inferred values",
        tables={
            "turn_context": TableChange(
                added={
                    "ended_at": "cast(null as bigint)",
                    "stated_model": "cast(null as varchar)",
                    "stated_provider": "cast(null as varchar)",
                }
            ),
            "message_facts": TableChange(
                added={
                    "position": "cast(null as bigint)",
                    "is_query": "cast(null as boolean)",
                    "is_response": "cast(null as boolean)",
                    "is_error": "cast(null as boolean)",
                }
            ),
        },
    ),
    Migration(
        version=4,
        reason="prices are chosen for every model (`model_prices`), by lines whose order is kept",
        tables={"prices": TableChange(added={"precedence": "cast(null as bigint)"})},
    ),
    Migration(version=5, reason="files of a group number the family of each row, so that a version can leave some out"),
    Migration(
        version=6,
        reason="nodes of graphs keep their versions, and nodes and edges are kept whole; events are named by their"
        " computed hash; chats and agents say who created, added, removed and changed them; mentions are found in"
        " texts",
        tables={
            "dag_events": TableChange(
                added={"claimed_event_id": "event_id", "position": "cast(null as bigint)"},
                changed={"event_id": "sha256(payload_json)"},
                dropped=("is_id_claimed",),
                former_node="md5_number_lower('dag_events.event_id:' || event_id)",
            ),
            "dag_nodes": TableChange(
                added={"payload_json": _payload("'node', kind", "'id', node_id", *_VALIDITY)},
                changed={"valid_from": "coalesce(valid_from, 0)"},
                dropped=("attrs_json",),
                former_node="md5_number_lower('dag_nodes.node_id:' || node_id)",
            ),
            "dag_edges": TableChange(
                added={
                    "src_kind": "cast(null as varchar)",
                    "dst_kind": "cast(null as varchar)",
                    "payload_json": _payload("'edge', type", "'src', src", "'dst', dst", *_VALIDITY),
                },
                dropped=("attrs_json",),
            ),
            "programs": TableChange(added={"updated_at": "cast(null as bigint)"}),
            "chat_agents": TableChange(
                added={
                    "invited_users": "cast(null as varchar)",
                    "is_removal_restricted": "cast(null as boolean)",
                    "updated_at": "cast(null as bigint)",
                }
            ),
            "chat_users": TableChange(added={"updated_at": "cast(null as bigint)"}),
            "chat_participants": TableChange(
                added={
                    "added_by": "cast(null as varchar)",
                    "removed_at": "cast(null as bigint)",
                    "removed_by": "cast(null as varchar)",
                    "updated_at": "cast(null as bigint)",
                }
            ),
        },
        dropped=("chat_mentions",),
    ),
)


def changed_tables(written_version: int) -> set[str]:
    """Return the names of the tables that a ledger of that version has in another form than today."""
    return {name for migration in _steps_from(written_version) for name in migration.tables}


def dropped_tables(written_version: int) -> set[str]:
    """Return the names of the tables that a ledger of that version may have, and that are no longer stored."""
    return {name for migration in _steps_from(written_version) for name in migration.dropped}


def former_node(table: Table, written_version: int) -> str | None:
    """Return SQL for the first node of a row of that version, if it is another than that of a row of today.

    Its columns are those of that version: no key may change twice.
    """
    changes = (migration.tables.get(table.name) for migration in _steps_from(written_version))
    return next((change.former_node for change in changes if change and change.former_node), None)


def upgrade_select(table: Table, source: str, written_version: int) -> str:
    """Return a SELECT that reads `source`, written at an earlier version, with the table's columns of today.

    >>> from aix.schema import find_table
    >>> upgrade_select(find_table("session_aliases"), "old", 1).startswith('select "alias"')
    True
    """
    relation = source
    for migration in _steps_from(written_version):
        change = migration.tables.get(table.name)
        if change:
            relation = f"({_change_select(change, relation)})"
    return f"select {name_list(table)} from {relation}"


def _steps_from(written_version: int) -> list[Migration]:
    return [migration for migration in MIGRATIONS if migration.version > written_version]


def _change_select(change: TableChange, relation: str) -> str:
    kept = "*"
    if change.dropped:
        kept += f" exclude ({', '.join(map(quote_name, change.dropped))})"
    if change.changed:
        kept += f" replace ({', '.join(_aliased(change.changed))})"
    return f"select {', '.join([kept, *_aliased(change.added)])} from {relation}"


def _aliased(expressions: Mapping[str, str]) -> list[str]:
    return [f"{expression} as {quote_name(name)}" for name, expression in expressions.items()]
