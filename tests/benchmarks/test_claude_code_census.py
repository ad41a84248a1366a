"""The contents of Claude Code logs, counted in a few lines."""

import json
from pathlib import Path

from benchmarks.claude_code_census import Census


def line(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, "version": "2.1.9", "sessionId": "s", **fields})


def answer(uuid: str, output: int, **fields: object) -> str:
    message = {"id": "m-1", "content": [{"type": "text", "text": "x"}], "usage": {"output_tokens": output}, **fields}
    return line("assistant", uuid=uuid, message=message)


def census_of(folder: Path, **files: list[str]) -> dict[str, tuple[int, int, str]]:
    census = Census()
    for name, lines in files.items():
        path = folder / f"{name}.jsonl"
        path.write_text("\n".join(lines), "utf-8")
        census.add_file(path)
    return {name: (count, held, versions) for name, count, held, versions in census.rows()}


def test_records_fields_and_versions_are_counted(tmp_path: Path) -> None:
    later = json.dumps({"type": "system", "subtype": "turn_duration", "version": "2.1.10", "permissionMode": "plan"})
    found = census_of(tmp_path, one=[line("system", subtype="turn_duration"), later], two=[later, "{", "[]"])
    assert found["system turn_duration"] == (3, 2, "2.1.9 … 2.1.10")
    assert found["field sessionId"] == (1, 1, "2.1.9")
    assert found["mode plan"] == (2, 2, "2.1.10")
    assert found["line that is no JSON"][0] == found["line that is no object"][0] == 1
    assert found["version of the client"][0] == 2


def test_lines_of_one_message_are_told_apart_and_put_together(tmp_path: Path) -> None:
    between = line("user", message={"content": [{"type": "tool_result", "content": "ok"}]})
    copied = answer("a", 1)
    nested = {"type": "agent_progress", "message": {"message": {"id": "m-2", "usage": {}}}}
    lines = [copied, answer("b", 1), between, answer("c", 7, stop_reason="end_turn"), line("progress", data=nested)]
    found = census_of(tmp_path, one=lines, two=[copied])
    assert found["message with usage on several lines"][0] == 1
    assert found["message with usage on lines that are no neighbours"][0] == 1
    assert found["message with usage and a stop_reason"][0] == 1
    assert found["message in progress and on no line of its own"][0] == 1
    assert found["uuid in several files"][0] == 1
    assert [found[f"output tokens{rule}"][0] for rule in (" of all lines", ", the greatest of each message")] == [10, 7]
