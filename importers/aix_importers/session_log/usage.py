"""Token counts of an entry, in any of the spellings that writers use."""

from collections.abc import Mapping
from dataclasses import dataclass

LARGEST = 2**63 - 1

_SPELLINGS = {
    "input": ("inputTokens", "input_tokens"),
    "output": ("outputTokens", "output_tokens"),
    "cache_read": ("cacheReadTokens", "cache_read_tokens", "cacheReadInputTokens", "cache_read_input_tokens"),
    "cache_write": (
        "cacheWriteTokens",
        "cache_write_tokens",
        "cacheCreationInputTokens",
        "cache_creation_input_tokens",
    ),
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts; what is not said is not known."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether anything is said at all."""
        return (self.input, self.output, self.cache_read, self.cache_write) != (None, None, None, None)

    @property
    def context(self) -> int | None:
        """The whole input, where the uncached part of it is known."""
        if self.input is None:
            return None
        whole = self.input + (self.cache_read or 0) + (self.cache_write or 0)
        return whole if whole <= LARGEST else None

    def exclusive(self) -> "Usage":
        """Return the same usage, where the input that was stated includes what was read from the cache."""
        if self.input is None or self.cache_read is None:
            return self
        uncached = self.input - self.cache_read
        return Usage(uncached if uncached >= 0 else None, self.output, self.cache_read, self.cache_write)


def read_usage(stated: Mapping[str, object]) -> tuple[Usage, list[str]]:
    """Return the usage, and the names of values that are no counts."""
    counts: dict[str, int] = {}
    wrong: list[str] = []
    for name, spellings in _SPELLINGS.items():
        for spelling in spellings:
            value = stated.get(spelling)
            count = read_count(value)
            if count is not None:
                counts.setdefault(name, count)
            elif value is not None:
                wrong.append(spelling)
    return Usage(**counts), wrong


def read_count(value: object) -> int | None:
    """Return a whole number that a column can hold; NULL for anything else.

    >>> [read_count(value) for value in (3, 3.0, True, -1, 2**63, 3.5, "3")]
    [3, 3, None, None, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return None
    return int(value) if 0 <= value <= LARGEST else None
