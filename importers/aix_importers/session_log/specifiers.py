"""Specifiers in the brackets of a persona's rule, and the parts of a call that they are compared with."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from aix.permissions.contract import Call
from aix.permissions.shell import Script, split
from aix_importers.common.globs import command_glob, has_wildcards, name_glob
from aix_importers.common.paths import PathPattern, Place

_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "path", "target_file", "notebook_path")
_ADDRESSES = ("url",)
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}://)?(?:[^/?#@]*@)?([^/?#:@]+)", re.IGNORECASE)
_DOMAIN = "domain:"
_PREFIX_ENDS = (":*", " *")
_LONGEST_KEPT = 500

_split_short = lru_cache(4096)(split)
_split_long = lru_cache(1)(split)


class Parts(NamedTuple):
    """Subject of a call: a command, a path or a host, or none of them."""

    script: Script | None = None
    place: Place | None = None
    host: str = ""

    @property
    def known(self) -> bool:
        """Whether a specifier can speak of the call."""
        return self != Parts()

    def texts(self) -> list[str]:
        """Return the specifiers that match each part and nothing else; an empty one where none does."""
        if self.script:
            return ["" if each.env else each.source for each in self.script.simple] if self.script.is_whole else [""]
        return [self.place.written if self.place else f"{_DOMAIN}{self.host}"]


def read_parts(call: Call, home: str | None) -> Parts:
    """Return what a call is about."""
    if command := _first(call, _COMMANDS):
        return Parts(script=_split_short(command) if len(command) <= _LONGEST_KEPT else _split_long(command))
    if path := _first(call, _PATHS):
        return Parts(place=Place.of(path, call.cwd, home))
    if found := _ADDRESS.match(_first(call, _ADDRESSES).strip()):
        return Parts(host=found[1].lower())
    return Parts()


def _first(call: Call, names: Sequence[str]) -> str:
    return next((found for name in names if isinstance(found := call.input.get(name), str) and found), "")


class Specifier:
    """Text in the brackets of a rule, compared with the parts of a call."""

    def __init__(self, written: str, *, covers_below: bool) -> None:
        self._text = written.strip()
        self._is_prefix = self._text.endswith(_PREFIX_ENDS)
        self._is_glob = has_wildcards(self._text)
        self._command = command_glob(self._text[:-2]) if self._is_prefix else name_glob(self._text)
        self._path = PathPattern(self._text, "", covers_below=covers_below)
        self._host = name_glob(self._text.removeprefix(_DOMAIN).lower())

    def matches_command(self, words: Sequence[str], source: str) -> bool:
        """Whether it speaks of a command, as it is written or by its words."""
        if not self._is_glob:
            return self._text in (source, " ".join(words))
        return self._command.match(source) is not None or self._command.match(" ".join(words)) is not None

    def matches_place(self, place: Place) -> bool:
        """Whether it speaks of a path."""
        return self._path.is_reachable and self._path.matches(place)

    def matches_host(self, host: str) -> bool:
        """Whether it speaks of a host."""
        return self._host.match(host) is not None

    def matches_any(self, parts: Parts) -> bool:
        """Whether it speaks of a call, of a part of it, or of what a part runs."""
        if parts.script:
            return any(self.matches_command(each.words, each.source) for each in parts.script.simple) or any(
                self.matches_command(each.words, each.source) for each in parts.script.commands
            )
        if parts.place:
            return self.matches_place(parts.place)
        return bool(parts.host) and self.matches_host(parts.host)
