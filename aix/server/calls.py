"""Calls of tools: arguments are checked, one call is answered at a time, and whatever fails becomes an answer."""

from collections.abc import Callable, Mapping
from datetime import tzinfo
from threading import Lock
from typing import Self

import msgspec

from aix.errors import AixError, TimeLimitError
from aix.reading.time_limit import TimeLimit
from aix.server.answer import Answer, error_answer, written
from aix.server.latest_ledger import LatestLedger
from aix.server.tools import TOOLS, Call

SECONDS = 60.0
"""The time of a call, about as long as clients wait."""
_SECONDS_TO_END = 2.0


class Calls:
    """Answers calls on one ledger, from any thread; for `with`, at whose end the ledger is closed."""

    def __init__(
        self, ledger: LatestLedger, zone: tzinfo, report: Callable[[str, Exception], None], seconds: float = SECONDS
    ) -> None:
        self._ledger = ledger
        self._zone = zone
        self._report = report
        self._seconds = seconds
        self._lock = Lock()

    def answer(self, name: str, arguments: Mapping[str, object], limit: TimeLimit | None = None) -> tuple[str, bool]:
        """Return the text of an answer, and whether the call failed."""
        with self._lock, limit or self.limit() as running:
            self._ledger.limit = running
            answer = self._answer(name, arguments)
            if answer.is_error and running.is_over:  # whatever its end looked like
                late = TimeLimitError(self._seconds)
                answer = error_answer(str(late), late.remedy, self._ledger.hiding)
            return written(answer, is_redacted=self._ledger.is_redacted), answer.is_error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A call that was cancelled may still be on its way to its end; then the process ends before it.
        if self._lock.acquire(timeout=_SECONDS_TO_END):
            self._ledger.close()
            self._lock.release()

    def limit(self) -> TimeLimit:
        """Return the limit of a call, whose time begins when it is its turn."""
        return TimeLimit(self._seconds)

    def _answer(self, name: str, arguments: Mapping[str, object]) -> Answer:
        try:
            if name not in TOOLS:
                return Answer((), [f"There is no tool of that name; the tools are {', '.join(TOOLS)}."], is_error=True)
            # Some agents give null or an empty text for what they leave out, and numbers as texts.
            tool = TOOLS[name]
            needed = {field.name for field in msgspec.structs.fields(tool.arguments) if field.required}
            given = {
                key: value for key, value in arguments.items() if value is not None and (value != "" or key in needed)
            }
            read = msgspec.convert(given, tool.arguments, strict=False)
            return tool.answer(Call(self._ledger, self._zone), read)
        except msgspec.ValidationError as error:
            return error_answer(
                f"Wrong arguments: {error}.", f"See the input schema of the tool {name}.", self._ledger.hiding
            )
        except AixError as error:
            return error_answer(str(error), error.remedy, self._ledger.hiding)
        except Exception as error:  # the server goes on
            self._report(name, error)
            return error_answer(f"this is a defect: {type(error).__name__}: {error}", "", self._ledger.hiding)
