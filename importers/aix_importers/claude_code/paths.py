"""Paths as logs write them: absolute where the working folder is known, in the style of that folder."""

import re
from ntpath import normpath as windows_normpath
from posixpath import normpath as posix_normpath
from urllib.parse import unquote

from aix_importers.common.json_text import whole_characters

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_URI = "file://"
_URI_OF_DIFF = re.compile("_claude_fs_(?:left|right):")


def is_absolute(path: str) -> bool:
    r"""Whether a path says where the file is without a working folder.

    >>> is_absolute("/a"), is_absolute("C:\\a"), is_absolute("~/a"), is_absolute("a")
    (True, True, True, False)
    """
    return path.startswith(("/", "\\", "~")) or _DRIVE.match(path) is not None


def absolute_path(path: str, cwd: str | None) -> str:
    r"""Return a path or `file:` URI as an absolute path, if the folder it starts from is known.

    >>> absolute_path("src/../a.py", "/repo"), absolute_path(".\\a.py", "c:\\repo")
    ('/repo/a.py', 'c:\\repo\\a.py')
    >>> absolute_path("file:///c%3A/my%20notes.md", None), absolute_path("a%20b.md", None)
    ('c:/my notes.md', 'a%20b.md')
    """
    path = local_path(path)
    if not cwd or is_absolute(path):
        return path
    cwd = whole_characters(cwd)
    return windows_normpath(f"{cwd}\\{path}") if _is_windows(cwd) else posix_normpath(f"{cwd}/{path}")


def local_path(path: str) -> str:
    """Return the path that a `file:` URI stands for; anything else as it is.

    >>> local_path("file:///home/a%20b"), local_path("file://host/share"), local_path("/c:/a.md")
    ('/home/a b', '//host/share', '/c:/a.md')
    """
    if path.startswith(_URI):
        rest = unquote(path[len(_URI) :])
        local = rest if rest.startswith("/") else f"//{rest}"
        return local[1:] if _DRIVE.match(local, 1) else local
    return _URI_OF_DIFF.sub("", path, count=1) if path.startswith("_claude_fs_") else path


def _is_windows(folder: str) -> bool:
    return _DRIVE.match(folder) is not None or folder.startswith("\\\\")
