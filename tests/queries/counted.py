"""The requests of `fixtures/library` and `fixtures/sample`, counted straight from their lines, by no code of AIX."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from benchmarks.claude_code_cost import CountedRequests
from benchmarks.list_prices import CountedRequest
from tests import ROOT

FIXTURES = ROOT / "fixtures"
LOGS = (FIXTURES / "library", FIXTURES / "sample")


def counted_requests() -> list[CountedRequest]:
    """Return the requests of both kinds of logs."""
    requests = CountedRequests()
    for path in sorted((FIXTURES / "library" / "claude-code").rglob("*.jsonl")):
        requests.add_file(path)
    return [*requests, *_of_session_logs()]


def _of_session_logs() -> Iterator[CountedRequest]:
    programs = {each["id"]: each["config"] for each in json.loads((FIXTURES / "sample" / "programs.json").read_text())}
    for path in (*(FIXTURES / "library" / "session-log").glob("*.jsonl"), *(FIXTURES / "sample").rglob("*.jsonl")):
        for line in path.read_text().splitlines():
            if line.endswith("}") and (entry := json.loads(line))["message"]["role"] == "assistant":
                yield _request(entry, programs)


def _request(entry: dict[str, Any], programs: dict[str, dict[str, Any]]) -> CountedRequest:
    message, usage = entry["message"], entry["message"]["usage"]
    model, provider = message["model"], entry.get("provider")
    if model.startswith("@("):
        program = programs[model[2:-1]]
        model, provider = program["modelId"], programs[program["provider"][2:-1]]["providerType"]
    answered_at = round(datetime.fromisoformat(entry["timestamp"]).timestamp() * 1000)
    return CountedRequest(
        model,
        provider,
        answered_at - entry.get("latencyMs", 0),
        input=usage.get("inputTokens") or usage.get("input_tokens", 0),
        output=usage.get("outputTokens") or usage.get("output_tokens", 0),
        cache_read=usage.get("cacheReadTokens", 0),
        cache_write=usage.get("cacheWriteTokens", 0),
        is_final=True,
    )
