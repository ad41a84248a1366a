"""Usage of each request to the API, counted once however often the log repeats it.

The lines of a message repeat its usage as far as it was known when they were written, and copies of them stand in other
files. So each field counts with the greatest value that any line has.
"""

from collections.abc import Collection, Iterator
from decimal import Decimal

from msgspec import Raw, Struct

from aix_importers.claude_code.discovery import SourceFile
from aix_importers.claude_code.records import (
    NOTHING,
    LooseUsage,
    Message,
    Record,
    Usage,
    as_count,
    decode_object,
    decode_objects,
    decode_usage,
    unknown_names,
    wrong_names,
)
from aix_importers.claude_code.scan import SharedTexts

_COST_STEP = Decimal("1e-12")
_COST_LIMIT = 10**12


class TokenCounts(Struct, gc=False, kw_only=True):
    """Tokens of a request, each count under the name of its column."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None

    @property
    def context_tokens(self) -> int | None:
        """The whole input."""
        parts = (self.input_tokens, self.cache_read_tokens, self.cache_write_tokens)
        return None if all(part is None for part in parts) else as_count(sum(part or 0 for part in parts))

    def columns(self) -> dict[str, int | None]:
        """Return the counts by column."""
        return {name: getattr(self, name) for name in (*TokenCounts.__struct_fields__, "context_tokens")}

    def add(self, usage: Usage) -> None:
        """Take the greater count of each field."""
        self.input_tokens = _larger(self.input_tokens, usage.input_tokens)
        self.output_tokens = _larger(self.output_tokens, usage.output_tokens)
        self.cache_read_tokens = _larger(self.cache_read_tokens, usage.cache_read_input_tokens)
        self.cache_write_tokens = _larger(self.cache_write_tokens, usage.cache_creation_input_tokens)
        split = usage.cache_creation
        if split is not None:
            self.cache_write_5m_tokens = _larger(self.cache_write_5m_tokens, split.ephemeral_5m_input_tokens)
            self.cache_write_1h_tokens = _larger(self.cache_write_1h_tokens, split.ephemeral_1h_input_tokens)


class Advice(TokenCounts, gc=False):
    """A request that another model answered on the side."""

    model: str | None


class Request(TokenCounts, gc=False):
    """One request, as all its lines together show it."""

    key: str
    origin_message_id: str
    model: str | None
    file: SourceFile
    """The first file in which it was seen."""
    time: int | None = None
    request_id: str | None = None
    server_search_count: int | None = None
    tool_search_count: int = 0
    stop_reason: str | None = None
    service_tier: str | None = None
    speed: str | None = None
    thinking_tokens: int | None = None
    """The part of the output that was thinking."""
    latency_ms: int | None = None
    cost_usd: float | None = None
    git_branch: str | None = None
    cwd: str | None = None
    advice: tuple[Advice, ...] = ()
    unknown: dict[str, Raw] = {}
    """Unknown fields of usage that its lines hold."""

    @property
    def web_search_count(self) -> int | None:
        """Searches that the vendor ran for it, in the request itself or by the tool for it."""
        known = self.server_search_count is not None or self.tool_search_count
        return (self.server_search_count or 0) + self.tool_search_count if known else None

    @property
    def is_final(self) -> bool:
        """Whether the output is what the API reported in the end."""
        return self.stop_reason is not None

    @property
    def reported_cost(self) -> Decimal | None:
        """Cost of the request, as the client reports it."""
        return None if self.cost_usd is None else Decimal(repr(self.cost_usd)).quantize(_COST_STEP)


class Requests:
    """All requests of some files."""

    def __init__(self) -> None:
        self._by_key: dict[str, Request] = {}
        self._searches: set[str] = set()
        self._texts = SharedTexts()

    def __iter__(self) -> Iterator[Request]:
        """Go through the requests that were not taken."""
        return iter(self._by_key.values())

    def get(self, key: str | None) -> Request | None:
        """Return a request without taking it."""
        return self._by_key.get(key) if key else None

    def take(self, key: str) -> Request | None:
        """Return a request, which is not gone through again."""
        return self._by_key.pop(key, None)

    def add_searches(self, key: str, call_id: str, result: Raw) -> None:
        """Add the searches that a call of the web search tool made, which the usage of its message does not show."""
        request = self._by_key.get(key)
        if request is None or call_id in self._searches:
            return
        self._searches.add(call_id)
        found = decode_object(_Searches, result)
        if found is None:
            return
        count = found.search_count
        if count is None:
            count = sum(isinstance(each, dict) for each in found.results)
        request.tool_search_count += max(0, count)

    def add(
        self, key: str, record: Record, message: Message, time: int | None, file: SourceFile
    ) -> tuple[Collection[str], list[str]]:
        """Add what a line says of a request; return the unknown names in its usage, and those that cannot be used."""
        usage = decode_usage(message.usage)
        wrong = ["message.usage"] if usage is None and message.usage and bytes(message.usage) != b"null" else []
        request = self._by_key.get(key)
        if request is None:
            if usage is None:
                return (), wrong
            name = key if key == message.id else message.id or ""
            request = self._by_key[key] = Request(key, name, message.model and self._texts[message.model], file)
        if file.kind.is_conversation and not request.file.kind.is_conversation:
            request.file = file
        if time is not None:
            request.time = time if request.time is None else min(request.time, time)
        request.model = request.model or (message.model and self._texts[message.model])
        request.request_id = request.request_id or record.request_id
        request.stop_reason = (message.stop_reason and self._texts[message.stop_reason]) or request.stop_reason
        request.git_branch = request.git_branch or (record.git_branch and self._texts[record.git_branch])
        request.cwd = request.cwd or (record.cwd and self._texts[record.cwd])
        if record.cost_usd is not None and 0 <= record.cost_usd < _COST_LIMIT:
            request.cost_usd = max(request.cost_usd or 0.0, record.cost_usd)
        if record.duration_ms is not None:
            request.latency_ms = as_count(record.duration_ms)
        if usage is not None:
            _add_usage(request, usage, self._texts)
        if isinstance(usage, LooseUsage):
            return _add_unknown(request, usage), [f"message.usage.{name}" for name in wrong_names(usage)]
        return (), wrong


class _Searches(Struct, gc=False, rename="camel"):
    search_count: int | None = None
    results: list[object] = []


def _add_usage(request: Request, usage: Usage, texts: SharedTexts) -> None:
    request.add(usage)
    if usage.server_tool_use is not None:
        request.server_search_count = _larger(request.server_search_count, usage.server_tool_use.web_search_requests)
    if usage.output_tokens_details is not None:
        request.thinking_tokens = _larger(request.thinking_tokens, usage.output_tokens_details.thinking_tokens)
    request.service_tier = (usage.service_tier and texts[usage.service_tier]) or request.service_tier
    request.speed = (usage.speed and texts[usage.speed]) or request.speed
    if usage.iterations and b'"advisor_message"' in bytes(usage.iterations):
        request.advice = _advice(usage) or request.advice


def _add_unknown(request: Request, usage: LooseUsage) -> set[str]:
    for name, value in (usage.unknown or {}).items():
        copies = (value.copy(), request.unknown.get(name, NOTHING))
        request.unknown[name] = max(copies, key=lambda copy: (len(copy), bytes(copy)))
    return unknown_names(usage)


class _Iteration(Usage, gc=False, forbid_unknown_fields=False):
    """Its usage stands in a field of its own, or beside its type."""

    type: str = ""
    model: str | None = None
    usage: Usage | None = None


def _advice(usage: Usage) -> tuple[Advice, ...]:
    found = []
    for each in decode_objects(_Iteration, usage.iterations):
        if each.type == "advisor_message":
            found.append(Advice(each.model))
            found[-1].add(each.usage or each)
    return tuple(found)


def _larger(one: int | None, other: int | None) -> int | None:
    other = as_count(other)
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)


def provider_of(model: str | None) -> str | None:
    """Return the vendor of the API; NULL where the name does not tell.

    >>> provider_of("claude-opus-4-5"), provider_of("us.anthropic.claude-sonnet-4-v1:0"), provider_of("glm-4.6")
    ('anthropic', 'bedrock', None)
    """
    if model is None:
        return None
    if "anthropic." in model or model.startswith("arn:aws:"):
        return "bedrock"
    if not model.startswith("claude"):
        return None
    return "vertex" if "@" in model else "anthropic"
