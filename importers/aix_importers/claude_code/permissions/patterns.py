"""Patterns of commands and hosts, and their rules found by what they name."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote, urlsplit

import msgspec

from aix.permissions.globs import STARS, beginnings, host_glob, name_glob

# A run of the possessive alternatives is one word of a shell command as it is written, quotes included.
_WORD = re.compile(
    r"""(?:[^\ \t\n\r'"\\`$]++|'[^']*+(?:'|\Z)|"(?:[^"\\]++|\\.|\\\Z)*+(?:"|\Z)|`[^`]*+(?:`|\Z)"""
    r"""|\$\([^()'"`]*+\)|\\.|[\\$])++""",
    re.DOTALL | re.VERBOSE,
)
_IGNORED = re.compile(r"[\t\n\r]")


def written_words(text: str) -> list[str]:
    """Split a command into its words as they are written.

    >>> written_words('git  commit -m "two  words"')
    ['git', 'commit', '-m', '"two  words"']
    """
    return _WORD.findall(text.replace("\\\n", ""))


def spaced(text: str) -> str:
    """Return a command with one space between its words, as rules and commands are compared."""
    return " ".join(written_words(text))


class TextPattern(msgspec.Struct, frozen=True, dict=True):
    """Pattern of a text in which nothing but `*` is special, or the beginning of a command."""

    text: str
    is_prefix: bool = False
    """Whether the text is the beginning, followed by a space or nothing."""

    @property
    def is_exact(self) -> bool:
        """Whether one text alone matches."""
        return not self.is_prefix and "*" not in self.text

    def is_spelled(self, text: str) -> bool:
        """Whether a text is that of the pattern itself, stars and all."""
        return not self.is_prefix and self.text == text

    def matches(self, text: str) -> bool:
        """Whether a text fits."""
        if self.is_prefix:
            return text.startswith(self.text) and text[len(self.text) : len(self.text) + 1] in ("", " ")
        return text == self.text or ("*" in self.text and self._glob.match(text) is not None)

    @cached_property
    def _glob(self) -> re.Pattern[str]:
        return name_glob(self.text, STARS)


def compile_pattern(text: str) -> TextPattern:
    """Return the pattern of a command: a trailing ` *` or `:*` that is its only star also fits the bare beginning.

    >>> compile_pattern("npm run *").matches("npm run"), compile_pattern("ls*").matches("lsof")
    (True, True)
    """
    if text.endswith(":*") and len(text) > len(":*"):
        text = f"{text[:-2]} *"
    if text.endswith(" *") and text.count("*") == 1:
        return TextPattern(text[:-2], is_prefix=True)
    return TextPattern(text)


class PatternIndex:
    """Patterns with their numbers, found by a text, its beginning, or its first or last word where they name it."""

    def __init__(self, patterns: Iterable[tuple[int, TextPattern]]) -> None:
        self._by_text: dict[str, list[tuple[int, TextPattern]]] = {}
        self._by_beginning: dict[str, list[tuple[int, TextPattern]]] = {}
        self._by_first: dict[str, list[tuple[int, TextPattern]]] = {}
        self._by_last: dict[str, list[tuple[int, TextPattern]]] = {}
        self._open: list[tuple[int, TextPattern]] = []
        for number, pattern in patterns:
            first, ends, _ = pattern.text.partition("*")[0].partition(" ")
            _, begins, last = pattern.text.rpartition("*")[2].rpartition(" ")
            if pattern.is_exact:
                self._by_text.setdefault(pattern.text, []).append((number, pattern))
            elif pattern.is_prefix:
                self._by_beginning.setdefault(pattern.text, []).append((number, pattern))
            elif ends:
                self._by_first.setdefault(first, []).append((number, pattern))
            elif begins:
                self._by_last.setdefault(last, []).append((number, pattern))
            else:
                self._open.append((number, pattern))
        self._longest_beginning = max(map(len, self._by_beginning), default=-1)

    def matching(self, text: str) -> list[tuple[int, TextPattern]]:
        """Return the patterns that fit a text, with their numbers."""
        candidates: Sequence[tuple[int, TextPattern]] = self._by_first.get(text.partition(" ")[0], ())
        if self._by_last or self._open:
            candidates = (*candidates, *self._by_last.get(text.rpartition(" ")[2], ()), *self._open)
        found = [*self._by_text.get(text, ()), *(entry for entry in candidates if entry[1].matches(text))]
        for beginning in beginnings(text, " ", self._longest_beginning):
            found += self._by_beginning.get(beginning, ())
        return found


class HostPattern(msgspec.Struct, frozen=True, dict=True):
    """A pattern of hosts: a star stays between two dots unless it leads or stands alone."""

    name: str
    """The pattern without a leading `*.`; empty where any host is meant."""
    is_below: bool
    """Whether something must come before it."""

    def matches(self, host: str) -> bool:
        """Whether a host fits."""
        if self.is_below and self.name:
            before, *labels = host.rsplit(".", self.name.count(".") + 1)
            return len(labels) > self.name.count(".") and self._glob.match(host, len(before) + 1) is not None
        return self.is_below or self._glob.match(host) is not None

    @cached_property
    def _glob(self) -> re.Pattern[str]:
        return host_glob(self.name)


def compile_host(text: str) -> HostPattern:
    """Return the pattern of a rule; case and trailing dots do not matter."""
    text = text.strip().lower().rstrip(".")
    is_below = text == "*" or text.startswith("*.")
    return HostPattern(text[2:] if is_below else text, is_below)


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
        if "*" in pattern.name or (pattern.is_below and not pattern.name):
            self._open.append((number, pattern))
        elif not pattern.is_below:
            self._by_host.setdefault(pattern.name, []).append(number)
        else:
            self._by_end.setdefault(pattern.name, []).append(number)
            self._longest_end = max(self._longest_end, len(pattern.name))

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
