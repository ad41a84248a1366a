"""Targets of a call: the commands, paths, hosts, servers and agents that it names, one by one."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from aix.permissions.operands import files_named, host_of_stream, host_or_none, hosts_named
from aix.permissions.paths import Folders, folders_of, is_file_name, place
from aix.permissions.programs import plain_name
from aix.permissions.shell import Command, Redirect, Script, split

LONGEST_TEXT = 2000
"""Commands and targets are cut after so many characters."""
MOST_PARTS = 500
"""Of a call with more, the last part says so."""
CUT = "cut"
"""The `detail` of a last part that stands for those left out."""

_READING_OPERATORS = frozenset({"<", "<>"})
_WRITING_OPERATORS = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_STREAM_NUMBER = re.compile(r"^(?:[0-9]+-?|-)$")
_SEARCHING = re.compile(r"grep|search", re.IGNORECASE)
_FINDING = re.compile(r"grep|search|glob|find|list", re.IGNORECASE)
_PATH_LIKE = re.compile(r"^(?:[/~]|\.{1,2}(?:/|$)|\.\w|[A-Za-z]:[/\\]|[\w.@+-]+(?:/[\w.@+-]+)+/?$)")
_SEPARATORS = "_-./:"


class Part(NamedTuple):
    """One thing that a call touched."""

    kind: str
    """One of command, path, host, server, agent, search and name."""
    access: str
    """One of read, write, exec, net, mcp, spawn, ask and meta."""
    target: str
    """Program with its subcommand, path in its one form, host, server, kind of agent, search, or name of the tool."""
    program: str | None = None
    """The program of a command, or the one that touched a path or host."""
    subcommand: str | None = None
    command: str | None = None
    """The command as it is written."""
    wrappers: str | None = None
    """Programs that run this one, such as `sudo xargs`."""
    detail: str | None = None
    """The tool of a server; `cut` in a last part that stands for those left out."""
    is_outside: bool | None = None
    """Of a path: outside the workspace and the folders added to it; nothing when it cannot be told."""


def parts_of(
    access_class: str | None,
    tool: str,
    target: str | None,
    workspace: str | None,
    cwd: str | None,
    *,
    script: Script | None = None,
    folders: tuple[str, ...] = (),
) -> tuple[Part, ...]:
    """Return what a call touched, in the order in which it names it.

    A command that was split already is given as `script`; `folders` are those that were added to the workspace.

    >>> [(part.access, part.target) for part in parts_of("exec", "Shell", "cat a | wc > /tmp/n", "/w", "/w")]
    [('exec', 'cat'), ('read', '/w/a'), ('exec', 'wc'), ('write', '/tmp/n')]
    """
    if access_class in {"read", "write"} and target:
        if not _is_search(tool, target):
            return (_path_part(access_class, target, cwd or workspace, folders_of(workspace, cwd, folders)),)
        return (Part("search", access_class, target[:LONGEST_TEXT]),)
    if access_class == "exec" and target:
        whole = script if script is not None else split(target)
        return _bounded(_Reading(workspace, cwd, folders).parts(whole, has_subshells="(" in target))
    if access_class == "net" and target:
        host = host_or_none(target)
        return (Part("host", "net", host) if host else Part("search", "net", target[:LONGEST_TEXT]),)
    if access_class == "mcp":
        return (_server_part(tool, target),)
    if access_class == "spawn":
        return (Part("agent", "spawn", (target or "")[:LONGEST_TEXT]),)
    return (Part("name", access_class or "meta", (target or tool)[:LONGEST_TEXT]),)


@lru_cache(maxsize=16384)
def _path_part(access: str, path: str, cwd: str | None, folders: Folders) -> Part:
    where, is_outside = place(path, cwd, folders)
    return Part("path", access, where, is_outside=is_outside)


def _is_search(tool: str, target: str) -> bool:
    """Whether the target of a tool that searches is what it looks for, not where: no file is read by a pattern."""
    return (_SEARCHING.search(tool) is not None and _PATH_LIKE.match(target) is None) or (
        "*" in target and _FINDING.search(tool) is not None
    )


def _server_part(tool: str, server: str | None) -> Part:
    start = tool.find(server) if server else -1
    rest = tool[start + len(server or "") :].strip(_SEPARATORS) if start >= 0 else ""
    return Part("server", "mcp", (server or tool)[:LONGEST_TEXT], detail=(rest or tool)[:LONGEST_TEXT])


def _bounded(parts: Iterator[Part]) -> tuple[Part, ...]:
    kept = tuple(islice(parts, MOST_PARTS + 1))
    if len(kept) <= MOST_PARTS:
        return kept
    return (*kept[: MOST_PARTS - 1], Part("name", "exec", "further parts", detail=CUT))


class _Reading:
    """Going through the commands of one script, with the folder that each is run in."""

    def __init__(self, workspace: str | None, cwd: str | None, added: tuple[str, ...]) -> None:
        self._folders = folders_of(workspace, cwd, added)
        self._start = cwd or workspace
        self._cwd_in: dict[tuple[str, ...], tuple[str | None, ...]] = {}
        """For the commands within the same wrappers, the folders they may be in; the last is the likeliest."""

    def parts(self, script: Script, *, has_subshells: bool) -> Iterator[Part]:
        """Go through the parts of all commands, each path and host once for every program."""
        seen: set[tuple[str, str, str, str | None]] = set()
        for command in script.commands:
            yield Part(
                "command",
                "exec",
                (f"{command.program} {command.sub}" if command.sub else command.program)[:LONGEST_TEXT],
                command.program[:LONGEST_TEXT],
                command.sub[:LONGEST_TEXT] if command.sub else None,
                command.source[:LONGEST_TEXT],
                " ".join(command.wrappers)[:LONGEST_TEXT] or None,
            )
            for part in self._touched(command):
                key = (part.kind, part.access, part.target, part.program)
                if key not in seen:
                    seen.add(key)
                    yield part
            if command.program in {"cd", "pushd", "popd", "chdir"}:
                self._change_folder(command, has_subshells=has_subshells)
        yield from self._redirected(script.redirects, self._cwds(()), None)

    def _redirected(
        self, redirects: Sequence[Redirect], cwds: tuple[str | None, ...], program: str | None
    ) -> Iterator[Part]:
        for redirect in redirects:
            host = host_of_stream(redirect.target)
            if host:
                yield Part("host", "net", host, program)
            elif not _STREAM_NUMBER.match(redirect.target) and is_file_name(redirect.target):
                if redirect.op in _READING_OPERATORS:
                    yield self._path("read", redirect.target, cwds, program)
                if redirect.op in _WRITING_OPERATORS:
                    yield self._path("write", redirect.target, cwds, program)

    def _touched(self, command: Command) -> Iterator[Part]:
        cwds = self._cwds(command.wrappers)
        program = plain_name(command.program)
        yield from self._redirected(command.redirects, cwds, program)
        hosts = dict.fromkeys(host[:LONGEST_TEXT] for host in hosts_named(program, command.sub, command.words))
        for use in files_named(program, command.words):
            is_local = use.path.partition(":")[0].rpartition("@")[2] not in hosts
            if is_local and "://" not in use.path and not use.path.startswith("<(") and is_file_name(use.path):
                yield self._path(use.access, use.path, cwds, program)
        for host in hosts:
            yield Part("host", "net", host, program)

    def _path(self, access: str, path: str, cwds: tuple[str | None, ...], program: str | None) -> Part:
        places = [place(path, cwd, self._folders) for cwd in cwds]
        is_agreed = all(each.is_outside == places[-1].is_outside for each in places)
        return Part("path", access, places[-1].path, program, is_outside=places[-1].is_outside if is_agreed else None)

    def _cwds(self, wrappers: tuple[str, ...]) -> tuple[str | None, ...]:
        while wrappers and wrappers not in self._cwd_in:
            wrappers = wrappers[:-1]
        return self._cwd_in.get(wrappers, (self._start,))

    def _change_folder(self, command: Command, *, has_subshells: bool) -> None:
        """Follow a change of folder; in a script with subshells it may be over for the commands that follow."""
        before = self._cwds(command.wrappers)
        operands = [word for word in command.words[1:] if word == "-" or word[:1] != "-"]
        after: str | None = None
        if command.program in {"cd", "chdir", "pushd"} and operands != ["-"]:
            where = place(operands[0] if operands else "~", before[-1], self._folders).path
            after = where if not any(letter in where for letter in "$`*?") else None
        self._cwd_in[command.wrappers] = (before[-1], after) if has_subshells else (after,)
