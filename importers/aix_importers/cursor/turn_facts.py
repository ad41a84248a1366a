"""Facts about a turn that its messages show."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class TurnFacts:
    """Facts that are known of a turn so far."""

    started_at: int
    is_start_inferred: bool = False
    last_at: int = 0
    ended_at: int | None = None
    model: str | None = None
    mode: str | None = None
    tools: list[str] = field(default_factory=list)
    is_agentic: bool | None = None
    gauge: int | None = None
    spawns: bool = False
