"""Cost of a request at list price by the package genai-prices: a witness that shares no code with AIX."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from genai_prices import Usage, calc_price
from genai_prices.types import ModelPrice

_FAST_FACTORS = {"claude-opus-4-6": 6, "claude-opus-4-7": 6, "claude-opus-4-8": 2, "claude-opus-5": 2}
"""Factors of token prices in the vendor's fast mode, which genai-prices 0.2.1 does not have.

They are taken from the vendor's page on that mode, and for the newer models from LiteLLM 1.108.4.
"""
_CONTEXTS = {
    "batch": {"processing": "batch"},
    "priority": {"service_tier": "priority"},
    "flex": {"service_tier": "flex"},
    "fast": {"service_tier": "fast"},
}
_PRICE_OF = {"input_tokens": "input_mtok", "output_tokens": "output_mtok", "web_searches": "web_searches_kcount"}


@dataclass
class CountedRequest:
    """One request, as all that a log says of it shows it; what the log does not say is 0."""

    model: str
    provider: str | None = None
    requested_at: int = 0
    message_id: str | None = None
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    searches: int = 0
    tool_searches: dict[str, int] = field(default_factory=dict)
    """Searches of the tool for it, by call."""
    is_final: bool = False
    characters: dict[str, int] = field(default_factory=dict)
    """Of what the model wrote, by the id of the line."""
    variant: str = "standard"
    reported_cost: Decimal | None = None

    @property
    def name(self) -> str:
        """Key that finds the request in a ledger."""
        return self.message_id or f"{self.model}@{self.requested_at}"

    @property
    def written(self) -> int:
        """All writes to the cache: some logs say only how many they are, others only the parts."""
        return max(self.cache_write, self.cache_write_5m + self.cache_write_1h)

    @property
    def likely_output(self) -> int:
        """The output, or a fourth of the characters where that is more and the figure not final."""
        estimate = -(-sum(self.characters.values()) // 4)
        return self.output if self.is_final else max(self.output, estimate)

    def cost(self, output: int | None = None) -> Decimal | None:
        """Return the list price; NULL for an unknown model, and for one without a price for what was used."""
        used = {
            "input_tokens": self.input + self.cache_read + self.written,
            "cache_read_tokens": self.cache_read,
            "cache_write_tokens": self.written,
            "cache_write_1h_tokens": self.cache_write_1h,
            "output_tokens": self.output if output is None else output,
            "web_searches": self.searches + sum(self.tool_searches.values()),
        }
        try:
            found = calc_price(
                Usage(**used),
                self.model,
                provider_id=self.provider,
                genai_request_timestamp=datetime.fromtimestamp(self.requested_at / 1000, UTC),
                price_context=_CONTEXTS.get(self.variant),
            )
        except LookupError:
            return None
        if _lacks_a_price(found.model_price, used):
            return None
        tokens: Decimal = found.input_price + found.output_price
        return tokens * (self._fast_factor - 1) + found.total_price

    @property
    def _fast_factor(self) -> int:
        factors = (factor for model, factor in _FAST_FACTORS.items() if self.model.startswith(model))
        return next(factors, 1) if self.variant == "fast" else 1


def _lacks_a_price(prices: ModelPrice, used: Mapping[str, int]) -> bool:
    """Whether something was used that has no price, which costs the package nothing; its cached tokens are input."""
    return any(used[unit] > 0 and getattr(prices, price) is None for unit, price in _PRICE_OF.items())
