"""The conversations that stand in some files: one per session, and one per subagent.

A subagent has a file of its own, or stands in the file of the session as a sidechain, or is known only from the
progress of the call that started it. What only progress shows of one that has a file is part of its conversation too.
"""

import hashlib
import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from aix_importers.claude_code.discovery import FileKind
from aix_importers.claude_code.scan import Entry, QueueStep, Scan, Spawn, SpawnResult, is_warmup
from aix_importers.claude_code.sidecars import AgentMeta
from aix_importers.claude_code.turns import ORIGIN, Placement, Thread


def threads_of(scans: Sequence[Scan]) -> list[Thread]:
    """Return the conversations in the order in which their records are to be placed."""
    conversations = [scan for scan in scans if scan.is_conversation]
    of_files = list(_of_files(scans))
    have_files = {thread.agent_id for thread in of_files if thread.agent_id}
    _complete(of_files, conversations)
    threads = [
        *of_files,
        *(thread for scan in scans for thread in _inline(scan, have_files)),
        *_rebuilt(conversations, have_files),
    ]
    return sorted((thread for thread in threads if thread.entries), key=_order)


def session_label(session_id: str) -> str:
    """Return the label of a session."""
    return f"{ORIGIN}:{session_id}"


def _of_files(scans: Sequence[Scan]) -> Iterator[Thread]:
    for scan in scans:
        session_id = scan.session_id or scan.file.stem
        if scan.file.kind is FileKind.MAIN:
            yield Thread(session_label(session_id), session_id, scan, scan.entries)
        elif scan.file.kind is FileKind.AGENT and not scan.is_warmup:
            agent_id = scan.file.agent_id
            label = f"{session_label(session_id)}/agent-{agent_id}"
            yield Thread(label, session_id, scan, scan.entries, agent_id, is_subagent=True)


def _sidechains(scan: Scan) -> Iterator[tuple[str, list[Entry]]]:
    """Go through the sidechains of a file by agent, or by their first record where none is named."""
    by_uuid = {entry.uuid: entry for entry in scan.sidechain}
    groups: dict[str, list[Entry]] = {}
    roots: dict[str, str] = {}
    for entry in scan.sidechain:
        root = roots[entry.uuid] = _root(entry, by_uuid, scan.links, roots)
        groups.setdefault(scan.sidechain_agents.get(entry.uuid) or root, []).append(entry)
    for name, entries in groups.items():
        if not is_warmup(entries):
            yield name, entries


def _inline(scan: Scan, have_files: set[str]) -> Iterator[Thread]:
    session_id = scan.session_id or scan.file.stem
    for name, entries in _sidechains(scan):
        if name in have_files:
            continue
        first = entries[0]
        agent_id = scan.sidechain_agents.get(first.uuid)
        side = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        suffix = f"agent-{agent_id}" if agent_id else f"side-{side}"
        label = f"{session_label(session_id)}/{suffix}"
        call = scan.sidechain_calls.get(first.uuid)
        yield Thread(label, session_id, scan, [*entries], agent_id, is_subagent=True, named_call=call)


def _root(entry: Entry, by_uuid: dict[str, Entry], links: dict[str, str | None], roots: dict[str, str]) -> str:
    """Return the first record of the sidechain that a record belongs to."""
    at, root, seen = entry.parent, entry.uuid, {entry.uuid}
    while at is not None and at not in seen:
        seen.add(at)
        if at in roots:
            return roots[at]
        if at in by_uuid:
            root = at
            at = by_uuid[at].parent
        else:
            at = links.get(at)
    return root


def _rebuilt(scans: Sequence[Scan], have_files: set[str]) -> Iterator[Thread]:
    threads: dict[tuple[str, str, str], Thread] = {}
    for scan in scans:
        for key, entries in scan.nested.items():
            agent_id, call_id, session_id = key
            if agent_id in have_files:
                continue
            label = f"{session_label(session_id)}/agent-{agent_id}"
            if key in threads:
                _merge(threads[key], scan, entries, _uuids(threads[key].entries))
            else:
                threads[key] = Thread(label, session_id, scan, entries, agent_id, is_subagent=True, call_id=call_id)
    yield from threads.values()


def _complete(threads: Iterable[Thread], scans: Sequence[Scan]) -> None:
    """Add to subagents what the files of sessions show and no file of theirs has: one may be cut off."""
    by_agent: dict[str, list[Thread]] = {}
    for thread in threads:
        if thread.agent_id is not None:
            by_agent.setdefault(thread.agent_id, []).append(thread)
    known: dict[str, set[str]] = {}
    for scan in scans:
        found: list[tuple[str, Iterable[Entry | QueueStep]]] = [*_sidechains(scan)]
        found += ((agent_id, entries) for (agent_id, _, _), entries in scan.nested.items())
        for agent_id, entries in found:
            own = by_agent.get(agent_id)
            if not own:
                continue
            if agent_id not in known:
                known[agent_id] = {uuid for thread in own for uuid in _uuids(thread.entries)}
            _merge(own[0], scan, entries, known[agent_id])


def _merge(thread: Thread, scan: Scan, entries: Iterable[Entry | QueueStep], known: set[str]) -> None:
    """Add the records of another file that a conversation lacks, where their times say; then they are known."""
    missing = [entry for entry in entries if isinstance(entry, Entry) and entry.uuid not in known]
    if not missing:
        return
    known |= _uuids(missing)
    thread.borrowed.update(dict.fromkeys(_uuids(missing), scan))
    merged = heapq.merge(_timed(thread.entries), _timed(missing), key=itemgetter(0))
    thread.entries = [entry for _, entry in merged]
    last: str | None = None
    for entry in thread.entries:
        if isinstance(entry, Entry):
            if entry.uuid in thread.borrowed and entry.parent is None:
                entry.parent = last
            last = entry.uuid


def _timed(entries: Iterable[Entry | QueueStep]) -> Iterator[tuple[int, Entry | QueueStep]]:
    """Go through records with times that never go back, so that to merge them does not reorder them."""
    latest = 0
    for entry in entries:
        latest = max(latest, (entry.time or 0) if isinstance(entry, Entry) else 0)
        yield latest, entry


def _uuids(entries: Iterable[Entry | QueueStep]) -> set[str]:
    return {entry.uuid for entry in entries if isinstance(entry, Entry)}


def _order(thread: Thread) -> tuple[float, float, str, str]:
    first, last, path = thread.scan.order
    if thread.is_subagent:
        times = [entry.time for entry in thread.entries if isinstance(entry, Entry) and entry.time is not None]
        first, last = (min(times), max(times)) if times else (float("inf"), float("inf"))
    return first, last, path, thread.label


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
    scans: Sequence[Scan], threads: Iterable[Thread], placement: Placement, meta: Mapping[str, AgentMeta]
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
