"""The sample: three weeks of one invented team, written as the logs of three tools, with the figures they must give."""

from datetime import date
from pathlib import Path

from aix_importers.sample.claude_code import write_transcripts
from aix_importers.sample.cursor import write_databases
from aix_importers.sample.figures import Manifest
from aix_importers.sample.session_log import write_session_logs
from aix_importers.sample.story import read_story

__all__ = ["Manifest", "write_sample"]


def write_sample(folder: Path, end: date) -> Manifest:
    """Write the logs into a folder, with the last day of the story on `end`; return the figures by construction.

    The same day gives the same bytes. Another day shifts every time and changes no figure.
    """
    story = read_story(end)
    manifest = Manifest(end)
    write_transcripts(folder / "claude-code", story, manifest)
    write_databases(folder / "Cursor" / "User", story, manifest)
    write_session_logs(folder / "session-log", story, manifest)
    return manifest
