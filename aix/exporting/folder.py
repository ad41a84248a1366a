"""A folder with one file per session."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BufferedWriter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from aix.exporting.contract import Exporter, Row
from aix.exporting.conversations import labels_to_export, read_conversation, read_table
from aix.reading.export import new_folder

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_UNSAFE = re.compile(r"[^a-z0-9._-]")
_LONGEST = 100
_DIGEST_CHARACTERS = 12


def export_sessions(ledger: "Ledger", exporter: Exporter, target: Path, name: str | None = None) -> None:
    """Write every session, or the one of that name, and the tables that belong beside them."""
    labels = labels_to_export(ledger, name)
    with new_folder(target) as folder:
        for label in labels:
            with _private_file(folder / f"{file_stem(label)}{exporter.suffix}") as file:
                exporter.write_session(read_conversation(ledger, label), file)
        for table, file_name in exporter.table_files.items():
            _write_table(exporter, table, read_table(ledger, table), folder / file_name)


def file_stem(label: str) -> str:
    r"""Return a file name for a session: what is not safe everywhere is left out, and a hash tells such names apart.

    >>> file_stem("session-log:5b1f"), file_stem("session-log:../Etc")
    ('session-log.5b1f', 'session-log...etc~ec093e307934')
    """
    origin, _, rest = label.partition(":")
    plain = f"{origin}.{rest}"
    safe = _UNSAFE.sub("", plain.lower()).lstrip(".")[:_LONGEST]
    if safe == plain and origin and rest and "." not in origin:
        return safe
    return f"{safe}~{sha256(label.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST_CHARACTERS]}"


def _write_table(exporter: Exporter, table: str, rows: Iterable[Row], path: Path) -> None:
    rows = iter(rows)
    first = next(rows, None)
    if first is not None:
        with _private_file(path) as file:
            exporter.write_table(table, chain([first], rows), file)


@contextmanager
def _private_file(path: Path) -> Iterator[BufferedWriter]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
