"""Where Cursor keeps its data."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

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


def _command_line_folders(home: Path, config: Path) -> list[Path]:
    given = os.environ.get("CURSOR_CONFIG_DIR")
    if given:
        return [Path(given).expanduser()]
    return [home / ".cursor", config / "cursor"]
