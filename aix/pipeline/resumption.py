"""The command with which a session's own tool goes on with it, from the importer of its log."""

from collections.abc import Sequence

import msgspec

from aix.output.text import is_safe
from aix.pipeline.contract import LoggedSession
from aix.pipeline.registry import load_importers


class ToolCommand(msgspec.Struct, frozen=True):
    """The command of a session's tool."""

    tool: str
    """The name of the tool, else that of its logs."""
    words: tuple[str, ...]
    """The command, word for word; empty where the tool has none."""


def find_command(origin: str | None, session: LoggedSession) -> ToolCommand:
    """Return the command that the importer of an origin gives for a session.

    An id that looks like an option gives no command, nor does a word that a terminal would show differently: the
    printed line is the one that runs.
    """
    importers, _ = load_importers({})
    importer = next((each for each in importers if each.origin == origin), None)
    if importer is None:
        return ToolCommand(origin or "its tool", ())
    words: Sequence[str] = () if session.id.startswith("-") else importer.resume_command(session)
    is_harmless = not isinstance(words, str) and all(is_safe(word) for word in words)
    return ToolCommand(importer.tool or importer.origin, tuple(words) if is_harmless else ())
