"""`aix status`."""

import re
import sys
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import msgspec
from msgspec.structs import asdict

from aix.cli.command import Command, ledger_option
from aix.cli.completion import complete_session
from aix.cli.diagnostics import say
from aix.cli.stdout import emit_lines
from aix.config import load_config
from aix.output.humanise import bounded_dollars, dollars, short_ago, short_count, short_duration
from aix.output.text import escape_unsafe, to_json
from aix.reading.summary import (
    Block,
    SessionUse,
    Summary,
    Total,
    find_session,
    read_summary,
    running_block,
    totals,
)

_FIELD = re.compile(r"\{([\w.]*)\}")
_MOST_INPUT_BYTES = 2**20
_UNKNOWN = "?"
_NOTHING = "–"


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object with exact values.")
@click.option("--template", metavar="TEXT", help='Write TEXT with {fields} filled in, such as "{today} of {month}".')
@click.option("--timezone", metavar="ZONE", help="Zone in which days begin. Default: the one that `aix config` shows.")
@click.option(
    "--session",
    metavar="SESSION",
    shell_complete=complete_session,
    help="The session of {session} and {context}. Default: the latest.",
)
@click.option(
    "--stdin", "has_input", is_flag=True, help="Read a JSON object from stdin, as tools give to status lines."
)
@ledger_option
@click.pass_context
def command(
    ctx: click.Context,
    as_json: bool,
    template: str | None,
    timezone: str | None,
    session: str | None,
    has_input: bool,
    ledger: Path,
) -> None:
    """Say on one line what today, this week and this month cost: for a prompt or a status bar.

    The figures are list prices of what was imported, whatever you pay. ≥ marks a lower bound: some logs omit final
    output counts. Requests of this month that no price is known for are counted as unpriced. Weeks begin on Monday.

    The line comes from a small file that every import leaves in the ledger, so that it takes a moment; after other
    changes to the ledger, the first call makes that file again and takes longer. Nothing is imported. Without a ledger
    the exit code is 3 and nothing is written to stdout.

    \b
    Fields of a template:
      today, week, month       cost; NAME_usd without $, NAME_estimated_usd, NAME_tokens, NAME_requests too
      block                    cost of the running five-hour block, and the same with _usd and so on; – without one
      block_left, block_pace   time until its end; cost per hour from its first to its last request
      session                  cost of a session with its subagents, and the same with _usd and so on
      context                  tokens in the context of that session at its last request
      unpriced, sessions, subagents, imported

    The session is one of the 40 latest. With --stdin it is `session_id` of the JSON object, whose other values are
    fields too, by their path, such as {model.display_name}. docs/recipes.md has lines for several programs.

    \b
      aix status
      aix status --json
      aix status --template "{today} today, block {block}, {block_left} left"
      PS1='$(aix status --template "{today}" 2>/dev/null) \\$ '
    """
    if as_json and template is not None:
        raise click.UsageError("--json and --template contradict each other.")
    zone = load_config(ctx.obj).timezone if timezone is None else _zone(timezone)
    given = _read_input() if has_input else {}
    now_ms = time.time_ns() // 10**6
    summary = read_summary(ledger)
    of = totals(summary, now_ms, zone)
    block = running_block(summary, now_ms)
    found = find_session(summary, session or given.get("session_id"))
    if session and found is None:
        say(
            f"no session named {session!r} is among the {len(summary.latest_sessions)} latest; `aix sessions` lists all"
        )
    if as_json:
        periods = {name: asdict(total) for name, total in of.items()}
        about = {name: getattr(summary, name) for name in ("version", "sessions", "subagents", "imported_at")}
        others = {"block": block and {**asdict(block), "total": asdict(block.total)}, "session": _exact(found)}
        emit_lines([to_json({**about, "timezone": zone.key, **periods, **others})], None)
    elif template is not None:
        fields = {**_fields(summary, of, now_ms), **_block_fields(block, now_ms), **_session_fields(found)}
        emit_lines([filled(template, fields, given if has_input else None)], None)
    else:
        emit_lines([status_line(summary, of, now_ms)], None)


def _exact(session: SessionUse | None) -> dict[str, object] | None:
    if session is None:
        return None
    costs = {name: getattr(session, name) for name in ("cost_usd", "cost_estimated_usd")}
    return asdict(session) | {name: amount and Decimal(amount) for name, amount in costs.items()}


def _read_input() -> dict[str, str]:
    """Return the values of the JSON object on stdin by their path; null is left out."""
    text = sys.stdin.buffer.read(_MOST_INPUT_BYTES) if sys.stdin is not None else b""
    try:
        return dict(_values(msgspec.json.decode(text, type=dict[str, object]), ""))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise click.UsageError("--stdin needs a JSON object on stdin.") from error


def _values(document: dict[str, object], above: str) -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _values(value, f"{above}{name}.")
        elif isinstance(value, str):
            yield f"{above}{name}", value
        elif value is not None:
            yield f"{above}{name}", to_json(value)


def status_line(summary: Summary, of: Mapping[str, Total], now_ms: int) -> str:
    """Say what the periods cost, and how much of that is known."""
    fields = _fields(summary, of, now_ms)
    unpriced = of["month"].unpriced_requests
    parts = [
        *(f"{name} {fields[name]}" for name in of),
        *([f"{unpriced} unpriced"] if unpriced else []),
        f"imported {fields['imported']}",
    ]
    return " · ".join(parts)


def filled(template: str, fields: Mapping[str, str], given: Mapping[str, str] | None = None) -> str:
    """Fill the fields of a template in; braces around anything but a name are left alone.

    `given` are values that another program gives: one that it leaves out is shown as unknown.
    """
    # The template is the user's own and may have colours; values of another program may not.
    known = {name: escape_unsafe(value) for name, value in (given or {}).items()} | dict(fields)
    unknown = [name for name in _FIELD.findall(template) if name not in known and given is None]
    if unknown:
        raise click.UsageError(f"--template has no field {unknown[0]!r}; it has {', '.join(fields)}.")
    return _FIELD.sub(lambda match: known.get(match[1], _UNKNOWN), template)


def _fields(summary: Summary, of: Mapping[str, Total], now_ms: int) -> dict[str, str]:
    imported_at = summary.imported_at
    fields = {
        "unpriced": str(of["month"].unpriced_requests),
        "sessions": str(summary.sessions),
        "subagents": str(summary.subagents),
        "imported": "never" if imported_at is None else short_ago(now_ms - imported_at),
    }
    for name, total in of.items():
        fields |= _amounts(name, total)
    return fields


def _amounts(name: str, of: Total | SessionUse | None, otherwise: str = _UNKNOWN) -> dict[str, str]:
    """Return the fields with the cost, tokens and requests of something; those of nothing are `otherwise`."""
    suffixes = ("", "_usd", "_estimated_usd", "_tokens", "_requests")
    if of is None:
        return {f"{name}{suffix}": otherwise for suffix in suffixes}
    cost, estimated = (None if amount is None else Decimal(amount) for amount in (of.cost_usd, of.cost_estimated_usd))
    values = (
        bounded_dollars(cost, estimated) or "$?",
        _UNKNOWN if cost is None else f"{cost:.2f}",
        _UNKNOWN if estimated is None else f"{estimated:.2f}",
        _UNKNOWN if of.tokens is None else short_count(of.tokens),
        str(of.requests),
    )
    return {f"{name}{suffix}": value for suffix, value in zip(suffixes, values, strict=True)}


def _block_fields(block: Block | None, now_ms: int) -> dict[str, str]:
    if block is None:
        return {**_amounts("block", None, _NOTHING), "block_left": _NOTHING, "block_pace": _NOTHING}
    minutes = max(1, (block.ends_at - now_ms) // 60_000)
    pace = block.cost_per_hour_usd
    return {
        **_amounts("block", block.total),
        "block_left": short_duration(minutes * 60_000),
        "block_pace": _UNKNOWN if pace is None else f"{dollars(round(pace, 2))}/h",
    }


def _session_fields(session: SessionUse | None) -> dict[str, str]:
    context = session.context_tokens if session else None
    return {**_amounts("session", session), "context": _UNKNOWN if context is None else short_count(context)}


def _zone(name: str) -> ZoneInfo:
    from aix.query.values import find_zone

    return find_zone(name)
