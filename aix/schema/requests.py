"""Extension tables for what the canonical tables cannot say about cost: requests and prices."""

from functools import partial

from aix.schema.columns import flag, hashed_key, ident, key, money, number, number_key, text, time, tokens, word
from aix.schema.model import Join, Table, Type, Unit

REQUESTS = Table(
    name="requests",
    description="One request to a model, its usage counted once; a turn may mix models and cache lifetimes.",
    key=("id",),
    columns=(
        key("id", "The request."),
        ident(
            "turn_id",
            "The turn it served; NULL for side calls and for summarising calls whose boundary is not on disk.",
            references="turns.id",
        ),
        ident("session_label", "The session that made it.", references="sessions.label"),
        ident("message_id", "The assistant message it gave.", references="messages.id"),
        number("seq", "Place among the requests of the turn, from 0.", unit=Unit.POSITION, join=Join.MAX),
        time("requested_at", "When it was made.", join=Join.MIN, nullable=False),
        text("model", "The model the request named.", unit=Unit.NAME),
        text("provider", "The vendor of the API.", unit=Unit.NAME),
        ident("origin_message_id", "The API's own id of the message."),
        ident("origin_request_id", "The API's own id of the request."),
        ident("parent_request_id", "The request this one advised.", references="requests.id"),
        tokens("input_tokens", "Uncached input."),
        tokens("output_tokens", "Output as reported; a lower bound unless `is_usage_final`."),
        tokens("cache_read_tokens", "Input read from the cache."),
        tokens("cache_write_tokens", "Input written to the cache, as reported in total."),
        tokens("cache_write_5m_tokens", "The part kept for 5 minutes; NULL where the source does not split."),
        tokens("cache_write_1h_tokens", "The part kept for 1 hour; NULL where the source does not split."),
        tokens("reasoning_tokens", "Thinking, where it is counted apart from output."),
        tokens("context_tokens", "Whole input: uncached, read from and written to the cache."),
        number("web_search_count", "Searches the vendor ran for it.", unit=Unit.COUNT),
        flag("is_usage_final", "Whether the reported output is the final count."),
        tokens("estimated_output_tokens", "Output estimated from the length of what was written."),
        text("stop_reason", "Why the model stopped, in the API's word.", unit=Unit.NAME),
        text("service_tier", "The tier it was served in, in the API's word.", unit=Unit.NAME),
        text("speed", "The speed it was served at, in the API's word.", unit=Unit.NAME),
        number("latency_ms", "How long the answer took.", unit=Unit.DURATION, join=Join.KNOWN),
        money("reported_cost_usd", "What the source itself says it cost.", type=Type.COST),
        text("git_branch", "The branch checked out at the time.", unit=Unit.NAME),
        text("cwd", "The working folder at the time.", unit=Unit.PATH),
        word(
            "kind",
            "What the request was for; a later word of the list says more than an earlier one.",
            ("side", "compaction", "advisor", "main"),
            join=Join.FURTHEST,
            nullable=False,
            default="main",
        ),
    ),
)

PRICES = Table(
    name="prices",
    description="List prices with the time they were valid; replaced as a whole when the price table is renewed.",
    key=("id",),
    unique=(("provider", "model", "match_rule", "valid_from", "tier_start_tokens", "variant", "unit", "precedence"),),
    columns=(
        hashed_key("id", "The row."),
        text("provider", "The vendor; empty for any.", unit=Unit.NAME, join=Join.LATEST, nullable=False),
        text("model", "The model, or the pattern that names it.", unit=Unit.NAME, join=Join.LATEST, nullable=False),
        text(
            "match_rule", "How `model` is compared with a request's.", unit=Unit.NAME, join=Join.LATEST, nullable=False
        ),
        time("valid_from", "First moment of validity; 0 where it always held.", join=Join.LATEST, nullable=False),
        time("valid_to", "First moment at which it no longer held; NULL while it does.", join=Join.LATEST),
        number(
            "tier_start_tokens",
            "Smallest whole input of a request that the price is for.",
            unit=Unit.TOKENS,
            join=Join.LATEST,
            nullable=False,
            default=0,
        ),
        text(
            "variant",
            "How the request was served: `standard`, `batch`, `priority`, `flex`, `fast`.",
            unit=Unit.NAME,
            join=Join.LATEST,
            nullable=False,
            default="standard",
        ),
        word(
            "unit",
            "What one unit is.",
            ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "web_search"),
            join=Join.LATEST,
            nullable=False,
        ),
        money(
            "price_usd",
            "Price of one unit: one token, or one search.",
            type=Type.PRICE,
            join=Join.LATEST,
            nullable=False,
        ),
        text("source", "Where the price was found.", unit=Unit.NAME, join=Join.LATEST, nullable=False),
        text("source_version", "Which edition of the source.", unit=Unit.NAME, join=Join.LATEST),
        time("checked_at", "When the source was read.", join=Join.LATEST),
        number(
            "precedence",
            "Place among the price lines: of several that fit a request, the smallest is taken.",
            unit=Unit.POSITION,
            join=Join.LATEST,
        ),
    ),
)

_price = partial(money, type=Type.PRICE, join=Join.LATEST)

MODEL_PRICES = Table(
    name="model_prices",
    description="What `prices` says of every model that a request names, or that the price lines name, ready to be"
    " joined to `requests`; replaced as a whole when the price table is renewed.",
    key=("provider", "model", "variant", "valid_from", "tier_start_tokens"),
    columns=(
        key("provider", "The request's `provider`; empty where it names none.", unit=Unit.NAME),
        key("model", "The request's `model`.", unit=Unit.NAME),
        key(
            "variant",
            "How the request was served: `standard`, `batch`, `priority`, `flex`, `fast`.",
            unit=Unit.NAME,
        ),
        number_key("valid_from", "First moment of validity; 0 where it always held.", unit=Unit.TIME),
        time(
            "valid_to",
            "First moment at which it no longer held; 9223372036854775807 while it does.",
            join=Join.LATEST,
            nullable=False,
        ),
        number_key("tier_start_tokens", "Smallest whole input of a request that the price is for.", unit=Unit.TOKENS),
        tokens(
            "tier_end_tokens",
            "Smallest whole input that is too large for it; 9223372036854775807 where there is none.",
            join=Join.LATEST,
            nullable=False,
        ),
        _price("input_usd", "Price of one token of uncached input; NULL where it is not known."),
        _price("output_usd", "Price of one token of output."),
        _price("cache_read_usd", "Price of one token read from the cache."),
        _price("cache_write_5m_usd", "Price of one token written to the cache for 5 minutes."),
        _price("cache_write_1h_usd", "Price of one token written to the cache for 1 hour."),
        _price("web_search_usd", "Price of one search."),
        text(
            "price_basis",
            "Which price it is: source, edition and model, and what stands in for a price that the source lacks.",
            join=Join.LATEST,
            nullable=False,
        ),
    ),
)

REQUEST_TABLES = (REQUESTS, PRICES, MODEL_PRICES)
