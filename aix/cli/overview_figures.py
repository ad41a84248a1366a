"""The figures of `aix overview` and the rows that they are made of."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import msgspec

from aix.query import dates
from aix.query.packs import find_query
from aix.query.values import TIMEZONE, takes_timezone
from aix.reading.ledger import Ledger
from aix.store.manifest import count_rows

if TYPE_CHECKING:
    from aix.permissions.audit.finding_counts import FindingCounts

_PROBLEMS = "select importer, kind, count(*) from ({every}) where is_latest group by all"
_IMPORTED_AT = "select max(coalesce(finished_at, started_at)) from import_runs"
_TURN_OF_MODEL = "select 1 from turns where model is not null limit 1"
_TOKENS = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cache_read_tokens": ("cache_read_tokens",),
    "cache_write_tokens": ("cache_write_5m_tokens", "cache_write_1h_tokens"),
}
_PERIODS = (30, 7)
"""Days of a period that is compared with the one before it: the first of which there are more than one."""
WITHOUT_SESSIONS = {
    "programs": ("program", "aix program list"),
    "program_events": ("program event", "aix program list"),
    "dag_events": ("graph event", "aix query run_history"),
    "dag_nodes": ("graph node", 'aix sql "select * from v_dag_nodes"'),
}
"""Tables that a log without a session fills: the word for a row, and the command that lists them."""
SEVERITIES = ("high", "medium", "low")

Row = dict[str, Any]


class Figures(msgspec.Struct, frozen=True):
    """The figures of the overview, exact; None is unknown."""

    sessions: int
    subagents: int
    turns: int
    first_day: date | None
    last_day: date | None
    active_days: int
    requests: int
    total_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: Decimal | None
    cost_estimated_usd: Decimal | None
    unpriced_requests: int
    future_requests: int
    """Requests of days that are yet to come: in the totals, but not in the first and last day nor in a period."""
    period_days: int | None
    """Days of the last period, which ends today; None when there are too few days to compare two."""
    period_cost_usd: Decimal | None
    previous_cost_usd: Decimal | None
    cache_saved_usd: Decimal | None
    cache_saved_share: float | None
    cache_lost_usd: Decimal | None
    cache_losses: int
    wasted_usd: Decimal | None
    wasted_turns: int
    compactions: int
    compactions_paid_back: int
    compactions_net_usd: Decimal | None
    findings_high: int
    findings_medium: int
    findings_low: int
    pack_findings_high: int
    """Findings of the audits of other packs, here and below."""
    pack_findings_medium: int
    pack_findings_low: int
    secrets: int
    last_turn_at: int | None
    imported_at: int | None
    problems: int | None
    """Those that `aix problems` lists; unknown for a part of the ledger."""
    problem_notes: int | None
    """Those of them that are about lines that were fully read."""


class Answers(msgspec.Struct, frozen=True):
    """Rows of the queries behind the overview."""

    days: list[Row]
    models: list[Row]
    projects: list[Row]
    savings: list[Row]
    waste: dict[str, Row]
    compactions: list[Row]
    origins: list[Row]
    findings: "FindingCounts"
    imported_at: int | None
    problems: tuple[int, int] | None
    is_model_asked: bool
    """Whether any request or turn of the ledger is of a model: chats between people cost nothing that is unknown."""
    rows_without_sessions: dict[str, int]
    """Rows of the tables that a log without a session fills."""


def ask(ledger: Ledger, parameters: Mapping[str, object], zone: ZoneInfo) -> Answers:
    """Run the queries; those of the audit beside the others, as they take as long."""
    from aix.permissions.audit.finding_counts import count_findings

    filters = {name: value for name, value in parameters.items() if name != TIMEZONE}

    def rows(name: str) -> list[Row]:
        query = find_query(name)
        return ledger.query(query, **filters, **({TIMEZONE: zone.key} if takes_timezone(query) else {})).dicts()

    with ThreadPoolExecutor(1) as beside:
        audited = beside.submit(count_findings, ledger, filters, zone.key)
        return Answers(
            days=rows("token_economics/cost_by_day"),
            models=rows("token_economics/cost_by_model"),
            projects=rows("token_economics/cost_by_project"),
            savings=rows("token_economics/cache_savings"),
            waste={row["class"]: row for row in rows("token_economics/waste")},
            compactions=rows("compaction_impact/break_even"),
            origins=rows("overview/by_origin"),
            imported_at=ledger.own_sql(_IMPORTED_AT).rows()[0][0],
            problems=None if filters else _count_problems(ledger),
            is_model_asked=count_rows(ledger.manifest, "requests") > 0 or bool(ledger.own_sql(_TURN_OF_MODEL).rows()),
            rows_without_sessions={name: count_rows(ledger.manifest, name) for name in WITHOUT_SESSIONS},
            findings=audited.result(),
        )


def _count_problems(ledger: Ledger) -> tuple[int, int]:
    """Return how many problems the ledger has, and how many of them are notes."""
    counts = ledger.own_sql(_PROBLEMS.format(every=find_query("overview/problems").sql)).rows()
    if not counts:
        return 0, 0
    from aix.pipeline.registry import registrations

    notes = {each.name: each.kind.notes for each in registrations() if each.kind}
    noted = sum(count for importer, kind, count in counts if kind in notes.get(importer, ()))
    return sum(count for _, _, count in counts), noted


def first_whole_day_of(since: object, zone: ZoneInfo) -> date | None:
    """Return the first day that no part is left out of; None where all days are asked for."""
    if since is None:
        return None
    begin = dates.read_date(str(since), zone).begin.astimezone(zone)
    day = begin.date()
    return day if begin == dates.span_of(day, zone).begin else day + timedelta(days=1)


def figures_of(answers: Answers, today: date, first_whole_day: date | None) -> Figures:
    """Compute the figures; a period is compared where no part of the one before it was left out."""
    tokens = {name: add_up(answers.days, *columns) for name, columns in _TOKENS.items()}
    known = [count for count in tokens.values() if count is not None]
    days = cost_of_days(answers.days, today)
    cost = add_up(answers.days, "cost_usd")
    period, recent, previous = last_period(days if cost is not None else {}, today, first_whole_day)
    saved, uncached = (add_up(answers.savings, name) for name in ("saved_usd", "without_cache_usd"))
    wasted = [answers.waste[name] for name in ("failed_turn", "interrupted_turn")]
    loss = answers.waste["cache_loss"]
    last_turns = [row["last_turn_at"] for row in answers.origins if row["last_turn_at"] is not None]
    return Figures(
        **{name: sum(row[name] for row in answers.origins) for name in ("sessions", "subagents", "turns")},
        first_day=min(days, default=None),
        last_day=max(days, default=None),
        active_days=len(days),
        requests=sum(row["requests"] for row in answers.days),
        total_tokens=sum(known) if known else None,
        **tokens,
        cost_usd=cost,
        cost_estimated_usd=add_up(answers.days, "cost_estimated_usd"),
        unpriced_requests=sum(row["unpriced_requests"] for row in answers.days),
        future_requests=sum(
            row["requests"] for row in answers.days if row["day"] is not None and row["day"] > today.isoformat()
        ),
        period_days=period,
        period_cost_usd=recent,
        previous_cost_usd=previous,
        cache_saved_usd=saved,
        cache_saved_share=float(saved / uncached) if saved is not None and uncached else None,
        cache_lost_usd=loss["cost_usd"],
        cache_losses=loss["requests"],
        wasted_usd=add_up(wasted, "cost_usd"),
        wasted_turns=sum(row["turns"] for row in wasted),
        compactions=len(answers.compactions),
        compactions_paid_back=sum(1 for row in answers.compactions if row["is_paid_back"]),
        compactions_net_usd=add_up(answers.compactions, "net_usd"),
        **{f"findings_{name}": answers.findings.severities.get(name, 0) for name in SEVERITIES},
        **{
            f"pack_findings_{name}": sum(each.get(name, 0) for each in answers.findings.packs.values())
            for name in SEVERITIES
        },
        secrets=sum(answers.findings.secrets.values()),
        last_turn_at=max(last_turns, default=None),
        imported_at=answers.imported_at,
        problems=answers.problems and answers.problems[0],
        problem_notes=answers.problems and answers.problems[1],
    )


def cost_of_days(rows: Sequence[Row], last: date) -> dict[date, Decimal]:
    """Return the cost of each day up to the last one; requests without a time are on none."""
    days = {date.fromisoformat(row["day"]): row["cost_usd"] or Decimal(0) for row in rows if row["day"] is not None}
    return {day: cost for day, cost in days.items() if day <= last}


def add_up(rows: Sequence[Row], *columns: str) -> Any:  # noqa: ANN401 - a count or an amount, as the rows have it
    """Add up the values of these columns that are known; None when no value is."""
    known = [row[column] for row in rows for column in columns if row[column] is not None]
    return sum(known) if known else None


def last_period(
    days: Mapping[date, Decimal], today: date, first_whole_day: date | None
) -> tuple[int | None, Decimal | None, Decimal | None]:
    """Return the length of the last period, its cost, and that of the period before where the days cover it."""
    ages = {(today - day).days: cost for day, cost in days.items()}
    oldest = max(ages, default=0)
    covered = oldest if first_whole_day is None else (today - first_whole_day).days
    compared = [length for length in _PERIODS if covered >= 2 * length - 1 and oldest >= length]
    period = next(iter([*compared, *(length for length in _PERIODS if oldest >= length)]), None)
    if period is None:
        return None, None, None
    recent = sum((cost for age, cost in ages.items() if age < period), Decimal(0))
    previous = sum((cost for age, cost in ages.items() if period <= age < 2 * period), Decimal(0))
    return period, recent, previous if period in compared else None
