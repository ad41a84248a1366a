"""Paths as they are written in calls: put in one form, and held against the workspace, without a look at any disk.

The one form has slashes, no `.` and `..`, the home folder in full where the workspace's own path shows it, and a drive
with a capital letter. Links are not followed: what a path says is what is judged.
"""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

_HOME = re.compile(
    r"(?:/var)?/(?:home|Users)/[^/]+|(?:/var)?/root(?=/|\Z)|(?i:[a-z]:|/mnt/[a-z])/(?i:users|home)/[^/]+"
)
LONGEST_PATH = 2000
"""Longer paths are cut after so many characters."""
_SPECIAL = re.compile(r"[\\$`*?\[{~%]|//|/\.|^[A-Za-z]:|^file:|/$")
_DETOUR = re.compile(r"//|/\./|/\.\./|/\.{0,2}\Z|\A\.{1,2}(?:/|\Z)")
_UNFIXED = re.compile(r"[$`*?\[{]")
_DRIVE = re.compile(r"^/?([A-Za-z]):(?=/|$)")
_MOUNTED_DRIVE = re.compile(r"^/(?:mnt/|cygdrive/)?([A-Za-z])(?=/|$)")
_HOME_NAMES = re.compile(r"^(?:~(?=/|$)|\$HOME\b|\$\{HOME\}|\$env:USERPROFILE\b|%USERPROFILE%)", re.IGNORECASE)
_CWD_NAMES = re.compile(r"^(?:\$PWD\b|\$\{PWD\}|\$\(pwd\)|`pwd`)")
_LINKED_ROOT = re.compile(r"^/private(?=/(?:tmp|var|etc)(?:/|$))")
_NOT_FILES = re.compile(
    r"^/dev/(?:null|zero|u?random|stdin|stdout|stderr|tty|fd(?:/.*)?)$|^(?:nul|-|\$null|\{\})$", re.IGNORECASE
)


def home_of(path: str) -> str | None:
    r"""Return the home folder that a path lies in or is, with `/` alone; None where its name does not tell.

    >>> home_of("/home/ada/work"), home_of("C:\\Users\\ada"), home_of("/rooted"), home_of("/srv/app")
    ('/home/ada', 'C:/Users/ada', None, None)
    """
    found = _HOME.match(path.replace("\\", "/"))
    return None if found is None else found[0]


class PlacedPath(NamedTuple):
    """A path in its one form."""

    path: str
    is_outside: bool | None
    """Outside the workspace and the folders beside it; nothing when it cannot be told."""


class Folders(NamedTuple):
    """The folders of a call, in their one form."""

    roots: tuple[str, ...]
    """The workspace and the folders added to it; none when they are not known."""
    home: str | None


@lru_cache(maxsize=4096)
def folders_of(workspace: str | None, cwd: str | None, added: tuple[str, ...] = ()) -> Folders:
    """Return the folders that paths are held against; where no workspace is known, it is the folder of the call."""
    main = workspace or cwd
    home = _home_of(workspace) or _home_of(cwd)
    whole = [_normal(folder, None, home, is_windows=_is_windows(folder)) for folder in (main, *added) if folder]
    return Folders(tuple(folder for folder in whole if is_absolute(folder)), home)


def _home_of(folder: str | None) -> str | None:
    return home_of(_slashed(folder[:LONGEST_PATH])) if folder else None


def place(path: str, cwd: str | None, folders: Folders) -> PlacedPath:
    """Return the path in its one form, and on which side it lies.

    >>> here = folders_of("/home/u/proj", None)
    >>> place("src/../lib/a.py", "/home/u/proj", here)
    PlacedPath(path='/home/u/proj/lib/a.py', is_outside=False)
    >>> place("~/.bashrc", "/home/u/proj", here)
    PlacedPath(path='/home/u/.bashrc', is_outside=True)
    """
    roots = folders.roots
    is_beneath = bool(roots) and path.startswith(roots[0]) and path[len(roots[0]) : len(roots[0]) + 1] == "/"
    if is_beneath and len(path) <= LONGEST_PATH and _SPECIAL.search(path) is None:
        return PlacedPath(path, is_outside=False)
    is_windows = any(_is_windows(folder) for folder in (*roots[:1], cwd) if folder)
    whole = _normal(path[:LONGEST_PATH], cwd, folders.home, is_windows=is_windows)
    return PlacedPath(whole[:LONGEST_PATH], _is_outside(whole, roots))


def is_absolute(path: str) -> bool:
    """Whether a path in its one form starts from a root."""
    return path.startswith("/") or path[1:3] == ":/"


def is_file_name(path: str) -> bool:
    """Whether a word that stands for a file is one: not a device that only passes on, nor the `{}` of find and xargs.

    >>> is_file_name("/dev/null"), is_file_name("out.txt")
    (False, True)
    """
    return bool(path) and _NOT_FILES.match(path) is None


def _is_windows(path: str) -> bool:
    return _DRIVE.match(_slashed(path[:LONGEST_PATH])) is not None


def _slashed(path: str) -> str:
    """Return a path with slashes where it has a drive or only backslashes."""
    return path.replace("\\", "/") if "\\" in path and ("/" not in path or path[1:2] == ":") else path


def _normal(path: str, cwd: str | None, home: str | None, *, is_windows: bool) -> str:
    if path[:7].lower() == "file://":
        path = unquote(path[7:], errors="replace")
        path = path if path.startswith("/") else f"/{path.partition('/')[2]}"
    path = path.replace("\\", "/") if is_windows else _slashed(path)
    path = _HOME_NAMES.sub(lambda _: home or "~", path, count=1)
    if cwd is not None:
        path = _CWD_NAMES.sub(lambda _: cwd, path, count=1)
    path = _DRIVE.sub(_drive, path)
    if is_windows:
        path = _MOUNTED_DRIVE.sub(_drive, path)
    is_fixed_start = is_absolute(path) or path.startswith(("~", "$", "`", "%"))
    if not is_fixed_start and cwd:
        path = f"{_normal(cwd[:LONGEST_PATH], None, home, is_windows=is_windows)}/{path}"
    path = without_detours(path, ("~", "$", "`", "%"), keeps_drive=True)
    return f"{path}/" if path[1:] == ":" else path or "."


def without_detours(path: str, unfixed: tuple[str, ...] = (), *, keeps_drive: bool = False) -> str:
    """Return a path, which has slashes, without empty names, `.` and `..`; empty where it leads nowhere else.

    Nothing is known of names that begin with one of `unfixed`, so that `..` after them stays. It climbs no higher than
    a root, nor than a drive where that is to be kept.

    >>> [without_detours(path) for path in ("/a/./b/../c/", "/../x", "../x", "a/..")]
    ['/a/c', '/x', '../x', '']
    """
    if not _DETOUR.search(path):
        return path
    is_rooted = path.startswith("/")
    kept: list[str] = []
    for name in path.split("/"):
        if name in ("", "."):
            continue
        is_known = bool(kept) and kept[-1] != ".." and not kept[-1].startswith(unfixed)
        if name != ".." or (not is_known and (kept or not is_rooted)):
            kept.append(name)
        elif is_known and not (keeps_drive and len(kept) == 1 and kept[0].endswith(":")):
            kept.pop()
    return "/" * is_rooted + "/".join(kept)


def _drive(found: re.Match[str]) -> str:
    return f"{found[1].upper()}:"


def _is_outside(path: str, roots: tuple[str, ...]) -> bool | None:
    if not roots:
        return None
    if path.startswith("~"):
        # The home of the workspace is not known, so the workspace lies in none: homes are elsewhere.
        return True if home_of(roots[0]) is None or path[1:2] not in {"", "/"} else None
    if not is_absolute(path):
        return None
    unfixed = _UNFIXED.search(path)
    fixed = path if unfixed is None else path[: unfixed.start()]
    if unfixed is not None and "/.." in path[unfixed.start() :]:
        return None
    compared = _comparable(fixed)
    may_lie_inside = False
    for root in roots:
        inside = _comparable(root).rstrip("/")
        if compared == inside or compared.startswith(f"{inside}/"):
            return False
        may_lie_inside = may_lie_inside or (unfixed is not None and inside.startswith(compared))
    return None if may_lie_inside else True


def _comparable(path: str) -> str:
    """Return what is the same for two names of one place: drives know no capitals, and macOS links its root folders."""
    return path.lower() if path[1:2] == ":" else _LINKED_ROOT.sub("", path)
