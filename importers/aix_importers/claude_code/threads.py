"""The conversations that stand in some files: one per session, and one per subagent.

A subagent has a file of its own, or stands in the file of the session as a sidechain, or is known only from the
progress of the call that started it. What only progress shows of one that has a file is part of its conversation too.
"""

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from aix_importers.claude_code.entries import Entry, QueueStep
from aix_importers.claude_code.placement import ORIGIN, Thread
from aix_importers.claude_code.scan import Scan, is_warmup
from aix_importers.claude_code.source_file import FileKind


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
