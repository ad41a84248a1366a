"""Say what occurs in Claude Code logs, how often, and in which versions of the client.

    python benchmarks/claude_code_census.py FOLDER

Counts records as they stand in the lines, copies included, and shares no code with the importer. A line that is no JSON
object, or more than one, is counted as such and not looked into. Names that only logs can invent, such as those of
tools and of servers, are not shown.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]

_FEW = 10
_ENVELOPES = (
    "<bash-input>", "<bash-notification>", "<bash-stderr>", "<bash-stdout>", "<command-message>", "<command-name>",
    "<ide_diagnostics>", "<ide_opened_file>", "<ide_selection>", "<local-command-caveat>", "<local-command-stderr>",
    "<local-command-stdout>", "<new-diagnostics>", "<system-reminder>", "<task-notification>", "<teammate-message",
    "<user-memory-input>", "Caveat: The messages below were generated", "Operation stopped by hook: ",
    "Stop hook feedback:", "This session is being continued from a previous conversation", "Unknown skill: ",
    "Unknown slash command", "Warmup", "[Request interrupted by user",
)  # fmt: skip


class Census:
    """How often each thing was seen, in how many files, and in which versions of the client."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = defaultdict(int)
        self._files: dict[str, set[Path]] = defaultdict(set)
        self._versions: dict[str, set[tuple[int, ...]]] = defaultdict(set)
        self._homes: dict[str, set[Path]] = defaultdict(set)
        self._outputs: dict[str, list[int]] = defaultdict(list)
        self._in_progress: set[str] = set()
        self._stops: set[str] = set()
        self._parted: set[str] = set()

    def add_file(self, path: Path) -> None:
        """Count what one file holds."""
        self._path = path
        self._version: tuple[int, ...] = ()
        self._last_id: str | None = None
        self._ids: set[str] = set()
        sessions = set()
        for line in path.read_bytes().split(b"\n"):
            for record in self._records(line):
                self._version = _version(record) or self._version
                self._add_record(record)
                message = record.get("message")
                self._last_id = message.get("id") if isinstance(message, dict) else None
                if isinstance(record.get("sessionId"), str):
                    sessions.add(record["sessionId"])
        self._see(f"file {_kind_of_file(path)}")
        if len(sessions) > 1:
            self._see("file that names several sessions")

    def rows(self) -> Iterator[tuple[str, int, int, str]]:
        """Go through what was seen: name, how often, in how many files, from which version to which."""
        outputs = self._outputs.values()
        sums = {
            "uuid": len(self._homes),
            "uuid in several files": sum(len(homes) > 1 for homes in self._homes.values()),
            "version of the client": len({version for seen in self._versions.values() for version in seen}),
            "message with usage": len(outputs),
            "message with usage on several lines": sum(len(seen) > 1 for seen in outputs),
            "message with usage on lines that are no neighbours": len(self._parted),
            "message with usage and a stop_reason": len(self._stops & self._outputs.keys()),
            "message with usage and never more than 10 output tokens": sum(max(seen) <= _FEW for seen in outputs),
            "message in progress": len(self._in_progress),
            "message in progress and on no line of its own": len(self._in_progress - self._outputs.keys()),
            "output tokens of all lines": sum(map(sum, outputs)),
            "output tokens of the first line of each message": sum(seen[0] for seen in outputs),
            "output tokens of the last line of each message": sum(seen[-1] for seen in outputs),
            "output tokens, the greatest of each message": sum(map(max, outputs)),
        }
        for name, count in sums.items():
            yield name, count, 0, ""
        for name in sorted(self._counts):
            versions = self._versions[name]
            ends = [".".join(map(str, end)) for end in (min(versions), max(versions))] if versions else []
            yield name, self._counts[name], len(self._files[name]), " … ".join(dict.fromkeys(ends))

    def _see(self, name: str) -> None:
        self._counts[name] += 1
        self._files[name].add(self._path)
        if self._version:
            self._versions[name].add(self._version)

    def _records(self, line: bytes) -> Iterator[Record]:
        text = line.decode("utf-8", "replace").strip("\ufeff\0 \t\r")
        if not text:
            return
        try:
            value = json.loads(text)
        except ValueError as error:
            self._see("line of several objects" if str(error).startswith("Extra data") else "line that is no JSON")
            return
        if isinstance(value, dict):
            yield value
        else:
            self._see("line that is no object")

    def _add_record(self, record: Record) -> None:
        kind = str(record.get("type"))
        self._see(f"record {kind}")
        for field in record:
            self._see(f"field {field}")
        if isinstance(record.get("uuid"), str):
            self._homes[record["uuid"]].add(self._path)
        if kind == "system":
            self._see(f"system {record.get('subtype')}")
        for name, key in (("attachment", "attachment"), ("progress", "data")):
            if kind == name and isinstance(record.get(key), dict):
                self._see(f"{name} {record[key].get('type')}")
                self._add_progress(record[key])
        if kind == "queue-operation":
            self._see(f"queue {record.get('operation')}")
        if record.get("isSidechain") and not self._path.name.startswith("agent-"):
            self._see("sidechain in the file of a session")
        if isinstance(record.get("permissionMode"), str):
            self._see(f"mode {record['permissionMode']}")
        for group in ("compactMetadata", "microcompactMetadata"):
            for field in record.get(group) or ():
                self._see(f"{group} {field}")
        if isinstance(record.get("message"), dict):
            self._add_message(kind, record["message"])

    def _add_progress(self, data: Record) -> None:
        nested = data.get("message")
        message = nested.get("message") if isinstance(nested, dict) else None
        if isinstance(message, dict) and isinstance(message.get("usage"), dict) and isinstance(message.get("id"), str):
            self._in_progress.add(message["id"])

    def _add_message(self, kind: str, message: Record) -> None:
        for block in _blocks(message.get("content")):
            self._see(f"block {block.get('type')}")
            for item in _blocks(block.get("content")) if block.get("type") == "tool_result" else ():
                self._see(f"result item {item.get('type')}")
            text = block.get("text")
            if kind == "user" and block.get("type") == "text" and isinstance(text, str):
                for envelope in _ENVELOPES:
                    if envelope in text if envelope.startswith("<ide") else text.lstrip().startswith(envelope):
                        self._see(f"prompt {envelope}")
        usage = message.get("usage")
        if kind == "assistant" and message.get("model") == "<synthetic>":
            self._see("answer <synthetic>")
        elif kind == "assistant" and isinstance(usage, dict) and isinstance(message.get("id"), str):
            self._outputs[message["id"]].append(usage.get("output_tokens") or 0)
            if message["id"] in self._ids and message["id"] != self._last_id:
                self._parted.add(message["id"])
            self._ids.add(message["id"])
            if message.get("stop_reason"):
                self._stops.add(message["id"])
            for field in usage:
                self._see(f"usage {field}")
            for iteration in usage.get("iterations") or ():
                self._see(f"iteration {iteration.get('type')}")


def _version(record: Record) -> tuple[int, ...]:
    parts = str(record.get("version")).split(".")
    return tuple(map(int, parts)) if len(parts) == 3 and all(part.isdecimal() for part in parts) else ()


def _kind_of_file(path: Path) -> str:
    if not path.name.startswith("agent-"):
        return "main"
    for side in ("acompact", "aside_question", "aprompt_suggestion"):
        if path.name.startswith(f"agent-{side}-"):
            return f"agent-{side}"
    return "agent, in subagents/" if path.parent.name == "subagents" else "agent, beside the session"


def _blocks(content: object) -> Iterable[Record]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def main() -> None:
    """Count the transcripts of a folder, and print what they hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    census = Census()
    for path in sorted(parser.parse_args().folder.rglob("*.jsonl")):
        census.add_file(path)
    print(f"{'what':<76} {'times':>8} {'files':>6}  versions")
    for name, count, files, versions in census.rows():
        print(f"{name:<76} {count:>8,} {files or '':>6}  {versions}")


if __name__ == "__main__":
    main()
