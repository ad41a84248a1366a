"""`aix status`."""

import re
import time
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

import click
from msgspec.structs import asdict

from aix.cli.command import Command, ledger_option
from aix.cli.stdout import emit_lines
from aix.config import load_config
from aix.output.humanise import bounded_dollars, short_ago, short_count
from aix.output.text import to_json
from aix.reading.summary import Summary, Total, read_summary, totals

_FIELD = re.compile(r"\{(\w*)\}")


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object with exact values.")
@click.option("--template", metavar="TEXT", help='Write TEXT with {fields} filled in, such as "{today} of {month}".')
@click.option("--timezone", metavar="ZONE", help="Zone in which days begin. Default: the one that `aix config` shows.")
@ledger_option
@click.pass_context
def command(ctx: click.Context, as_json: bool, template: str | None, timezone: str | None, ledger: Path) -> None:
    """Say on one line what today, this week and this month cost: for a prompt or a status bar.

    The figures are list prices of what was imported, whatever you pay. ≥ stands before an amount when the logs do not
    say how much the models wrote in the end, and it was likely more; requests of this month that no price is known for
    are counted as unpriced. Weeks begin on Monday.

    The line comes from a small file that every import leaves in the ledger, so that it takes a moment; after other
    changes to the ledger, the first call makes that file again and takes longer. Without a ledger the exit code is 3
    and nothing is written to stdout.

    Fields of a template: today, week, month (with $), today_usd, week_usd, month_usd (two digits), today_estimated_usd,
    week_estimated_usd, month_estimated_usd, today_tokens, week_tokens, month_tokens, today_requests, week_requests,
    month_requests, unpriced, sessions, imported.

    \b
      aix status
      aix status --json
      aix status --template "{today} today, {month} this month"
      PS1='$(aix status --template "{today}" 2>/dev/null) \\$ '
    """
    if as_json and template is not None:
        raise click.UsageError("--json and --template contradict each other.")
    zone = load_config(ctx.obj).timezone if timezone is None else _zone(timezone)
    now_ms = time.time_ns() // 10**6
    summary = read_summary(ledger)
    of = totals(summary, now_ms, zone)
    if as_json:
        periods = {name: asdict(total) for name, total in of.items()}
        about = {"version": summary.version, "sessions": summary.sessions, "imported_at": summary.imported_at}
        emit_lines([to_json({**about, "timezone": zone.key, **periods})], None)
    elif template is not None:
        emit_lines([filled(template, _fields(summary, of, now_ms))], None)
    else:
        emit_lines([status_line(summary, of, now_ms)], None)


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


def filled(template: str, fields: Mapping[str, str]) -> str:
    """Fill the fields of a template in; braces around anything but a word are left alone."""
    unknown = [name for name in _FIELD.findall(template) if name not in fields]
    if unknown:
        raise click.UsageError(f"--template has no field {unknown[0]!r}; it has {', '.join(fields)}.")
    return _FIELD.sub(lambda match: fields[match[1]], template)


def _fields(summary: Summary, of: Mapping[str, Total], now_ms: int) -> dict[str, str]:
    imported_at = summary.imported_at
    fields = {
        "unpriced": str(of["month"].unpriced_requests),
        "sessions": str(summary.sessions),
        "imported": "never" if imported_at is None else short_ago(now_ms - imported_at),
    }
    for name, total in of.items():
        fields[name] = bounded_dollars(total.cost_usd, total.cost_estimated_usd) or "$?"
        fields[f"{name}_usd"] = "?" if total.cost_usd is None else f"{total.cost_usd:.2f}"
        estimated = total.cost_estimated_usd
        fields[f"{name}_estimated_usd"] = "?" if estimated is None else f"{estimated:.2f}"
        fields[f"{name}_tokens"] = "?" if total.tokens is None else short_count(total.tokens)
        fields[f"{name}_requests"] = str(total.requests)
    return fields


def _zone(name: str) -> ZoneInfo:
    from aix.query.values import find_zone

    return find_zone(name)
