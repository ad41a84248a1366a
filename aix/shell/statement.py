"""A simple command on the way from the text to its parts."""

import re
from dataclasses import dataclass, field

from aix.shell.model import Redirect
from aix.shell.words import Word

REDIRECT_OPERATOR = re.compile(r"[0-9]*(?:\{\w+\})?(&>>|&>|<<<|<<-?|<>|>>|>\||[<>]&|[<>])")
"""A redirection with its descriptor, as it is written."""


@dataclass(slots=True)
class Statement:
    """A simple command with the places of its words."""

    text: str
    """The text that the places are in."""
    pipe: int | None
    """The number of the pipeline that it is a part of, when there is one."""
    words: list[Word] = field(default_factory=list)
    env: list[str] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    """The bodies of its here-documents."""
