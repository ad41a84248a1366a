"""The first reading of a transcript.

Where a record belongs may depend on any other record of the files that share records with it. So all of them are read
once for this, and a second time for what the records say.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Raw, Struct

from aix.importing import Problem
from aix_importers.claude_code.classification import (
    QUEUE_OPERATIONS,
    SYNTHETIC,
    Kind,
    Progress,
    decode_progress,
    decode_queued,
    kind_of_assistant,
    kind_of_system,
    kind_of_user,
    said,
)
from aix_importers.claude_code.discovery import FileKind
from aix_importers.claude_code.reading import Located, TranscriptReader, denied_calls
from aix_importers.claude_code.records import (
    KNOWN_BLOCKS,
    Block,
    LooseBlock,
    LooseMessage,
    Message,
    Record,
    decode_blocks,
    decode_message,
    decode_object,
    decode_raw_blocks,
    text_of,
    unknown_names,
    wrong_names,
)
from aix_importers.claude_code.scan import (
    TASK_CHARACTERS,
    Entries,
    Entry,
    MessageKeys,
    QueueStep,
    Scan,
    SharedTexts,
    Spawn,
    SpawnResult,
    queue_key,
)
from aix_importers.claude_code.usage import Requests
from aix_importers.common.claude_code_record_types import RECORD_TYPES
from aix_importers.common.times import read_time

_TASK_IDS = re.compile(r"<task-id>(\w+)</task-id>\s*<tool-use-id>(\w+)</tool-use-id>")
_TASK_STATUS = re.compile(r"<task-id>(\w+)</task-id>(?:(?!<task-id>).)*?<status>(\w+)</status>", re.DOTALL)
_AGENT_ID = re.compile(r"agentId: (\w+)")
_GOES_ON = (Kind.PROMPT, Kind.NOTICE, Kind.ASSISTANT, Kind.RESULT)
_SPAWNING_TOOLS = ("Task", "Agent")


class FirstPass:
    """Reads files for the places of their records; usage of requests is gathered on the way."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._texts = SharedTexts()
        self._noted: list[tuple[str, str]] = []
        """Kind and reason of the problems of the record that is being taken."""

    def scan(self, scan: Scan) -> Iterator[Problem]:
        """Fill in a scan, and go through the problems of its file."""
        file = scan.file
        self._message_keys = MessageKeys()
        self._unknown_fields: Counter[str] = Counter()
        self._unknown_types: Counter[str] = Counter()
        self._unknown_kinds: Counter[str] = Counter()
        """By type and what is unknown in it: how many records of a known type are of no known kind."""
        records = problems = 0
        with Path(file.source.path).open("rb") as opened:
            scan.written_at = os.fstat(opened.fileno()).st_mtime_ns // 10**6
            for located in TranscriptReader(file.source, opened):
                if isinstance(located, Problem):
                    problems += 1
                    yield located
                    continue
                if scan.kept is not None:
                    scan.kept.append(located)
                self._take(scan, located)
                records += 1
                for kind, reason in self._noted:
                    yield Problem(file.source, kind, reason, located.line, located.byte_offset)
                self._noted.clear()
        self._texts.clear()
        for name, count in sorted(self._unknown_fields.items()):
            reason = f"{count} records have the field {name}, which is not known; it was kept as metadata."
            yield Problem(file.source, "unknown_field", reason)
        for name, count in sorted([*self._unknown_types.items(), *self._unknown_kinds.items()]):
            described = f"are of the type {name}, which is not known" if name else "have no type"
            yield Problem(file.source, "unknown_type", f"{count} records {described}; they were kept as context.")
        if records + problems and records == self._unknown_types.total():
            reason = "No line of the file is a record of Claude Code."
            yield Problem(file.source, "no_record", reason, is_of_whole_source=True)

    def _take(self, scan: Scan, located: Located) -> None:
        record = located.record
        session_id = self._session(scan, record)
        time = read_time(record.timestamp)
        if time is not None:
            scan.first_time = time if scan.first_time is None else min(scan.first_time, time)
            scan.last_time = time if scan.last_time is None else max(scan.last_time, time)
        if record.uuid is not None:
            scan.ties.add(record.uuid)
        parent = record.logical_parent_uuid or record.parent_uuid
        if parent:
            scan.ties.add(parent)
        match record.type:
            case "assistant" | "user":
                entry = self._conversation(scan, record, located, session_id)
                if entry is not None:
                    self._put(scan, entry, record)
            case "system":
                self._system(scan, record, located, session_id)
            case "attachment":
                self._attachment(scan, record, located, session_id)
            case "progress":
                self._progress(scan, record, located)
            case "queue-operation":
                self._queue(scan, record, located.byte_offset)
            case _:
                self._out_of_chain(scan, record)

    def _session(self, scan: Scan, record: Record) -> str | None:
        session_id = record.session_id
        if session_id is None:
            return None
        session_id = self._texts[session_id]
        if scan.first_session_id is None:
            scan.first_session_id = session_id
        scan.last_session_id = session_id
        if session_id == scan.file.stem:
            scan.has_stem_as_session = True
        return session_id

    def _link(self, scan: Scan, uuid: str | None, parent: str | None) -> None:
        """Note the parent of a record that makes no message."""
        if uuid is not None:
            scan.links[self._texts[uuid]] = parent and self._texts[parent]

    def _put(self, scan: Scan, entry: Entry, record: Record) -> None:
        if record.is_sidechain and scan.file.kind is FileKind.MAIN:
            scan.sidechain.append(entry)
            if record.snake_parent_tool_use_id:
                scan.sidechain_calls[entry.uuid] = record.snake_parent_tool_use_id
            if record.agent_id:
                scan.sidechain_agents[entry.uuid] = record.agent_id
                scan.ties.add(f"agent:{record.agent_id}")
        else:
            scan.entries.append(entry)
            if entry.kind in _GOES_ON:  # whatever was noted as the end of the conversation is not
                scan.live_leaf = None

    def _conversation(
        self, scan: Scan, record: Record, at: Located, session_id: str | None, agent: str | None = None
    ) -> Entry | None:
        uuid = record.uuid
        if uuid is None:
            return None
        message = decode_message(record.message)
        blocks = decode_blocks(message.content)
        wrong: list[str] = []
        if isinstance(message, LooseMessage):
            if "0" in (message.unknown or ()):
                reason = "The message is spread over its fields, a character in each; what they say was kept."
                self._noted.append(("spread_message", reason))
            self._unknown_fields.update(f"message.{name}" for name in unknown_names(message) if not name.isdigit())
            wrong += (f"message.{name}" for name in wrong_names(message))
        for block in blocks:
            if isinstance(block, LooseBlock) and block.type in KNOWN_BLOCKS:
                self._unknown_fields.update(f"message.content.{name}" for name in unknown_names(block))
                wrong += (f"message.content.{name}" for name in wrong_names(block))
        if scan.first_text is None and agent is None:
            scan.first_text = said(blocks)
        parent = record.parent_uuid
        entry = Entry(
            kind=Kind.OTHER,
            uuid=uuid,
            parent=parent and self._texts[parent],
            time=read_time(record.timestamp),
            byte_offset=at.byte_offset,
            line=at.line,
            session_id=session_id,
            digest=hash(bytes(message.content)),
        )
        self._texts[uuid]  # children name it
        if record.slug and scan.slug is None:
            scan.slug = record.slug
        if record.type == "assistant":
            wrong += self._assistant(scan, record, message, blocks, entry, agent)
        else:
            self._user(scan, record, blocks, entry)
        if wrong:
            reason = f"Not usable, and kept only as metadata: {', '.join(dict.fromkeys(wrong))}."
            self._noted.append(("wrong_type", reason))
        return entry

    def _assistant(
        self, scan: Scan, record: Record, message: Message, blocks: list[Block], entry: Entry, agent: str | None
    ) -> list[str]:
        """Fill in the entry of an answer; return the names of what cannot be used of its usage."""
        entry.kind = kind_of_assistant(message, blocks)
        if message.id:
            scan.ties.add(message.id)
            agent = agent or record.agent_id
            entry.message_key = self._texts[self._message_keys.of(message.id, agent, entry.uuid)]
            # Ids of proxies may collide, even with the same content; a replay has the same time as well.
            salt = None if entry.message_key == message.id else record.timestamp
            entry.block_digests = _block_digests(message.content, blocks, salt)
        else:
            entry.message_key = entry.uuid
        wrong: list[str] = []
        if message.model != SYNTHETIC:
            unknown, wrong = self._requests.add(entry.message_key, record, message, entry.time, scan.file)
            self._unknown_fields.update(f"message.usage.{name}" for name in unknown)
        entry.calls = tuple(self._texts[block.id] for block in blocks if block.type == "tool_use" and block.id)
        for block in blocks:
            if block.type == "tool_use" and block.id:
                scan.ties.add(block.id)
                if block.name == "WebSearch":
                    scan.search_calls[block.id] = entry.message_key
                if block.name in _SPAWNING_TOOLS:
                    scan.spawns[block.id] = _spawn(block)
        return wrong

    def _user(self, scan: Scan, record: Record, blocks: list[Block], entry: Entry) -> None:
        entry.kind = kind_of_user(record, blocks)
        if entry.kind is Kind.RESULT:
            results = [block for block in blocks if block.type == "tool_result" and block.tool_use_id]
            entry.results_of = tuple(self._texts[call] for block in results if (call := block.tool_use_id))
            entry.block_digests = tuple(hash(bytes(block.content)) for block in results)
            entry.errors = tuple(bool(block.is_error) for block in results)
            for call_id in entry.results_of:
                scan.ties.add(call_id)
            self._spawn_result(scan, record, results)
        else:
            text = said(blocks)
            entry.text_digest = hash(text)
            self._notices(scan, text)

    def _spawn_result(self, scan: Scan, record: Record, results: list[Block]) -> None:
        if len(results) != 1 or not (call_id := results[0].tool_use_id):
            return
        if call_id in scan.search_calls:
            self._requests.add_searches(scan.search_calls[call_id], call_id, record.tool_use_result)
        if b'"agentId"' in bytes(record.tool_use_result) or b'"totalTokens"' in bytes(record.tool_use_result):
            found = decode_object(SpawnResult, record.tool_use_result)
            if found is None:
                return
            found.uuid = record.uuid or ""
            found.content = found.content.copy()  # else it would hold the whole line
            scan.spawn_results[call_id] = found
            if found.agent_id:
                scan.agents_in_results.setdefault(found.agent_id, call_id)
                scan.ties.add(f"agent:{found.agent_id}")
        if b"agentId: " in bytes(results[0].content):
            for agent_id in _AGENT_ID.findall(str(results[0].content, "utf-8")):
                scan.agents_in_texts.setdefault(agent_id, call_id)
                scan.ties.add(f"agent:{agent_id}")

    def _notices(self, scan: Scan, text: str) -> None:
        if "<tool-use-id>" in text:
            for agent_id, call_id in _TASK_IDS.findall(text):
                scan.agents_in_notices.setdefault(agent_id, call_id)
                scan.ties.add(f"agent:{agent_id}")
        if "<status>" in text:
            for agent_id, status in _TASK_STATUS.findall(text):
                scan.ended_agents[agent_id] = status

    def _system(self, scan: Scan, record: Record, at: Located, session_id: str | None) -> None:
        kind = kind_of_system(record)
        if record.uuid is None:
            return
        parent = record.logical_parent_uuid or record.parent_uuid
        if kind is Kind.OTHER:
            self._link(scan, record.uuid, parent)
            return
        time = read_time(record.timestamp)
        entry = Entry(kind, record.uuid, parent, time, at.byte_offset, at.line, session_id, hash(bytes(record.content)))
        self._put(scan, entry, record)

    def _attachment(self, scan: Scan, record: Record, at: Located, session_id: str | None) -> None:
        parent = record.parent_uuid
        queued = decode_queued(record.attachment)
        if queued is None:
            self._link(scan, record.uuid, parent)
            return
        text = queued.text
        self._notices(scan, text)
        kind = Kind.QUEUED_NOTICE if queued.is_notice else Kind.QUEUED
        uuid = record.uuid or queue_key(session_id, record.timestamp, text)
        time = read_time(record.timestamp)
        entry = Entry(kind, uuid, parent, time, at.byte_offset, at.line, session_id, hash(text), text_digest=hash(text))
        self._put(scan, entry, record)

    def _progress(self, scan: Scan, record: Record, at: Located) -> None:
        self._link(scan, record.uuid, record.parent_uuid)
        progress = decode_progress(record)
        if progress is None:
            return
        if not progress.is_of_agent:
            self._unknown_kinds[f"progress/{progress.type}"] += 1
            return
        call_id, agent_id = record.parent_tool_use_id, scan.agent_in(record, progress)
        if agent_id:
            scan.ties.add(f"agent:{agent_id}")
            if call_id:
                scan.agents_in_progress.setdefault(agent_id, call_id)
        entry = None
        if agent_id and progress.record is not None:
            entry = self._conversation(scan, progress.record, at, record.session_id, agent_id)
        self._note_progress(record, progress, is_kept=entry is not None)
        if entry is not None:
            scan.ties.add(entry.uuid)
            key = (agent_id or "", call_id or "", record.session_id or "")
            chain = scan.nested.get(key) or scan.nested.setdefault(key, Entries())
            entry.parent = chain.last_uuid
            chain.append(entry)

    def _note_progress(self, record: Record, progress: Progress, *, is_kept: bool) -> None:
        """Note what is odd about the progress of a subagent."""
        names = list(progress.wrong) if record.parent_tool_use_id else ["parentToolUseID", *progress.wrong]
        if names:
            what = "what can be read of it was kept" if is_kept else "the record in it was left out"
            reason = f"Of the progress of a subagent {', '.join(names)} cannot be used, or is not there; {what}."
            self._noted.append(("odd_progress" if is_kept else "unreadable_progress", reason))

    def _queue(self, scan: Scan, record: Record, offset: int) -> None:
        text = text_of(record.content) or said(decode_blocks(record.content)) or None
        if record.operation not in QUEUE_OPERATIONS:
            self._unknown_kinds[f"queue-operation/{record.operation}"] += 1
        elif record.operation == "enqueue" and text is None:
            self._noted.append(("wrong_type", "The prompt that waits holds no text; the record was left out."))
        if text:
            self._notices(scan, text)
        scan.entries.append(
            QueueStep(record.operation or "", text, record.timestamp, record.session_id, offset),
        )

    def _out_of_chain(self, scan: Scan, record: Record) -> None:
        self._link(scan, record.uuid, record.parent_uuid)
        session_id = record.session_id
        match record.type:
            case "summary" if record.summary and record.leaf_uuid:
                scan.titles.of_leaves[record.leaf_uuid] = record.summary
                scan.ties.add(record.leaf_uuid)
            case "custom-title" if record.custom_title and session_id:
                scan.titles.custom[session_id] = record.custom_title
            case "ai-title" if record.ai_title and session_id:
                scan.titles.generated[session_id] = record.ai_title
            case "agent-name" if record.agent_name and session_id:
                scan.titles.agent_names[session_id] = record.agent_name
            case "result":
                scan.denied_calls.update(denied_calls(record))
            case "last-prompt":
                scan.live_leaf = record.leaf_uuid or scan.live_leaf
            case "summary" | "custom-title" | "ai-title" | "agent-name":
                self._noted.append(("no_title", "The record lacks the title, or what it is the title of."))
            case other if other not in RECORD_TYPES:
                self._unknown_types[other] += 1
            case _:
                pass


def _block_digests(content: Raw, blocks: list[Block], salt: str | None) -> tuple[int, ...]:
    if len(blocks) == 1:
        return (hash((bytes(content).strip()[1:-1].strip(), salt)),)
    return tuple(hash((bytes(piece), salt)) for piece in decode_raw_blocks(content))


class _SpawnInput(Struct, gc=False):
    prompt: str | None = None
    description: str | None = None
    subagent_type: str | None = None


def _spawn(block: Block) -> Spawn:
    given = decode_object(_SpawnInput, block.input) or _SpawnInput()
    prompt = given.prompt or ""
    digest = hash(prompt.strip()) if prompt else None
    return Spawn(block.id or "", prompt[:TASK_CHARACTERS], digest, given.description, given.subagent_type)
