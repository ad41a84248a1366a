"""The calls of a ledger as proposals and replays see them."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from aix.errors import UsageError
from aix.permissions.contract import Decision, Dialect
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
    origin: str
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

    @property
    def would(self) -> str | None:
        """Allow, ask or deny, by the rules, else by the default mode of the tool; None where no rules are known."""
        if self.decision != Decision.NONE:
            return self.decision
        return Decision.ALLOW if self.runs_by_itself else Decision.ASK

    @property
    def needed_permission(self) -> bool:
        """Whether it was let pass and is nothing that the tool runs by itself."""
        return self.outcome in PASSED and not self.runs_by_itself

    @property
    def agrees(self) -> bool | None:
        """Whether it went as the rules and the default mode would have it; None where it is not known how it went."""
        passed = self.outcome in PASSED
        if not passed and self.outcome != "not_granted" and not self.outcome.startswith("denied_"):
            return None
        return {Decision.ALLOW: passed, Decision.DENY: not passed}.get(Decision(self.would or Decision.NONE), True)


def observed_calls(ledger: "Ledger", parameters: Mapping[str, object]) -> list[Observed]:
    """Return the calls that a question counts."""
    tools = sorted({tool for dialect in dialects().values() for tool in dialect.whole_input_tools})
    given = dict(ledger.sql(_PARAMETERS, {"tools": tools}).rows())
    rows = ledger.query(CALLS, **parameters).arrow().select(_COLUMNS).to_pylist()
    return [
        Observed(
            row["call_id"],
            row["origin"],
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
    "call_id", "origin", "tool_name", "target", "cwd", "outcome", "risks", "decision", "rule", "reason",
    "runs_by_itself",
]  # fmt: skip


def only_dialect(calls: Iterable[Observed]) -> Dialect:
    """Return the dialect of calls; they must be of one origin."""
    spoken = sorted({call.origin for call in calls} & dialects().keys())
    if len(spoken) == 1:
        return dialects()[spoken[0]]
    if spoken:
        raise UsageError(f"the calls come from {' and '.join(spoken)}; name one with --origin")
    raise UsageError(f"nothing that was asked for is a call of a tool whose rules AIX knows: {', '.join(dialects())}")


def uses_of(calls: list[Observed], dialect: Dialect, refused_risks: Collection[str]) -> list[Use]:
    """Put calls together that are alike for every rule."""
    counts = Counter[tuple[str, str | None, str | None, str, bool]]()
    for each in calls:
        if each.origin != dialect.origin:
            continue
        is_refused = not each.risks.isdisjoint(refused_risks)
        passed = each.outcome in PASSED
        if passed or is_refused:
            counts[each.tool, each.target, each.parameters, each.cwd, is_refused] += passed
    uses = []
    unruled = dialect.judge(())
    for (tool, target, parameters, cwd, is_refused), count in counts.items():
        call = call_of(dialect, tool, target, cwd, parameters)
        needed_none = unruled.runs_by_itself(call)
        uses.append(Use(call, 0, is_refused, free=count) if needed_none else Use(call, count, is_refused))
    return uses
