"""The conversations of Cursor in the sample: the editor's databases, with its permission settings."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from aix_importers.sample.figures import Manifest, Usage, answer_tokens, text_tokens
from aix_importers.sample.story import Session, Step, Story, file_text, made_uuid, set_time, stamp, write_dated

_SETTINGS = "src.vs.platform.reactivestorage.browser.reactiveStorageServiceImpl.persistentStorage.applicationUser"
_RULES = {
    "yoloCommandAllowlist": ["npm run lint", "npm test"],
    "yoloCommandDenylist": ["rm"],
    "yoloEnableRunEverything": False,
    "modes4": [{"id": "agent", "autoRun": True}],
}
_TABLE = "(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
_CONTEXT = 6_200
_LIMIT = 272_000
Row = tuple[str, str]
Fields = dict[str, Any]


def write_databases(folder: Path, story: Story, manifest: Manifest) -> None:
    """Write the database of all conversations, and one for each folder that was open."""
    rows: list[Row] = []
    by_project: dict[str, list[Fields]] = {}
    last = story.begins_at
    for session in story.of("cursor"):
        conversation = _Conversation(session, story, manifest)
        conversation.follow(session.steps)
        rows += conversation.rows()
        head = {"composerId": session.name, "name": session.title, "createdAt": _milliseconds(session.begins_at)}
        by_project.setdefault(session.project, []).append(head)
        last = max(last, conversation.now)
    _write(folder / "globalStorage" / "state.vscdb", rows, [(_SETTINGS, _json({"composerState": _RULES}))], last)
    for project, heads in sorted(by_project.items()):
        workspace = folder / "workspaceStorage" / made_uuid(project).replace("-", "")
        _write(workspace / "state.vscdb", [], [("composer.composerData", _json({"allComposers": heads}))], last)
        write_dated(workspace / "workspace.json", _json({"folder": f"file://{story.projects[project]}"}), last)


class _Conversation:
    """A conversation that grows by the steps of the story."""

    def __init__(self, session: Session, story: Story, manifest: Manifest) -> None:
        self._session, self._manifest = session, manifest
        self._cwd = story.projects[session.project]
        self._model = story.models[session.model]
        self._bubbles: list[Fields] = []
        self._tokens = _CONTEXT
        self.now = session.begins_at
        manifest.sessions["cursor"] += 1

    def follow(self, steps: Sequence[Step]) -> None:
        """Take the steps one after another."""
        for kind, *arguments in steps:
            getattr(self, f"_{kind}")(*arguments)

    def rows(self) -> list[Row]:
        """Return the rows of the conversation and of its bubbles."""
        name = self._session.name
        value = {
            "_v": 10,
            "composerId": name,
            "name": self._session.title,
            "createdAt": _milliseconds(self._session.begins_at),
            "lastUpdatedAt": _milliseconds(self.now),
            "status": "completed",
            "unifiedMode": "agent",
            "modelConfig": {"modelName": self._model},
            "contextTokensUsed": self._tokens,
            "contextTokenLimit": _LIMIT,
            "fullConversationHeadersOnly": [
                {"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in self._bubbles
            ],
        }
        bubbles = ((f"bubbleId:{name}:{bubble['bubbleId']}", _json(bubble)) for bubble in self._bubbles)
        return [(f"composerData:{name}", _json(value)), *bubbles]

    def _prompt(self, text: str) -> None:
        if self._bubbles:
            self.now += timedelta(seconds=50 + len(text) // 4)
        self._add(
            1, 0, text=text, unifiedMode=2, isAgentic=True, requestId=made_uuid(self._session.key, len(self._bubbles)),
            modelInfo={"modelName": self._model},
            contextWindowStatusAtCreation={"tokensUsed": self._tokens, "tokenLimit": _LIMIT},
        )  # fmt: skip
        self._tokens += text_tokens(text)
        self._manifest.counts["turns"] += 1

    def _say(self, text: str) -> None:
        output = answer_tokens(text)
        self._add(2, 6 + output // 40, text=text, tokenCount={"inputTokens": self._tokens, "outputTokens": output})
        self._manifest.add_request(self._model, Usage(input=self._tokens, output=output))
        self._manifest.counts["code blocks"] += text.count("```") // 2
        self._tokens += output

    def _read(self, path: str, tokens: int) -> None:
        content = file_text(path)
        result = {"contents": content, "totalLinesInFile": len(content.splitlines())}
        self._call(40, "read_file", {"targetFile": f"{self._cwd}/{path}"}, result, tokens)

    def _grep(self, pattern: str, found: list[str], tokens: int = 400) -> None:
        matches = [{"file": f"./{path}", "matches": [{"lineNumber": 8, "content": pattern}]} for path in found]
        result = {"success": {"workspaceResults": {self._cwd: {"content": {"matches": matches}}}}}
        self._call(41, "grep", {"pattern": pattern}, result, tokens)

    def _edit(self, path: str, new: str, lint: str = "") -> None:
        """Change a file; a lint is what the editor found in it afterwards."""
        lines = len(new.splitlines())
        chunk = {"newStart": 12, "newLines": lines, "oldStart": 12, "oldLines": 1, "diffString": f"+ {new}"}
        result: Fields = {"diff": {"chunks": [chunk]}, "isApplied": True}
        if lint:
            places = {f"{each}Position": {"line": 12, "column": column} for each, column in (("start", 3), ("end", 17))}
            result["linterErrors"] = [
                {"message": lint, "source": "ts", "severity": "DIAGNOSTIC_SEVERITY_ERROR", "range": places}
            ]
            self._manifest.counts["lints"] += 1
        self._call(7, "edit_file", {"relativeWorkspacePath": path}, result, 500, userDecision="accepted")

    def _bash(self, command: str, output: str, tokens: int = 300) -> None:
        self._call(15, "run_terminal_cmd", {"command": command}, {"output": output, "exitCodeV2": 0}, tokens)

    def _refused(self, command: str) -> None:
        """Let the user refuse a command."""
        extra = {"status": "pending", "blockReason": "notInAllowlist"}
        self._manifest.counts["denied calls"] += 1
        self._call(
            15, "run_terminal_cmd", {"command": command}, {"rejected": True}, 60,
            userDecision="rejected", additionalData=extra,
        )  # fmt: skip

    def _api_error(self, text: str) -> None:
        """End the conversation with an error of the service."""
        self._add(2, 15, text="", errorDetails={"generationUUID": made_uuid(self._session.key), "message": text})
        self._manifest.counts["failed turns"] += 1

    def _call(self, number: int, name: str, params: Fields, result: Fields, tokens: int, **fields: object) -> None:
        call_id = f"tool_{made_uuid(self._session.key, len(self._bubbles), name)}"
        data = {
            "tool": number, "name": name, "toolCallId": call_id, "status": "completed", "params": _json(params),
            "result": _json(result), **fields,
        }  # fmt: skip
        self._add(2, 4, text="", capabilityType=15, toolFormerData=data)
        self._tokens += tokens
        self._manifest.counts["calls"] += 1

    def _add(self, kind: int, seconds: int, **fields: object) -> None:
        self.now += timedelta(seconds=seconds)
        key = made_uuid(self._session.key, "bubble", len(self._bubbles))
        bubble = {"_v": 3, "type": kind, "bubbleId": key, "createdAt": stamp(self.now)}
        self._bubbles.append({**bubble, "tokenCount": {"inputTokens": 0, "outputTokens": 0}, **fields})


def _write(path: Path, rows: Iterable[Row], items: Iterable[Row], moment: datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        for name in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE {name} {_TABLE}")
        database.executemany("INSERT INTO ItemTable VALUES (?, ?)", items)
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    set_time(path, moment)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
