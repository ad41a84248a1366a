"""Figures of the sample: usage of each request, as a cache of five minutes gives it, and their sums."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from operator import add
from typing import NamedTuple

_LIFETIME = timedelta(minutes=5)
_UNCACHED = 4
"""Input tokens of a request that are never written to the cache."""
_ANSWER, _CALL = 640, 210
"""Output tokens beyond the text of an answer, and beyond the parameters of a call."""
_CHARACTERS_PER_TOKEN = 4


class Usage(NamedTuple):
    """Tokens of one request, or of many."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


def answer_tokens(text: str) -> int:
    """Return the output tokens of an answer."""
    return _ANSWER + len(text) // _CHARACTERS_PER_TOKEN


def call_tokens(parameters: str) -> int:
    """Return the output tokens of a call."""
    return _CALL + len(parameters) // _CHARACTERS_PER_TOKEN


def text_tokens(text: str) -> int:
    """Return the tokens that a text takes in a context."""
    return 20 + len(text) // _CHARACTERS_PER_TOKEN


@dataclass
class Context:
    """The context of a conversation, and the part of it that the cache holds."""

    tokens: int
    """Tokens that the next request sends."""
    cached: int = 0
    used_at: datetime | None = None

    def is_lost(self, now: datetime) -> bool:
        """Whether the cache has held something and holds it no longer."""
        return self.used_at is not None and now - self.used_at > _LIFETIME

    def request(self, now: datetime, output: int) -> Usage:
        """Return the usage of a request at this moment; its output becomes part of the context."""
        read = 0 if self.is_lost(now) else min(self.cached, self.tokens - _UNCACHED)
        usage = Usage(_UNCACHED, output, read, self.tokens - _UNCACHED - read)
        self.cached, self.used_at = self.tokens - _UNCACHED, now
        self.tokens += output
        return usage


@dataclass
class Manifest:
    """The figures that an import of the sample must give."""

    end: date
    sessions: Counter[str] = field(default_factory=Counter)
    """By tool, with subagents and branches that were left."""
    counts: Counter[str] = field(default_factory=Counter)
    """Turns, requests, calls, compactions, denials and the like, by name."""
    tokens: dict[str, Usage] = field(default_factory=dict)
    """By model."""
    findings: set[tuple[str, str]] = field(default_factory=set)
    """Checks of the audit that must raise an alarm, each with a text that the finding names."""

    def add_request(self, model: str, usage: Usage) -> None:
        """Count a request."""
        self.counts["requests"] += 1
        self.tokens[model] = Usage(*map(add, self.tokens.get(model, Usage()), usage))
