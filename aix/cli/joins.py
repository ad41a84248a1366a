"""The part of `aix import` that joins ledgers: what it shows of them."""

from pathlib import Path
from typing import TYPE_CHECKING

from aix.cli.diagnostics import say
from aix.output import Listing, ListingColumn
from aix.output.humanise import counted
from aix.output.text import to_json
from aix.pipeline.ledger_join import join_ledgers
from aix.pipeline.progress import Watcher
from aix.pipeline.report import Report
from aix.store.manifest import EMPTY, count_rows

if TYPE_CHECKING:
    from aix.merge.contradictions import Contradiction
    from aix.pipeline.run import Settings

_SHOWN_CHARACTERS = 60
_COLUMNS = (
    ListingColumn("table"),
    ListingColumn("rows", "BIGINT"),
    ListingColumn("new", "BIGINT"),
    ListingColumn("contradictions", "BIGINT"),
)
_EXAMPLE = tuple(map(ListingColumn, ("example_row", "example_column", "own_value", "other_value")))


def join_and_list(ledger: Path, others: list[Path], settings: "Settings") -> Listing:
    """Join ledgers, and list by table how many rows there are, are new, and contradict others."""
    report = join_ledgers(ledger, others, settings, _Speaker())
    rows = [*_rows(report)]
    return Listing(
        (*_COLUMNS, *_EXAMPLE),
        rows,
        has_findings=bool(report.failures),
        notes=_notes(report, dry_run=settings.dry_run),
        for_people=Listing(_COLUMNS, [row[: len(_COLUMNS)] for row in rows]),
    )


class _Speaker(Watcher):
    """Says what contradicts the ledger as soon as it is found."""

    def contradict(self, found: "Contradiction") -> None:
        columns = ", ".join(f"{name} ({count})" for name, count in found.columns.items())
        own, other = (to_json(_short(value)) for value in (found.own, found.other))
        verb = "contradicts" if found.rows == 1 else "contradict"
        say(
            f"{found.ledger}: {counted(found.rows, 'row')} of {found.table} {verb} this ledger, in {columns};"
            f" {found.column} of {found.row_key} is {own} here and {other} there"
        )


def _short(value: str) -> str:
    return value if len(value) <= _SHOWN_CHARACTERS else f"{value[: _SHOWN_CHARACTERS - 1]}…"


def _rows(report: Report) -> list[tuple[object, ...]]:
    found: dict[str, list[Contradiction]] = {}
    for contradiction in report.contradictions:
        found.setdefault(contradiction.table, []).append(contradiction)
    rows: list[tuple[object, ...]] = []
    is_joined = report.after != report.before
    for name in dict.fromkeys([*report.new_rows, *found]):
        new = report.new_rows.get(name, 0)
        count = count_rows(report.after or EMPTY, name) + (0 if is_joined else new)
        of_table = found.get(name, [])
        first = of_table[0] if of_table else None
        example = (first.row_key, first.column, first.own, first.other) if first else (None, None, None, None)
        rows.append((name, count, new, sum(each.rows for each in of_table), *example))
    return rows


def _notes(report: Report, *, dry_run: bool) -> list[str]:
    notes = [f"{name}: {reason}; nothing of it was joined" for name, reason in report.failures]
    rows = sum(contradiction.rows for contradiction in report.contradictions)
    if dry_run:
        notes.append("nothing was done; import without --dry-run to do it")
    elif rows and not report.failures:
        notes.append(f"contradicting rows, joined all the same: {rows}; --strict refuses such a ledger")
    return notes
