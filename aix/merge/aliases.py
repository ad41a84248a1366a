"""Aliases that people give to sessions, beside those that importers find in logs.

An alias stands for the label of a session. It is a name for one thing only: it is no label, no id of a turn, and no
alias of another session. It stays when the session is read again, and goes when the session is forgotten.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import msgspec

from aix.derived.derived_data import DerivedData
from aix.errors import AliasError, UnknownNameError, nearest_names
from aix.merge.groups import Groups
from aix.merge.merge_rows import Addition
from aix.merge.rewriting import add_part, nodes_of, settle, write_remaining_rows
from aix.merge.user_rows import find_name_problem, gather_user_rows, require_groups
from aix.merge.workspace import Delivered, open_workspace
from aix.schema import TABLES
from aix.schema.canonical import BY_HAND
from aix.store.commit import Change, Stage, commit
from aix.store.locks import staging_folder
from aix.store.manifest import Manifest, read_latest
from aix.store.views import create_views

LONGEST_ALIAS = 100
_ALIASES = TABLES["session_aliases"]
_LIKE_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*:")
_ADVICE = "an alias is a short name on one line, such as billing or login-fix"


class StoredAlias(msgspec.Struct, frozen=True, order=True):
    """An alias of the ledger."""

    alias: str
    session_label: str
    is_by_hand: bool
    """Whether a person gave it; the others come from logs."""


def check_alias(alias: str) -> None:
    """Raise `AliasError` for a text that cannot be an alias."""
    problem = find_name_problem(alias, LONGEST_ALIAS)
    if problem is None and _LIKE_LABEL.match(alias):
        problem = "it begins as a label does, with a word and a colon"
    if problem is None and alias.startswith(("-", "…")):
        problem = f"it begins with {alias[0]}, which has a meaning of its own on a command line"
    if problem:
        raise AliasError(alias, problem, _ADVICE)


def add_alias(ledger: Path, alias: str, label: str) -> bool:
    """Make a name stand for the session of that label, in one commit, and return whether it did not before."""
    check_alias(alias)
    with duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger), ["sessions"])
        created_at = _beginning_of(connection, label)
    row: dict[str, list[object]] = {
        "alias": [alias],
        "session_label": [label],
        "created_at": [created_at],
        "reason": [BY_HAND],
    }
    with staging_folder(ledger) as folder:
        given = AliasGiven(alias, label, gather_user_rows(folder, _ALIASES, row))
        return commit(ledger, Change(adds=given, derived=DerivedData())).result(given)


def remove_aliases(ledger: Path, aliases: Sequence[str]) -> list[StoredAlias]:
    """Remove aliases that people gave, in one commit, and return them with their sessions."""
    require_groups(ledger)
    taken = AliasesTaken(tuple(dict.fromkeys(aliases)))
    return commit(ledger, Change(leaves=[taken], derived=DerivedData())).result(taken)


@dataclass(frozen=True)
class AliasGiven:
    """An alias for a session, and the row that says so."""

    alias: str
    label: str
    rows: Delivered

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, bool]:
        """Return a version with this row, and whether the session did not have the alias."""
        with duckdb.connect() as connection:
            create_views(connection, stage.ledger, base, [_ALIASES.name, "sessions", "turns", "threads"])
            _beginning_of(connection, self.label)  # another writer may have forgotten it
            stored = next(iter(_stored(connection, [self.alias])), None)
            if stored is None:
                _check_free(connection, self.alias)
        if stored is None:
            version, _ = Addition(self.rows).apply(base, stage)
            return version, True
        if stored.session_label != self.label:
            where = "" if stored.is_by_hand else " in its log"
            advice = f"`aix alias rm {self.alias}` removes it" if stored.is_by_hand else "choose another name"
            raise AliasError(self.alias, f"it already stands{where} for the session {stored.session_label}", advice)
        return base, False


@dataclass(frozen=True)
class AliasesTaken:
    """Aliases that are to go."""

    aliases: tuple[str, ...]

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, list[StoredAlias]]:
        """Return a version without their rows, and what they stood for."""
        with open_workspace(stage.ledger) as workspace:
            create_views(workspace.connection, stage.ledger, base, [_ALIASES.name])
            stored = _stored(workspace.connection, self.aliases)
            self._check(workspace.connection, stored)
            groups = Groups(base, stage)
            nodes = nodes_of(workspace, _ALIASES, "alias", self.aliases)
            touched = groups.holding(nodes, nodes)
            for name, part in touched.items():
                add_part(workspace, groups, name, part)
            settle(workspace)
            with workspace.temporary("alias", nodes) as given:
                leaving = workspace.fetch(
                    f"select _place from ({workspace.kept_rows(_ALIASES)}) where _node in (select alias from {given})"
                )
            workspace.drop(_ALIASES, leaving.column(0).combine_chunks())
            write_remaining_rows(workspace, groups, touched)
        groups.drop_dead_rows()
        return groups.version(), stored

    def _check(self, connection: duckdb.DuckDBPyConnection, stored: Sequence[StoredAlias]) -> None:
        """Raise an error for an alias that is not there, or that the next reading of its log would bring back."""
        for alias in self.aliases:
            found = next((each for each in stored if each.alias == alias), None)
            if found is None:
                known = [name for (name,) in connection.execute("select alias from session_aliases").fetchall()]
                near = nearest_names(alias, known)
                question = f"did you mean {' or '.join(near)}? " if near else ""
                raise AliasError(alias, "no session has it", f"{question}`aix alias ls` lists all")
            if not found.is_by_hand:
                problem = (
                    f"it comes from the log of the session {found.session_label}, whose next reading brings it back"
                )
                raise AliasError(alias, problem, "`aix alias ls --by-hand` lists those that can be removed")


def _beginning_of(connection: duckdb.DuckDBPyConnection, label: str) -> int:
    found = connection.execute("select created_at from sessions where label = $1", [label]).fetchall()
    if not found:
        raise UnknownNameError("session", label, ())
    return int(found[0][0])


def _check_free(connection: duckdb.DuckDBPyConnection, alias: str) -> None:
    """Raise an error for a name that something else has."""
    taken = {
        "it is the label of a session": "select 1 from sessions where label = $1",
        "it is the id of a turn": "select 1 from turns where id = $1 or response_message_id = $1",
        "it is the key of a thread": "select 1 from threads where thread_key = $1",
    }
    for problem, query in taken.items():
        if connection.execute(query, [alias]).fetchall():
            raise AliasError(alias, problem, "choose another name")


def _stored(connection: duckdb.DuckDBPyConnection, aliases: Sequence[str]) -> list[StoredAlias]:
    found = connection.execute(
        "select alias, session_label, coalesce(reason = $reason, false) from session_aliases"
        " where alias in (select unnest($aliases)) order by alias",
        {"aliases": list(aliases), "reason": BY_HAND},
    ).fetchall()
    return [StoredAlias(*row) for row in found]
