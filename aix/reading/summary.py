"""`status.json`: the recent use of a ledger in a small file, so that to say it takes neither DuckDB nor a query.

    LEDGER/status.json    use in each quarter of an hour of the last 62 days with any, and of the 40 latest sessions

It is disposable: it is made of a version, and made again when it is missing, of another version or of another AIX. It
holds no day, week or month: which these are depends on the time zone and the moment at which somebody asks.
"""

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import msgspec

from aix.errors import AixError, LedgerDamagedError, LedgerNotFoundError
from aix.store.manifest import STATUS_FILE, read_latest, version_numbers
from aix.store.stored_files import read_note
from aix.version import __version__

_QUARTER_MS = 900_000
_HOUR_MS = 3_600_000
_BLOCK_HOURS = 5
_SHORTEST_PACE_MS = 600_000
"""Two requests in a row would have the pace of a busy day."""
_IMPORTED_AT = "select max(coalesce(finished_at, started_at)) from import_runs"
_SESSIONS = "select count(*) filter (is_subagent = 0), count(*) filter (is_subagent = 1) from sessions"
_REQUESTS_WITHIN = (
    "select min(requested_at), max(requested_at) from v_requests where requested_at >= ? and requested_at < ?"
)
_Number = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
_Amount = Annotated[str, msgspec.Meta(pattern=r"^-?\d{1,30}(\.\d{1,30})?$")]


class Use(msgspec.Struct, frozen=True, array_like=True):
    """Requests, tokens and cost of a quarter of an hour; None is not known."""

    quarter_hour: _Number
    requests: _Number
    unpriced_requests: _Number
    tokens: _Number | None
    cost_usd: _Amount | None
    """Decimals as text: to parse those of all quarters would take longer than all else that is done with them."""
    cost_estimated_usd: _Amount | None


class SessionUse(msgspec.Struct, frozen=True, array_like=True):
    """Requests, tokens and cost of a session with its subagents; None is not known."""

    label: str
    last_request_at: _Number
    requests: _Number
    unpriced_requests: _Number
    tokens: _Number | None
    cost_usd: _Amount | None
    cost_estimated_usd: _Amount | None
    context_tokens: _Number | None
    """Whole input of the last request of the conversation."""


class Summary(msgspec.Struct, frozen=True):
    """The summary of a version, readable without opening the version."""

    version: _Number
    made_by: str
    """The version of AIX."""
    sessions: _Number
    subagents: _Number
    imported_at: _Number | None
    """When the last import that brought something ended, in Unix ms."""
    uses: tuple[Use, ...]
    """In the order of time."""
    block_requests: tuple[_Number, _Number] | None
    """The first and the last request of the latest block, in Unix ms."""
    latest_sessions: tuple[SessionUse, ...]
    """The last one first."""


_DECODER = msgspec.json.Decoder(Summary)


class Total(msgspec.Struct, frozen=True):
    """Requests, tokens and cost of a period."""

    from_ms: int
    requests: int
    unpriced_requests: int
    tokens: int | None
    cost_usd: Decimal | None
    """None when there were requests and the cost of none is known."""
    cost_estimated_usd: Decimal | None


class Block(msgspec.Struct, frozen=True):
    """The block of five hours that runs, as `token_economics/blocks` has it."""

    ends_at: int
    total: Total
    cost_per_hour_usd: Decimal | None
    """From its first request to now; None in its first ten minutes, or without a price."""


def read_summary(ledger: Path) -> Summary:
    """Return the summary of the newest version: that of the file, or a new one."""
    versions = version_numbers(ledger)
    if not versions:
        raise LedgerNotFoundError(ledger)
    stored = read_note(ledger / STATUS_FILE, _DECODER.decode)
    is_current = stored and stored.version == versions[-1] and stored.made_by == __version__
    return stored if stored and is_current else refresh_summary(ledger)


def note_summary(ledger: Path) -> None:
    """Bring the file up to date, where that can be done; the ledger is whole without it."""
    with suppress(AixError):
        read_summary(ledger)


def refresh_summary(ledger: Path) -> Summary:
    """Make the summary of the newest version, and keep it where that can be written."""
    import duckdb

    from aix.derived.view_cache import cached_selects, cached_views
    from aix.query.packs import find_query
    from aix.query.views import create_library_views, library_views, views_named
    from aix.store.durable import write_note
    from aix.store.engine import engine
    from aix.store.views import create_views, tables_named

    folder = ledger.expanduser().absolute()
    manifest = read_latest(folder)
    recent_use, recent_sessions = (find_query(f"overview/recent_{what}").sql for what in ("use", "sessions"))
    asked = f"{recent_use};{recent_sessions}"
    named = views_named(asked, library_views(), cached_views())
    kept = cached_selects(folder, manifest, [view.name for view in named if view.name in cached_views()])
    views = views_named(asked, library_views(), kept)
    texts = [_IMPORTED_AT, _SESSIONS, asked, *(view.sql for view in views if view.name not in kept)]
    # Every import makes one: a connection with all views would take longer than the answers.
    try:
        with engine(folder, is_reader=True) as connection:
            create_views(connection, folder, manifest, tables_named(texts))
            create_library_views(connection, views, kept, folder)
            [(imported_at,)] = connection.execute(_IMPORTED_AT).fetchall()
            [(people_sessions, subagents)] = connection.execute(_SESSIONS).fetchall()
            uses = tuple(Use(*row[:-2], *map(_as_text, row[-2:])) for row in connection.execute(recent_use).fetchall())
            within = (
                (_latest_block_hour(uses) * _HOUR_MS, uses[-1].quarter_hour * _QUARTER_MS + _QUARTER_MS)
                if uses
                else (0, 0)
            )
            [block_requests] = connection.execute(_REQUESTS_WITHIN, within).fetchall()
            sessions = tuple(map(_session_use, connection.execute(recent_sessions).fetchall()))
    except duckdb.Error as error:
        raise LedgerDamagedError(folder, str(error)) from error
    summary = Summary(
        manifest.version,
        __version__,
        people_sessions,
        subagents,
        imported_at,
        uses,
        None if None in block_requests else block_requests,
        sessions,
    )
    with suppress(OSError):
        write_note(folder, STATUS_FILE, msgspec.json.encode(summary))
    return summary


def _session_use(row: tuple[Any, ...]) -> SessionUse:
    *counts, cost_usd, cost_estimated_usd, context_tokens = row
    label, last_request_at, requests, unpriced_requests, tokens = counts
    costs = (_as_text(cost_usd), _as_text(cost_estimated_usd))
    return SessionUse(label, last_request_at, requests, unpriced_requests, tokens, *costs, context_tokens)


def totals(summary: Summary, now_ms: int, zone: tzinfo) -> dict[str, Total]:
    """Add up the day, the week from Monday on, and the month in which clocks in the zone are at that moment."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone)
    today = datetime(now.year, now.month, now.day)
    monday = today - timedelta(days=today.weekday())
    first = today.replace(day=1)
    periods = {
        "today": (today, today + timedelta(days=1)),
        "week": (monday, monday + timedelta(days=7)),
        "month": (first, (first + timedelta(days=31)).replace(day=1)),
    }
    return {
        name: _total(summary.uses, *(int(day.replace(tzinfo=zone).timestamp() * 1000) for day in days))
        for name, days in periods.items()
    }


def running_block(summary: Summary, now_ms: int) -> Block | None:
    """Return the block of five hours in which that moment lies, if there was a request in it."""
    uses = summary.uses[: _first_since(summary.uses, now_ms + 1)]
    if not uses:
        return None
    began_at = _latest_block_hour(uses) * _HOUR_MS
    ends_at = began_at + _BLOCK_HOURS * _HOUR_MS
    if not began_at <= now_ms < ends_at:
        return None
    total = _total(summary.uses, began_at, ends_at)
    first, last = summary.block_requests or (0, 0)
    elapsed = max(now_ms, last) - first
    # A request with a time in the future makes another block the latest, and its requests are not of this one.
    has_pace = first < ends_at and last >= began_at and elapsed >= _SHORTEST_PACE_MS
    pace = total.cost_usd * _HOUR_MS / elapsed if total.cost_usd is not None and has_pace else None
    return Block(ends_at, total, pace)


def _latest_block_hour(uses: Sequence[Use]) -> int:
    """Return the hour since 1970 at which the latest block began, given quarters of an hour with use.

    A block begins at the full hour of the first request after the block before. After five hours without a request one
    begins in any case, so that no more than the last stretch of use has to be looked at.
    """
    hours = [use.quarter_hour // 4 for use in uses]
    first = len(hours) - 1
    while first and hours[first] - hours[first - 1] < _BLOCK_HOURS:
        first -= 1
    block = hours[first]
    for hour in hours[first:]:
        if hour >= block + _BLOCK_HOURS:
            block = hour
    return block


def find_session(summary: Summary, name: str | None) -> SessionUse | None:
    """Return the session of that name among the latest, or the latest of all; None when it is not among them.

    A name is a label, its part after the origin, or the beginning of that; a session goes before its subagents.
    """
    if name is None:
        return next(iter(summary.latest_sessions), None)
    for session in summary.latest_sessions:
        if name in (session.label, session.label.partition(":")[2]):
            return session
    begins = [each for each in summary.latest_sessions if name and each.label.partition(":")[2].startswith(name)]
    first = min(begins, key=lambda each: len(each.label), default=None)
    return first if first and all(each.label.startswith(first.label) for each in begins) else None


def _total(uses: Sequence[Use], from_ms: int, until_ms: int) -> Total:
    of_period = uses[_first_since(uses, from_ms) : _first_since(uses, until_ms)]
    return Total(
        from_ms,
        sum(use.requests for use in of_period),
        sum(use.unpriced_requests for use in of_period),
        sum(known) if (known := [use.tokens for use in of_period if use.tokens is not None]) or not of_period else None,
        _sum_known([use.cost_usd for use in of_period]),
        _sum_known([use.cost_estimated_usd for use in of_period]),
    )


def _first_since(uses: Sequence[Use], time_ms: int) -> int:
    return bisect_left(uses, time_ms, key=lambda use: use.quarter_hour * _QUARTER_MS)


def _as_text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def _sum_known(amounts: list[str | None]) -> Decimal | None:
    known = [Decimal(amount) for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known or not amounts else None
