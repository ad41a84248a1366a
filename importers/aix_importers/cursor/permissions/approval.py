"""Approval that a call needs, as far as rules speak of it, and the rules that would give it."""

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum, auto
from typing import NamedTuple
from urllib.parse import urlsplit

from aix.permissions.contract import Call
from aix_importers.common.paths import CallPath
from aix_importers.cursor.tools import class_of

_PATHS = (
    "target_file", "targetFile", "relativeWorkspacePath", "relative_workspace_path", "file_path", "filePath", "path",
    "target_directory", "targetDirectory", "directoryPath", "directory_path", "target_notebook",
)  # fmt: skip
_DELETING = {"delete_file", "Delete"}
_FETCHING = {"web_fetch", "WebFetch"}
_SEARCHING = {"web_search", "WebSearch"}
_SWITCHING = {"switch_mode", "SwitchMode"}
_FROM_MODES = ("fromModeId", "from_mode_id")
_TO_MODES = ("toModeId", "to_mode_id", "targetModeId", "target_mode_id")
SEARCHES = {
    "codebase_search": "query",
    "semantic_search_full": "query",
    "SemanticSearch": "query",
    "deep_search": "query",
    "search_symbols": "query",
    "file_search": "query",
    "grep_search": "query",
    "grep": "pattern",
    "Grep": "pattern",
    "ripgrep_search": "pattern",
    "ripgrep_raw_search": "pattern",
    "glob_file_search": "globPattern",
    "Glob": "globPattern",
}
"""Tools that may be given a folder, and are known by what they look for where they are not."""
MCP_CALLS = ("mcp", "call_mcp_tool", "CallMcpTool")
_PLAIN_NAME = re.compile(r"[\w.-]+")


class Kind(IntEnum):
    """Kind of a call, by the rules that it is compared with."""

    SHELL = auto()
    READ = auto()
    WRITE = auto()
    FETCH = auto()
    SEARCH = auto()
    MCP = auto()
    MODE = auto()
    OTHER = auto()


class Approval(NamedTuple):
    """Approval that a call needs; unknown fields are empty."""

    kind: Kind
    target: str = ""
    """Command, path, host, server, or the mode that is left."""
    detail: str = ""
    """The tool of a server, or the mode that is entered."""
    cwd: str = ""
    is_deletion: bool = False


def read_call(call: Call) -> Approval:
    """Return the approval that a call needs."""
    given = call.input
    match class_of(call.tool):
        case "exec":
            return Approval(Kind.SHELL, _text(given, "command"), cwd=call.cwd)
        case "read":
            return Approval(Kind.READ, _first(given, _PATHS), cwd=call.cwd)
        case "write":
            return Approval(Kind.WRITE, _first(given, _PATHS), cwd=call.cwd, is_deletion=call.tool in _DELETING)
        case "net" if call.tool in _FETCHING:
            return Approval(Kind.FETCH, host_of(_text(given, "url")))
        case "net" if call.tool in _SEARCHING:
            return Approval(Kind.SEARCH)
        case "mcp":
            return Approval(Kind.MCP, *_server_and_tool(call.tool, given))
        case "ask" if call.tool in _SWITCHING:
            return Approval(Kind.MODE, _first(given, _FROM_MODES), _first(given, _TO_MODES))
        case _:
            return Approval(Kind.OTHER)


def host_of(url: str) -> str:
    """Return the host of an address, or of a host alone.

    >>> host_of("https://Docs.Example.com/a"), host_of("example.com:8080"), host_of("https://[")
    ('docs.example.com', 'example.com', '')
    """
    try:
        return (urlsplit(url if "://" in url else f"//{url}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _server_and_tool(name: str, given: Mapping[str, object]) -> tuple[str, str]:
    tools = given.get("tools")
    for each in tools if isinstance(tools, list) else ():
        if isinstance(each, dict) and (server := _text(each, "serverName")):
            return server, _text(each, "name") or _without_server(name, server)
    if server := _text(given, "server"):
        return server, _first(given, ("toolName", "tool_name", "name")) or _without_server(name, server)
    if not name.startswith("mcp_"):
        return "", ""
    server, _, tool = name.removeprefix("mcp_").partition("_")
    return server, tool


def _without_server(name: str, server: str) -> str:
    prefix = f"mcp_{server}_"
    return name.removeprefix(prefix) if name.startswith(prefix) else ""


def _first(given: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((found for name in names if (found := _text(given, name))), "")


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


def patterns_of(call: Call) -> Sequence[Sequence[str]]:
    """Return for every part of a call the allow rules that would let it pass, from the narrowest to the widest."""
    from aix_importers.cursor.permissions.commands import read_chain, rules_for

    approval = read_call(call)
    match approval.kind:
        case Kind.SHELL:
            script = read_chain(approval.target).script
            return [rules_for(part) for part in script.simple] if script.is_whole and script.simple else [[]]
        case Kind.READ | Kind.WRITE:
            return [_for_path("Read" if approval.kind is Kind.READ else "Write", approval)]
        case Kind.FETCH:
            return [[f"WebFetch({approval.target})"] if _PLAIN_NAME.fullmatch(approval.target) else []]
        case Kind.MCP:
            return [_for_server(approval)]
        case Kind.MODE if _PLAIN_NAME.fullmatch(approval.target) and _PLAIN_NAME.fullmatch(approval.detail):
            return [[f"SwitchMode({approval.target}->{approval.detail})"]]
        case _:
            return [[]]


def _for_path(name: str, approval: Approval) -> list[str]:
    path = CallPath.of(approval.target, approval.cwd, None).written if approval.target else ""
    if not path:
        return []
    folder = path.rpartition("/")[0]
    return [f"{name}({path})", f"{name}({folder}/**)"] if folder else [f"{name}({path})"]


def _for_server(approval: Approval) -> list[str]:
    if not _PLAIN_NAME.fullmatch(approval.target):
        return []
    exact = [f"Mcp({approval.target}:{approval.detail})"] if _PLAIN_NAME.fullmatch(approval.detail) else []
    return [*exact, f"Mcp({approval.target}:*)"]
