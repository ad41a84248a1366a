"""The calls of a ledger as proposals and replays see them."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from aix.errors import UsageError
from aix.permissions.contract import Dialect
from aix.permissions.proposal import Use
from aix.permissions.registry import dialects
from aix.permissions.rule_rows import call_of

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

CALLS = "permission_usage/calls"
PASSED = ("ran", "failed")
"""Outcomes of calls that were let pass."""


class Observed(NamedTuple):
    """A call of the ledger."""

    call_id: str
    tool: str
    target: str | None
    parameters: str | None
    """All of them as JSON, for a tool whose target does not tell enough."""
    cwd: str
    outcome: str
    risks: frozenset[str]
    decision: str | None
    rule: str | None
    reason: str | None
    runs_by_itself: bool | None


def observed_calls(ledger: "Ledger", parameters: Mapping[str, object]) -> list[Observed]:
    """Return the calls that a question counts."""
    tools = sorted({tool for dialect in dialects().values() for tool in dialect.whole_input_tools})
    given = dict(ledger.sql(_PARAMETERS, {"tools": tools}).rows())
    rows = ledger.query(CALLS, **parameters).arrow().select(_COLUMNS).to_pylist()
    return [
        Observed(
            row["call_id"],
            row["tool_name"],
            row["target"],
            given.get(row["call_id"]),
            row["cwd"] or "",
            row["outcome"],
            frozenset((row["risks"] or "").split(",")) - {""},
            row["decision"],
            row["rule"],
            row["reason"],
            row["runs_by_itself"],
        )
        for row in rows
    ]


_PARAMETERS = "select id, params_json from tool_calls where tool_name in (select unnest($tools))"
_COLUMNS = [
    "call_id", "tool_name", "target", "cwd", "outcome", "risks", "decision", "rule", "reason", "runs_by_itself",
]  # fmt: skip


def only_dialect(ledger: "Ledger", parameters: Mapping[str, object]) -> Dialect:
    """Return the dialect of the calls that a question counts; they must be of one origin."""
    found = ledger.query(CALLS, **parameters).arrow()["origin"].unique().to_pylist()
    spoken = sorted(str(origin) for origin in found if origin in dialects())
    if len(spoken) == 1:
        return dialects()[spoken[0]]
    if spoken:
        raise UsageError(f"the calls come from {' and '.join(spoken)}; name one with --origin")
    raise UsageError("there are no calls of a tool whose rules AIX knows")


def uses_of(calls: list[Observed], dialect: Dialect, refused_risks: Collection[str]) -> list[Use]:
    """Put calls together that are alike for every rule; those that run by themselves need none."""
    counts = Counter[tuple[str, str | None, str | None, str, bool]]()
    for each in calls:
        is_refused = not each.risks.isdisjoint(refused_risks)
        passed = each.outcome in PASSED
        if passed or is_refused:
            counts[each.tool, each.target, each.parameters, each.cwd, is_refused] += passed
    uses = []
    unruled = dialect.judge(())
    for (tool, target, parameters, cwd, is_refused), count in counts.items():
        call = call_of(dialect, tool, target, cwd, parameters)
        needed_none = unruled.runs_by_itself(call)
        if is_refused or not needed_none:
            uses.append(Use(call, 0 if needed_none else count, is_refused))
    return uses
