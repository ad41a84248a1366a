"""`ledger.duckdb`: the newest version of the ledger for any DuckDB client, one view per table and per file of views.

    LEDGER/ledger.duckdb         views over the version's Parquet files, by absolute path, and those of `queries/views`
    LEDGER/ledger.duckdb.json    which version, folder and view files the file beside it is for

Both are disposable: they are made of a manifest, and made again when they are missing, of another version, in another
folder than they say, or of other views than this AIX has. The file is replaced whole, so whoever has it open keeps what
they opened.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.derived.materialised_tables import derived_selects
from aix.errors import LedgerDamagedError, LedgerError, LedgerUnwritableError, QueryFileError
from aix.query.packs import library_views_digest
from aix.query.views import create_library_views, library_views
from aix.schema import SCHEMA_VERSION, TABLES
from aix.store.durable import replace_file, writing_to
from aix.store.manifest import EMPTY, Manifest, read_latest
from aix.store.stored_files import read_decoded, read_regular
from aix.store.views import create_views, view_select

if TYPE_CHECKING:
    import duckdb

CATALOG = "ledger.duckdb"
CATALOG_NOTE = "ledger.duckdb.json"
STORAGE_VERSION = "v1.0.0"
"""Read by every DuckDB since 1.0; left to itself, DuckDB writes files that only its own release and later ones open."""


class _Note(msgspec.Struct, frozen=True):
    """The version and folder that a catalog was made for, readable without DuckDB."""

    version: int
    schema_version: int
    folder: str
    views: str
    """The digest of the view files."""
    file: tuple[int, int, int]
    """The stamp of the catalog file: of two writers, one may leave the file and the other the note."""
    texts: dict[str, str]
    """By view of a table, a digest of its SELECT."""


_NOTE_DECODER = msgspec.json.Decoder(_Note)


def refresh_catalog(ledger: Path) -> None:
    """Bring the catalog up to date, where it can be written; the ledger is whole without it."""
    with suppress(OSError, LedgerError, QueryFileError, UnicodeError):
        folder = ledger.resolve()
        str(folder).encode()  # DuckDB opens no path that is not UTF-8
        written = 0
        # A writer that was slow replaces the catalog of a faster one, so look again after writing.
        while (newest := read_latest(folder)).version > written and not _is_current(folder, newest):
            write_catalog(folder, newest)
            written = newest.version


def write_catalog(ledger: Path, manifest: Manifest) -> None:
    """Replace the catalog by one of that version."""
    folder = ledger.resolve()
    texts = _texts(folder, manifest)
    try:
        content = _with_changes(folder, manifest, texts, _last_written(folder, texts))
    except (LedgerError, QueryFileError):  # the last one may be damaged
        content = _with_changes(folder, manifest, texts, _empty_catalog(library_views_digest()))
    with suppress(FileNotFoundError):
        # Left by a client that wrote to the catalog before; it does not belong to the new one.
        (folder / f"{CATALOG}.wal").unlink()
    with writing_to(folder):
        file = _identity(replace_file(folder / CATALOG, content))
        note = _Note(manifest.version, SCHEMA_VERSION, str(folder), library_views_digest(), file, texts)
        replace_file(folder / CATALOG_NOTE, msgspec.json.encode(note))


def _is_current(folder: Path, manifest: Manifest) -> bool:
    note = _read_note(folder)
    return note is not None and note.version == manifest.version


def _read_note(folder: Path) -> _Note | None:
    """Return what is noted of the catalog, if this AIX wrote it for that folder."""
    try:
        note = read_decoded(folder / CATALOG_NOTE, _NOTE_DECODER.decode)
        found = _identity((folder / CATALOG).stat())
    except (OSError, LedgerDamagedError):
        return None
    known = (SCHEMA_VERSION, str(folder), library_views_digest(), found)
    return note if (note.schema_version, note.folder, note.views, note.file) == known else None


def _last_written(folder: Path, texts: Mapping[str, str]) -> tuple[bytes, Mapping[str, str]]:
    """Return the catalog that is there, and the digests of its texts; the empty one, where it is not as AIX left it."""
    note = _read_note(folder)
    with suppress(LedgerDamagedError):
        # A derived table that is not current has no text, and the views over it are those of the empty catalog.
        if note is not None and note.texts.keys() <= texts.keys() and not (folder / f"{CATALOG}.wal").exists():
            return read_regular(folder / CATALOG), note.texts
    return _empty_catalog(library_views_digest())


@lru_cache(maxsize=1)
def _empty_catalog(_: str) -> tuple[bytes, Mapping[str, str]]:
    """Return the catalog of a ledger without rows: those of others differ from it in the views of tables."""
    nowhere = Path("/")

    def create(connection: "duckdb.DuckDBPyConnection") -> None:
        create_views(connection, nowhere, EMPTY)
        create_library_views(connection, library_views().values())

    return _database(b"", create), _texts(nowhere, EMPTY)


def _texts(folder: Path, manifest: Manifest) -> dict[str, str]:
    """Return the digest of each view that differs from version to version: those of tables, also of derived ones."""
    selects = {name: view_select(table, folder, manifest) for name, table in TABLES.items()}
    selects |= derived_selects(folder, manifest)
    return {name: sha256(select.encode()).hexdigest()[:16] for name, select in selects.items()}


def _with_changes(
    folder: Path, manifest: Manifest, texts: Mapping[str, str], last: tuple[bytes, Mapping[str, str]]
) -> bytes:
    """Return a catalog in which the views of tables are replaced whose text is another."""
    content, known = last
    changed = [name for name, digest in texts.items() if known.get(name) != digest]

    def replace(connection: "duckdb.DuckDBPyConnection") -> None:
        create_views(connection, folder, manifest, [name for name in changed if name in TABLES])
        derived = [view for view in library_views().values() if view.name in changed]
        create_library_views(connection, derived, derived_selects(folder, manifest), folder)

    return _database(content, replace)


def _database(content: bytes, change: Callable[["duckdb.DuckDBPyConnection"], None]) -> bytes:
    """Change a database; elsewhere, because DuckDB cannot write where a folder's name has a question mark."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="aix-") as elsewhere:
        Path(elsewhere).chmod(0o700)
        made = Path(elsewhere) / CATALOG
        if content:
            made.write_bytes(content)
        try:
            # Not in the DuckDB that is open: it would leave changes in a log while it is asked anything else.
            with duckdb.connect(str(made), config={"storage_compatibility_version": STORAGE_VERSION}) as connection:
                connection.execute("begin")
                change(connection)
                connection.execute("commit")
        except duckdb.Error as error:
            raise LedgerUnwritableError(made, str(error)) from error
        return made.read_bytes()


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns
