"""Sessions of the command line: a database of blobs, one of which is the state of the agent."""

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b, sha256
from pathlib import Path

from msgspec import Raw

from aix.importing import Problem, Source
from aix_importers.cursor.agent_state import (
    AgentState,
    RootMessage,
    content_text,
    is_whole,
    model_of,
    result_text,
)
from aix_importers.cursor.calls import MOST_ERROR, Call, Outcome, make_call, outcome_in_store
from aix_importers.cursor.code import fences
from aix_importers.cursor.conversation import Conversation, Part, Said
from aix_importers.cursor.database import Database, as_bytes, error_text, opened, state_of, table_names
from aix_importers.cursor.key_tables import SourceKind, source_key
from aix_importers.cursor.messages import Listed, make_conversation, query_of
from aix_importers.cursor.paths import is_place_of_store, path_of_uri, read_beside
from aix_importers.cursor.records import ORIGIN, known_model
from aix_importers.cursor.values import (
    field,
    flag,
    is_filled,
    items,
    json_of,
    json_text,
    json_value,
    moment,
    text,
)

META_FILE = "meta.json"
_TABLES = {"blobs", "meta"}
_UNIQUE = re.compile(r"(?:toolu_|call_|fc_|srvtoolu_|\d*_?tool_[0-9a-f-]{16}|[0-9a-f]{8}-[0-9a-f]{4}-).*", re.DOTALL)
_KNOWN_PARTS = ("text", "image", "file", "tool-result")


def call_name(session_id: str, call_id: str) -> str:
    """Return the id of a call: its own, where that is made to be the only one of its kind.

    >>> call_name("s1", "toolu_01AbC"), call_name("s1", "tool_1")
    ('toolu_01AbC', 'cursor:s1:tool_1')
    """
    return call_id if _UNIQUE.fullmatch(call_id) else f"{ORIGIN}:{session_id}:{call_id}"


def store_source(path: str) -> Source | None:
    """Return the session in a database of blobs; nothing where it is another kind of database."""
    folder = os.path.dirname(path)  # noqa: PTH120
    try:
        with opened(path) as database:
            if not table_names(database) >= _TABLES and not database.schema_error and not is_place_of_store(path):
                return None
            rows = database.rows("select key, value from meta order by key")
    except sqlite3.Error:
        rows = [state_of(path)]
    stamp = blake2b(repr(rows).encode(), digest_size=16)
    file = f"{folder}{os.sep}{META_FILE}"
    stamp.update(read_beside(file))
    sidecars = (file,) if Path(file).is_file() else ()
    key = source_key(SourceKind.STORE, os.path.basename(folder))  # noqa: PTH119
    return Source(path, key, sidecars=sidecars, stamp=stamp.hexdigest())


def read_store(source: Source, session_id: str) -> Conversation | Problem:
    """Return the session of a database of blobs."""
    try:
        with opened(source.path) as database:
            found = _StoreReader(source, session_id, database).read()
            if isinstance(found, Conversation):
                if error := database.schema_error:
                    found.problems.append(
                        Problem(source, "damaged", f"The schema of the database is damaged: {error}.")
                    )
                if error := database.log_error:
                    found.problems.append(Problem(source, "damaged_log", error))
            return found
    except sqlite3.Error as error:
        return Problem(source, "unreadable", f"The database of the session cannot be read: {error_text(error)}.")


class _StoreReader:
    """Reads one session."""

    def __init__(self, source: Source, session_id: str, database: Database) -> None:
        self._source = source
        self._database = database
        self._beside = b"".join(read_beside(file) for file in source.sidecars)
        rows = database.rows("select value from meta where cast(key as text) = '0'")
        self._meta = json_value(as_bytes(rows[0][0])) if rows else None
        self._id = text(self._get("agentId")) or session_id
        self._calls: dict[str, tuple[Said, Call]] = {}
        self._problems: list[Problem] = []
        self._counted: Counter[tuple[str, str]] = Counter()
        self._has_bad_pages = False
        self._model: str | None = None
        self._system_prompt: str | None = None

    def read(self) -> Conversation | Problem:
        root = text(self._get("latestRootBlobId")) or ""
        data = self._blob(root)
        flaw = self._root_flaw(root, data)
        if flaw:
            self._note("unreadable_state", flaw)
            data = self._best_state(data or b"")
        if not data:
            return Problem(self._source, "no_bodies", "The state of the session is not in its database.")
        state = AgentState(data, self._blob)
        began_at = moment(field(self._beside, "createdAtMs")) or moment(self._get("createdAt")) or state.began_at
        ended_at = moment(field(self._beside, "updatedAtMs"))
        listed = list(self._messages(state))
        conversation = make_conversation(self._source, self._id, listed, began_at, ended_at)
        conversation.title = text(field(self._beside, "title")) or text(self._get("name")) or None
        folders = (text(field(self._beside, "cwd")), *state.folders)
        conversation.workspace = next((path for each in folders if each and (path := path_of_uri(each))), None)
        conversation.tokens = state.tokens
        conversation.model = self._model or known_model(text(self._get("lastUsedModel")))
        conversation.system_prompt = self._system_prompt
        conversation.parent_id = text(field(self._get("subagentInfo"), "parentComposerId")) or None
        conversation.mode = text(self._get("mode")) or None
        if state.missing:
            self._note("missing_blobs", f"{state.missing} messages that the session names are not in its database.")
        for (kind, reason), number in self._counted.items():
            self._note(kind, reason.format(number))
        if self._has_bad_pages:
            self._note("damaged", "The database is damaged here; what can still be read was taken.")
        conversation.problems += self._problems
        return conversation

    def _note(self, kind: str, reason: str) -> None:
        self._problems.append(Problem(self._source, kind, reason))

    def _root_flaw(self, root: str, data: bytes | None) -> str | None:
        """Return what is wrong with the state that the session names; nothing where it is whole."""
        if not data:
            return "The state of the session is not in its database; an earlier one was read if there is one."
        if not is_whole(data):
            return "The state of the session is damaged; it was read as far as possible, or an earlier one."
        ids = AgentState(data, self._blob).message_ids
        first = self._blob(ids[0]) if ids else None
        # Blobs are named by their hash. Where that holds for a message and not for the state, the state was changed.
        is_named_by_hash = first is not None and sha256(first).hexdigest() == ids[0]
        if sha256(data).hexdigest() != root and (is_named_by_hash or not ids):
            return "The state of the session is not the one that its name stands for: parts of it may be missing."
        return None

    def _best_state(self, known: bytes) -> bytes:
        """Return the state, of those in the database, that refers to most messages which are there."""
        best, most = known, sum(self._blob(name) is not None for name in AgentState(known, self._blob).message_ids)
        try:
            names = [name for (name,) in self._database.rows("select id from blobs") if isinstance(name, bytes)]
        except sqlite3.DatabaseError:
            return best
        for name in names:
            data = self._blob(name.decode("utf-8", "replace"))
            if data is None or data[:1] in (b"{", b"[") or not is_whole(data):
                continue
            listed = AgentState(data, self._blob).message_ids
            if len(listed) > most and sum(self._blob(each) is not None for each in listed) > most:
                best, most = data, len(listed)
        return best

    def _get(self, name: str) -> Raw:
        return field(self._meta, name)

    def _blob(self, name: str) -> bytes | None:
        for column in ("id", "cast(+id as text)"):  # by the index, and without it
            try:
                rows = self._database.rows(f"select data from blobs where {column} = ?", (name,))  # noqa: S608
            except sqlite3.DatabaseError:
                self._has_bad_pages = True
            else:
                return as_bytes(rows[0][0]) if rows else None
        return None

    def _messages(self, state: AgentState) -> Iterator[Listed]:
        """Go through the messages; each is called by its session and its blob, since equal ones share a blob."""
        seen: Counter[str] = Counter()
        for name, message in state.messages():
            repeated = f":{seen[name]}" if seen[name] else ""
            seen[name] += 1
            key = f"{self._id}:{name[:32]}{repeated}"
            role = text(message.role)
            if role == "assistant":
                self._model = model_of(message) or self._model
                yield Listed(key, Part.ANSWER, self._answer(message))
            elif role == "tool":
                self._take_results(message)
                yield Listed(key, Part.NOTE, Said("tool"))
            else:
                yield self._input(key, role, message)

    def _input(self, key: str, role: str | None, message: RootMessage) -> Listed:
        written = content_text(message) or ""
        if role == "system" and self._system_prompt is None:
            self._system_prompt = written
        asked = query_of(written) if role == "user" else None
        if role != "user" or asked is None:
            return Listed(key, Part.NOTE, Said("system", written))
        said = Said("user", asked.text)
        request = text(field(message.provider_options, "cursor", "requestId"))
        if request:
            said.metadata["requestId"] = request
        if asked.before:
            said.context["preamble"] = asked.before
        return Listed(key, Part.NOTE if asked.is_injected else Part.QUERY, said, asked.time)

    def _answer(self, message: RootMessage) -> Said:
        said = Said("assistant", content_text(message))
        thoughts = []
        for part in items(message.content):
            kind = text(field(part, "type"))
            if kind == "reasoning":
                thoughts.append(text(field(part, "text")) or "")
            elif kind == "redacted-reasoning":
                count = said.metadata.get("redacted_thinking", 0)
                said.metadata["redacted_thinking"] = (count if isinstance(count, int) else 0) + 1
            elif kind == "tool-call":
                self._add_call(said, part)
            elif kind not in _KNOWN_PARTS:
                self._counted["unknown_parts", "Left out, since they are of no known kind: {} parts of answers."] += 1
        if not items(message.content) and text(message.content) is None and is_filled(message.content):
            self._counted["unreadable_message", "Their content is neither text nor a list: {} answers."] += 1
        said.thinking = "\n".join(filter(None, thoughts)) or None
        said.code = fences(said.content or "")
        return said

    def _add_call(self, said: Said, part: Raw) -> None:
        call_id, name = text(field(part, "toolCallId")) or "", text(field(part, "toolName")) or "unknown"
        args = field(part, "args")
        written = json_of(args) or "{}"
        params = written if written[:1] == "{" else json_text({"text": text(args) or written})
        call = make_call(name, params, None, "running", Outcome("pending", "no tool-result", is_inferred=True))
        self._calls[call_id] = said, call
        said.calls.append((call_name(self._id, call_id or f"{len(self._calls)}"), call))

    def _take_results(self, message: RootMessage) -> None:
        outer = field(message.provider_options, "cursor", "highLevelToolCallResult")
        for part in items(message.content):
            asked = self._calls.get(text(field(part, "toolCallId")) or "")
            if asked is None:
                self._counted["orphan_results", "Left out, since their call is gone: {} results."] += 1
                continue
            said, call = asked
            told = result_text(part)
            is_error = bool(flag(field(outer, "isError")) or flag(field(part, "isError")))
            result: dict[str, object] = {"content": told}
            written = json_of(field(outer, "output")) if is_filled(field(outer, "output")) else None
            if written:
                result["structured"] = Raw(written.encode())
            call.outcome = outcome_in_store(outer, is_error=is_error)
            has_run = call.outcome.word == "ran"
            call.result, call.status = json_text(result), "completed" if has_run else "failed"
            call.error = None if has_run else (told or call.outcome.evidence)[:MOST_ERROR]
            said.take_effects(call)
