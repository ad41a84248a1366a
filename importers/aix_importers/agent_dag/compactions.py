"""Compactions: the context was reset, or a summary took the place of a part of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aix_importers.agent_dag.messages import read_content
from aix_importers.agent_dag.records import Event, Node
from aix_importers.agent_dag.rows import RunWriter
from aix_importers.agent_dag.turns import Turn
from aix_importers.agent_dag.usage import Usage
from aix_importers.common.json_text import compact_json
from aix_importers.common.vendors import vendor_of

_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True, eq=False)
class CompactionFacts:
    """Facts that the events around a compaction show."""

    turn: Turn
    began_at: int
    tokens_before: int | None
    tokens_after: int | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    ended_at: int | None = None
    events: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    """Events that a reset names as those whose context is lost."""

    def see(self, event: Event, time: int) -> None:
        """Take an event of the compaction."""
        self.events.append(event.id)
        if event.kind == "model_request" and isinstance(event.payload.get("model"), str):
            self.model = str(event.payload["model"])
        if event.kind == "model_response":
            self.ended_at = time


def summary_text(node: Node | None) -> str:
    """Return the text of a summary; empty where it has none."""
    if node is None:
        return ""
    payload = node.payload
    for name in ("text", "summary", "content"):
        if (text := read_content(payload.get(name)).text) is not None:
            return text
    return ""


def add_compaction(
    writer: RunWriter, facts: CompactionFacts, node: Node | None, through: Turn | None, turns: Sequence[Turn]
) -> None:
    """Add a compaction; it covers everything before it unless the graph says less."""
    turn = facts.turn
    if through is None and turn.number:
        through = turns[turn.number - 1]
    text = summary_text(node)
    metadata: dict[str, object] = {"events": facts.events}
    if node is not None:
        metadata["summary_node"] = node.id
    if through is None:
        metadata["unresolved"] = True
    summary_tokens = facts.usage.output_tokens
    if summary_tokens is None and text:
        summary_tokens = -(-len(text) // _CHARACTERS_PER_TOKEN)
        metadata["summary_tokens_estimated"] = True
        writer.mark(turn.source, "compactions", turn.id, "summary_tokens", "characters")
    writer.add(
        turn.source,
        "compactions",
        turn_id=turn.id,
        summary=text,
        summarized_through_turn_id=(through or turn).id,
        compaction_type="summary" if text else "sliding_window",
        model=facts.model or "unknown",
        provider=vendor_of(facts.model),
        tokens_before=facts.tokens_before,
        tokens_after=facts.tokens_after,
        summary_tokens=summary_tokens,
        summarization_input_tokens=facts.usage.context_tokens,
        summarization_output_tokens=facts.usage.output_tokens,
        duration_ms=max(0, facts.ended_at - facts.began_at) if facts.ended_at is not None else None,
        metadata_json=compact_json(metadata),
    )
