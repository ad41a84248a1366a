"""The sessions of Claude Code in the sample: transcripts, subagents, summarising calls and settings files."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from aix_importers.sample.figures import Context, Manifest, Usage, answer_tokens, call_tokens, text_tokens
from aix_importers.sample.story import (
    Session,
    Step,
    Story,
    file_text,
    json_lines,
    made_id,
    made_uuid,
    stamp,
    write_dated,
)

_VERSION = "2.1.117"
_AGENT_CONTEXT = 9_800
_LEFT_IN_CACHE = 14_200
"""Tokens of the system prompt and the tools, which stay in the cache when the rest is summarised."""
_FIRST_COUNT = 3
"""Output tokens that are known when an answer begins."""
_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
_CONTINUED = "This session is being continued from a previous conversation that ran out of context. "
Record = dict[str, Any]


class _Point(NamedTuple):
    """State of a conversation before a prompt, to which it can be taken back."""

    records: int
    parent: str | None
    context: Context


def write_transcripts(folder: Path, story: Story, manifest: Manifest) -> None:
    """Write all sessions, and the settings that hold for them."""
    written: dict[str, _Conversation] = {}
    for session in story.of("claude-code"):
        conversation = _Conversation(session, story, manifest, folder, written)
        conversation.follow(session.steps)
        conversation.save()
        written[session.key] = conversation
    for name, settings in story.settings.items():
        write_dated(folder / f"{name}.json", f"{json.dumps(settings, indent=2)}\n", story.begins_at)
    for rule in story.settings["settings"]["permissions"]["allow"]:
        if rule in ("Bash(rm:*)", "WebFetch"):
            manifest.findings.add(("permission_usage/broad_rules", rule))


class _Conversation:
    """A transcript that grows by the steps of the story."""

    def __init__(
        self, session: Session, story: Story, manifest: Manifest, folder: Path, others: "dict[str, _Conversation]"
    ) -> None:
        self._session, self._story, self._manifest = session, story, manifest
        self._cwd = story.projects[session.project]
        self._folder = folder / "projects" / self._cwd.replace("/", "-")
        self._model = story.models[session.model]
        self._agent: str | None = None
        self._records: list[Record] = []
        self._points: list[_Point] = []
        self._parent: str | None = None
        self._now = session.begins_at
        self._context = Context(session.context)
        self._number = 0
        self._is_cut = False
        """Whether a compaction came last, so that an answer goes on in a turn of its own."""
        self._manifest.sessions["claude-code"] += 1
        if session.fork:
            self._branch_from(others[session.fork[0]], session.fork[1])

    def _branch_from(self, other: "_Conversation", prompts: int) -> None:
        """Begin with a copy of another session, up to one of its prompts."""
        point = other._points[prompts]
        self._records = [{**record, "sessionId": self._session.name} for record in other._records[: point.records]]
        self._parent, self._context = point.parent, replace(point.context)
        self._forked_from = {"sessionId": other._session.name, "messageUuid": point.parent}
        self._manifest.counts["forks"] += 1

    def follow(self, steps: Sequence[Step]) -> None:
        """Take the steps one after another."""
        for kind, *arguments in steps:
            getattr(self, f"_{kind}")(*arguments)

    def save(self) -> None:
        """Write the transcript."""
        if self._agent is None:
            self._records.append(
                {"type": "custom-title", "customTitle": self._session.title, "sessionId": self._session.name}
            )
        write_dated(self._path("jsonl", self._agent), json_lines(self._records, (",", ":")), self._now)

    def _path(self, suffix: str, agent: str | None) -> Path:
        if agent is None:
            return self._folder / f"{self._session.name}.{suffix}"
        return self._folder / self._session.name / "subagents" / f"agent-{agent}.{suffix}"

    # Prompts and answers

    def _command(self, name: str, arguments: str, text: str) -> None:
        said = (
            f"<command-message>{name.removeprefix('/')} is running…</command-message>\n"
            f"<command-name>{name}</command-name>\n<command-args>{arguments}</command-args>"
        )
        self._prompt(said)
        self._add("user", 0, message={"role": "user", "content": [{"type": "text", "text": text}]}, isMeta=True)
        self._context.tokens += text_tokens(text)

    def _prompt(self, text: str) -> None:
        if self._number:
            self._wait(40 + len(text) // 4)
        self._points.append(_Point(len(self._records), self._parent, replace(self._context)))
        fields: Record = {"permissionMode": self._session.mode}
        if len(self._points) == 1 and self._session.fork:
            fields["forkedFrom"] = self._forked_from
        self._add("user", 0, message={"role": "user", "content": text}, **fields)
        self._context.tokens += text_tokens(text)
        self._manifest.counts["turns"] += 1
        self._is_cut = False

    def _say(self, text: str) -> None:
        self._answer({"type": "text", "text": text}, "end_turn", answer_tokens(text))

    def _answer(self, block: Record, stop_reason: str | None, output: int) -> None:
        """Add an answer of the model."""
        self._wait(4 + output // 30)
        self._manifest.counts["turns"] += self._is_cut
        self._is_cut = False
        self._manifest.counts["cache losses"] += self._context.is_lost(self._now)
        usage = self._context.request(self._now, output)
        if not self._session.is_final:
            usage, stop_reason = usage._replace(output=_FIRST_COUNT), None
        self._manifest.add_request(self._model, usage)
        message = self._message([block], stop_reason, usage)
        self._add("assistant", 0, message=message, requestId=self._id("req_011C"))

    def _message(self, content: list[Record], stop_reason: str | None, usage: Usage) -> Record:
        return {
            "id": self._id("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.input,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
                "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": 0},
                "output_tokens": usage.output,
                "service_tier": "standard",
            },
        }

    # Calls

    def _call(
        self, tool: str, given: Record, result: str, structured: object, *, tokens: int = 0, is_error: bool = False
    ) -> None:
        """Add a call with its result."""
        call_id = self._ask_for(tool, given)
        content: Record = {"tool_use_id": call_id, "type": "tool_result", "content": result}
        if is_error:
            content["is_error"] = True
        self._result(content, structured, tokens or text_tokens(result))

    def _ask_for(self, tool: str, given: Record) -> str:
        """Let the model ask for a call; return the id of the call."""
        call_id = self._id("toolu_01")
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
        self._answer(block, "tool_use", call_tokens(json.dumps(given)))
        return call_id

    def _result(self, content: Record, structured: object, tokens: int) -> None:
        self._add("user", 2, message={"role": "user", "content": [content]}, toolUseResult=structured)
        self._context.tokens += tokens
        self._manifest.counts["calls"] += 1

    def _read(self, paths: str | list[str], tokens: int) -> None:
        for path in [paths] if isinstance(paths, str) else paths:
            content, place = file_text(path), self._place(path)
            lines = content.splitlines()
            shown = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1))
            file = {"filePath": place, "content": content, "numLines": len(lines), "startLine": 1}
            structured = {"type": "text", "file": {**file, "totalLines": len(lines)}}
            self._call("Read", {"file_path": place}, shown, structured, tokens=tokens)

    def _grep(self, pattern: str, found: list[str], tokens: int = 0) -> None:
        files = [self._place(path) for path in found]
        structured = {"mode": "files_with_matches", "filenames": files, "numFiles": len(files)}
        text = "\n".join([f"Found {len(files)} files", *files])
        self._call("Grep", {"pattern": pattern}, text, structured, tokens=tokens)

    def _edit(self, path: str, old: str, new: str) -> None:
        place = self._place(path)
        given = {"file_path": place, "old_string": old, "new_string": new}
        before, after = old.splitlines(), new.splitlines()
        patch = {"oldStart": 12, "oldLines": len(before), "newStart": 12, "newLines": len(after)}
        lines = [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
        structured = {
            "filePath": place,
            "oldString": old,
            "newString": new,
            "structuredPatch": [{**patch, "lines": lines}],
            "userModified": False,
            "replaceAll": False,
        }
        self._call("Edit", given, f"The file {place} has been updated.", structured, tokens=640)

    def _write(self, path: str, content: str) -> None:
        place = self._place(path)
        structured = {"type": "create", "filePath": place, "content": content, "structuredPatch": []}
        given = {"file_path": place, "content": content}
        self._call("Write", given, f"File created successfully at: {place}", structured, tokens=220)

    def _table(self, path: str, rows: int) -> None:
        lines = (f"{row},berth {row % 41 + 1},{row % 28 + 1} July,{1900 + row * 37 % 4200}" for row in range(rows))
        self._write(path, "\n".join(["number,berth,day,cents", *lines]))

    def _bash(self, command: str, output: str, tokens: int = 0) -> None:
        structured = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        self._call("Bash", {"command": command}, output, structured, tokens=tokens)

    def _risky(self, command: str, output: str) -> None:
        self._manifest.findings.add(("permission_usage/risks", command))
        self._bash(command, output)

    def _secret(self, command: str, output: list[str]) -> None:
        """Run a command whose output holds a secret; its pieces are joined here, so that no scanner finds it."""
        self._manifest.findings.add(("permission_usage/secrets_seen", "private-key"))
        self._bash(command, "".join(output), 600)

    def _fails(self, command: str, output: str) -> None:
        self._fail("failed calls", command, f"Exit code 1\n{output}")

    def _fail(self, count: str, command: str, result: str) -> None:
        self._manifest.counts[count] += 1
        self._call("Bash", {"command": command}, result, f"Error: {result}", is_error=True)

    def _refused(self, command: str, reason: str) -> None:
        """Let the user refuse a command."""
        result = f"{_REFUSED}The user provided the following reason for the rejection: {reason}"
        self._fail("denied calls", command, result)

    def _forbidden(self, command: str) -> None:
        """Let a rule of the settings stop a command."""
        self._fail("denied calls", command, f"Permission to use Bash with command {command} has been denied.")

    def _fetch(self, url: str, text: str, tokens: int) -> None:
        structured = {"bytes": len(text), "code": 200, "codeText": "OK", "result": text, "url": url}
        self._call("WebFetch", {"url": url, "prompt": "Summarise the page"}, text, structured, tokens=tokens)

    def _server(self, tool: str, given: Record, text: str) -> None:
        """Call a tool of an MCP server."""
        self._call(tool, given, text, [{"type": "text", "text": text}], tokens=900)

    def _agent_call(self, kind: str, task: str, prompt: str, model: str, steps: Sequence[Step], answer: str) -> None:
        """Start a subagent, and wait for its answer."""
        given = {"description": task, "prompt": prompt, "subagent_type": kind}
        call_id = self._ask_for("Task", given)
        child = _Conversation(replace(self._session, fork=()), self._story, self._manifest, self._folder, {})
        child._folder, child._now = self._folder, self._now
        child._agent, child._model = made_uuid(call_id).replace("-", "")[:17], self._story.models[model]
        child._context = Context(_AGENT_CONTEXT)
        child.follow([["prompt", prompt], *steps, ["say", answer]])
        child.save()
        meta = json.dumps({"agentType": kind, "description": task, "toolUseId": call_id})
        write_dated(self._path("meta.json", child._agent), meta, child._now)
        content: Record = {"type": "tool_result", "tool_use_id": call_id, "content": [{"type": "text", "text": answer}]}
        structured = {
            "status": "completed",
            "prompt": prompt,
            "agentId": child._agent,
            "agentType": kind,
            "content": content["content"],
            "totalDurationMs": int((child._now - self._now).total_seconds() * 1000),
            "totalTokens": child._context.tokens,
            "totalToolUseCount": sum(step[0] != "prompt" for step in steps),
        }
        self._now = child._now
        self._result(content, structured, text_tokens(answer))
        self._manifest.counts["subagents"] += 1

    # Events

    def _pause(self, minutes: int) -> None:
        self._wait(minutes * 60)

    def _switch(self, model: str) -> None:
        """Go on with another model, whose cache holds nothing of this."""
        self._model, self._context.cached = self._story.models[model], 0

    def _lints(self, path: str, line: int, message: str) -> None:
        place = {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 18}}
        found = {"message": message, "severity": "Error", "range": place, "source": "ts", "code": "2345"}
        files = [{"uri": f"file://{self._place(path)}", "diagnostics": [found]}]
        self._add("attachment", 1, attachment={"type": "diagnostics", "files": files, "isNew": True})
        self._manifest.counts["lints"] += 1

    def _overloaded(self) -> None:
        error = {"status": 529, "error": {"type": "overloaded_error"}}
        self._add(
            "system", 2, subtype="api_error", level="error", error=error, retryInMs=2000, retryAttempt=1, maxRetries=10
        )

    def _api_error(self, text: str) -> None:
        """End a turn with an error of the API."""
        message = self._message([{"type": "text", "text": text}], "stop_sequence", Usage())
        message |= {"id": made_uuid(self._session.key, self._number, "error"), "model": "<synthetic>"}
        self._add("assistant", 20, message=message, isApiErrorMessage=True, error="server_error")
        self._manifest.counts["failed turns"] += 1

    def _interrupt(self, text: str) -> None:
        """Stop an answer while it is written."""
        self._answer({"type": "text", "text": text}, None, 12)
        self._add("user", 3, message={"role": "user", "content": "[Request interrupted by user]"})
        self._manifest.counts["interrupted turns"] += 1

    def _rewind(self, prompts: int) -> None:
        """Go back to before one of the last prompts; the turns after it are left."""
        point = self._points[-prompts]
        self._parent, left = point.parent, self._context
        self._context = Context(point.context.tokens, point.context.cached, left.used_at)
        del self._points[-prompts:]
        self._manifest.counts["abandoned turns"] += prompts
        self._manifest.sessions["claude-code"] += 1  # the branch that was left is a session of its own

    def _compact(self, trigger: str, effect: str, after: int, summary: str) -> None:
        """Summarise the conversation, with a call of its own that is logged beside it."""
        before, last = self._context.tokens, self._parent
        output = 1_400 + text_tokens(summary)
        agent = f"acompact-{made_uuid(self._session.key, self._number).replace('-', '')[:16]}"
        beside = {"isSidechain": True, "agentId": agent}
        prompt = {"role": "user", "content": "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."}
        self._context.tokens += 300
        started = len(self._records)
        self._add("user", 2, message=prompt, **beside)
        self._wait(25)
        usage = self._context.request(self._now, output)
        self._manifest.add_request(self._model, usage)
        message = self._message([{"type": "text", "text": summary}], "end_turn", usage)
        self._add("assistant", 0, message=message, requestId=self._id("req_011C"), **beside)
        lines, self._records = self._records[started:], self._records[:started]
        write_dated(self._path("jsonl", agent), json_lines(lines, (",", ":")), self._now)
        self._parent = None
        details = {"trigger": trigger, "preTokens": before, "durationMs": 27_000}
        self._add(
            "system", 1, subtype="compact_boundary", content="Conversation compacted", isMeta=False, level="info",
            logicalParentUuid=last, compactMetadata=details,
        )  # fmt: skip
        text = f"{_CONTINUED}The conversation is summarized below:\n{summary}"
        self._add("user", 0, message={"role": "user", "content": text}, isCompactSummary=True)
        self._context.tokens, self._context.cached = after, _LEFT_IN_CACHE
        counts = self._manifest.counts
        counts["compactions"] += 1
        counts["compactions paid back"] += effect == "pays"
        counts["turns"] += 1
        self._is_cut = True

    # Records

    def _add(self, kind: str, seconds: int, **fields: object) -> None:
        """Add a record that follows the last one."""
        self._wait(seconds)
        self._number += 1
        record: Record = {
            "parentUuid": self._parent,
            "isSidechain": self._agent is not None,
            "type": kind,
            "uuid": made_uuid(self._session.key, self._agent, self._number),
            "timestamp": stamp(self._now),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self._cwd,
            "sessionId": self._session.name,
            "version": _VERSION,
            "gitBranch": self._session.branch,
            **({"agentId": self._agent} if self._agent else {}),
            **fields,
        }
        self._records.append(record)
        self._parent = record["uuid"]

    def _wait(self, seconds: int) -> None:
        self._now += timedelta(seconds=seconds)

    def _id(self, prefix: str) -> str:
        return made_id(prefix, self._session.key, self._agent, self._number, prefix)

    def _place(self, path: str) -> str:
        return path if path.startswith(("/", "~")) else f"{self._cwd}/{path}"
