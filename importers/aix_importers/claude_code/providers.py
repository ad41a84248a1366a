"""Which vendor's API serves a model, by the name that the log has for it."""


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
