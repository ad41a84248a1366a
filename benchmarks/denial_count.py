"""Count denials straight from the lines of Claude Code logs: a witness that shares no code with the importer.

    python -m benchmarks.denial_count FOLDER LEDGER

A denial is a result that is an error and begins with words of the client. Results are counted once by their call, over
all files and the progress records in them, whatever number of copies there are. LEDGER is one that holds of Claude Code
what is in FOLDER and nothing else. What a field of the log shows rather than words (`toolDenialKind`,
`permission_denials`) is counted apart. Every difference is a sentence, and the exit code is 1 when there are any.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonlines

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

# How a denial begins, what else is in its first words, and who denied. The first that fits counts.
_WORDS = (
    ("The user doesn't want to proceed with this tool use", "", "denied_user"),
    ("The user doesn't want to take this action right now", "", "denied_user"),
    ("The user wants to clarify these questions", "", "denied_user"),
    ("[Request interrupted by user", "", "interrupted"),
    ("This command requires approval", "", "not_granted"),
    ("This Bash command contains multiple operations. The following part", "approval", "not_granted"),
    ("Claude requested permissions to ", ", but you haven't granted it", "not_granted"),
    ("Claude requested permissions to ", " which is a sensitive file", "not_granted"),
    ("Permission to use ", " has been auto-denied in dontAsk mode", "denied_mode"),
    ("Permission to use ", " has been denied because Claude Code is running in don't ask mode", "denied_mode"),
    ("Permission to use ", " has been auto-denied (prompts unavailable)", "not_granted"),
    ("Permission to use ", " has been denied. IMPORTANT", "not_granted"),
    ("Permission to use ", " has been denied.", "denied_rule"),
    ("Permission for this action has been denied. Reason: ", "", "denied_mode"),
    ("Permission for this tool use was denied. The tool use was rejected", "", "denied_rule"),
    ("<tool_use_error>Blocked: ", "", "denied_rule"),
    ("Glob patterns are not allowed in write operations", "", "denied_rule"),
    ("PreToolUse:", " hook error: [", "denied_hook"),
    ("Hook PreToolUse:", " denied this tool", "denied_hook"),
    ("", "' was blocked. For security, Claude Code may only ", "denied_directory"),
)
_LONGEST_BEFORE = 2_000
_PREFIXES = ("Error: ", "ERROR: ", "<tool_use_error>")
_CAUSES = tuple(dict.fromkeys(cause for *_, cause in _WORDS))
_LEDGER = """
    select p.call_id, p.outcome, p.evidence like 'toolDenialKind: %' or p.evidence = 'permission_denials'
    from permission_decisions p join turn_context c using (turn_id)
    where c.origin = 'claude-code' and p.outcome in (select unnest($1))
"""

Record = dict[str, Any]
Causes = Mapping[str, str]
"""By call, who denied it."""


class Count:
    """Calls and denials so far; files may come in any order and their lines in any number of copies."""

    def __init__(self) -> None:
        self.calls: set[str] = set()
        self.results: dict[str, str] = {}

    def add_file(self, path: Path) -> None:
        """Count the lines of one file."""
        for record in _records(path):
            message = record.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            for block in content if isinstance(content, list) else []:
                if not isinstance(block, dict):
                    continue
                if block.get("type") == "tool_use":
                    self.calls.add(str(block.get("id")))
                elif block.get("type") == "tool_result" and block.get("is_error") is True:
                    cause = cause_of(_text(block.get("content")))
                    if cause:
                        self.results[str(block.get("tool_use_id"))] = cause

    @property
    def denials(self) -> Causes:
        """Denials by call; a result whose call is in no log is left out."""
        return {call: cause for call, cause in self.results.items() if call in self.calls}


def cause_of(text: str) -> str | None:
    """Return who denied, if the words of an error say so where it begins."""
    starts = [text.lstrip()]
    while prefix := next((prefix for prefix in _PREFIXES if starts[-1].startswith(prefix)), None):
        starts.append(starts[-1].removeprefix(prefix))
    for start, within, cause in _WORDS:
        begins = [each for each in starts if each.startswith(start)] if start else starts[-1:]
        if any(within in (each[:_LONGEST_BEFORE] if start else each.partition("\n")[0]) for each in begins):
            return cause
    return None


def _records(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for record in jsonlines.Reader(file).iter(type=dict, allow_none=True, skip_invalid=True, skip_empty=True):
            if not isinstance(record, dict):
                continue
            yield record
            data = record.get("data")
            if isinstance(data, dict) and isinstance(data.get("message"), dict):
                yield data["message"]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def differences(logs: Causes, ledger: Causes) -> Iterator[str]:
    """Give all differences between the denials in logs and those of a ledger."""
    for call in sorted(logs.keys() | ledger.keys()):
        there, here = logs.get(call, "no denial"), ledger.get(call, "no denial")
        if there != here:
            yield f"{call}: the logs say {there}, the ledger {here}"


def compare(folder: Path, ledger: "Ledger") -> tuple[Count, Causes, int]:
    """Count the logs of a folder; return that, the denials of a ledger by words, and how many it has by fields."""
    count = Count()
    for path in sorted(folder.rglob("*.jsonl")):
        count.add_file(path)
    rows = ledger.sql(_LEDGER, [list(_CAUSES)]).rows()
    by_words = {call: outcome for call, outcome, is_by_field in rows if not is_by_field}
    return count, by_words, len(rows) - len(by_words)


def main() -> int:
    """Print what was counted and what differs; return 1 when anything does."""
    import aix

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("ledger", type=Path)
    arguments = parser.parse_args()
    with aix.open(arguments.ledger) as ledger:
        count, known, by_fields = compare(arguments.folder, ledger)
    denials = count.denials
    logged, kept = Counter(denials.values()), Counter(known.values())
    for cause in _CAUSES:
        print(f"{cause:17}{logged[cause]:7,}{kept[cause]:7,}")
    print(f"{'all':17}{logged.total():7,}{kept.total():7,}")
    print(f"results of calls on no disk {len(count.results) - len(denials):,}, by fields {by_fields:,}")
    found = list(differences(denials, known))
    print(*found, f"{len(found)} differences", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
