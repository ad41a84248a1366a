"""A version of the ledger: which Parquet files hold the rows of each table.

    LEDGER/versions/0000000007.json    the manifest of version 7
    LEDGER/data/…                      Parquet files of tables and of kept views, an index per group, fingerprints and
                                       ties of sources; a manifest names them relative to LEDGER
    LEDGER/staging/…                   rows on their way into the ledger
    LEDGER/cache/…                     rows of views, no part of any version

A group is a set of files, some per table, that hold whole families of rows; those of kept views hold what follows from
them. Each row of these files says to which family it belongs, by a number in the column `component`. When families
change, their rows are written to a new group, and the version lists their old numbers as dead: whoever reads the files
leaves out the rows that have them.

Readers ignore keys they do not know, so that later releases can say more in a manifest. What it does say is checked
when it is read: a ledger may come from anybody, and what its manifest names is read, and removed later.

- A path is data/NAME, data/FOLDER/NAME or NAME.parquet, and stands only once. A name has letters, digits, `_`, `-` and
  `.`, and begins with none of the last two.
- Tables are those of the schema. A kept view has a name that no table has; another AIX may have kept other views.
- Every group of the tables has an index, and there are no other indexes. Its name is made as that of a file is.
- Only groups with files have dead families, of numbers that were given, and no more dead rows than rows.
- No version ends versions that come after it.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from aix.errors import LedgerDamagedError, LedgerNotFoundError, LedgerTooNewError
from aix.store.stored_files import check_folder, check_regular, damage_in, read_regular
from aix.version import FIRST_NUMBERED, SCHEMA_VERSION

_PLAIN_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_PATH = re.compile(rf"data/({_PLAIN_NAME}/)?{_PLAIN_NAME}|{_PLAIN_NAME}\.parquet", re.ASCII)
_GROUP = re.compile(_PLAIN_NAME, re.ASCII)
_VIEW = re.compile(r"[a-z][a-z0-9_]{0,99}", re.ASCII)
_LONGEST_SHOWN = 100
VERSIONS_FOLDER = "versions"
DATA_FOLDER = "data"
STAGING_FOLDER = "staging"
RAW_FOLDER = "raw"
"""Copies of sources; see `aix.store.raw_copies`."""
CACHE_FOLDER = "cache"
"""Rows of views; see `aix.derived.view_cache`."""
REPORTS_FOLDER = "reports"
"""Pages of `aix report` that no other place was named for."""
STATUS_FILE = "status.json"
"""A note beside the versions: the recent use of the newest; see `aix.reading.summary`."""
FINDINGS_FILE = "findings.json"
"""A note beside the versions: the number of findings; see `aix.permissions.audit.finding_counts`."""
_DIGITS = 10
_MANIFEST_NAME = re.compile(rf"\d{{{_DIGITS}}}\.json", re.ASCII)
_Number = Annotated[int, msgspec.Meta(ge=1, lt=10**_DIGITS - 1)]
"""Of a version: there is a file name for it and for the next."""
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
COMPONENT = "component"
"""The column that numbers the family of a row, in files of groups; no column of a table has that name."""
PRICE_TABLES = ("prices", "model_prices")
"""Tables that no source gives: every ledger has its own, and replaces them as a whole."""


class Segment(msgspec.Struct, frozen=True):
    """One Parquet file of a table."""

    path: str
    rows: _Count
    size_bytes: _Count | None = None
    """None in a manifest that does not say."""
    group: str | None = None
    """None for prices, and in a ledger that was not written by joining rows into it."""


class EntryFile(msgspec.Struct, frozen=True):
    """A file beside those of the tables: the index of a group, or fingerprints or ties of sources."""

    path: str
    entries: _Count
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] | None = None
    """Of its content; None in a manifest that an earlier release wrote."""


class Dead(msgspec.Struct, frozen=True):
    """The families of a group whose rows are no part of a version any more."""

    components: tuple[_Count, ...]
    rows: dict[str, _Count] = {}
    """By table, how many rows they have."""


class Manifest(msgspec.Struct, frozen=True):
    """One version of all tables."""

    version: _Number
    schema_version: Annotated[int, msgspec.Meta(ge=1)]
    tables: dict[str, tuple[Segment, ...]]
    indexes: dict[str, EntryFile] = {}
    """By group."""
    dead: dict[str, Dead] = {}
    """By group, if some of its families are dead."""
    components: _Count = 0
    """The highest number that was ever given to a family."""
    fingerprints: tuple[EntryFile, ...] = ()
    """How the sources were when rows were read from them; what a later file says of a source holds."""
    ties: tuple[EntryFile, ...] = ()
    """Files of ties between sources; for each source, the latest file that names it holds."""
    unfinished: tuple[str, ...] = ()
    """Runs of earlier releases that have yet to read together what is connected."""
    replaces_rows: bool = False
    """Whether sources were read again, and turns, messages or calls of the version before are gone."""
    prices: str | None = None
    """The digest of the price lines that its prices are from."""
    views: dict[str, tuple[Segment, ...]] = {}
    """The rows of views that are kept, by group; see `aix.derived.materialised_tables`."""
    views_made_by: str | None = None
    """The digest of what these rows follow from, other than the rows of their group and permission rules."""
    rules: str | None = None
    """The digest of the permission rules that some of these rows follow from."""
    personas: str | None = None
    """The digest of the file of personas that some of these rows follow from; None without one."""
    oldest: _Count = 0
    """Versions before this one hold rows that were to be forgotten: nobody reads them, and they are removed."""


EMPTY = Manifest(version=0, schema_version=SCHEMA_VERSION, tables={})
"""The version before the first one: no tables."""


class _SchemaVersion(msgspec.Struct):
    """The one key of a manifest whose place never changes; read first, since a newer release may change the rest."""

    schema_version: int


_DECODER = msgspec.json.Decoder(Manifest)
_SCHEMA_VERSION_DECODER = msgspec.json.Decoder(_SchemaVersion)


def manifest_path(ledger: Path, version: int) -> Path:
    """Return where the manifest of a version lies."""
    return ledger / VERSIONS_FOLDER / f"{version:0{_DIGITS}}.json"


def segment_path(ledger: Path, segment: Segment) -> Path:
    """Return where the rows of a segment lie, once it is known to be a regular file of the right size."""
    path = ledger / segment.path
    check_regular(path, segment.size_bytes)
    return path


def check_folders(ledger: Path) -> None:
    """Raise LedgerDamagedError when a folder of the ledger is a link: then nothing is written or removed there."""
    for name in (DATA_FOLDER, VERSIONS_FOLDER, STAGING_FOLDER, RAW_FOLDER, CACHE_FOLDER):
        check_folder(ledger / name)


def segments_of(manifest: Manifest) -> set[Segment]:
    """Return the files of all tables of a version."""
    return {segment for segments in manifest.tables.values() for segment in segments}


def files_by_name(manifest: Manifest) -> dict[str, tuple[Segment, ...]]:
    """Return the files of all tables and kept views of a version."""
    return {**manifest.tables, **manifest.views}


def _files_in(manifest: Manifest) -> list[Segment | EntryFile]:
    """Return all files that a manifest names."""
    rows = (*manifest.tables.values(), *manifest.views.values())
    entries = (*manifest.indexes.values(), *manifest.fingerprints, *manifest.ties)
    return [*(segment for segments in rows for segment in segments), *entries]


def files_of(manifest: Manifest) -> set[str]:
    """Return the paths of all files of a version."""
    return {file.path for file in _files_in(manifest)}


def ungrouped_cache(manifest: Manifest) -> str:
    """Name the cache of files that are in no group: those of a ledger that an early AIX wrote change as a whole."""
    return f"ungrouped-{manifest.version}"


def dead_in(manifest: Manifest, segment: Segment) -> tuple[int, ...]:
    """Return the families whose rows in that file are no part of the version."""
    dead = manifest.dead.get(segment.group) if segment.group is not None else None
    return dead.components if dead else ()


def groups_of(tables: Mapping[str, Sequence[Segment]]) -> dict[str | None, dict[str, list[Segment]]]:
    """Return the files of each table by group."""
    groups: dict[str | None, dict[str, list[Segment]]] = {}
    for name, segments in tables.items():
        for segment in segments:
            groups.setdefault(segment.group, {}).setdefault(name, []).append(segment)
    return groups


def count_rows(manifest: Manifest, name: str) -> int:
    """Return how many rows a table has in a version."""
    stored = sum(segment.rows for segment in manifest.tables.get(name, ()))
    return stored - sum(dead.rows.get(name, 0) for dead in manifest.dead.values())


def has_groups(manifest: Manifest) -> bool:
    """Whether all rows were joined into the version; an early ledger was not made that way."""
    tables = (segments for name, segments in manifest.tables.items() if name not in PRICE_TABLES)
    return all(segment.group is not None for segments in tables for segment in segments)


def is_ledger(ledger: Path) -> bool:
    """Whether there is a version of a ledger at that path."""
    return _newest(ledger) is not None


def read_latest(ledger: Path) -> Manifest:
    """Return the newest version of the ledger at that path."""
    newest = _newest(ledger)
    if newest is None:
        raise LedgerNotFoundError(ledger)
    return read_manifest(newest)


def version_numbers(ledger: Path) -> tuple[int, ...]:
    """Return the numbers of the versions at that path, the newest last."""
    return tuple(int(path.stem) for path in manifest_paths(ledger))


def manifest_paths(ledger: Path) -> list[Path]:
    """Return the manifests of all versions, oldest first."""
    folder = ledger / VERSIONS_FOLDER
    try:
        found = sorted(path for path in folder.iterdir() if _MANIFEST_NAME.fullmatch(path.name))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise LedgerDamagedError(folder, error.strerror or str(error)) from error
    if found:
        check_folder(folder)
    return found


def _newest(ledger: Path) -> Path | None:
    return max(manifest_paths(ledger), default=None)


def read_manifest(path: Path) -> Manifest:
    """Return the version that a manifest file describes; what it names is checked."""
    ledger = path.parent.parent
    content = read_regular(path)
    with damage_in(path):
        schema_version = _SCHEMA_VERSION_DECODER.decode(content).schema_version
        if schema_version > SCHEMA_VERSION:
            raise LedgerTooNewError(ledger, schema_version, SCHEMA_VERSION)
        manifest = _without_dropped_tables(_DECODER.decode(content))
    if path != manifest_path(ledger, manifest.version):
        raise LedgerDamagedError(path, f"it describes version {manifest.version}")
    if problem := _broken_rule(manifest):
        raise LedgerDamagedError(path, problem)
    for folder in {name.rpartition("/")[0] for name in files_of(manifest)} - {"", DATA_FOLDER}:
        check_folder(ledger / folder)
    return manifest


def _without_dropped_tables(manifest: Manifest) -> Manifest:
    """Return a version without the tables that were stored when it was written, and no longer are."""
    if manifest.schema_version == SCHEMA_VERSION:
        return manifest
    from aix.schema.migrations import dropped_tables

    dropped = dropped_tables(manifest.schema_version)
    tables = {name: segments for name, segments in manifest.tables.items() if name not in dropped}
    return msgspec.structs.replace(manifest, tables=tables)


def _broken_rule(manifest: Manifest) -> str | None:
    """Return a sentence about the first rule that a manifest breaks; None when it keeps all."""
    rules = (_broken_by_paths, _broken_by_names, _broken_by_dead_rows, _broken_by_numbers)
    return next((problem for rule in rules if (problem := rule(manifest))), None)


def _broken_by_paths(manifest: Manifest) -> str | None:
    seen: set[str] = set()
    for file in _files_in(manifest):
        if not _PATH.fullmatch(file.path):
            return f"it names {_shown(file.path)}, which is not a plain name in the ledger"
        if file.path in seen:
            return f"it names {file.path} twice"
        seen.add(file.path)
    return None


def _broken_by_names(manifest: Manifest) -> str | None:
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


def _broken_by_dead_rows(manifest: Manifest) -> str | None:
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


def _broken_by_numbers(manifest: Manifest) -> str | None:
    if manifest.oldest > manifest.version:
        return f"it ends versions before {manifest.oldest}, and is version {manifest.version} itself"
    return None


def _shown(name: str) -> str:
    return ascii(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…")
