"""The newest version of a ledger, for a process that lives longer than a version."""

from pathlib import Path
from secrets import token_bytes

from aix.reading.ledger import Ledger, open_ledger
from aix.reading.time_limit import TimeLimit
from aix.redaction.ledger_redactor import open_redactor
from aix.redaction.redactor import Redactor
from aix.server.answer import Hiding, Nothing
from aix.store.manifest import read_latest

_KEY_BYTES = 32


class LatestLedger:
    """A ledger that is opened when it is asked for, and again when it has a newer version."""

    def __init__(self, path: Path, *, is_redacted: bool = True, names_file: Path | None = None) -> None:
        self._path = path
        self._names_file = names_file
        self._ledger: Ledger | None = None
        self._for_sql: Ledger | None = None
        self.is_redacted = is_redacted
        self.hiding: Hiding = Redactor(token_bytes(_KEY_BYTES)) if is_redacted else Nothing()
        """Hides secrets in the texts of the version that was opened last."""
        self.limit: TimeLimit | None = None
        """The limit of the call that is being answered."""

    def open(self) -> Ledger:
        """Return the newest version."""
        if self._ledger is None or self._ledger.manifest != read_latest(self._path):
            self.close()
            opened = open_ledger(self._path)
            # Where there can be no redactor, there is no ledger either.
            self.hiding = open_redactor(opened, self._names_file) if self.is_redacted else Nothing()
            self._ledger = opened
        return self._ledger

    def open_for_sql(self) -> Ledger:
        """Return the newest version for statements of others, which can take texts apart."""
        opened = self.open()
        if not self.is_redacted:
            return opened
        if self._for_sql is None:
            self._for_sql = opened.hiding(self._hide)
        return self._for_sql

    def _hide(self, text: str) -> str:
        if self.limit is not None:
            self.limit.check()
        return self.hiding.text(text)

    def close(self) -> None:
        """Let go of the version."""
        for opened in (self._for_sql, self._ledger):
            if opened is not None:
                opened.close()
        self._ledger = self._for_sql = None
