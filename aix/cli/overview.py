"""`aix overview`: cost and its trend, savings, waste, compactions and findings, with the command behind each."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from shlex import quote
from zoneinfo import ZoneInfo

import click
import msgspec
from msgspec.structs import asdict

from aix.cli.command import Command, ledger_option, listing_output, parameter_options
from aix.cli.freshness import import_first
from aix.cli.overview_figures import (
    SEVERITIES,
    WITHOUT_SESSIONS,
    Answers,
    Figures,
    Row,
    ask,
    cost_of_days,
    figures_of,
    first_whole_day_of,
)
from aix.config import load_config
from aix.output import Listing, listing_columns
from aix.output.charts import bar, sparkline
from aix.output.dashboard import Dashboard, Figure, FigureLine, Ranking
from aix.output.humanise import (
    counted,
    dollars,
    local_time,
    per_cent,
    project_names,
    relative_change,
    short_ago,
    short_count,
)
from aix.output.terminal import ACCENT, GOOD
from aix.query import dates
from aix.query.dates import last_day
from aix.query.packs import pack_title
from aix.query.values import TIMEZONE, find_zone
from aix.reading.ledger import open_ledger

_LARGEST_CHANGE = 9
"""A change above it is written as a factor."""
_LONGEST_SPARKLINE = 31
_PROJECTS_SHOWN = 4
_MODELS_SHOWN = 3
_SECRETS_SHOWN = 2
_NAMED_SECRETS = {"named-secret": ("password or key", "passwords or keys")}
"""The word for one and for several secrets of a pattern whose name is no word for them."""
_UNKNOWN = "unknown"
_BAD = "red"

_TYPES = {date | None: "DATE", float | None: "DOUBLE", Decimal | None: "DECIMAL(38,12)"}
_COLUMNS = listing_columns(
    *((field.name, _TYPES.get(field.type, "BIGINT")) for field in msgspec.structs.fields(Figures))
)


@click.command(cls=Command)
@parameter_options
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(ctx: click.Context, parameters: dict[str, object], ledger: Path) -> Listing:
    """Show cost, savings, waste, compactions and findings on one screen, with the command behind each line.

    All amounts are list prices of the tokens that the logs report, as in `aix cost`, whatever you pay. The trend
    compares the last 30 days (or 7), today included, with those before, unless --since leaves some of these out. Waste
    is the price of turns that failed or were interrupted; `aix query waste` has other classes, which overlap with it. A
    compaction has paid back when the requests after it saved more than it cost. Findings are those of `aix audit`;
    below them are those of each other pack whose audit finds something.

    The screen shortens figures; all other formats have them exactly, one column each, in a single row.

    \b
      aix overview
      aix overview --since 2026-11-01 --project website
      aix overview --json
    """
    config = load_config(ctx.obj)
    zone = find_zone(parameters.get(TIMEZONE, config.timezone))
    answers = ask(open_ledger(ledger), parameters, zone)
    today = dates.present().astimezone(zone).date()
    figures = figures_of(answers, today, first_whole_day_of(parameters.get("since"), zone))
    options = [*([] if ledger == config.ledger else [f"--ledger {quote(str(ledger))}"]), *_written(parameters)]
    return Listing(
        _COLUMNS,
        [tuple(asdict(figures).values())],
        notes=[f"add {' '.join(options)} to these commands to ask about the same data"] if options else [],
        dashboard=_dashboard(figures, answers, zone, today, is_filtered=bool(parameters)),
    )


def _written(parameters: Mapping[str, object]) -> Iterator[str]:
    for name, value in parameters.items():
        yield f"--{name} {quote(last_day(str(value)) if name == 'until' else str(value))}"


def _dashboard(figures: Figures, answers: Answers, zone: ZoneInfo, today: date, *, is_filtered: bool) -> Dashboard:
    if not figures.sessions and not figures.requests:
        if is_filtered:
            return Dashboard("No session of the ledger matches that.")
        return Dashboard(_without_sessions(answers.rows_without_sessions), [*_pack_lines(answers, "Findings")])
    headline = _headline(figures)
    if not answers.is_model_asked:
        headline = f"{counted(figures.sessions, 'session')}, {counted(figures.turns, 'turn')}."
    return Dashboard(headline, [*_lines(figures, answers, zone, today)])


def _without_sessions(rows: Mapping[str, int]) -> str:
    """Say what a ledger without sessions has, and the command that shows it."""
    found = [name for name in WITHOUT_SESSIONS if rows[name]]
    if not found:
        return "The ledger is empty. Next: aix import"
    *others, last = (counted(rows[name], WITHOUT_SESSIONS[name][0]) for name in found)
    things = f"{', '.join(others)} and {last}" if others else last
    return f"No sessions yet; {things}. Next: {WITHOUT_SESSIONS[found[0]][1]}"


def _headline(figures: Figures) -> str:
    sessions = counted(figures.sessions, "session")
    if figures.cost_usd is None:
        return f"{sessions} of unknown cost."
    cost = f"{sessions} cost {dollars(figures.cost_usd)}"
    if figures.cache_saved_usd is None or figures.cache_saved_usd <= 0:
        return f"{cost}."
    return f"{cost}; the cache saved {dollars(figures.cache_saved_usd)}."


def _lines(figures: Figures, answers: Answers, zone: ZoneInfo, today: date) -> Iterator[FigureLine | Ranking]:
    if answers.is_model_asked:
        yield _cost_line(figures)
        yield _token_line(figures)
    yield from _trend_lines(figures, answers, today)
    yield from _cache_lines(figures)
    if figures.wasted_usd:
        wasted = Figure(dollars(figures.wasted_usd), _BAD)
        turns = Figure(f"in {counted(figures.wasted_turns, 'failed or interrupted turn')}", joint=" ")
        yield FigureLine("Waste", (wasted, turns), "aix query waste")
    if figures.compactions:
        yield _compaction_line(figures)
    yield from _finding_lines(figures, answers)
    yield from _ranking("Projects", answers.projects, "project", _PROJECTS_SHOWN)
    yield from _ranking("Models", answers.models, "model", _MODELS_SHOWN)
    yield _session_line(figures)
    yield from _tool_lines(answers)
    yield _freshness_line(figures, zone)


def _cost_line(figures: Figures) -> FigureLine:
    if figures.cost_usd is None:
        return FigureLine("Cost", (Figure(_UNKNOWN), *_unpriced(figures)), "aix cost")
    cost, estimated = dollars(figures.cost_usd), dollars(figures.cost_estimated_usd or figures.cost_usd)
    if cost == estimated:
        return FigureLine("Cost", (Figure(f"{cost} at list price", "bold"), *_unpriced(figures)), "aix cost")
    more = (figures.cost_estimated_usd or figures.cost_usd) / figures.cost_usd - 1 if figures.cost_usd else None
    about = f"about {estimated}" + ("" if more is None else f" (+{per_cent(more)})")
    return FigureLine("Cost", (Figure(f"at least {cost}", "bold"), Figure(about), *_unpriced(figures)), "aix cost")


def _unpriced(figures: Figures) -> list[Figure]:
    count = figures.unpriced_requests
    return [Figure(f"{counted(count, 'request')} unpriced")] if count else []


def _token_line(figures: Figures) -> FigureLine:
    if figures.total_tokens is None:
        return FigureLine("Tokens", (Figure(_UNKNOWN),), "aix cost")
    kinds = {
        "from cache": figures.cache_read_tokens,
        "to cache": figures.cache_write_tokens,
        "out": figures.output_tokens,
        "in": figures.input_tokens,
    }
    parts = (Figure(f"{short_count(count)} {kind}") for kind, count in kinds.items() if count)
    return FigureLine("Tokens", (Figure(short_count(figures.total_tokens), "bold"), *parts), "aix cost")


def _trend_lines(figures: Figures, answers: Answers, today: date) -> Iterator[FigureLine]:
    if figures.first_day is not None:
        days = Figure(f"{figures.first_day} – {figures.last_day}")
        yield FigureLine("Days", (days, Figure(f"{figures.active_days:,} with activity")), "aix cost --by day")
    if figures.future_requests:
        verb = "is" if figures.future_requests == 1 else "are"
        future = Figure(f"{counted(figures.future_requests, 'request')} {verb} dated in the future")
        yield FigureLine(
            "" if figures.first_day else "Days", (future,), f"aix cost --since {today + timedelta(days=1)}"
        )
    if figures.first_day is None or figures.last_day is None:
        return
    if figures.period_days is not None and (figures.period_cost_usd or figures.previous_cost_usd):
        recent = Figure(dollars(figures.period_cost_usd or Decimal(0)))
        label = f"Last {figures.period_days} days"
        since = today - timedelta(days=figures.period_days - 1)
        yield FigureLine(label, (recent, *_change(figures)), f"aix cost --since {since}")
    if figures.cost_usd is not None:
        unit, drawn = _drawn_trend(answers.days, figures.first_day, figures.last_day)
        yield FigureLine("Trend", (Figure(drawn, ACCENT), Figure(f"by {unit}")), f"aix cost --by {unit}")


def _change(figures: Figures) -> list[Figure]:
    if not figures.previous_cost_usd or figures.period_cost_usd is None:
        return []
    change = figures.period_cost_usd / figures.previous_cost_usd - 1
    if change >= _LARGEST_CHANGE:
        return [Figure(f"{relative_change(change)} the {figures.period_days} before")]
    sign = "−" if change < 0 else "+"
    return [Figure(f"{sign}{per_cent(abs(change))} on the {figures.period_days} before")]


def _drawn_trend(rows: Sequence[Row], first: date, last: date) -> tuple[str, str]:
    """Return the unit of time in which the days fit on a line, and the cost of each such unit as a sparkline."""
    costs: defaultdict[tuple[int, ...], Decimal] = defaultdict(Decimal)
    age = (last - first).days
    unit = "day" if age < _LONGEST_SPARKLINE else "week" if age // 7 < _LONGEST_SPARKLINE - 1 else "month"
    days = [first + timedelta(days=number) for number in range(age + 1)]
    for day, cost in cost_of_days(rows, last).items():
        costs[_bucket(day, unit)] += cost
    buckets = dict.fromkeys(_bucket(day, unit) for day in days)
    return unit, sparkline([costs[bucket] for bucket in buckets][-_LONGEST_SPARKLINE:])


def _bucket(day: date, unit: str) -> tuple[int, ...]:
    if unit == "week":
        return day.isocalendar()[:2]
    return (day.year, day.month, day.day) if unit == "day" else (day.year, day.month)


def _cache_lines(figures: Figures) -> Iterator[FigureLine]:
    label = "Cache"
    if figures.cache_saved_usd:
        saved = Figure(f"{dollars(figures.cache_saved_usd)} saved", GOOD if figures.cache_saved_usd > 0 else _BAD)
        share = figures.cache_saved_share
        shares = [Figure(f"{per_cent(share)} off the input")] if share and share > 0 else []
        yield FigureLine(label, (saved, *shares), "aix query cache_savings")
        label = ""
    if figures.cache_lost_usd:
        lost = Figure(f"{dollars(figures.cache_lost_usd)} lost", _BAD)
        times = Figure(f"{counted(figures.cache_losses, 'cache')} expired")
        yield FigureLine(label, (lost, times), "aix query cache_break_causes")


def _compaction_line(figures: Figures) -> FigureLine:
    net = figures.compactions_net_usd
    if net is None:
        return FigureLine("Compactions", (Figure(f"{figures.compactions:,}, cost unknown"),), "aix compactions")
    paid = Figure(f"{figures.compactions_paid_back} of {figures.compactions} paid back")
    result = Figure(f"net {'+' if net > 0 else ''}{dollars(net)}", _BAD if net < 0 else GOOD)
    return FigureLine("Compactions", (paid, result), "aix query break_even")


def _finding_lines(figures: Figures, answers: Answers) -> Iterator[FigureLine]:
    shown = _severities(answers.findings.severities)
    yield FigureLine("Findings", shown or (Figure("none in permissions", GOOD),), "aix audit")
    if figures.secrets:
        secrets = Figure(counted(figures.secrets, "possible secret"), _BAD)
        kinds = Figure(f"({', '.join(_kinds_of_secrets(answers.findings.secrets))})", joint=" ")
        yield FigureLine("", (secrets, kinds), "aix query secrets_seen")
    yield from _pack_lines(answers)


def _pack_lines(answers: Answers, label: str = "") -> Iterator[FigureLine]:
    """Give a line for each other pack whose audit found something, the first with a label."""
    for pack, counts in answers.findings.packs.items():
        if found := _severities(counts):
            figures = (
                Figure(f"in {pack_title(pack).lower()}"),
                msgspec.structs.replace(found[0], joint="  "),
                *found[1:],
            )
            yield FigureLine(label, figures, f"aix audit --pack {quote(pack)}")
            label = ""


def _severities(counts: Mapping[str, int]) -> tuple[Figure, ...]:
    return tuple(
        Figure(f"{counts[name]} {name}", _BAD if name == "high" else "") for name in SEVERITIES if counts.get(name)
    )


def _kinds_of_secrets(secrets: Mapping[str, int]) -> Iterator[str]:
    found = Counter(secrets).most_common()
    for pattern, count in found[:_SECRETS_SHOWN]:
        one, several = _NAMED_SECRETS.get(pattern, (pattern.replace("-", " "), f"{pattern.replace('-', ' ')}s"))
        yield f"{count:,} {one if count == 1 else several}"
    if rest := sum(count for _, count in found[_SECRETS_SHOWN:]):
        yield f"{rest:,} more"


def _ranking(label: str, rows: Sequence[Row], column: str, most: int) -> Iterator[FigureLine | Ranking]:
    priced = [row for row in rows if row["cost_usd"]]
    if all(row[column] is None for row in priced):
        return
    shown = priced[:most]
    named, known = (sum(1 for row in each if row[column] is not None) for each in (shown, rows))
    count = f"{named} of {known}" if known > named else str(known)
    yield FigureLine(label, (Figure(f"{count}, by cost"),), f"aix cost --by {column}")
    largest = shown[0]["cost_usd"]
    names = project_names(row[column] for row in rows if row[column]) if column == "project" else {}
    rows_shown = (
        (names.get(row[column], row[column] or _UNKNOWN), dollars(row["cost_usd"]), bar(row["cost_usd"], largest))
        for row in shown
    )
    yield Ranking(tuple(rows_shown), cut="start" if column == "project" else "end")


def _session_line(figures: Figures) -> FigureLine:
    subagents = [Figure(counted(figures.subagents, "subagent"))] if figures.subagents else []
    turns = Figure(counted(figures.turns, "turn"))
    return FigureLine("Sessions", (Figure(f"{figures.sessions:,}"), *subagents, turns), "aix sessions")


def _tool_lines(answers: Answers) -> Iterator[FigureLine]:
    label, command_behind = "Tools", "aix query by_origin"
    for row in answers.origins:
        if row["origin"] is None:
            continue
        figures = (f"{row['origin']}: {counted(row['sessions'], 'session')}", counted(row["turns"], "turn"))
        yield FigureLine(label, tuple(map(Figure, figures)), command_behind)
        label = command_behind = ""


def _freshness_line(figures: Figures, zone: ZoneInfo) -> FigureLine:
    now = int(dates.present().timestamp() * 1000)
    imported = "never" if figures.imported_at is None else short_ago(now - figures.imported_at)
    is_future = figures.last_turn_at is not None and figures.last_turn_at > now
    data = Figure(f"up to {figures.last_day or '–' if is_future else local_time(figures.last_turn_at, zone)}")
    freshness = Figure(f"imported {imported}")
    if not figures.problems:
        return FigureLine("Data", (data, freshness), "aix import")
    notes = figures.problem_notes or 0
    unread = figures.problems - notes
    parts = [
        *([Figure(f"{counted(unread, 'line')} not fully read")] if unread else []),
        *([Figure(counted(notes, "note"))] if notes else []),
    ]
    return FigureLine("Data", (data, *parts, freshness), "aix problems")
