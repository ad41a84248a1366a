"""Hosts of fetched addresses, and patterns of them."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from aix_importers.claude_code.permissions.texts import TextPattern, compile_glob

_IGNORED = re.compile(r"[\t\n\r]")


class HostPattern(NamedTuple):
    """A pattern of hosts, label by label."""

    suffix: str | None
    """Text that follows a leading `*.`; None without one."""
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


class HostRules:
    """Patterns of hosts with their numbers, found by the host or its end where they name it whole."""

    def __init__(self) -> None:
        self._by_host: dict[str, list[int]] = {}
        self._by_end: dict[str, list[int]] = {}
        self._longest_end = 0
        self._open: list[tuple[int, HostPattern]] = []

    def add(self, number: int, text: str) -> None:
        """Take the pattern of a rule in."""
        pattern = compile_host(text)
        if not pattern.labels or not all(label.is_exact for label in pattern.labels):
            self._open.append((number, pattern))
            return
        named = ".".join(label.blocks[0] for label in pattern.labels)
        if pattern.suffix is None:
            self._by_host.setdefault(named, []).append(number)
        else:
            self._by_end.setdefault(named, []).append(number)
            self._longest_end = max(self._longest_end, len(named))

    def matching(self, host: str) -> Iterator[int]:
        """Yield the numbers of the patterns that a host fits."""
        yield from self._by_host.get(host, ())
        dot = host.rfind(".")
        while dot >= 0 and len(host) - dot - 1 <= self._longest_end:
            yield from self._by_end.get(host[dot + 1 :], ())
            dot = host.rfind(".", 0, dot)
        yield from (number for number, pattern in self._open if pattern.matches(host))


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
