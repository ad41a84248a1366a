"""The tools: their numbers, their names, and what kind of access each asks for."""

from typing import NamedTuple

from msgspec import Raw

from aix_importers.common.hosts import host_of
from aix_importers.cursor.values import ABSENT, Record, field, items, text

NAMES = {
    1: "codebase_search", 3: "grep_search", 4: "run_terminal_command", 5: "read_file", 6: "list_dir", 7: "edit_file",
    8: "file_search", 9: "semantic_search_full", 10: "create_file", 11: "delete_file", 12: "reapply",
    15: "run_terminal_cmd", 16: "fetch_rules", 18: "web_search", 19: "mcp", 23: "search_symbols",
    24: "background_composer_followup", 25: "update_memory", 26: "fetch_pull_request", 27: "deep_search",
    28: "create_diagram", 29: "fix_lints", 30: "read_lints", 31: "go_to_definition", 32: "task", 33: "await_task",
    34: "todo_read", 35: "todo_write", 38: "edit_file_v2", 39: "list_dir_v2", 40: "read_file_v2", 41: "grep",
    42: "glob_file_search", 43: "create_plan", 44: "list_mcp_resources", 45: "read_mcp_resource", 46: "read_project",
    47: "update_project", 48: "task_v2", 49: "call_mcp_tool", 50: "apply_agent_diff", 51: "ask_question",
    52: "switch_mode", 53: "generate_image", 54: "computer_use", 55: "write_shell_stdin", 56: "record_screen",
    57: "web_fetch", 58: "report_bugfix_results", 59: "ai_attribution", 60: "mcp_auth", 61: "reflect", 62: "await",
}  # fmt: skip

READING = {"read_file", "read_file_v2", "Read"}
WRITING = {
    "edit_file", "edit_file_v2", "search_replace", "write", "apply_patch", "create_file", "delete_file", "MultiEdit",
    "Write", "StrReplace", "Delete", "ApplyPatch", "Edit", "EditNotebook",
}  # fmt: skip
_READ_NUMBERS = {5, 40}
_WRITE_NUMBERS = {7, 10, 11, 38}

_CLASSES = {
    "read": """
        codebase_search grep_search read_file list_dir file_search semantic_search_full search_symbols go_to_definition
        list_dir_v2 read_file_v2 grep ripgrep_raw_search ripgrep_search glob_file_search read_lints fetch_rules
        deep_search read_project Read Grep Glob LS ReadLints SemanticSearch
    """,
    "write": "reapply apply_agent_diff update_project generate_image fix_lints",
    "exec": """
        run_terminal_command run_terminal_cmd run_terminal_command_v2 write_shell_stdin computer_use record_screen Shell
    """,
    "net": "web_search web_fetch fetch_pull_request WebSearch WebFetch",
    "mcp": "mcp call_mcp_tool list_mcp_resources read_mcp_resource mcp_auth CallMcpTool",
    "spawn": "task task_v2 subagent background_composer_followup Task",
    "ask": "ask_question switch_mode AskQuestion SwitchMode",
    "meta": """
        todo_read todo_write create_plan update_memory create_diagram await_task await reflect ai_attribution
        report_bugfix_results TodoWrite CreatePlan
    """,
}
_CLASS_OF = {name: kind for kind, names in _CLASSES.items() for name in names.split()}
_CLASS_OF |= dict.fromkeys(WRITING, "write")
_SNAKE = ("search_term", "target_directory", "subagent_type")
_TARGETS = {
    "exec": ("command",),
    "read": (
        "target_file", "relative_workspace_path", "path", "target_directory", "directory_path", "pattern", "query",
        "glob_pattern",
    ),
    "write": ("relative_workspace_path", "target_file", "file_path", "path"),
    "net": ("url", "search_term", "query"),
    "spawn": ("subagent_type",),
}  # fmt: skip


class Params(Record):
    """Parameters that say what a call is about."""

    command: Raw = ABSENT
    relative_workspace_path: Raw = ABSENT
    target_file: Raw = ABSENT
    effective_uri: Raw = ABSENT
    file_path: Raw = ABSENT
    path: Raw = ABSENT
    target_directory: Raw = ABSENT
    directory_path: Raw = ABSENT
    start_line_one_indexed: Raw = ABSENT
    end_line_one_indexed_inclusive: Raw = ABSENT
    read_entire_file: Raw = ABSENT
    offset: Raw = ABSENT
    limit: Raw = ABSENT
    url: Raw = ABSENT
    search_term: Raw = ABSENT
    query: Raw = ABSENT
    pattern: Raw = ABSENT
    glob_pattern: Raw = ABSENT
    tools: Raw = ABSENT
    server: Raw = ABSENT
    subagent_type: Raw = ABSENT


class Access(NamedTuple):
    """Access that a call asks for."""

    access_class: str | None
    """One of read, write, exec, net, mcp, spawn, ask and meta; nothing for a tool that is not known."""
    target: str | None
    """Command, path, host, search, server or kind of agent."""


def is_reading(name: str, number: int | None) -> bool:
    """Whether a tool reads one file."""
    return name in READING or number in _READ_NUMBERS


def is_writing(name: str, number: int | None) -> bool:
    """Whether a tool writes or deletes one file."""
    return name in WRITING or number in _WRITE_NUMBERS


def class_of(name: str) -> str | None:
    """Return what kind of access a tool asks for, by its name."""
    return _CLASS_OF.get(name) or ("mcp" if name.startswith("mcp_") else None)


def access_of(name: str, number: int | None, params: bytes) -> Access:
    """Return what a call asks for.

    >>> access_of("run_terminal_cmd", 15, b'{"command":"make test"}'), access_of("mcp_github_search", 19, b"{}")
    (Access(access_class='exec', target='make test'), Access(access_class='mcp', target='github'))
    """
    kind = class_of(name) or _CLASS_OF.get(NAMES.get(number or 0, ""))
    given = Params.read(params) if kind else None
    if kind is None or given is None:
        return Access(kind, None)
    if kind == "mcp":
        return Access(kind, _server(name, given))
    for each in _TARGETS.get(kind, ()):
        target = text(getattr(given, each)) or (text(field(params, each)) if each in _SNAKE else None)
        if target:
            return Access(kind, host_of(target) if each == "url" else target)
    in_snake_case = (text(field(params, each)) for each in _TARGETS.get(kind, ()))
    return Access(kind, next(filter(None, in_snake_case), None))


def _server(name: str, given: Params) -> str | None:
    for tool in items(given.tools):
        if server := text(field(tool, "serverName")):
            return server
    if server := text(given.server):
        return server
    return name.removeprefix("mcp_").partition("_")[0] or None if name.startswith("mcp_") else None


def tool_names(numbers: list[int]) -> list[str]:
    """Return the names of tools by their numbers.

    >>> tool_names([5, 999])
    ['read_file', 'tool#999']
    """
    return [NAMES.get(number, f"tool#{number}") for number in numbers]
