"""Choice of the parts of a transcript that are shown, and of how much of each text."""

from dataclasses import dataclass, replace
from datetime import tzinfo

from aix.output.transcript.folding import Fold
from aix.output.transcript.model import Message, Turn


@dataclass(frozen=True)
class View:
    """The choices of the reader."""

    zone: tzinfo
    is_full: bool = False
    with_thinking: bool = True
    with_tools: bool = True

    def limits(self, lines: int, columns: int = 600) -> Fold | None:
        """Return how a text is folded."""
        return None if self.is_full else Fold(lines, columns)

    def of(self, turn: Turn) -> Turn:
        """Return a turn without what is not shown."""
        messages = tuple(map(self._of_message, turn.messages))
        if self.with_tools:
            return replace(turn, messages=messages)
        return replace(turn, messages=messages, calls=(), subagents=())

    def _of_message(self, message: Message) -> Message:
        seen = message if self.with_thinking else replace(message, thinking=None)
        if self.with_tools:
            return seen
        # Files of a prompt were named or attached by the user; all others are the work of tools.
        return replace(seen, calls=(), files=message.files if message.role == "user" else ())
