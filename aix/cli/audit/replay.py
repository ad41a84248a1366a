"""`aix audit replay`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command, chosen_parameter_options, ledger_option, listing_output, risks_option
from aix.cli.diagnostics import say
from aix.output import Listing, listing_columns
from aix.output.humanise import counted, in_words, one_line, per_cent

if TYPE_CHECKING:
    from aix.permissions.audit.proposal import Observed

_FILTERS = ("project", "since", "until", "origin", "session", "tag")
_SUMMARY = listing_columns(
    *("would", "by", "happened"), ("calls", "BIGINT"), ("needed_permission", "BIGINT"), ("agrees", "BOOLEAN")
)
_PEOPLES_SUMMARY = listing_columns(
    *("would", "decided by", "what happened"), ("calls", "BIGINT"), ("needed permission", "BIGINT"), "agrees"
)
_AGREES_NOTE = "agrees is no where a call ran or failed that would be denied, or was denied that would be allowed"
_AGREES = {True: "yes", False: "no", None: None}
_CALLS = listing_columns(
    *("call_id", "tool", "target", "cwd", "would", "by", "rule", "reason", "happened"),
    ("agrees", "BOOLEAN"),
    ("by_itself", "BOOLEAN"),
    ("risks", "VARCHAR[]"),
)
_RULE_CHARACTERS = 100
_MOST_NAMED = 10
_STRICTEST_FIRST = ("deny", "ask", "allow")


@click.command(cls=Command)
@click.argument("settings", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@chosen_parameter_options(*_FILTERS)
@click.option("--calls", "lists_calls", is_flag=True, help="List every call instead of counting them.")
@click.option("--disagreements", is_flag=True, help="List the calls where `would` and `happened` disagree.")
@risks_option
@ledger_option
@listing_output
def command(
    settings: tuple[Path, ...],
    parameters: dict[str, object],
    lists_calls: bool,
    disagreements: bool,
    risks: Path | None,
    ledger: Path,
) -> Listing:
    """Try settings on past calls: what would they have blocked?

    The first line, on stderr, says how many calls that ran or failed would have been blocked, and which share of those
    that needed a permission would pass.

    SETTINGS are one file or several, which hold together; the rules that imports found play no part. Paths that start
    with / in a rule start from the folder that each call was made in. A file is of the tool that it looks like, or of
    --origin; calls of other tools are left out. The whole path of a project as --project names that project alone,
    without those below it.

    `would` is allow, ask or deny. `by` is rule where a rule decides, else default: then `would` is what the tool does
    in its default mode, whatever mode the log or the file names. Some calls it runs by itself, such as reading within
    the project, and before all others it asks; these calls are counted as `needed_permission`.

    `happened` is what the log shows. It agrees unless a call ran that would be denied, or was denied that would be
    allowed. Where the tool would ask, any outcome agrees. --calls and --disagreements list calls one by one, with the
    rule, the reason, whether the tool runs the call by itself, and its risks.

    \b
      aix audit replay settings.json --project website
      aix audit replay settings.json --disagreements
      aix audit replay settings.json --calls --format csv -o calls.csv
    """
    from aix.permissions.audit.proposal import observed_calls
    from aix.reading.ledger import open_ledger

    origin = parameters.get("origin")
    named = None if origin is None else str(origin)
    with open_ledger(ledger) as opened, opened.under(*settings, risks=risks, origin=named) as ruled:
        found = observed_calls(ruled, parameters)
        problems = ruled.settings_problems
    calls = [call for call in found if call.decision is not None]
    say(headline(calls))
    notes = [*problems, *_idle_rules(settings, named)]
    if len(calls) < len(found):
        notes.append(f"{counted(len(found) - len(calls), 'call')} of other tools left out")
    if not lists_calls and not disagreements:
        rows = _counted(calls)
        shown_rows = [(row[0], row[1], in_words(row[2]), row[3], row[4], _AGREES[row[5]]) for row in rows]
        return Listing(
            _SUMMARY, rows, notes=notes, for_people=Listing(_PEOPLES_SUMMARY, shown_rows, notes=[_AGREES_NOTE])
        )
    shown = [call for call in calls if lists_calls or call.agrees is False]
    return Listing(_CALLS, [_row(call) for call in shown], notes=notes)


def _idle_rules(settings: Iterable[Path], origin: str | None) -> Iterator[str]:
    """Go through what is wrong with rules that can never decide anything."""
    from aix.permissions.contract import dialects
    from aix.permissions.rule_book import read_rules_for_all

    given = read_rules_for_all(settings, origin).rules.items()
    idle = [remark for name, rules in given for remark in dialects()[name].judge(rules).remarks()]
    for rule, reason in idle[:_MOST_NAMED]:
        yield f"{one_line(rule.text, _RULE_CHARACTERS)} never decides: {reason}"
    if len(idle) > _MOST_NAMED:
        yield f"and so it is with {counted(len(idle) - _MOST_NAMED, 'more rule')}"


def headline(calls: list["Observed"]) -> str:
    """Say how many calls that ran or failed would have been blocked, and how many that needed a permission pass."""
    from aix.permissions.audit.proposal import PASSED

    passed = [call for call in calls if call.outcome in PASSED]
    blocked = sum(call.would == "deny" for call in passed)
    needing = [call for call in passed if call.needed_permission]
    first = f"Would have blocked {blocked:,} of {counted(len(passed), 'call')} that ran or failed"
    if not needing:
        return f"{first}; none of them needed a permission"
    allowed = sum(call.would == "allow" for call in needing)
    asked = sum(call.would == "ask" for call in needing)
    share = per_cent(allowed / len(needing))
    return (
        f"{first}. {len(needing):,} of them needed a permission: {allowed:,} would pass ({share}), {asked:,} would ask"
    )


def _counted(calls: list["Observed"]) -> list[tuple[str, str, str, int, int, bool | None]]:
    counts = Counter((str(call.would), _by(call), call.outcome, call.agrees) for call in calls)
    needing = Counter(
        (str(call.would), _by(call), call.outcome, call.agrees) for call in calls if not call.runs_by_itself
    )

    def order(place: tuple[str, str, str, bool | None]) -> tuple[int, bool, int, str]:
        would, by, happened, _ = place
        return _STRICTEST_FIRST.index(would), by == "default", -counts[place], happened

    return [(*place[:3], counts[place], needing[place], place[3]) for place in sorted(counts, key=order)]


def _by(call: "Observed") -> str:
    return "default" if call.rule is None else "rule"


def _row(call: "Observed") -> tuple[object, ...]:
    asked = (call.call_id, call.tool, call.target, call.cwd)
    decided = (call.would, _by(call), call.rule, call.reason)
    return (*asked, *decided, call.outcome, call.agrees, call.runs_by_itself, sorted(call.risks))
