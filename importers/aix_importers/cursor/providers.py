"""Which vendor made a model, by the name that Cursor has for it."""

import re

_VENDORS = (
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gpt|o\d|codex|chatgpt"), "openai"),
    (re.compile(r"gemini"), "google"),
    (re.compile(r"grok"), "xai"),
    (re.compile(r"composer|cursor"), "cursor"),
    (re.compile(r"deepseek"), "deepseek"),
)


def provider_of(model: str | None) -> str | None:
    """Return the vendor; NULL where the name does not tell.

    >>> provider_of("claude-4.5-sonnet-thinking"), provider_of("composer-2.5"), provider_of("mystery")
    ('anthropic', 'cursor', None)
    """
    if model is None:
        return None
    return next((vendor for pattern, vendor in _VENDORS if pattern.match(model)), None)
