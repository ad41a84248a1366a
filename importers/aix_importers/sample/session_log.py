"""The session logs of the sample: an assistant that the team runs itself, and the programs it is made of."""

import json
from datetime import datetime, timedelta
from pathlib import Path

from aix_importers.sample.figures import Context, Manifest, answer_tokens, text_tokens
from aix_importers.sample.story import Session, Story, json_lines, made_uuid, stamp, write_dated

_CONTEXT = 2_600


def write_session_logs(folder: Path, story: Story, manifest: Manifest) -> None:
    """Write one log for each session, and the programs that they refer to."""
    write_dated(folder / "programs.json", f"{json.dumps(story.programs, indent=2)}\n", story.begins_at)
    for session in story.of("session-log"):
        entries, ended_at = _entries(session, story.models[session.model], manifest)
        write_dated(folder / f"{session.key}.jsonl", json_lines(entries), ended_at)
        manifest.sessions["session-log"] += 1


def _entries(session: Session, model: str, manifest: Manifest) -> tuple[list[dict[str, object]], datetime]:
    """Return the entries of a session, and when it ended."""
    context, now, entries = Context(_CONTEXT), session.begins_at, []
    asked = ""
    for number, (kind, text) in enumerate(session.steps):
        entry: dict[str, object] = {"uuid": made_uuid(session.key, number), "sessionId": session.key}
        if kind == "prompt":
            now += timedelta(seconds=45 if number else 0)
            asked = str(entry["uuid"])
            entry |= {"timestamp": stamp(now), "message": {"role": "user", "content": text}}
            context.tokens += text_tokens(text)
            manifest.counts["turns"] += 1
        else:
            output = answer_tokens(text)
            milliseconds = 1_500 + 12 * output
            now += timedelta(milliseconds=milliseconds)
            usage = context.request(now, output)
            manifest.add_request(model, usage)
            manifest.counts["code blocks"] += text.count("```") // 2
            counted = {
                "inputTokens": usage.input, "outputTokens": usage.output,
                "cacheReadTokens": usage.cache_read, "cacheWriteTokens": usage.cache_write,
            }  # fmt: skip
            message = {"role": "assistant", "content": text, "model": f"@({session.model})", "usage": counted}
            entry |= {"parentUuid": asked, "timestamp": stamp(now), "message": message}
            entry |= {"requestId": f"req-{made_uuid(session.key, number)[:8]}", "latencyMs": milliseconds}
        entries.append(entry)
    return entries, now
