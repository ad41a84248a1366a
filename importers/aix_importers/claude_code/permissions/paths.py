"""Path patterns in the manner of gitignore, each with the folder that it starts from."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from aix.permissions.globs import GITIGNORE, beginnings, path_expression
from aix.permissions.paths import without_detours

_DRIVE = re.compile(r"([A-Za-z]):(?=[\\/]|\Z)")
_HERE = "/\0"
"""Stands for a folder that is not known, where calls with no or with a relative folder are made."""
_BELOW = r"(?P<below>/.*)?\Z"
_SPECIAL = frozenset("*?[\\")
_TOP_LEVEL_ELSEWHERE = frozenset(("/private/etc", "/private/var", "/private/tmp", "/private/home"))
"""Where folders directly below the root lie on macOS."""


class CallSite(NamedTuple):
    """Where a call is made."""

    cwd: str
    home: str | None
    is_windows: bool = False

    @classmethod
    def of(cls, cwd: str, home: str | None) -> "CallSite":
        """Return the place with both folders in one form."""
        is_whole = cwd.startswith(("/", "\\\\")) or has_drive(cwd)
        return cls(normal(cwd if is_whole else f"{_HERE}/{cwd}"), normal(home) if home else None, has_drive(cwd))

    def resolve(self, path: str) -> str | None:
        """Return the whole path without detours; none where it starts from a home that is not known."""
        for name in ("~", "$HOME", "${HOME}"):
            if path == name or path.startswith(f"{name}/"):
                return None if self.home is None else normal(self.home + path[len(name) :])
        if path.startswith(("/", "\\\\")) or has_drive(path):
            return normal(path)
        if self.is_windows:
            path = path.replace("\\", "/")
        return normal(f"{self.cwd}/{path}")


def has_drive(path: str) -> bool:
    """Whether a path begins with a drive of Windows."""
    return _DRIVE.match(path) is not None


def normal(path: str) -> str:
    r"""Return a whole path in its shortest form, one of Windows as its POSIX form.

    >>> normal("C:\\work\\..\\.env"), normal("//srv//a/./b/")
    ('/c/.env', '/srv/a/b')
    """
    drive = _DRIVE.match(path)
    if drive:
        path = f"/{drive[1].lower()}{path[2:]}".replace("\\", "/")
    elif path.startswith("\\\\"):
        path = path.replace("\\", "/")
    return without_detours(path) or "."


def below(path: str, folder: str) -> str | None:
    """Return a path as it is seen from a folder; none when it lies outside."""
    if path == folder:
        return ""
    if folder == "/":
        return path[1:]
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else None


class GitignorePattern(NamedTuple):
    """Where a pattern starts from, and what lies there."""

    anchor: str
    """One of root, home, settings and cwd."""
    expression: str
    """Matches a path as it is seen from there; the group `below` is what lies in a folder that matches."""
    beginning: str = ""
    """The names without a wildcard that every path begins with that matches."""


def compile_path(text: str, *, is_allow: bool) -> GitignorePattern:
    """Return the pattern of a rule.

    Raises:
        GlobError: The text is not a pattern.
    """
    if text.startswith("//"):
        return _pattern("root", text[1:], is_allow=is_allow)
    if text == "~" or text.startswith("~/"):
        return _pattern("home", text[1:] or "/**", is_allow=is_allow)
    if text.startswith("/"):
        return _pattern("settings", text, is_allow=is_allow)
    if text in (".", "./"):
        return _pattern("cwd", "/**", is_allow=is_allow)
    return _pattern("cwd", text[1:] if text.startswith("./") else text, is_allow=is_allow)


def literal_path(text: str) -> GitignorePattern:
    """Return the pattern of exactly one path, for a rule that guards one which no pattern can name."""
    for prefix, anchor in (("//", "root"), ("~/", "home"), ("/", "settings"), ("./", "cwd")):
        if text.startswith(prefix):
            return GitignorePattern(anchor, re.escape(text[len(prefix) :]) + _BELOW)
    return GitignorePattern("cwd", re.escape(text) + _BELOW)


def escaped(path: str) -> str:
    """Return a path as a pattern that it alone matches."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", path)


def _pattern(anchor: str, text: str, *, is_allow: bool) -> GitignorePattern:
    segments = _segments(text, is_allow=is_allow)
    plain = takewhile(lambda segment: not _SPECIAL & set(segment), segments)
    expression = path_expression(segments, GITIGNORE, _BELOW) if segments else r"(?P<below>.*)\Z"
    return GitignorePattern(anchor, expression, "/".join(plain))


def _segments(text: str, *, is_allow: bool) -> list[str]:
    """Return the names in a pattern; none where it means everything."""
    is_anchored = text.startswith("/")
    text = text.lstrip("/").rstrip(" ") if not text.endswith("\\ ") else text.lstrip("/")
    is_folder = text.endswith("/")
    text = text.rstrip("/")
    while text.endswith("/**"):
        text, is_folder = text[:-3].rstrip("/"), True
    if text in ("", "**"):
        return []
    segments = [segment for segment in text.split("/") if segment]
    if len(segments) == 1 and not is_anchored and not (is_allow and is_folder):
        segments.insert(0, "**")
    return segments


class _Entry(NamedTuple):
    number: int
    find: re.Pattern[str]
    source: str


class _Group:
    """Patterns that start from the same folder, found by what they begin with."""

    def __init__(self) -> None:
        self.carving: list[_Entry] = []
        self._entries: dict[str, list[_Entry]] = {}
        self._any: dict[str, re.Pattern[str]] = {}
        self._longest = 0

    def add(self, beginning: str, entry: _Entry) -> None:
        """Take a pattern in."""
        self._entries.setdefault(beginning, []).append(entry)
        self._any.pop(beginning, None)
        self._longest = max(self._longest, len(beginning))

    def matching(self, seen: str) -> Iterator[int]:
        """Yield the numbers of the patterns that a path fits."""
        for beginning in {"", *beginnings(seen, "/", self._longest)}:
            entries = self._entries.get(beginning, ())
            for entry in entries if self._may_match(beginning, entries, seen) else ():
                if (found := entry.find.match(seen)) is not None:
                    is_whole_folder = found["below"] is not None
                    if is_whole_folder or not _is_carved_out(entry, self.carving, seen):
                        yield entry.number

    def _may_match(self, beginning: str, entries: Sequence[_Entry], seen: str) -> bool:
        """Whether any of the patterns fits, which is asked first where there are many, because it is mostly not so."""
        if len(entries) <= 1:
            return True
        find = self._any.get(beginning)
        if find is None:
            every = "|".join(f"(?:{entry.find.pattern.replace('(?P<below>', '(?:')})" for entry in entries)
            find = self._any[beginning] = re.compile(every, re.DOTALL)
        return find.match(seen) is not None


class GitignoreRules:
    """Path patterns with their numbers, held against paths."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], _Group] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(
        self, number: int, pattern: GitignorePattern, folder: str, source: str, *, is_carving: bool = False
    ) -> None:
        """Take a pattern in: `folder` is that of its settings, `source` the list that it stands in."""
        anchor, start = pattern.anchor, ""
        if anchor == "settings":
            anchor, start = ("settings", normal(folder)) if folder else ("cwd", "")
        entry = _Entry(number, re.compile(pattern.expression, re.DOTALL), source)
        group = self._groups.setdefault((anchor, start), _Group())
        if is_carving:
            group.carving.append(entry)
        else:
            group.add(pattern.beginning, entry)

    def matching(self, path: str, place: CallSite) -> Iterator[int]:
        """Yield the numbers of the patterns that a whole path fits."""
        for anchor, group in self._groups.items():
            seen = below(path, start) if (start := _start(anchor, place)) is not None else None
            if seen is not None:
                yield from group.matching(seen)


def _start(anchor: tuple[str, str], place: CallSite) -> str | None:
    name, folder = anchor
    return {"root": "/", "home": place.home, "cwd": place.cwd, "settings": folder}[name]


def _is_carved_out(entry: _Entry, carving: Iterable[_Entry], seen: str) -> bool:
    """Whether a later `!` of the same list takes a path out of a pattern again."""
    return any(
        other.number > entry.number and other.source == entry.source and other.find.match(seen) for other in carving
    )


def is_system_path(path: str, place: CallSite, *, is_on_drive: bool = False) -> bool:
    """Whether a whole path is the root, lies directly below it or a drive, or is the home folder."""
    depth = len(list(filter(None, path.split("/"))))
    return path == place.home or path in _TOP_LEVEL_ELSEWHERE or depth <= (2 if is_on_drive or place.is_windows else 1)
