"""Where Cursor keeps its data, and paths as the ledger writes them."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Raw

from aix_importers.common.json_text import whole_characters
from aix_importers.cursor.values import ABSENT, Record, text

_DRIVE = re.compile(r"(?:^|/)([A-Za-z]):(?=/|$)")
_LARGEST_FILE_BESIDE = 2**20
EDITOR_FILE = "state.vscdb"
STORE_FILE = "store.db"
TRACKING_FILE = "ai-code-tracking.db"
RULE_FILES = ("cli.json", "cli-config.json", "permissions.json")
DATABASE_MAGIC = b"SQLite format 3\0"


def default_places() -> Iterator[Path]:
    """Go through the folders of this user, of the editor and of the command line."""
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if sys.platform == "darwin":
        yield home / "Library" / "Application Support" / "Cursor" / "User"
    elif sys.platform == "win32":
        yield Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / "Cursor" / "User"
    else:
        yield config / "Cursor" / "User"
    for folder in _command_line_folders(home, config):
        for name in ("projects", "chats", "acp-sessions", "ai-tracking"):
            yield folder / name
        for name in ("cli-config.json", "permissions.json"):
            yield folder / name


def _command_line_folders(home: Path, config: Path) -> list[Path]:
    given = os.environ.get("CURSOR_CONFIG_DIR")
    if given:
        return [Path(given).expanduser()]
    return [home / ".cursor", config / "cursor"]


def is_place_of_editor(path: str) -> bool:
    """Whether a file lies where the editor keeps its databases.

    >>> is_place_of_editor("/home/ada/.config/Cursor/User/globalStorage/state.vscdb")
    True
    >>> is_place_of_editor("/home/ada/.config/Code/User/globalStorage/state.vscdb")
    False
    """
    folders = path.replace(os.sep, "/").split("/")[:-1]
    is_storage = folders[-1:] == ["globalStorage"] or folders[-2:-1] == ["workspaceStorage"]
    return is_storage and "cursor" in (folder.lower() for folder in folders)


def is_place_of_store(path: str) -> bool:
    """Whether a database lies where the command line keeps its sessions.

    >>> is_place_of_store("/home/ada/.cursor/chats/5d41402a/s-1/store.db"), is_place_of_store("/srv/store.db")
    (True, False)
    """
    folders = path.replace(os.sep, "/").split("/")[:-1]
    return folders[-2:-1] == ["acp-sessions"] or folders[-3:-2] == ["chats"]


def is_store_of_chat(path: str, chat_id: str) -> bool:
    """Whether a database is that of a chat of the command line, which can be resumed there.

    >>> is_store_of_chat("/home/ada/.cursor/chats/5d41402a/s-1/store.db", "s-1")
    True
    >>> is_store_of_chat("/home/ada/.cursor/acp-sessions/s-1/store.db", "s-1")
    False
    """
    folders = path.replace(os.sep, "/").split("/")
    return folders[-4:-3] == ["chats"] and folders[-2:] == [chat_id, STORE_FILE]


def read_beside(path: str) -> bytes:
    """Return the content of a small file beside a database; nothing where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(_LARGEST_FILE_BESIDE)
    except OSError:
        return b""


class _Uri(Record, rename={"fs_path": "fsPath", "formatted": "_formatted"}):
    fs_path: Raw = ABSENT
    path: Raw = ABSENT
    external: Raw = ABSENT
    formatted: Raw = ABSENT
    scheme: Raw = ABSENT
    authority: Raw = ABSENT


def normal_path(path: str) -> str | None:
    r"""Return a path with forward slashes, a drive in lower case, and nothing before the last drive in it.

    >>> normal_path("/C:\\code\\a.ts"), normal_path("/c:/ws/c:\\Users\\a.ts"), normal_path("src/a.ts")
    ('c:/code/a.ts', 'c:/Users/a.ts', 'src/a.ts')
    """
    slashed = whole_characters(path).replace("\\", "/")
    drives = list(_DRIVE.finditer(slashed)) if ":" in slashed else []
    if drives:
        slashed = f"{drives[-1][1].lower()}:{slashed[drives[-1].end() :]}"
    return slashed or None


def absolute_path(path: str, workspace: str | None) -> str:
    """Return a path from the root on, where it is known in which folder it lies."""
    if not workspace or path.startswith(("/", "~")) or _DRIVE.match(path) or "://" in path:
        return path
    if path in (".", "./"):
        return workspace
    return f"{workspace.rstrip('/')}/{path.removeprefix('./')}"


def uri_key(raw: Raw) -> str | None:
    """Return the text of a URI, by which other places refer to it."""
    uri = _Uri.read(raw)
    return text(raw) if uri is None else text(uri.external) or text(uri.formatted)


def uri_path(raw: Raw) -> str | None:
    """Return the path that a URI names, whether it is an object or a text."""
    uri = _Uri.read(raw)
    if uri is not None and (path := text(uri.fs_path) or text(uri.path)):
        return normal_path(path)
    written = uri_key(raw)
    return path_of_uri(written) if written else None


def path_of_uri(uri: str) -> str | None:
    """Return the path that a URI names.

    >>> path_of_uri("file:///c%3A/Users/ada/app"), path_of_uri("file://wsl.localhost/Ubuntu/home/ada")
    ('c:/Users/ada/app', '//wsl.localhost/Ubuntu/home/ada')
    >>> path_of_uri("vscode-remote://ssh-remote%2Bhost/home/ada/app")
    '/home/ada/app'
    """
    if "://" not in uri:
        return normal_path(uri)
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme == "file" and parts.netloc:
        path = f"//{parts.netloc}{path}"
    return normal_path(path)
