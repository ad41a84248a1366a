"""Tell how much of what summaries name they would name by chance: each compaction with the summary of another.

    python -m benchmarks.summary_chance LEDGER

The view `v_compaction_items` compares words. Given the summary of the compaction that comes next by id, which knows
nothing of these turns, it shows how many items are named only because such words are in every summary.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_SWAPPED = """(
  select
    turn_id,
    first_kept_turn_id,
    coalesce(lead(summary) over (order by turn_id), first_value(summary) over (order by turn_id)) as summary
  from compactions
  where summary <> ''
)"""
_SHARES = """
select kind, count(*) as items, avg(case when is_named then 1 else 0 end) as named_share
from ({items})
group by kind
order by kind"""


def table_lines(ledger: "Ledger") -> Iterator[str]:
    """Give the lines of a table with both shares of each kind."""
    from aix.query.views import library_views

    own = library_views()["v_compaction_items"].statement
    swapped = re.sub(r"\bfrom compactions\b", f"from {_SWAPPED}", own)
    shares = [ledger.sql(_SHARES.format(items=items)).rows() for items in (own, swapped)]
    yield "| kind | items | named by the own summary | by another |"
    yield "|---|---:|---:|---:|"
    for (kind, items, named), (_, _, by_chance) in zip(*shares, strict=True):
        yield f"| {kind} | {items} | {named:.2f} | {by_chance:.2f} |"


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
