"""Count what Claude Code logs hold, straight from their lines: a witness that shares no code with the importer.

    python benchmarks/claude_code_count.py FOLDER [LEDGER]

A message of the API is counted once by its id, over all files, with the greatest value of each figure of its usage;
`<synthetic>` ones are not of the API. With a ledger that holds FOLDER and nothing else, its figures stand beside, and
the exit code is 1 when any differs.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_UNIQUE_ID = re.compile(r"msg_(bdrk_|vrtx_)?01[0-9A-Za-z]{22}")
_SUMMARY = "This session is being continued from a previous conversation"
_FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_LIFETIMES = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
_COLUMNS = ("messages", "input", "output", "cache read", "cache write", "of it 5 m", "of it 1 h")
_LEDGER = """
    select 'model ' || coalesce(model, '?'), [count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
        sum(cache_write_tokens), sum(cache_write_5m_tokens), sum(cache_write_1h_tokens)]
    from requests where kind <> 'advisor' and origin_message_id is not null group by 1
    union all select 'tool calls: all, with a result, failed', [count(*),
        count(*) filter (where status in ('completed', 'failed')),
        count(*) filter (where status = 'failed')] from tool_calls
    union all select 'compactions', [count(*)] from compactions
    union all select 'microcompactions', [count(*)] from messages where json_exists(metadata_json, '$.microcompact')"""

Record = dict[str, Any]
Figures = dict[str, tuple[int, ...]]


class Count:
    """Counts so far; files may come in any order and their lines in any number of copies."""

    def __init__(self) -> None:
        self.usage: dict[str, tuple[int, ...]] = {}
        self.models: dict[str, str] = {}
        self.calls: set[tuple[str, str]] = set()  # the same id in another message is another call
        self.results: dict[tuple[str, str], bool] = {}
        self.boundaries: set[str] = set()
        self.microcompactions: set[str] = set()
        self.summaries: dict[str, str | None] = {}

    def add_file(self, path: Path) -> None:
        """Count the lines of one file."""
        first: dict[tuple[str, object], str] = {}
        callers: dict[str, str] = {}
        for agent, record in records(path):
            kind, message = record.get("type"), record.get("message")
            if record.get("subtype") == "compact_boundary":
                self.boundaries.add(record["uuid"])
            elif record.get("subtype") == "microcompact_boundary":
                self.microcompactions.add(record["uuid"])
            elif not isinstance(message, dict):
                continue
            elif kind == "assistant" and message.get("id"):
                key = message_key(record, message, agent, first)
                self._add_usage(key, message)
                callers |= {block["id"]: key for block in blocks(message, "tool_use")}
                self.calls |= {(block["id"], key) for block in blocks(message, "tool_use")}
            elif kind == "user":
                self._add_summary(record, message)
                for block in blocks(message, "tool_result"):
                    call = (block["tool_use_id"], callers.get(block["tool_use_id"], ""))
                    self.results[call] = self.results.get(call, False) or block.get("is_error") is True

    def _add_usage(self, key: str, message: Record) -> None:
        usage = message.get("usage")
        if message.get("model") == "<synthetic>" or not isinstance(usage, dict):
            return
        split = usage.get("cache_creation") or {}
        tokens = [usage.get(field) or 0 for field in _FIELDS] + [split.get(field) or 0 for field in _LIFETIMES]
        self.usage[key] = tuple(map(max, self.usage.get(key, (0,) * len(tokens)), tokens))
        self.models[key] = message.get("model") or "?"

    def _add_summary(self, record: Record, message: Record) -> None:
        content = message.get("content")
        text = content if isinstance(content, str) else "".join(b.get("text", "") for b in blocks(message, "text"))
        if record.get("isCompactSummary") or text.startswith(_SUMMARY):
            self.summaries[record["uuid"]] = record.get("parentUuid")

    def figures(self) -> Figures:
        """Return the figures by the names that the ledger's have too."""
        sums: Figures = {}
        for key, tokens in sorted(self.usage.items()):
            name = f"model {self.models[key]}"
            sums[name] = tuple(map(sum, zip(sums.get(name, (0,) * len(_COLUMNS)), (1, *tokens), strict=True)))
        answers = [self._failed(call) for call in self.calls]
        calls = (len(answers), sum(failed is not None for failed in answers), sum(failed is True for failed in answers))
        compactions = len(self.boundaries) + self.lone_summaries()
        rest = {"compactions": (compactions,), "microcompactions": (len(self.microcompactions),)}
        return {**sums, "tool calls: all, with a result, failed": calls, **rest}

    def _failed(self, call: tuple[str, str]) -> bool | None:
        """Return whether a call failed; its result may stand in a file that does not hold the call."""
        return self.results.get(call, self.results.get((call[0], "")))

    def lone_summaries(self) -> int:
        """Count the summaries of compactions that left no boundary."""
        return sum(parent not in self.boundaries for parent in self.summaries.values())


def records(path: Path) -> Iterator[tuple[object, Record]]:
    """Give the records of a file, and those of agents that stand in its progress records, each with its agent."""
    for line in path.read_bytes().split(b"\n"):
        for record in _objects(line.decode("utf-8", "replace").strip("\ufeff\0 \t\r")):
            yield record.get("agentId"), record
            data = record.get("data")
            if (
                isinstance(data, dict)
                and data.get("type") == "agent_progress"
                and isinstance(data.get("message"), dict)
            ):
                yield data.get("agentId"), data["message"]


def _objects(text: str) -> Iterator[Record]:
    """Give the objects of a line, which may be several; what is no JSON ends it."""
    place = 0
    while place < len(text):
        try:
            value, place = json.JSONDecoder().raw_decode(text, place)
        except ValueError:
            return
        place += len(text[place:]) - len(text[place:].lstrip())
        if isinstance(value, dict):
            yield value


def message_key(record: Record, message: Record, agent: object, first: dict[tuple[str, object], str]) -> str:
    """Return the unique key of a message: its id, and for a proxy's also its first record in the file."""
    uuid = first.setdefault((message["id"], agent), str(record.get("uuid")))
    return str(message["id"]) if _UNIQUE_ID.fullmatch(message["id"]) else f"{message['id']}@{uuid}"


def blocks(message: Record, kind: str) -> list[Record]:
    """Return the blocks of a kind that a message has."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def ledger_figures(ledger: Path) -> Figures:
    """Return the same figures from a ledger; advisors, and agents whose messages no file holds, are not among them."""
    import aix

    with aix.open(ledger) as opened:
        return {name: tuple(int(value or 0) for value in values) for name, values in opened.sql(_LEDGER)}


def with_total(figures: Figures) -> Figures:
    """Put the sum over all models in front."""
    of_models = [values for name, values in figures.items() if name.startswith("model ")]
    return {"all models": tuple(map(sum, zip((0,) * len(_COLUMNS), *of_models, strict=True))), **figures}


def main() -> int:
    """Print the figures; return 1 when those of the ledger differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("ledger", type=Path, nargs="?")
    arguments = parser.parse_args()
    count = Count()
    for path in sorted(arguments.folder.rglob("*.jsonl")):
        count.add_file(path)
    logs = with_total(count.figures())
    ledger = logs if arguments.ledger is None else with_total(ledger_figures(arguments.ledger))
    print(f"{'':40}{''.join(f'{name:>13}' for name in _COLUMNS)}")
    for name in dict.fromkeys([*logs, *ledger]):
        print(_line(name, logs.get(name, ())))
        if arguments.ledger is not None:
            verdict = "same" if logs.get(name) == ledger.get(name) else "DIFFERS"
            print(_line(f"    ledger: {verdict}", ledger.get(name, ())))
    print(f"compactions with a boundary {len(count.boundaries):,}, without {count.lone_summaries():,}")
    return int(logs != ledger)


def _line(name: str, values: tuple[int, ...]) -> str:
    return f"{name:40}{''.join(f'{value:13,}' for value in values)}"


if __name__ == "__main__":
    sys.exit(main())
