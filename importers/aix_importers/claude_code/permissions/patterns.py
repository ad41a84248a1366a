"""Patterns of commands and hosts, and their rules found by what they name."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from aix_importers.common.globs import beginnings

# A run of the possessive alternatives is one word of a shell command as it is written, quotes included.
_WORD = re.compile(
    r"""(?:[^\ \t\n\r'"\\`$]++|'[^']*+(?:'|\Z)|"(?:[^"\\]++|\\.|\\\Z)*+(?:"|\Z)|`[^`]*+(?:`|\Z)"""
    r"""|\$\([^()'"`]*+\)|\\.|[\\$])++""",
    re.DOTALL | re.VERBOSE,
)


def names(text: str) -> frozenset[str]:
    """Return the words of a text that lists names."""
    return frozenset(text.split())


def written_words(text: str) -> list[str]:
    """Split a command into its words as they are written.

    >>> written_words('git  commit -m "two  words"')
    ['git', 'commit', '-m', '"two  words"']
    """
    return _WORD.findall(text.replace("\\\n", ""))


def spaced(text: str) -> str:
    """Return a command with one space between its words, as rules and commands are compared."""
    return " ".join(written_words(text))


class TextPattern(NamedTuple):
    """Pattern of a text: the exact text, its beginning, or a form with stars."""

    blocks: tuple[str, ...]
    """Pieces of text between the stars; a single one is the whole text."""
    is_prefix: bool = False
    """Whether the only block is the beginning, followed by a space or nothing."""

    @property
    def is_exact(self) -> bool:
        """Whether one text alone matches."""
        return len(self.blocks) == 1 and not self.is_prefix

    def is_spelled(self, text: str) -> bool:
        """Whether a text is that of the pattern itself, stars and all."""
        return not self.is_prefix and "*".join(self.blocks) == text

    def matches(self, text: str) -> bool:
        """Whether a text fits."""
        first = self.blocks[0]
        if not text.startswith(first):
            return False
        if self.is_prefix:
            return len(text) == len(first) or text[len(first)] == " "
        if len(self.blocks) == 1:
            return len(text) == len(first)
        place = len(first)
        for block in self.blocks[1:-1]:
            found = text.find(block, place)
            if found < 0:
                return False
            place = found + len(block)
        last = self.blocks[-1]
        return len(text) - len(last) >= place and text.endswith(last)


def compile_glob(text: str) -> TextPattern:
    """Return the pattern in which nothing but `*` is special."""
    return TextPattern(tuple(text.split("*")))


def compile_pattern(text: str) -> TextPattern:
    """Return the pattern of a command: a trailing ` *` or `:*` that is its only star also fits the bare beginning."""
    if text.endswith(":*") and len(text) > len(":*"):
        text = f"{text[:-2]} *"
    if text.endswith(" *") and text.count("*") == 1:
        return TextPattern((text[:-2],), is_prefix=True)
    return compile_glob(text)


class PatternIndex:
    """Patterns with their numbers, found by a text, its beginning, or its first or last word where they name it."""

    def __init__(self, patterns: Iterable[tuple[int, TextPattern]]) -> None:
        self._by_text: dict[str, list[tuple[int, TextPattern]]] = {}
        self._by_beginning: dict[str, list[tuple[int, TextPattern]]] = {}
        self._by_first: dict[str, list[tuple[int, TextPattern]]] = {}
        self._by_last: dict[str, list[tuple[int, TextPattern]]] = {}
        self._open: list[tuple[int, TextPattern]] = []
        for number, pattern in patterns:
            first, ends, _ = pattern.blocks[0].partition(" ")
            _, begins, last = pattern.blocks[-1].rpartition(" ")
            if pattern.is_exact:
                self._by_text.setdefault(pattern.blocks[0], []).append((number, pattern))
            elif pattern.is_prefix:
                self._by_beginning.setdefault(pattern.blocks[0], []).append((number, pattern))
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
