"""Rules that a manifest must keep. A ledger may come from anybody: what its manifest names is read, and removed later.

- A path is data/NAME, data/FOLDER/NAME or NAME.parquet, and stands only once. A name has letters, digits, `_`, `-` and
  `.`, and begins with none of the last two.
- Tables are those of the schema. A kept view has a name that no table has; another AIX may have kept other views.
- Every group of the tables has an index, and there are no other indexes. Its name is made as that of a file is.
- No version ends versions that come after it.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aix.ledger.manifest import EntryFile, Manifest, Segment

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_PATH = re.compile(rf"data/({_NAME}/)?{_NAME}|{_NAME}\.parquet", re.ASCII)
_GROUP = re.compile(_NAME, re.ASCII)
_VIEW = re.compile(r"[a-z][a-z0-9_]{0,99}", re.ASCII)
_LONGEST_SHOWN = 100


def broken_rule(manifest: "Manifest") -> str | None:
    """Return a sentence about the first rule that a manifest breaks; None when it keeps all."""
    return _broken_by_paths(manifest) or _broken_by_names(manifest) or _broken_by_numbers(manifest)


def _broken_by_paths(manifest: "Manifest") -> str | None:
    seen: set[str] = set()
    for file in _files(manifest):
        if not _PATH.fullmatch(file.path):
            return f"it names {_shown(file.path)}, which is not a plain name in the ledger"
        if file.path in seen:
            return f"it names {file.path} twice"
        seen.add(file.path)
    return None


def _files(manifest: "Manifest") -> list["Segment | EntryFile"]:
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


def _broken_by_numbers(manifest: "Manifest") -> str | None:
    if manifest.oldest > manifest.version:
        return f"it ends versions before {manifest.oldest}, and is version {manifest.version} itself"
    return None


def _shown(name: str) -> str:
    return ascii(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…")
