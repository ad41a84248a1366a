"""A ledger for reports: the sample of `aix demo`, and a session whose names and texts try to act in a page."""

import json
from datetime import date
from pathlib import Path

from aix.pipeline.run import Settings, import_histories
from aix_importers.sample import write_sample
from tests.support.browsing import ACTING

END = date(2026, 11, 17)
LONG_SESSION = "claude-code:ac2a4c71-f2cf-5b21-a8db-6ec0561ffbbc"
"""A session of the sample with four turns, one of them a compaction."""


def write_report_ledger(folder: Path) -> Path:
    """Import the sample and the hostile session, and return the ledger."""
    logs = folder / "logs"
    write_sample(logs, END)
    write_hostile_log(logs / "ada" / ".claude" / "projects" / "-hostile")
    import_histories(folder / "ledger", [logs], Settings(jobs=0))
    return folder / "ledger"


def write_hostile_log(folder: Path) -> None:
    """Write a session in which every name is markup: project, model, tool, title and prompt."""
    folder.mkdir(parents=True)
    lines = []
    for number, text in enumerate(ACTING):
        shared = {
            "sessionId": f"00000000-0000-4000-8000-{number:012}",
            "cwd": f"/srv/{text}",
            "version": "2.0.1",
            "gitBranch": text,
            "isSidechain": False,
            "userType": "external",
        }
        asked = {
            "type": "user",
            "uuid": f"10000000-0000-4000-8000-{number:012}",
            "parentUuid": None,
            "timestamp": f"2026-11-0{number + 1}T10:00:00.000Z",
            "message": {"role": "user", "content": text},
        }
        answered = {
            "type": "assistant",
            "uuid": f"20000000-0000-4000-8000-{number:012}",
            "parentUuid": asked["uuid"],
            "timestamp": f"2026-11-0{number + 1}T10:00:05.000Z",
            "requestId": f"req_{number}",
            "message": {
                "id": f"msg_{number}",
                "role": "assistant",
                "type": "message",
                "model": text,
                "stop_reason": "end_turn",
                "content": [
                    {"type": "text", "text": text},
                    {
                        "type": "tool_use",
                        "id": f"toolu_{number}",
                        "name": text,
                        "input": {"command": f"rm -rf /{text}"},
                    },
                ],
                "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 30},
            },
        }
        lines += [shared | asked, shared | answered]
    for line in lines:
        path = folder / f"{line['sessionId']}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
