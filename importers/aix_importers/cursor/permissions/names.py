"""Rules about names: the tools of a server, hosts, and changes of the mode."""

import re
from collections.abc import Iterable

from aix_importers.common.globs import has_wildcards, name_glob
from aix_importers.cursor.permissions.asked import Asked, host_of

_SERVER_AND_TOOL = re.compile(r"\s*([^:,]*?)\s*[:,]\s*(.*?)\s*", re.DOTALL)
_CHANGE = re.compile(r"\s*(.*?)\s*->\s*(.*?)\s*", re.DOTALL)


class PairRules:
    """Rules that name two things, each with its number; `*` stands for any text in a name."""

    def __init__(self, pairs: Iterable[tuple[int, tuple[str, str]]], *, are_unknown_matched: bool) -> None:
        self._fixed: dict[tuple[str, str], list[int]] = {}
        self._by_first: dict[str, list[tuple[int, re.Pattern[str]]]] = {}
        self._globs: list[tuple[int, re.Pattern[str], re.Pattern[str]]] = []
        self._are_unknown_matched = are_unknown_matched
        for number, (first, second) in pairs:
            if not has_wildcards(first) and has_wildcards(second):
                self._by_first.setdefault(first, []).append((number, name_glob(second)))
            elif has_wildcards(first):
                self._globs.append((number, name_glob(first), name_glob(second)))
            else:
                self._fixed.setdefault((first, second), []).append(number)

    def find(self, asked: Asked) -> list[int]:
        """Return the rules that speak of a call; of one that does not say its names only where that is asked for."""
        first, second = asked.target, asked.detail
        if not first and not second:
            return []
        found = list(self._fixed.get((first, second), ()))
        found += [number for number, other in self._by_first.get(first, ()) if other.match(second)]
        found += [number for number, one, other in self._globs if one.match(first) and other.match(second)]
        if self._are_unknown_matched and not first:
            found += [number for (_, each), numbers in self._fixed.items() if each == second for number in numbers]
        return sorted(found)


class HostRules:
    """Rules about hosts, each with its number; `*.` stands for all hosts below one."""

    def __init__(self, hosts: Iterable[tuple[int, str]]) -> None:
        self._fixed: dict[str, list[int]] = {}
        self._globs: list[tuple[int, re.Pattern[str]]] = []
        for number, host in hosts:
            if has_wildcards(host):
                self._globs.append((number, name_glob(host)))
            else:
                self._fixed.setdefault(host, []).append(number)

    def find(self, asked: Asked) -> list[int]:
        """Return the rules that speak of a host."""
        host = asked.target.lower()
        if not host:
            return []
        return sorted([*self._fixed.get(host, ()), *(number for number, glob in self._globs if glob.match(host))])


def server_and_tool(written: str) -> tuple[str, str] | None:
    """Return what a rule about a server's tools names.

    >>> server_and_tool("github:list_*"), server_and_tool("github"), server_and_tool("github, list")
    (('github', 'list_*'), None, ('github', 'list'))
    """
    found = _SERVER_AND_TOOL.fullmatch(written)
    return (found[1], found[2]) if found and found[1] and found[2] else None


def change_of_mode(written: str) -> tuple[str, str] | None:
    """Return the mode that is left and the one that is entered.

    >>> change_of_mode("agent->plan"), change_of_mode("plan")
    (('agent', 'plan'), None)
    """
    found = _CHANGE.fullmatch(written)
    return (found[1], found[2]) if found and found[1] and found[2] else None


def host_pattern(written: str) -> str:
    """Return the host that a rule names; empty where it names none.

    >>> host_pattern("*.Example.com"), host_pattern("https://example.com/docs"), host_pattern(" ")
    ('*.example.com', 'example.com', '')
    """
    written = written.strip().lower()
    if has_wildcards(written):
        return written.partition("://")[2].partition("/")[0] if "://" in written else written.partition("/")[0]
    return host_of(written)
