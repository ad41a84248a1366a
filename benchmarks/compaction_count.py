"""Count compactions straight from the lines of Claude Code logs: a witness that shares no code with the importer.

    python -m benchmarks.compaction_count FOLDER LEDGER

A compaction is a `compact_boundary`, or a summary without one, counted once by its uuid over all files. Before it the
context is what the boundary says. After it, it is the input of the next answer in the same file by the same agent, the
earliest where copies of the record stand in several files, and the same for two compactions in a row; without one it is
unknown, whatever the boundary says of the messages. LEDGER is one into which FOLDER, and nothing else, was imported:
every difference is a sentence, and the exit code is 1 when there are any.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.claude_code_count import blocks, message_key, records

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_SUMMARY = "This session is being continued from a previous conversation"
_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_COLUMNS = ("turn_id", "evidence", "tokens_before", "tokens_after")
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

Record = dict[str, Any]


@dataclass
class Compaction:
    """One compaction, as the logs show it."""

    evidence: str
    tokens_before: int | None = None
    next_answer: tuple[str, str] | None = None
    """When the first answer after it was written, and its message."""


class Count:
    """Compactions so far; files may come in any order and their lines in any number of copies."""

    def __init__(self) -> None:
        self.compactions: dict[str, Compaction] = {}
        self.microcompactions: set[str] = set()
        self._input: dict[str, list[int]] = {}

    def add_file(self, path: Path) -> None:
        """Count the lines of one file."""
        unanswered: dict[object, list[str]] = {}
        boundaries: set[str] = set()
        first: dict[tuple[str, object], str] = {}
        for agent, record in records(path):
            uuid, message = str(record.get("uuid")), record.get("message")
            if record.get("subtype") == "microcompact_boundary":
                self.microcompactions.add(uuid)
            elif record.get("subtype") == "compact_boundary":
                boundaries.add(uuid)
                self.compactions.setdefault(uuid, _boundary(record))
                unanswered.setdefault(agent, []).append(uuid)
            elif not isinstance(message, dict):
                continue
            elif _is_summary(record, message) and record.get("parentUuid") not in boundaries:
                self.compactions.setdefault(uuid, Compaction("summary_only"))
                unanswered.setdefault(agent, []).append(uuid)
            elif record.get("type") == "assistant" and message.get("model") != "<synthetic>" and message.get("usage"):
                key = message_key(record, message, agent, first) if message.get("id") else uuid
                self._add_input(key, message["usage"])
                for compaction in unanswered.pop(agent, ()):
                    self._follow(compaction, (str(record.get("timestamp")), key))

    def _add_input(self, key: str, usage: Record) -> None:
        tokens = [usage.get(field) or 0 for field in _INPUT]
        self._input[key] = list(map(max, self._input.get(key, tokens), tokens))

    def _follow(self, uuid: str, answer: tuple[str, str]) -> None:
        compaction = self.compactions[uuid]
        compaction.next_answer = min(compaction.next_answer or answer, answer)

    def tokens_after(self, compaction: Compaction) -> int | None:
        """Return the context after a compaction, as far as the logs tell."""
        if compaction.next_answer is None:
            return None
        return sum(self._input[compaction.next_answer[1]])


def _boundary(record: Record) -> Compaction:
    data = record.get("compactMetadata") or record.get("compact_metadata") or {}
    return Compaction("boundary", data.get("preTokens", data.get("pre_tokens")))


def _is_summary(record: Record, message: Record) -> bool:
    content = message.get("content")
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in blocks(message, "text"))
    is_prompt = record.get("type") == "user" and text.startswith(_SUMMARY)
    return bool(record.get("isCompactSummary")) or is_prompt


def turn_id(uuid: str) -> str:
    """Return the id that the specification gives to the turn of a record."""
    digest = hashlib.sha256("\x1f".join(("aix", "turn", "claude-code", uuid)).encode()).digest()
    number = int.from_bytes(digest[:16])
    return "".join(_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


def differences(count: Count, rows: Mapping[str, tuple[object, ...]], micro: int) -> Iterator[str]:
    """Give all differences between the logs and the rows of a ledger, by turn."""
    logs = {turn_id(uuid): (uuid, compaction) for uuid, compaction in count.compactions.items()}
    for turn, (uuid, compaction) in logs.items():
        if turn not in rows:
            yield f"{uuid}: the ledger has no such compaction"
            continue
        evidence, before, after = rows[turn]
        found = (compaction.evidence, compaction.tokens_before, count.tokens_after(compaction))
        # Nothing states the context before a summary without a boundary: the ledger has that of the request before.
        told = (evidence, before if compaction.evidence == "boundary" else None, after)
        if found != told:
            yield f"{uuid}: the logs say {found}, the ledger {told}"
    yield from (f"turn {turn}: no log has it" for turn in rows.keys() - logs.keys())
    if micro != len(count.microcompactions):
        yield f"micro-compactions: the logs have {len(count.microcompactions)}, the ledger {micro}"


def compare(folder: Path, ledger: "Ledger") -> tuple[Count, list[str]]:
    """Count the logs of a folder, and say in what a ledger of them differs."""
    count = Count()
    for path in sorted(folder.rglob("*.jsonl")):
        count.add_file(path)
    listed = ledger.query("compaction_impact/compactions")
    places = [listed.columns.index(name) for name in _COLUMNS]
    rows = {str(row[places[0]]): tuple(row[place] for place in places[1:]) for row in listed}
    return count, list(differences(count, rows, len(ledger.query("compaction_impact/micro_compactions").rows())))


def main() -> int:
    """Print what was counted and what differs; return 1 when anything does."""
    import aix

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("ledger", type=Path)
    arguments = parser.parse_args()
    with aix.open(arguments.ledger) as ledger:
        count, found = compare(arguments.folder, ledger)
    evidence = [each.evidence for each in count.compactions.values()]
    followed = sum(each.next_answer is not None for each in count.compactions.values())
    print(f"boundaries {evidence.count('boundary')}, summaries without one {evidence.count('summary_only')}")
    print(f"followed by a request {followed}, micro-compactions {len(count.microcompactions)}")
    print(*found, f"{len(found)} differences", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
