"""Write the table of docs/compaction.md about the compactions of a ledger, as Markdown.

    python -m benchmarks.compaction_table LEDGER

Each line is a figure of the pack `compaction_impact`: the number of compactions for which it is known, the median, and
the values that one in ten does not exceed and nine in ten do not exceed. All are values that occur.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_FIGURES = (
    ("whole context before, tokens", "compactions", "tokens_before", "{:,}"),
    ("whole context after, tokens", "compactions", "tokens_after", "{:,}"),
    ("share freed", "compactions", "reduction", "{:.2f}"),
    ("turns summarised", "compactions", "turns_summarized", "{}"),
    ("tokens of the summary", "compactions", "summary_tokens", "{:,}"),
    ("cost of the summarising call, dollars", "cost", "summarise_cost_usd", "{:.3f}"),
    ("tokens written to the cache by the first request after it", "cost", "rebuild_tokens", "{:,}"),
    ("premium for these, dollars", "cost", "rebuild_premium_usd", "{:.3f}"),
    ("total cost, dollars", "cost", "total_usd", "{:.3f}"),
    ("saved with each later request, dollars", "break_even", "saved_per_request_usd", "{:.3f}"),
    ("requests until paid back", "break_even", "requests_to_break_even", "{}"),
    ("requests that followed", "break_even", "requests_after", "{}"),
    ("saved less cost in the end, dollars", "break_even", "net_usd", "{:.2f}"),
    ("requests until the context was back at 95 %", "rebound", "requests", "{}"),
    ("files read again within 10 turns", "rereads", "files", "{}"),
    ("minutes to the first edit", "aftermath", "minutes_to_first_edit", "{:.1f}"),
    ("share of files that the summary names", "fidelity", "files_named_share", "{:.2f}"),
    ("share of identifiers", "fidelity", "identifiers_named_share", "{:.2f}"),
    ("share of open todos", "fidelity", "todos_named_share", "{:.2f}"),
    ("share of instructions", "fidelity", "instructions_named_share", "{:.2f}"),
)
_PARAMETERS: Mapping[str, Mapping[str, object]] = {"rebound": {"share": 0.95}}

Rows = list[dict[str, Any]]
Value = int | float | Decimal


def table_lines(ledger: "Ledger") -> Iterator[str]:
    """Give the lines of the table, and above them what was counted."""
    rows = {query: _rows(ledger, query) for query in dict.fromkeys(figure[1] for figure in _FIGURES)}
    compactions = rows["compactions"]
    files = Counter(row["compaction_turn_id"] for row in rows["rereads"])
    rows["rereads"] = [{"files": files[row["turn_id"]]} for row in compactions]
    kinds = Counter(f"{row['evidence']}, {row['trigger'] or 'no trigger'}" for row in compactions)
    yield f"{len(compactions)} compactions: " + "; ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    answers = [row["is_paid_back"] for row in rows["break_even"] if row["is_paid_back"] is not None]
    yield f"paid back: {sum(answers)} of {len(answers)} where that is known"
    yield ""
    yield "| figure | cases | one in ten up to | median | nine in ten up to |"
    yield "|---|---:|---:|---:|---:|"
    for label, query, column, form in _FIGURES:
        values = sorted(row[column] for row in rows[query] if row[column] is not None)
        shown = [form.format(_rank(values, share)) if values else "" for share in (0.1, 0.5, 0.9)]
        yield f"| {label} | {len(values)} | {' | '.join(shown)} |"


def _rows(ledger: "Ledger", query: str) -> Rows:
    result = ledger.query(f"compaction_impact/{query}", **_PARAMETERS.get(query, {}))
    return [dict(zip(result.columns, row, strict=True)) for row in result]


def _rank(values: Sequence[Value], share: float) -> Value:
    return values[ceil(share * len(values)) - 1]


def main() -> int:
    """Print the table."""
    import aix

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledger", type=Path)
    with aix.open(parser.parse_args().ledger) as ledger:
        print(*table_lines(ledger), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
