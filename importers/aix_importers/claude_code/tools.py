"""Kind of access that a call asks for, and its target."""

from typing import NamedTuple
from urllib.parse import urlsplit

from aix_importers.common.json_text import fields, text, whole_characters


class Access(NamedTuple):
    """Access that a call asks for."""

    access_class: str | None
    """One of read, write, exec, net, mcp, spawn, ask and meta; nothing for a tool that is not known."""
    target: str | None
    """Command, path, host, search, server, kind of agent, or name."""


_MCP = "mcp__"
_UNKNOWN = Access(None, None)

# Class of each tool, and the parameters of which the first that is given names the target.
_TOOLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Bash": ("exec", ("command",)),
    "PowerShell": ("exec", ("command",)),
    "Monitor": ("exec", ("command",)),
    "Read": ("read", ("file_path",)),
    "NotebookRead": ("read", ("notebook_path",)),
    "Glob": ("read", ("path", "pattern")),
    "Grep": ("read", ("path", "pattern")),
    "LS": ("read", ("path",)),
    "LSP": ("read", ("filePath",)),
    "Write": ("write", ("file_path",)),
    "Edit": ("write", ("file_path",)),
    "MultiEdit": ("write", ("file_path",)),
    "NotebookEdit": ("write", ("notebook_path",)),
    "WebFetch": ("net", ("url",)),
    "WebSearch": ("net", ("query",)),
    "ListMcpResourcesTool": ("mcp", ("server",)),
    "ReadMcpResourceTool": ("mcp", ("server",)),
    "Task": ("spawn", ("subagent_type",)),
    "Agent": ("spawn", ("subagent_type",)),
    "Skill": ("meta", ("skill", "command")),
    "SlashCommand": ("meta", ("command",)),
    "SendMessage": ("meta", ("to", "recipient")),
    "TeamCreate": ("meta", ("team_name",)),
    "EnterWorktree": ("meta", ("name",)),
}
_WITHOUT_TARGET = {
    "ask": "AskUserQuestion EnterPlanMode ExitPlanMode",
    "meta": """
        AgentOutputTool BashOutput Batch CronCreate CronDelete CronList ExitWorktree KillBash KillShell PushNotification
        RemoteTrigger ScheduleWakeup StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate
        TeamDelete TodoRead TodoWrite ToolSearch
    """,
}
_NAMES = {name: Access(kind, None) for kind, names in _WITHOUT_TARGET.items() for name in names.split()}
_WITHOUT_CLASS = """
    Artifact Cd EndConversation ListAgents ReportFindings SendFeedback SendUserFile ShareOnboardingGuide
    SubagentHandback WaitForMcpServers Workflow
"""
_KNOWN = frozenset((*_TOOLS, *_NAMES, *_WITHOUT_CLASS.split()))


def is_known_tool(name: str) -> bool:
    """Whether Claude Code has, or had, a tool of its own by that name."""
    return name in _KNOWN


def target_parameter(tool_name: str) -> str | None:
    """Return the parameter that names the target of a tool's calls."""
    known = _TOOLS.get(tool_name)
    return known[1][0] if known else None


def access_of(tool_name: str, params: bytes) -> Access:
    """Return what a call asks for.

    >>> access_of("Bash", b'{"command":"make test"}'), access_of("mcp__issue_tracker__search", b"{}")
    (Access(access_class='exec', target='make test'), Access(access_class='mcp', target='issue_tracker'))
    """
    known = _TOOLS.get(tool_name)
    if known is None:
        if tool_name.startswith(_MCP):
            return Access("mcp", whole_characters(tool_name[len(_MCP) :].partition("__")[0]) or None)
        return _NAMES.get(tool_name, _UNKNOWN)
    access_class, names = known
    given = fields(params)
    for name in names:
        target = text(given.get(name))
        if target:
            return Access(access_class, _host(target) if name == "url" else target)
    return Access(access_class, None)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname
    except ValueError:
        return None
