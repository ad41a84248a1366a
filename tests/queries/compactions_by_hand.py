"""The figures of compactions that were computed by hand, as the README of the library's logs has them."""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from tests import ROOT

README = ROOT / "fixtures" / "library" / "README.md"
_HEADER = "| session | at | before "
_UNKNOWN = "—"


class CompactionByHand(NamedTuple):
    """One row; `session` is the start of the session's id, `at` its time of day in UTC, amounts are dollars."""

    session: str
    at: str
    tokens_before: int | None
    tokens_after: int | None
    summary_tokens: int | None
    turns_summarized: int | None
    summarising_usd: Decimal | None
    rebuild_usd: Decimal | None
    saved_usd: Decimal | None
    break_even_requests: int | None
    requests_after: int | None
    net_usd: Decimal | None


def compactions_by_hand() -> list[CompactionByHand]:
    """Return the table, ordered by session and time."""
    return sorted(_rows(), key=lambda row: (row.session, row.at))


def _rows() -> Iterator[CompactionByHand]:
    _, table = README.read_text("utf-8").split(_HEADER)
    _, _, *lines = table.partition("\n\n")[0].splitlines()
    for line in lines:
        session, at, before, after, summary, turns, summarising, rebuild, saved, even, requests, net = (
            cell.strip() for cell in line.strip("|").split("|")
        )
        yield CompactionByHand(
            session.strip("`"),
            at,
            _count(before),
            _count(after),
            _count(summary),
            _count(turns),
            _amount(summarising),
            _amount(rebuild),
            _amount(saved),
            _count(even),
            _count(requests),
            _amount(net),
        )


def _count(cell: str) -> int | None:
    return None if cell == _UNKNOWN else int(cell.replace(",", ""))


def _amount(cell: str) -> Decimal | None:
    return None if cell == _UNKNOWN else Decimal(cell)
