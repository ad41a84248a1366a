"""Removals by PowerShell's `Remove-Item` that the client denies or asks about, whatever the rules say."""

from collections.abc import Iterable
from enum import Enum

from aix_importers.claude_code.permissions.paths import CallSite, below, has_drive
from aix_importers.claude_code.permissions.patterns import written_words
from aix_importers.claude_code.permissions.safety import is_system_path

_VALUED = frozenset(("-filter", "-include", "-exclude", "-credential", "-stream", "-erroraction", "-ea"))


class PowerShellRemoval(Enum):
    """How the client treats a removal, whatever the rules say."""

    NONE = 0
    ASKED = 1
    DENIED = 2


def powershell_removal(commands: Iterable[str], place: CallSite) -> PowerShellRemoval:
    """Say how the removals among commands in lower case are treated."""
    found = PowerShellRemoval.NONE
    for command in commands:
        if command.startswith("remove-item "):
            treated = _treated(written_words(command)[1:], place)
            found = max(found, treated, key=lambda each: each.value)
    return found


def _treated(words: list[str], place: CallSite) -> PowerShellRemoval:
    lower = CallSite(place.cwd.lower(), place.home and place.home.lower(), place.is_windows)
    is_recursive = any(len(word) > 1 and "-recurse".startswith(word) for word in words)
    found = PowerShellRemoval.NONE
    skips = False
    for word in words:
        if skips or word.startswith("-"):
            skips = word in _VALUED
            continue
        target = word.strip("'\",")
        if target == "*" or target.endswith(("/*", "\\*")):
            return PowerShellRemoval.DENIED
        path = lower.resolve(target)
        if path is None or is_system_path(path, lower, is_on_drive=has_drive(target)):
            return PowerShellRemoval.DENIED
        if is_recursive and below(lower.cwd, path) is not None:
            found = PowerShellRemoval.ASKED
    return found
