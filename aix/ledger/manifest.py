"""A version of the ledger: which Parquet files hold the rows of each table.

    LEDGER/versions/0000000007.json    the manifest of version 7
    LEDGER/data/…                      Parquet files; a manifest names them relative to LEDGER

Readers ignore keys they do not know, so that later releases can say more in a manifest.
"""

import re
from pathlib import Path

import msgspec

from aix.errors import LedgerDamagedError, LedgerNotFoundError, LedgerTooNewError
from aix.schema import SCHEMA_VERSION

VERSIONS_FOLDER = "versions"
DATA_FOLDER = "data"
_DIGITS = 10
_NAME = re.compile(rf"\d{{{_DIGITS}}}\.json", re.ASCII)


class Segment(msgspec.Struct, frozen=True):
    """One Parquet file of a table."""

    path: str
    rows: int
    size_bytes: int | None = None
    """None in a manifest that does not say."""


class Manifest(msgspec.Struct, frozen=True):
    """One version of all tables."""

    version: int
    schema_version: int
    tables: dict[str, tuple[Segment, ...]]


EMPTY = Manifest(version=0, schema_version=SCHEMA_VERSION, tables={})
"""What stands before the first version."""


class _SchemaVersion(msgspec.Struct):
    """The one key of a manifest whose place never changes; read first, since a newer release may change the rest."""

    schema_version: int


def manifest_path(ledger: Path, version: int) -> Path:
    """Return where the manifest of a version lies."""
    return ledger / VERSIONS_FOLDER / f"{version:0{_DIGITS}}.json"


def segments_of(manifest: Manifest) -> set[Segment]:
    """Return the files of all tables of a version."""
    return {segment for segments in manifest.tables.values() for segment in segments}


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
    names = (path.name for path in (ledger / VERSIONS_FOLDER).iterdir())
    return tuple(sorted(int(name.removesuffix(".json")) for name in names if _NAME.fullmatch(name)))


def _newest(ledger: Path) -> Path | None:
    folder = ledger / VERSIONS_FOLDER
    try:
        manifests = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise LedgerDamagedError(folder, error.strerror or str(error)) from error
    return max(manifests, default=None)


def read_manifest(path: Path) -> Manifest:
    """Return the version that a manifest file describes."""
    try:
        content = path.read_bytes()
        schema_version = msgspec.json.decode(content, type=_SchemaVersion).schema_version
        if schema_version > SCHEMA_VERSION:
            raise LedgerTooNewError(path.parent.parent, schema_version, SCHEMA_VERSION)
        manifest = msgspec.json.decode(content, type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise LedgerDamagedError(path, str(error)) from error
    if path != manifest_path(path.parent.parent, manifest.version):
        raise LedgerDamagedError(path, f"it describes version {manifest.version}")
    return manifest
