"""Targets of calls: files and skills that they name, and actions that no allow rule lets pass."""

import re
from collections.abc import Collection, Mapping, Sequence

from aix.permissions.programs import listed
from aix_importers.claude_code.permissions.commands import FileUse
from aix_importers.claude_code.permissions.paths import CallSite, below, has_drive

_PROTECTED_FOLDERS = listed(
    ".git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude"
)  # `.config/git` stands below
_PROTECTED_FILES = listed(
    """
    .gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin
    .zlogout .profile .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml
    .bazelrc .bazelversion .bazeliskrc .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
    gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc pyrightconfig.json .mcp.json
    .claude.json
    """
)
_TOP_LEVEL_ELSEWHERE = listed("/private/etc /private/var /private/tmp /private/home")
"""Where folders directly below the root lie on macOS."""
_EXPANSIONS = re.compile(r"(?:\$[A-Za-z_0-9@*#?]+|\$\{[^}]*\})++", re.ASCII)
_GUARDED = re.compile(r"\$\{[A-Za-z_0-9]+:\?[^}]*\}", re.ASCII)
SHELLS = frozenset(("Bash", "Monitor"))
SKILLS = frozenset(("Skill", "SlashCommand"))
SEARCHING = frozenset(("Grep", "Glob", "LS"))
WRITING = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
DEFAULT_AGENT = "general-purpose"
_SKILL_ALIASES = {"code-review": "review"}
_READING = {"Read": "file_path", "NotebookRead": "notebook_path", "LSP": "filePath"}


def is_protected(path: str) -> bool:
    """Whether a whole path is one that only the user may let be written."""
    segments = path.lower().split("/")
    if segments[-1] in _PROTECTED_FILES:
        return True
    for place, name in enumerate(segments):
        following = segments[place + 1 : place + 2]
        if name in _PROTECTED_FOLDERS and not (name == ".claude" and following == ["worktrees"]):
            return True
        if name == ".config" and following == ["git"]:
            return True
    return False


def removes_critical(targets: Sequence[str], place: CallSite, directories: Collection[str]) -> bool:
    """Whether `rm` or `rmdir` is given a path whose loss cannot be meant."""
    return any(_is_critical(target, place, directories) for target in targets)


def is_system_path(path: str, place: CallSite, *, is_on_drive: bool = False) -> bool:
    """Whether a whole path is the root, lies directly below it or a drive, or is the home folder."""
    depth = len(list(filter(None, path.split("/"))))
    return path == place.home or path in _TOP_LEVEL_ELSEWHERE or depth <= (2 if is_on_drive or place.is_windows else 1)


def _is_critical(target: str, place: CallSite, directories: Collection[str]) -> bool:
    if _hangs_on_variable(target):
        return True
    is_glob = target == "*" or target.endswith("/*")
    path = place.resolve(target[:-1] if is_glob else target)
    if path is None:
        return target in ("~", "~/", "~/*", "$HOME", "${HOME}")
    if is_system_path(path, place, is_on_drive=has_drive(target)) or _holds(path, place.cwd):
        return True
    return is_glob and any(_holds(path, directory) for directory in directories)


def _hangs_on_variable(target: str) -> bool:
    """Whether an empty variable would make it the root, or what lies there."""
    folder = target.rstrip("*")
    variables = folder.rstrip("/")
    if variables == folder or _EXPANSIONS.fullmatch(variables) is None:
        return False
    return bool(_GUARDED.sub("", variables))


def _holds(folder: str, path: str) -> bool:
    return folder == path or path.startswith(f"{folder}/")


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


def needs_rule(use: FileUse, place: CallSite, directories: Collection[str]) -> bool:
    """Whether a file that a command names must be let pass by a rule of its own."""
    if not use.is_certain:
        return use.by in (">", "<")
    if use.by not in (">", "<", "tee"):
        return False
    path = place.resolve(use.path)
    if path == "/dev/null":
        return False
    return path is None or all(below(path, folder) is None for folder in (place.cwd, *directories))
