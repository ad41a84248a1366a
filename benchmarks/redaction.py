"""How fast texts are redacted, and how much is hidden in them.

    python -m benchmarks.redaction LEDGER

reads the texts of a ledger, and prints how many times longer it takes to redact them than to read them.
"""

import sys
import time
from pathlib import Path

from aix.reading.ledger import Ledger, open_ledger
from aix.redaction.redactor import Redactor

_TEXTS = """
select content from messages where content is not null union all
select thinking from messages where thinking is not null union all
select params_json from tool_calls where params_json is not null union all
select result_json from tool_calls where result_json is not null
"""


def main(ledger: str) -> None:
    """Measure it."""
    with open_ledger(Path(ledger)) as opened:
        read_seconds, characters = _measure(opened, None)
        redactor = Redactor(bytes(32))
        seconds, _ = _measure(opened, redactor)
    ratio, speed = seconds / read_seconds, characters / 1e6 / (seconds - read_seconds)
    print(f"{characters / 1e6:,.1f} million characters: read in {read_seconds:.1f} s, redacted in {seconds:.1f} s")
    print(f"{ratio:.0f} times as long; {speed:.1f} million a second")
    print(", ".join(f"{count:,} {kind}" for kind, count in redactor.counts.most_common()))


def _measure(ledger: Ledger, redactor: Redactor | None) -> tuple[float, int]:
    begun = time.perf_counter()
    characters = 0
    for (text,) in ledger.sql(_TEXTS):
        characters += len(text)
        if redactor is not None:
            redactor.text(text)
    return time.perf_counter() - begun, characters


if __name__ == "__main__":
    main(sys.argv[1])
