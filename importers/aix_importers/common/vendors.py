"""Vendors of models, by the names of the models."""

import re

_VENDORS = (
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gpt|o\d|codex|chatgpt"), "openai"),
    (re.compile(r"gemini"), "google"),
    (re.compile(r"grok"), "xai"),
    (re.compile(r"deepseek"), "deepseek"),
)


def vendor_of(model: str | None) -> str | None:
    """Return the vendor of a model; NULL where its name does not show it.

    >>> vendor_of("claude-4.5-sonnet-thinking"), vendor_of("o4-mini"), vendor_of("mystery")
    ('anthropic', 'openai', None)
    """
    if model is None:
        return None
    return next((vendor for pattern, vendor in _VENDORS if pattern.match(model)), None)
