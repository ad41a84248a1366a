"""A simple command on the way from the text to its parts."""

import re

import msgspec

from aix.permissions.shell.model import Redirect
from aix.permissions.shell.words import Word

REDIRECT_OPERATOR = re.compile(r"[0-9]*(?:\{\w+\})?(&>>|&>|<<<|<<-?|<>|>>|>\||[<>]&|[<>])")
"""A redirection with its descriptor, as it is written."""


class Statement(msgspec.Struct):
    """A simple command with the places of its words."""

    text: str
    """The text that the places are in."""
    pipe: int | None
    """The number of the pipeline that it is a part of, when there is one."""
    words: list[Word] = msgspec.field(default_factory=list)
    env: list[str] = msgspec.field(default_factory=list)
    redirects: list[Redirect] = msgspec.field(default_factory=list)
    documents: list[str] = msgspec.field(default_factory=list)
    """The bodies of its here-documents."""
