"""Targets of the calls of Claude Code's tools."""

from collections.abc import Collection, Mapping

from aix_importers.claude_code.permissions.commands import FileUse
from aix_importers.claude_code.permissions.paths import Place, below

SHELLS = frozenset(("Bash", "Monitor"))
SKILLS = frozenset(("Skill", "SlashCommand"))
SEARCHING = frozenset(("Grep", "Glob", "LS"))
WRITING = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
DEFAULT_AGENT = "general-purpose"
_SKILL_ALIASES = {"code-review": "review"}
_READING = {"Read": "file_path", "NotebookRead": "notebook_path", "LSP": "filePath"}


def path_of(tool: str, given: Mapping[str, object]) -> str | None:
    """Return the path that a file tool is given; a search without one is made where the call is."""
    if tool in SEARCHING:
        path = given.get("path", "")
        return path if isinstance(path, str) else None
    name = _READING.get(tool) or WRITING.get(tool)
    path = given.get(name) if name is not None else None
    return path if isinstance(path, str) and path else None


def skill_of(given: Mapping[str, object]) -> tuple[str, str]:
    """Return the name of a skill, and the name with what it is given."""
    name = given.get("skill") or given.get("command")
    words = name.strip().removeprefix("/") if isinstance(name, str) else ""
    arguments = given.get("args")
    text = f"{words} {arguments}" if isinstance(arguments, str) and arguments else words
    return words.partition(" ")[0], text


def other_skill_name(name: str) -> str | None:
    """Return the other name by which a deny rule finds a skill: its alias, or its own without the folder it lies in.

    >>> other_skill_name("apps/web:deploy"), other_skill_name("code-review"), other_skill_name("plugin:deploy")
    ('deploy', 'review', None)
    """
    folder, colon, rest = name.rpartition(":")
    return rest if colon and "/" in folder else _SKILL_ALIASES.get(name)


def needs_rule(use: FileUse, place: Place, directories: Collection[str]) -> bool:
    """Whether a file that a command names must be let pass by a rule of its own."""
    if not use.is_certain:
        return use.by in (">", "<")
    if use.by not in (">", "<", "tee"):
        return False
    path = place.resolve(use.path)
    if path == "/dev/null":
        return False
    return path is None or all(below(path, folder) is None for folder in (place.cwd, *directories))
