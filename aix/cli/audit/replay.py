"""`aix audit replay`."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command
from aix.cli.options import chosen_parameter_options, ledger_option, listing_output
from aix.formats import Listing, ListingColumn
from aix.formats.people import per_cent

if TYPE_CHECKING:
    from aix.auditing.uses import Observed

_FILTERS = ("project", "since", "until", "origin", "session", "tag")
_SUMMARY = (
    ListingColumn("would"),
    ListingColumn("happened"),
    ListingColumn("calls", "BIGINT"),
    ListingColumn("by_itself", "BIGINT"),
    ListingColumn("agrees", "BOOLEAN"),
)
_CALLS = (
    *(ListingColumn(name) for name in ("call_id", "tool", "target", "cwd", "would", "rule", "reason", "happened")),
    ListingColumn("agrees", "BOOLEAN"),
    ListingColumn("by_itself", "BOOLEAN"),
    ListingColumn("risks", "VARCHAR[]"),
)


@click.command(cls=Command)
@click.argument("settings", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@chosen_parameter_options(*_FILTERS)
@click.option("--calls", "lists_calls", is_flag=True, help="List every call instead of counting them.")
@click.option("--disagreements", is_flag=True, help="List the calls whose outcome the rules would have changed.")
@ledger_option
@listing_output
def command(
    settings: tuple[Path, ...],
    parameters: dict[str, object],
    lists_calls: bool,  # noqa: FBT001 - click's
    disagreements: bool,  # noqa: FBT001
    ledger: Path,
) -> Listing:
    """Run settings over all history: what would they have allowed, asked for, denied?

    SETTINGS are one file or several, which hold together; the rules that imports found play no part. Paths that start
    with / in a rule start from the folder that each call was made in. A file is of the tool that it looks like, or of
    --origin. `would` is what the rules decide, `none` where the tool would have decided by its mode; `happened` is what
    the log shows. They disagree where a call ran that the rules deny, or was denied that they allow; where the rules
    ask, any outcome agrees.

    \b
      aix audit replay settings.json --project website
      aix audit replay settings.json --disagreements
      aix audit replay settings.json --calls --format csv -o calls.csv
    """
    from aix.auditing.uses import PASSED, observed_calls
    from aix.reading.ledger import open_ledger

    origin = parameters.get("origin")
    named = None if origin is None else str(origin)
    with open_ledger(ledger) as opened, opened.under(*settings, origin=named) as ruled:
        calls = [call for call in observed_calls(ruled, parameters) if call.decision is not None]
    needing = [call for call in calls if call.outcome in PASSED and not call.runs_by_itself]
    allowed = sum(call.decision == "allow" for call in needing)
    share = per_cent(allowed / len(needing)) if needing else "none to count"
    notes = [f"of {len(needing)} calls that ran and needed a permission, the rules allow {allowed} ({share})"]
    if not lists_calls and not disagreements:
        return Listing(_SUMMARY, _counted(calls), notes=notes)
    shown = [call for call in calls if lists_calls or _agrees(call) is False]
    return Listing(_CALLS, [_row(call) for call in shown], notes=notes)


def _counted(calls: list["Observed"]) -> list[tuple[object, ...]]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    agreeing: dict[tuple[str, str], bool | None] = {}
    for call in calls:
        place = (call.decision or "none", call.outcome)
        counts.setdefault(place, Counter()).update(calls=1, by_itself=int(bool(call.runs_by_itself)))
        agreeing[place] = _agrees(call)
    order = ["deny", "ask", "none", "allow"]
    places = sorted(counts, key=lambda place: (order.index(place[0]), -counts[place]["calls"], place[1]))
    return [(*place, counts[place]["calls"], counts[place]["by_itself"], agreeing[place]) for place in places]


def _agrees(call: "Observed") -> bool | None:
    """Whether what happened is what the rules decide; None where they decide nothing, or nothing is known."""
    passed = {"ran": True, "failed": True}.get(call.outcome, False)
    denied = call.outcome == "not_granted" or call.outcome.startswith("denied_")
    if call.decision == "none" or not (passed or denied):
        return None
    return {"allow": passed, "deny": denied}.get(str(call.decision), True)


def _row(call: "Observed") -> tuple[object, ...]:
    asked = (call.call_id, call.tool, call.target, call.cwd)
    decided = (call.decision, call.rule, call.reason)
    return (*asked, *decided, call.outcome, _agrees(call), call.runs_by_itself, sorted(call.risks))
