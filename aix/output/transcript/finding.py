"""Transcripts of what was searched for: only the parts that have it."""

from dataclasses import replace

from aix.output.transcript.model import Call, Excerpt, Message, Turn, View
from aix.output.transcript.source import Transcript
from aix.search.expression import holds, read_expression, spans_in, terms_of
from aix.search.texts import texts_of


class Finder:
    """Finds the parts of turns that have what was searched for, as `aix search` reads it."""

    def __init__(self, text: str) -> None:
        self._expression = read_expression(text)
        self._terms = tuple(dict.fromkeys(terms_of(self._expression)))
        self.turns = 0
        """How many turns were found so far."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the words stand in a text."""
        return spans_in(text, self._terms)

    def found_in(self, transcript: Transcript, view: View) -> Transcript:
        """Return a transcript without the turns, messages and calls that do not have it in a part that is shown."""
        return Transcript(transcript.header, filter(None, map(self._turn, map(view.of, transcript.turns))))

    def _turn(self, turn: Turn) -> Turn | None:
        kept = tuple(filter(None, map(self._message, turn.messages)))
        calls = self._calls(turn.calls)
        compaction = turn.compaction if turn.compaction and self._has(turn.compaction.summary) else None
        if not kept and not calls and not compaction:
            return None
        self.turns += 1
        return replace(turn, messages=kept, calls=calls, compaction=compaction, subagents=())

    def _message(self, message: Message) -> Message | None:
        found = replace(
            message,
            content=message.content if self._has(message.content) else None,
            thinking=message.thinking if self._has(message.thinking) else None,
            calls=self._calls(message.calls),
            files=tuple(file for file in message.files if holds(self._expression, file.path)),
        )
        return found if found.content or found.thinking or found.calls or found.files else None

    def _calls(self, calls: tuple[Call, ...]) -> tuple[Call, ...]:
        return tuple(call for call in calls if any(holds(self._expression, text) for text in _texts_of(call)))

    def _has(self, excerpt: Excerpt | None) -> bool:
        return excerpt is not None and holds(self._expression, excerpt.text)


def _texts_of(call: Call) -> list[str]:
    params, result, error = (each and each.text for each in (call.params, call.result, call.error))
    row = ("", call.id, call.tool_name, call.status, params, result, error)
    return [text for _, text in texts_of("tool_calls", row)]
