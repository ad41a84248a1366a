"""Actions that no allow rule lets pass: writing to protected paths, and removing critical ones."""

import re
from collections.abc import Collection, Sequence

from aix_importers.claude_code.permissions.paths import Place, has_drive
from aix_importers.claude_code.permissions.texts import names

_PROTECTED_FOLDERS = names(
    ".git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude"
)  # `.config/git` stands below
_PROTECTED_FILES = names(
    """
    .gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin
    .zlogout .profile .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml
    .bazelrc .bazelversion .bazeliskrc .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
    gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc pyrightconfig.json .mcp.json
    .claude.json
    """
)
_TOP_LEVEL_ELSEWHERE = names("/private/etc /private/var /private/tmp /private/home")
"""Where folders directly below the root lie on macOS."""
_EXPANSIONS = re.compile(r"(?:\$[A-Za-z_0-9@*#?]+|\$\{[^}]*\})++", re.ASCII)
_GUARDED = re.compile(r"\$\{[A-Za-z_0-9]+:\?[^}]*\}", re.ASCII)


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


def removes_critical(targets: Sequence[str], place: Place, directories: Collection[str]) -> bool:
    """Whether `rm` or `rmdir` is given a path whose loss cannot be meant."""
    return any(_is_critical(target, place, directories) for target in targets)


def is_system_path(path: str, place: Place, *, is_on_drive: bool = False) -> bool:
    """Whether a whole path is the root, lies directly below it or a drive, or is the home folder."""
    depth = len(list(filter(None, path.split("/"))))
    return path == place.home or path in _TOP_LEVEL_ELSEWHERE or depth <= (2 if is_on_drive or place.is_windows else 1)


def _is_critical(target: str, place: Place, directories: Collection[str]) -> bool:
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
