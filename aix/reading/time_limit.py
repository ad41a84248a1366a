"""Limits of time: statements that run in a block are stopped when its time is over.

A limit holds for the thread that entered it. What AIX itself runs in other threads of a search has none: it reads as
much as the index names.
"""

from contextvars import ContextVar, Token
from math import inf
from time import monotonic
from typing import Self

from aix.errors import TimeLimitError

_limit: "ContextVar[TimeLimit | None]" = ContextVar("aix_time_limit", default=None)


class TimeLimit:
    """The time that a block has, for `with`, from its beginning on; `stop` ends it from another thread.

    >>> with TimeLimit(60) as limit:
    ...     current_limit() is limit, limit.is_over
    (True, False)
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = inf
        self._token: Token[TimeLimit | None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return monotonic() >= self._end

    def stop(self) -> None:
        """Let the time be over now."""
        self._end = monotonic()

    def check(self) -> None:
        """Raise TimeLimitError when no time is left."""
        if self.is_over:
            raise TimeLimitError(self._seconds)

    def __enter__(self) -> Self:
        self._end = min(self._end, monotonic() + self._seconds)
        self._token = _limit.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _limit.reset(self._token)


def current_limit() -> TimeLimit | None:
    """Return the limit of the block that this thread is in, if there is one."""
    return _limit.get()
