"""Tokens of an answer, in the words of the APIs that graphs quote."""

from typing import NamedTuple

from aix_importers.agent_dag.records import whole_number


class Usage(NamedTuple):
    """Tokens of a request, each count under the name of its column."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    reasoning_tokens: int | None = None
    context_tokens: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether any count is known."""
        return any(count is not None for count in self)


def read_usage(value: object) -> Usage:
    """Read the usage of an answer; tokens that the cache gave are counted apart from other input.

    >>> read_usage({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=6, output_tokens=2, cache_read_tokens=4, reasoning_tokens=None, context_tokens=10)
    """
    if not isinstance(value, dict):
        return Usage()
    context = _first(value, "prompt_tokens", "input_tokens")
    cached = _detail(value, ("prompt_tokens_details", "input_tokens_details"), "cached_tokens")
    reasoning = _detail(value, ("completion_tokens_details", "output_tokens_details"), "reasoning_tokens")
    uncached = None if context is None else max(0, context - (cached or 0))
    output = _first(value, "completion_tokens", "output_tokens")
    return Usage(uncached, output, cached, reasoning, cached if context is None else max(context, cached or 0))


def _first(value: dict[str, object], *names: str) -> int | None:
    return next((count for name in names if (count := whole_number(value.get(name))) is not None), None)


def _detail(value: dict[str, object], parts: tuple[str, ...], name: str) -> int | None:
    details = (value.get(part) for part in parts)
    return next((whole_number(each.get(name)) for each in details if isinstance(each, dict)), None)
