"""Logs to measure with: generated ones, the same for the same seed and shaped like real ones, and copies of others."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import aix
from benchmarks.generated_logs import write_logs, write_one_transcript
from benchmarks.replicated_logs import with_fresh_ids

EVERYDAY_KINDS = {"user", "assistant", "progress", "system", "attachment", "file-history-snapshot", "queue-operation"}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lines(folder: Path) -> list[bytes]:
    return [line for path in folder.rglob("*.jsonl") for line in path.read_bytes().splitlines()]


def test_a_seed_gives_the_same_logs_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        write_logs(tmp_path / name, 0.5, seed)
    assert contents(tmp_path / "one") == contents(tmp_path / "again")
    assert contents(tmp_path / "one").keys().isdisjoint(contents(tmp_path / "other"))


def test_lines_and_shares_are_like_those_of_real_logs(tmp_path: Path) -> None:
    size = write_logs(tmp_path, 3)
    written = lines(tmp_path)
    records: list[dict[str, Any]] = [json.loads(line) for line in written]
    kinds = Counter(record["type"] for record in records)
    details = sum(len(json.dumps(record.get("toolUseResult"), ensure_ascii=False).encode()) for record in records)
    assert 3e6 <= size < 4e6
    assert 2_300 < size / len(written) < 4_300
    assert 700 < sorted(map(len, written))[len(written) // 2] < 1_500
    assert 0.2 < kinds["progress"] / len(written) < 0.36
    assert 0.3 < details / size < 0.5
    assert kinds.keys() >= EVERYDAY_KINDS
    assert list(tmp_path.rglob("subagents/agent-*.jsonl"))


def test_one_transcript_is_one_file_of_the_size_that_was_asked_for(tmp_path: Path) -> None:
    size = write_one_transcript(tmp_path, 1)
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert path.stat().st_size == size
    assert 1e6 <= size < 2e6


def test_nothing_of_the_logs_is_left_out_when_they_are_imported(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", 0.5)
    assert not aix.import_histories([tmp_path / "logs"], tmp_path / "ledger").failures
    with aix.open(tmp_path / "ledger") as ledger:
        assert ledger.sql("select * from import_problems").rows() == []
        assert ledger.sql("select count(*) > 20 from tool_calls").rows() == [(True,)]


@pytest.mark.parametrize(
    "named",
    [
        '"uuid":"0e4924b1-32a0-4046-8a3b-1234567b6574"',
        '"parentUuid": "0e4924b1-32a0-4046-8[REDACTED_PHONE]b6574"',
        '"sourceToolAssistantUUID":"[REDACTED_CARD]-9054-44a1cd18beab"',
        '"id":"msg_050"',
        '"id":"srvtoolu_01BUkAX8FtJ1whJ41zVk62QZ"',
        '"toolUseID":"agent_msg_01Rr6wwJ9Nrh7WN3taFhkmGt"',
        '"agentId":"a95ad0b"',
        "<task-id>b2xq9kz</task-id>",
    ],
)
def test_copies_share_no_id(named: str) -> None:
    copies = [with_fresh_ids(named.encode(), number) for number in range(1, 100)]
    assert len({*copies, named.encode()}) == 100
    assert with_fresh_ids(f"{named} {named}".encode(), 7) == copies[6] + b" " + copies[6]


def test_copies_have_the_words_of_what_they_copy() -> None:
    record = b'{"type":"user","message":{"role":"user","content":"it did \\"work\\" well"},"cwd":"/srv"}'
    assert with_fresh_ids(record, 3) == record
