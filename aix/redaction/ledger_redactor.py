"""A redactor for one ledger: with its key, and with the names of people and machines that it and this machine know.

The key is a random one in the file `redaction.key` of the ledger's folder, for the user alone. No export holds it:
whoever has it can try guesses at what a mark hides.
"""

import os
import pwd
import re
import socket
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

import pyarrow as pa

from aix.errors import LedgerUnwritableError, NamesFileError, RedactionKeyError
from aix.redaction.people import is_telling_name, users_of_homes
from aix.redaction.redactor import Redactor
from aix.schema import TABLES, Table, Type, Unit
from aix.store.durable import is_absent, new_file, part_file, place, writing_to

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_ADVICE_ON_NAMES = "write one name to a line"
KEY_FILE = "redaction.key"
_KEY_BYTES = 32
_PATHS = """
select workspace_path from turns union
select cwd from requests union
select raw_path from session_context union
select path from import_sources
"""
_MACHINES = "select distinct machine from import_sources"
_PEOPLE = """
select name from chat_users union
select config_json ->> '$.name' from programs where program_type = 'human'
"""
_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{64}(?![0-9A-Za-z])")
_CALLS = "tool_calls"
"""The table whose JSON is what tools got and gave: a hash there is one that somebody asked for."""
_LEFT_OUT = ("embeddings",)
"""Tables of which no row is given out: a vector says much about its text."""


class LedgerRedactor(Redactor):
    """Hides secrets and names in the rows of a ledger: equal values in the same way, so that joins hold."""

    def __init__(self, key: bytes, unkept_reason: str, **known: Iterable[str]) -> None:
        super().__init__(key, **known)
        self.unkept_reason = unkept_reason
        """Why the ledger's folder cannot keep the key, so that marks agree with those of this run only; else empty."""

    def row(self, table: str, row: Mapping[str, object]) -> Mapping[str, object]:
        """Return a row of a table, which may have columns of others too."""
        units = _units(table)
        return {
            name: self._of_column(table, units.get(name, Unit.TEXT), value) if isinstance(value, str) else value
            for name, value in row.items()
        }

    def batches(self, table: Table, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Go through rows of a table."""
        for batch in batches if table.name not in _LEFT_OUT else ():
            columns = [
                self._of_array(table.name, column.unit, batch.column(column.name))
                if column.type is Type.VARCHAR
                else batch.column(column.name)
                for column in table
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def _of_array(self, table: str, unit: Unit, values: pa.Array) -> pa.Array:
        redacted = (None if value is None else self._of_column(table, unit, value) for value in values.to_pylist())
        return pa.array(redacted, values.type)

    def _of_column(self, table: str, unit: Unit, value: str) -> str:
        match unit:
            case Unit.HASH:
                return self._keyed(value)
            case Unit.ID | Unit.JSON | Unit.JSON_OBJECT | Unit.JSON_ARRAY if table != _CALLS:
                return _HASH.sub(self._keyed_match, self.text(value))
            case _:
                return self.text(value)

    def _keyed(self, value: str) -> str:
        """Return another hash for a hash of texts: a text that is nearly known could be guessed by it."""
        return self.digest("hash", value)

    def _keyed_match(self, found: re.Match[str]) -> str:
        return self._keyed(found[0])


@lru_cache
def _units(table: str) -> Mapping[str, Unit]:
    return {column.name: column.unit for column in TABLES[table]} if table in TABLES else {}


def open_redactor(ledger: "Ledger", names_file: Path | None = None) -> LedgerRedactor:
    """Return the redactor of a ledger, which also hides the names in a file: one to a line, `#` begins a comment."""
    names = [] if names_file is None else _read_names(names_file)
    key, unkept_reason = _key_of(ledger.path)
    users = {user for (path,) in ledger.sql(_PATHS) if path for user in users_of_homes(path)}
    account, real_name = _user_of_machine()
    return LedgerRedactor(
        key,
        unkept_reason,
        users=filter(is_telling_name, {*users, *account}),
        people=filter(is_telling_name, (name for (name,) in ledger.sql(_PEOPLE) if name)),
        hosts=filter(is_telling_name, {*_hosts_of_machine(), *(name for (name,) in ledger.sql(_MACHINES) if name)}),
        names=[*names, *real_name],
    )


def _read_names(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise NamesFileError(str(path), error.strerror or str(error), _ADVICE_ON_NAMES) from error
    except ValueError as error:
        raise NamesFileError(str(path), "this is not UTF-8", _ADVICE_ON_NAMES) from error
    names = [line.partition("#")[0].strip() for line in lines]
    short = [name for name in names if len(name) == 1]
    if short:
        raise NamesFileError(
            str(path), f"{short[0]!r} is too short: it would be hidden in many places", _ADVICE_ON_NAMES
        )
    return [name for name in names if name]


def _key_of(ledger: Path) -> tuple[bytes, str]:
    """Return the ledger's key, which the first redaction makes, and the reason why it cannot be kept."""
    path = ledger / KEY_FILE
    try:
        if is_absent(path):
            with writing_to(ledger), part_file(ledger) as part:
                with new_file(part) as file:
                    file.write(f"{token_bytes(_KEY_BYTES).hex()}\n".encode())
                place(part, path)  # another process may have been faster; then its key is the one
    except (LedgerUnwritableError, OSError) as error:
        return token_bytes(_KEY_BYTES), getattr(error, "reason", None) or str(error)
    return _read_key(path), ""


def _read_key(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RedactionKeyError(path, "is no regular file")
            written = file.read(_KEY_BYTES * 4)
            if os.fstat(descriptor).st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
        key = bytes.fromhex(written.decode("ascii"))
    except OSError as error:
        raise RedactionKeyError(path, error.strerror or str(error)) from error
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise RedactionKeyError(path, "is not a key")
    return key


def _user_of_machine() -> tuple[set[str], set[str]]:
    """Return the names of the user's account, and the user's own name where the system knows it."""
    try:
        account = pwd.getpwuid(os.getuid())
    except KeyError:  # as in a container that was started for any user
        return {Path.home().name}, set()
    real_name = account.pw_gecos.partition(",")[0].strip()
    return {account.pw_name, Path.home().name}, {real_name} if " " in real_name else set()


def _hosts_of_machine() -> set[str]:
    host = socket.gethostname()
    return {host, host.partition(".")[0]}
