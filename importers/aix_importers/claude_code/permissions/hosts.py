"""Hosts of fetched addresses, and patterns of them."""

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from aix_importers.claude_code.permissions.texts import TextPattern, compile_glob

_IGNORED = re.compile(r"[\t\n\r]")


class HostPattern(NamedTuple):
    """A pattern of hosts, label by label."""

    suffix: str | None
    """What follows a leading `*.`; none without one."""
    labels: tuple[TextPattern, ...]

    def matches(self, host: str) -> bool:
        """Whether a host fits; a star stays between two dots unless it leads or stands alone."""
        labels = host.split(".")
        if self.suffix is not None:
            if len(labels) <= len(self.labels):
                return False
            labels = labels[len(labels) - len(self.labels) :]
        return len(labels) == len(self.labels) and all(map(TextPattern.matches, self.labels, labels))


def compile_host(text: str) -> HostPattern:
    """Return the pattern of a rule; case and trailing dots do not matter."""
    text = text.strip().lower().rstrip(".")
    if text == "*":
        return HostPattern("", ())
    suffix = text[2:] if text.startswith("*.") else None
    return HostPattern(suffix, tuple(map(compile_glob, (text if suffix is None else suffix).split("."))))


def host_of(address: object) -> str | None:
    r"""Return the host that an address leads to, as a browser reads it.

    >>> host_of("https://example.com:8080/a"), host_of("https://evil.test\\@example.com/")
    ('example.com', 'evil.test')
    """
    if not isinstance(address, str):
        return None
    address = _IGNORED.sub("", address).strip().replace("\\", "/")
    try:
        host = urlsplit(address if "://" in address else f"//{address.lstrip('/')}").hostname
    except ValueError:
        return None
    return (unquote(host).lower().rstrip(".") or None) if host else None
