"""Rules that a manifest must keep. A ledger may come from anybody: what its manifest names is read, and removed later.

- A path is data/NAME, data/FOLDER/NAME or NAME.parquet, and stands only once. A name has letters, digits, `_`, `-` and
  `.`, and begins with none of the last two.
- Tables are those of the schema. A kept view has a name that no table has; another AIX may have kept other views.
- Every group of the tables has an index, and there are no other indexes. Its name is made as that of a file is.
- Only groups with files have dead families, of numbers that were given, and no more dead rows than rows.
- No version ends versions that come after it.
"""

import re
from typing import TYPE_CHECKING

from aix.version import FIRST_NUMBERED

if TYPE_CHECKING:
    from aix.store.manifest import EntryFile, Manifest, Segment

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_PATH = re.compile(rf"data/({_NAME}/)?{_NAME}|{_NAME}\.parquet", re.ASCII)
_GROUP = re.compile(_NAME, re.ASCII)
_VIEW = re.compile(r"[a-z][a-z0-9_]{0,99}", re.ASCII)
_LONGEST_SHOWN = 100


def broken_rule(manifest: "Manifest") -> str | None:
    """Return a sentence about the first rule that a manifest breaks; None when it keeps all."""
    rules = (_broken_by_paths, _broken_by_names, _broken_by_dead_rows, _broken_by_numbers)
    return next((problem for rule in rules if (problem := rule(manifest))), None)


def _broken_by_paths(manifest: "Manifest") -> str | None:
    seen: set[str] = set()
    for file in files_in(manifest):
        if not _PATH.fullmatch(file.path):
            return f"it names {_shown(file.path)}, which is not a plain name in the ledger"
        if file.path in seen:
            return f"it names {file.path} twice"
        seen.add(file.path)
    return None


def files_in(manifest: "Manifest") -> list["Segment | EntryFile"]:
    """Return all files that a manifest names."""
    rows = (*manifest.tables.values(), *manifest.views.values())
    entries = (*manifest.indexes.values(), *manifest.fingerprints, *manifest.ties)
    return [*(segment for segments in rows for segment in segments), *entries]


def _broken_by_names(manifest: "Manifest") -> str | None:
    from aix.schema import TABLES

    for name in manifest.tables:
        if name not in TABLES:
            return f"it has a table {_shown(name)}, which no schema up to version {manifest.schema_version} has"
    for name in manifest.views:
        if name in TABLES or not _VIEW.fullmatch(name):
            return f"it has a kept view {_shown(name)}, which cannot be the name of a view"
    groups = {segment.group for segments in manifest.tables.values() for segment in segments} - {None}
    for name in sorted(map(str, groups)):
        if not _GROUP.fullmatch(name):
            return f"it has a group {_shown(name)}, which is not a plain name"
    for group in sorted(groups ^ manifest.indexes.keys(), key=str):
        if group in groups:
            return f"the group {_shown(group or '')} has no index"
        return f"it has an index of a group {_shown(group or '')} that has no files"
    return None


def _broken_by_dead_rows(manifest: "Manifest") -> str | None:
    rows: dict[tuple[str | None, str], int] = {}
    for name, segments in manifest.tables.items() if manifest.dead else ():
        for segment in segments:
            rows[segment.group, name] = rows.get((segment.group, name), 0) + segment.rows
    for group, dead in manifest.dead.items():
        if manifest.schema_version < FIRST_NUMBERED:
            return "it has dead rows, which ledgers of its schema version never have"
        if group not in manifest.indexes:
            return f"it has dead rows of a group {_shown(group)} that has no files"
        if any(not 0 < number <= manifest.components for number in dead.components):
            return f"it has a dead family of the group {_shown(group)} whose number was never given"
        if any(count > rows.get((group, name), 0) for name, count in dead.rows.items()):
            return f"more rows of the group {_shown(group)} are dead than it has"
    return None


def _broken_by_numbers(manifest: "Manifest") -> str | None:
    if manifest.oldest > manifest.version:
        return f"it ends versions before {manifest.oldest}, and is version {manifest.version} itself"
    return None


def _shown(name: str) -> str:
    return ascii(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…")
