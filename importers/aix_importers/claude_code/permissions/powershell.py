"""Commands of PowerShell, cut where its grammar cuts them, and removals that the client never lets pass unasked."""

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache

from aix_importers.claude_code.permissions.paths import CallSite, below, has_drive, is_system_path
from aix_importers.claude_code.permissions.patterns import spaced, written_words

_REMEMBERED = 1024
_REMEMBERED_LENGTH = 2000

_ALIASES = {
    alias: name.lower()
    for name, aliases in {
        "Get-ChildItem": "gci ls dir",
        "Remove-Item": "ri rm del erase rd rmdir",
        "Get-Content": "gc cat type",
        "Set-Content": "sc",
        "Add-Content": "ac",
        "Clear-Content": "clc",
        "Copy-Item": "cpi cp copy",
        "Move-Item": "mi mv move",
        "Rename-Item": "rni ren",
        "New-Item": "ni",
        "Get-Item": "gi",
        "Set-Item": "si",
        "Invoke-Item": "ii",
        "Set-Location": "sl cd chdir",
        "Get-Location": "gl pwd",
        "Push-Location": "pushd",
        "Pop-Location": "popd",
        "Write-Output": "echo write",
        "Invoke-Expression": "iex",
        "Invoke-Command": "icm",
        "Invoke-WebRequest": "iwr curl wget",
        "Invoke-RestMethod": "irm",
        "Select-String": "sls",
        "Select-Object": "select",
        "Where-Object": "where ?",
        "ForEach-Object": "foreach %",
        "Sort-Object": "sort",
        "Measure-Object": "measure",
        "Group-Object": "group",
        "Compare-Object": "compare diff",
        "Tee-Object": "tee",
        "Get-Process": "gps ps",
        "Stop-Process": "spps kill",
        "Start-Process": "saps start",
        "Start-Sleep": "sleep",
        "Get-Service": "gsv",
        "Start-Service": "sasv",
        "Stop-Service": "spsv",
        "Get-Command": "gcm",
        "Get-Member": "gm",
        "Get-History": "h history ghy",
        "Get-Variable": "gv",
        "Set-Variable": "sv set",
        "Remove-Variable": "rv",
        "Get-Alias": "gal",
        "Set-Alias": "sal",
        "Import-Module": "ipmo",
        "Clear-Host": "cls clear",
        "Format-List": "fl",
        "Format-Table": "ft",
    }.items()
    for alias in aliases.split()
}
_KEYWORDS = re.compile(
    r"(?:(?:if|elseif|else|for|while|do|until|switch|try|catch|finally|function|param|return|throw|begin|process|end|in)"
    r"(?:[ \t]++|\Z))*+",
    re.IGNORECASE,
)
# Here-strings, quoted texts, escaped characters and comments, in which nothing separates; then what separates.
_TOKEN = re.compile(
    r"""(?P<kept>@'\r?\n.*?(?:\n'@|\Z)|@"\r?\n.*?(?:\n"@|\Z)|'[^']*+(?:'|\Z)|"(?:[^"`]++|`.)*+(?:"|\Z)|`.)"""
    r"""|(?P<comment><\#.*?(?:\#>|\Z)|(?:(?<=\s)|\A)\#[^\n]*+)|(?P<cut>&&|\|\||[;|\n(){}])""",
    re.DOTALL | re.VERBOSE,
)
_ASSIGNED = re.compile(r"\$[\w:]+\s*[-+*/]?=\s*")
_EXPRESSION = frozenset("$'\"@-[0123456789+!,<>=.)")
_VALUED = frozenset(("-filter", "-include", "-exclude", "-credential", "-stream", "-erroraction", "-ea"))


def commands_of(text: str) -> tuple[str, ...]:
    """Return the commands of a text, in lower case, aliases replaced by what they stand for.

    >>> commands_of("gci . | Where-Object { $_.Length } ; RM x")
    ('get-childitem .', 'where-object', 'remove-item x')
    """
    return _remembered(text) if len(text) <= _REMEMBERED_LENGTH else _commands(text)


def canonical_command(text: str) -> str:
    """Return a command or the pattern of one as commands are compared."""
    first, space, rest = spaced(text).lower().partition(" ")
    bare = first.removesuffix(":*")
    return f"{_ALIASES.get(bare, bare)}{first[len(bare) :]}{space}{rest}"


def _commands(text: str) -> tuple[str, ...]:
    return tuple(
        canonical_command(command) for piece in _pieces(text.replace("`\n", " ")) if (command := _command(piece))
    )


_remembered = lru_cache(_REMEMBERED)(_commands)


def _pieces(text: str) -> Iterator[str]:
    piece: list[str] = []
    place = 0
    for token in _TOKEN.finditer(text):
        piece.append(text[place : token.start()])
        place = token.end()
        if token["kept"] is not None:
            piece.append(token["kept"])
        elif token["cut"] is not None:
            yield "".join(piece)
            piece = []
    piece.append(text[place:])
    yield "".join(piece)


def _command(piece: str) -> str:
    """Return the command of a piece without what stands around it; empty when it only computes."""
    piece = piece.strip(" \t\r\n&")
    assigned = _ASSIGNED.match(piece)
    if assigned:
        piece = piece[assigned.end() :].lstrip("& \t")
    if piece.startswith(". "):
        piece = piece[2:].lstrip()
    keywords = _KEYWORDS.match(piece)
    piece = piece[keywords.end() :] if keywords else piece
    is_path = piece.startswith(("./", ".\\", "../", "..\\"))
    return "" if not piece or (piece[0] in _EXPRESSION and not is_path) else piece


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
