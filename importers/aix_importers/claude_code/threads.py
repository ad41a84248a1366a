"""The conversations that stand in some files: one per session, and one per subagent.

A subagent has a file of its own, or stands in the file of the session as a sidechain, or is known only from the
progress of the call that started it.
"""

import hashlib
from collections.abc import Iterator, Sequence

from aix_importers.claude_code.classes import WARMUP, Kind
from aix_importers.claude_code.names import FileKind
from aix_importers.claude_code.placement import ORIGIN, Thread
from aix_importers.claude_code.scan import Entry, Scan

_WARMUP_DIGEST = hash(WARMUP)


def threads_of(scans: Sequence[Scan]) -> list[Thread]:
    """Return the conversations in the order in which their records are to be placed."""
    have_files = {scan.file.agent_id for scan in scans if scan.file.kind is FileKind.AGENT}
    threads = [
        *_of_files(scans),
        *(thread for scan in scans for thread in _inline(scan, have_files)),
        *_rebuilt(scans, have_files),
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


def _inline(scan: Scan, have_files: set[str | None]) -> Iterator[Thread]:
    by_uuid = {entry.uuid: entry for entry in scan.sidechain}
    groups: dict[str, list[Entry]] = {}
    roots: dict[str, str] = {}
    for entry in scan.sidechain:
        root = roots[entry.uuid] = _root(entry, by_uuid, scan.links, roots)
        groups.setdefault(scan.sidechain_agents.get(entry.uuid) or root, []).append(entry)
    session_id = scan.session_id or scan.file.stem
    for name, entries in groups.items():
        first = entries[0]
        is_warmup = first.kind is Kind.PROMPT and first.text_digest == _WARMUP_DIGEST
        if is_warmup or name in have_files:
            continue
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


def _rebuilt(scans: Sequence[Scan], have_files: set[str | None]) -> Iterator[Thread]:
    chains: dict[tuple[str, str, str], tuple[Scan, list[Entry]]] = {}
    for scan in scans:
        for key, entries in scan.nested.items():
            known = chains.get(key)
            if known is None or len(known[1]) < len(entries):
                chains[key] = (scan, entries)
    for (agent_id, call_id, session_id), (scan, entries) in chains.items():
        if agent_id in have_files:
            continue
        label = f"{session_label(session_id)}/agent-{agent_id}"
        yield Thread(label, session_id, scan, [*entries], agent_id, is_subagent=True, call_id=call_id)


def _order(thread: Thread) -> tuple[float, float, str, str]:
    first, last, path = thread.scan.order
    if thread.is_subagent:
        times = [entry.time for entry in thread.entries if isinstance(entry, Entry) and entry.time is not None]
        first, last = (min(times), max(times)) if times else (float("inf"), float("inf"))
    return first, last, path, thread.label
