"""Rules about files: where their paths start, and what lies there."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from aix.permissions import home_of
from aix.permissions.globs import beginnings, has_wildcards, path_glob
from aix.permissions.paths import without_detours

_DRIVE = re.compile(r"/?([A-Za-z]:)(?=/|\Z)")
_PLAIN = re.compile(r"[^*?()\\\x00-\x1f\x7f]+")


def tidy(path: str) -> str:
    r"""Return a path with `/` alone, without what goes back and forth.

    >>> tidy("C:\\x\\..\\y"), tidy("a/./b/"), tidy("/../x"), tidy("../x"), tidy(".")
    ('C:/y', 'a/b', '/x', '../x', '')
    """
    path = path.replace("\\", "/")
    if found := _DRIVE.match(path):
        path = found[1] + path[found.end() :]
    return without_detours(path)


def is_absolute(path: str) -> bool:
    """Whether a tidy path says where it starts."""
    return path.startswith("/") or _DRIVE.match(path) is not None


@lru_cache(1024)
def _folders(cwd: str, home: str | None) -> tuple[str, str]:
    cwd = tidy(cwd)
    cwd = cwd if is_absolute(cwd) else ""
    return cwd, (home_of(cwd) or "") if home is None else tidy(home)


class CallPath(NamedTuple):
    """The path of a call."""

    path: str
    """From the root where that is known, else as it was given."""
    cwd: str
    home: str

    @classmethod
    def of(cls, path: str, cwd: str, home: str | None) -> "CallPath":
        """Return where a path leads from a folder."""
        cwd, home = _folders(cwd, home)
        if path.startswith("~/") and home:
            path = home + path[1:]
        path = tidy(path)
        return cls(tidy(f"{cwd}/{path}") if cwd and not is_absolute(path) else path, cwd, home)

    def below(self, folder: str) -> str | None:
        """Return the path from a folder on; nothing where it lies elsewhere."""
        if self.path == folder:
            return ""
        start = folder if folder.endswith("/") else f"{folder}/"
        return self.path[len(start) :] if self.path.startswith(start) else None

    @property
    def written(self) -> str:
        """The path as a rule has to write it, from the folder of the call where it lies in there; empty if none can."""
        path = (self.below(self.cwd) if self.cwd else None) or self.path
        is_plain = _PLAIN.fullmatch(path) and path == path.strip() and not path.startswith(("~", ".."))
        return path if is_plain else ""


class Start(NamedTuple):
    """Where the path of a rule starts."""

    folder: str = ""
    """Empty for the folder of the call."""
    is_home: bool = False
    is_drive: bool = False
    is_anywhere: bool = False
    """Whether the rule is about any folder."""

    def rest(self, place: CallPath) -> str | None:
        """Return the path of a call from there on; nothing where it lies elsewhere."""
        if self.is_drive:
            return place.path
        if self.is_home:
            return place.below(place.home) if place.home else None
        if folder := self.folder or place.cwd:
            return place.below(folder)
        # Without a folder only what lies anywhere can be told of a whole path.
        return place.path.lstrip("/") if self.is_anywhere or not is_absolute(place.path) else None


class PathPattern:
    """Pattern of the paths that one rule speaks of."""

    def __init__(self, written: str, folder: str, *, covers_below: bool) -> None:
        pattern = written.strip().replace("\\", "/")
        covers_below = covers_below or pattern.endswith("/")
        is_home = pattern.startswith("~/")
        pattern, folder = tidy(pattern.removeprefix("~/") if is_home else pattern), tidy(folder)
        while folder and not is_home and pattern.startswith("../"):
            folder, pattern = folder.rpartition("/")[0], pattern[3:]
        self.start = Start(
            "" if is_home else "/" if is_absolute(pattern) else folder,
            is_home,
            _DRIVE.match(pattern) is not None,
            pattern.startswith("**"),
        )
        self.glob = path_glob(pattern, covers_below=covers_below)
        names = [name for name in pattern.split("/") if name]
        self.beginning = "/".join(takewhile(lambda name: not has_wildcards(name), names))
        """The names without a wildcard that every path begins with that matches."""
        self.is_reachable = bool(written.strip()) and not pattern.startswith("..")
        """Whether any path can match."""

    def matches(self, place: CallPath) -> bool:
        """Whether the rule speaks of a path."""
        rest = self.start.rest(place)
        return rest is not None and self.glob.match(rest) is not None


class PathRules:
    """Rules about files of one kind, each with its number."""

    def __init__(self, patterns: Iterable[tuple[int, PathPattern]]) -> None:
        self._by_start: dict[Start, dict[str, list[tuple[int, re.Pattern[str]]]]] = {}
        self._longest = 0
        for number, pattern in patterns:
            if pattern.is_reachable:
                globs = self._by_start.setdefault(pattern.start, {})
                globs.setdefault(pattern.beginning, []).append((number, pattern.glob))
                self._longest = max(self._longest, len(pattern.beginning))

    def find(self, place: CallPath) -> list[int]:
        """Return the rules that speak of a path."""
        found: list[int] = []
        for start, globs in self._by_start.items():
            rest = start.rest(place)
            if rest is not None:
                for beginning in {"", *beginnings(rest, "/", self._longest)}:
                    found += [number for number, glob in globs.get(beginning, ()) if glob.match(rest)]
        return sorted(found)
