"""Which call started which subagent, by the best evidence that the log has."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from aix_importers.claude_code.entries import Entry
from aix_importers.claude_code.placement import Placement, Thread
from aix_importers.claude_code.scan import Scan, Spawn, SpawnResult


@dataclass(frozen=True, slots=True)
class SpawnLinks:
    """The calls that start subagents, and what is known of each."""

    call_of: Mapping[str, str]
    """By label of a subagent: the call that started it."""
    label_of: Mapping[str, str]
    """By call: the label of the subagent."""
    spawns: Mapping[str, Spawn]
    results: Mapping[str, SpawnResult]
    agent_types: Mapping[str, str]
    """By label of a subagent."""
    asked_types: Collection[str]
    """Labels of subagents of which only the type is known that was asked for."""
    descriptions: Mapping[str, str]
    """By agent: what a file beside its transcript says of its task."""
    ended: Mapping[str, str]
    """By agent: how a notice says that it ended."""


def link_subagents(
    scans: Sequence[Scan], threads: Iterable[Thread], placement: Placement, meta: Mapping[str, "AgentMeta"]
) -> SpawnLinks:
    """Find the call that started each subagent; `meta` is what files beside the transcripts say, by agent."""
    spawns = {
        call: spawn for scan in scans for call, spawn in scan.spawns.items() if placement.turn_of_call(call) is not None
    }
    results = {call: result for scan in scans for call, result in scan.spawn_results.items()}
    by_prompt: dict[int, list[str]] = {}
    for spawn in spawns.values():
        if spawn.prompt_digest is not None:
            by_prompt.setdefault(spawn.prompt_digest, []).append(spawn.call_id)
    evidence: list[Mapping[str, str]] = [
        _together(scan.agents_in_results for scan in scans),
        _together(scan.agents_in_progress for scan in scans),
        {agent: found.tool_use_id for agent, found in meta.items() if found.tool_use_id},
    ]
    later = [
        _together(scan.agents_in_notices for scan in scans),
        _together(scan.agents_in_texts for scan in scans),
    ]
    call_of: dict[str, str] = {}
    label_of: dict[str, str] = {}
    agent_types: dict[str, str] = {}
    asked_types: set[str] = set()
    for thread in threads:
        if not thread.is_subagent or thread.latest is None:
            continue
        candidates = [
            thread.named_call,
            *(found.get(thread.agent_id or "") for found in evidence),
            _same_prompt(thread, by_prompt),
            *(found.get(thread.agent_id or "") for found in later),
        ]
        call = next((each for each in candidates if each is not None and each in spawns), None)
        agent_type = _agent_type(thread, call, results, meta)
        if agent_type:
            agent_types[thread.label] = agent_type
        elif call is not None and spawns[call].agent_type:
            agent_types[thread.label] = spawns[call].agent_type or ""
            asked_types.add(thread.label)
        if call is not None and label_of.setdefault(call, thread.label) == thread.label:
            call_of[thread.label] = call
    ended = _together(scan.ended_agents for scan in scans)
    descriptions = {agent: found.description for agent, found in meta.items() if found.description}
    return SpawnLinks(call_of, label_of, spawns, results, agent_types, asked_types, descriptions, ended)


@dataclass(frozen=True, slots=True)
class AgentMeta:
    """Facts about a subagent from the file beside its transcript."""

    agent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None


def _together(mappings: Iterable[Mapping[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for mapping in mappings:
        for agent, call in mapping.items():
            found.setdefault(agent, call)
    return found


def _same_prompt(thread: Thread, by_prompt: Mapping[int, list[str]]) -> str | None:
    """Return the only call that asks for what the subagent was asked for."""
    first = next((entry for entry in thread.entries if isinstance(entry, Entry)), None)
    calls = by_prompt.get(first.text_digest, []) if first else []
    return calls[0] if len(calls) == 1 else None


def _agent_type(
    thread: Thread,
    call: str | None,
    results: Mapping[str, SpawnResult],
    meta: Mapping[str, AgentMeta],
) -> str | None:
    """Return the type that a subagent is said to have."""
    beside = meta.get(thread.agent_id or "")
    if beside and beside.agent_type:
        return beside.agent_type
    result = results.get(call or "")
    return result.agent_type if result else None
