"""Workspaces: the folder that a window was open in, and the conversations that were listed there."""

import os
import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from msgspec import Raw, Struct

from aix_importers.cursor.composers import Head, read_head
from aix_importers.cursor.copies import state_of
from aix_importers.cursor.default_paths import EDITOR_FILE
from aix_importers.cursor.items import COMPOSERS
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.paths import path_of_uri
from aix_importers.cursor.values import field, text

WORKSPACE_FILE = "workspace.json"
_LARGEST_FILE = 2**20


class Workspace(Struct, frozen=True, gc=False):
    """A folder of workspace storage."""

    folder: str

    @property
    def database(self) -> str:
        """Its database."""
        return f"{self.folder}{os.sep}{EDITOR_FILE}"

    @property
    def file(self) -> str:
        """The file that says which folder was open."""
        return f"{self.folder}{os.sep}{WORKSPACE_FILE}"


def storage_beside(database: str) -> str:
    """Return the folder of all workspaces that goes with a global database."""
    user = os.path.dirname(os.path.dirname(database))  # noqa: PTH120
    return f"{user}{os.sep}workspaceStorage"


def listed_workspaces(storage: str) -> list[Workspace]:
    """Return the workspaces of a folder, by name."""
    try:
        names = sorted(entry.name for entry in Path(storage).iterdir())
    except OSError:
        return []
    folders = (Workspace(f"{storage}{os.sep}{name}") for name in names)
    return [each for each in folders if Path(each.database).is_file()]


def heads_in(workspace: Workspace) -> dict[str, Head]:
    """Return by id what a workspace says about its conversations."""
    return _heads_in(workspace.database, state_of(workspace.database))


@lru_cache(maxsize=64)  # asked for once per conversation
def _heads_in(database: str, state: str) -> dict[str, Head]:  # noqa: ARG001
    try:
        with KeyValues(database) as values:
            return heads_of(COMPOSERS.entries(values))
    except (sqlite3.Error, OSError):
        return {}


def heads_of(listed: Iterable[Raw]) -> dict[str, Head]:
    """Return by id what a list says about conversations."""
    found: dict[str, Head] = {}
    for item in listed:
        head = read_head(item)
        if head is not None and (name := text(head.composer_id)):
            found.setdefault(name, head)
    return found


def read_workspace(workspace_file: str) -> bytes | None:
    """Return the content of a file beside the database of a workspace; nothing where it cannot be read."""
    try:
        with Path(workspace_file).open("rb") as file:
            return file.read(_LARGEST_FILE)
    except OSError:
        return None


def folder_of(workspace_file: str) -> str | None:
    """Return the folder that was open, by the file beside the database of a workspace."""
    data = read_workspace(workspace_file)
    if data is None:
        return None
    folder = text(field(data, "folder"))
    if folder:
        return path_of_uri(folder)
    file_uri = text(field(data, "workspace")) or text(field(data, "workspace", "configPath"))
    if not file_uri:
        return None
    path = path_of_uri(file_uri)
    return path.rpartition("/")[0] if path and path.endswith(".code-workspace") else path
