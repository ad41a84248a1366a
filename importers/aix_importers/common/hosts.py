"""Hosts that URLs name."""

from urllib.parse import urlsplit


def host_of(url: str) -> str | None:
    """Return the host of a URL, which may lack its scheme.

    >>> host_of("https://example.org:8080/a"), host_of("example.org/a"), host_of("http://[")
    ('example.org', 'example.org', None)
    """
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname
    except ValueError:
        return None
