"""Minimal settings for the observed calls: rules that allow what was used, and ask before what is refused."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aix.errors import UsageError
from aix.permissions.contract import Call, Decision, Dialect, Judge, dialects
from aix.permissions.paths import folders_of, place
from aix.permissions.rule_rows import call_of

_FILE = "proposal.json"
CALLS = "permission_usage/calls"
PASSED = ("ran", "failed")
"""Outcomes of calls that were let pass."""
_PARAMETERS = "select id, params_json from tool_calls where tool_name in (select unnest($tools))"
_COLUMNS = [
    "call_id", "origin", "tool_name", "target", "cwd", "outcome", "risks", "decision", "rule", "reason",
    "runs_by_itself", "project",
]  # fmt: skip
_OUTSIDE = "select distinct call_id from call_targets where kind = 'path' and is_outside"
_LONGEST_RULE = 160
_LONGEST_EXACT_RULE = 40
_SCRIPT = re.compile(r"\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|exs|ps1|bat|cmd)(?=[ \"')]|$)|[(]\S*/\S")
"""A rule that names a script, or a program by its path."""
_WHOLE_PROGRAM = re.compile(r"\w+[(](?P<program>[\w.+-]+)(?: [*]|:[*])?[)]")
"""A rule for a program with whatever follows."""
_PATH = re.compile(r"""(?<=[\s("'=])(?:~|/|[.][.]/|[A-Za-z]:[\\/])[^\s"')*]*""")
"""A path in a rule for commands that does not start from the folder of the call."""
_READERS = {
    "awk", "base64", "bat", "cat", "cp", "cut", "diff", "egrep", "fgrep", "find", "gawk", "grep", "head", "hexdump",
    "jq", "less", "more", "nl", "od", "rg", "sed", "sort", "strings", "tac", "tail", "tar", "tee", "uniq", "xxd", "yq",
}  # fmt: skip
_REACHERS = {"curl", "nc", "rsync", "scp", "ssh", "wget"}


@dataclass(frozen=True, slots=True)
class Use:
    """Calls that are alike for every rule, and how many there were."""

    call: Call
    count: int
    """How many were let pass that needed a permission."""
    is_refused: bool
    """Whether no proposal may allow it."""
    free: int = 0
    """How many were let pass that needed none, because the tool runs them by itself."""
    is_outside: bool = False
    """Whether it names a path outside the project, for which no rule is made."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Rules, and what they would have meant for the calls that were seen."""

    rules: tuple[str, ...]
    """Those that allow."""
    asking: tuple[str, ...]
    """Those that ask before calls that are refused and that the tool would run by itself."""
    calls: int
    """Calls that needed a permission."""
    allowed: int
    still_asked: tuple[Use, ...]
    """Those that no rule of the proposal allows, the most frequent first; refused ones are not among them."""
    refused: tuple[Use, ...]
    """Those that no proposal allows, the most frequent first."""
    still_free: tuple[Use, ...]
    """Those of them that the tool runs by itself all the same: what would ask before them also asks before others."""
    outside: tuple[Use, ...] = ()
    """Those of `still_asked` that name a path outside the project."""
    one_offs: tuple[Use, ...] = ()
    """Those of `still_asked` for which a rule would name a script or a long command that ran once."""

    @property
    def coverage(self) -> float:
        """The share of calls that would have been allowed."""
        return self.allowed / self.calls if self.calls else 1.0

    @property
    def broad(self) -> tuple[tuple[str, str], ...]:
        """Rules that allow a program with whatever follows, where that reads any file or reaches any host."""
        programs = ((rule, match["program"]) for rule in self.rules if (match := _WHOLE_PROGRAM.fullmatch(rule)))
        reasons = ((rule, _why_broad(program)) for rule, program in programs)
        return tuple((rule, why) for rule, why in reasons if why)


def _why_broad(program: str) -> str:
    if program in _READERS:
        return "can read any file"
    return "can reach any host" if program in _REACHERS else ""


def propose(dialect: Dialect, uses: Iterable[Use], share: float) -> Proposal:
    """Return the fewest rules, each as wide as is sound, that allow this share of calls and none that is refused."""
    seen = list(uses)
    choice = _Choice(dialect, [use for use in seen if use.count and not use.is_refused and not use.is_outside])
    refused = [use for use in seen if use.is_refused]
    calls = sum(use.count for use in seen)
    while True:
        rules = choice.rules_for(share * calls)
        judge = _judge(dialect, {"allow": rules})
        unsafe = _unsafe(judge, refused)
        if not unsafe:
            break
        choice.ban(unsafe)
    asking = _asking(dialect, judge, seen)
    return _weighed(_judge(dialect, {"allow": rules, "ask": asking}), seen, asking, calls, choice)


class _Choice:
    """The rule by which each part of each use would be allowed; unsafe ones are banned, and narrower ones take over."""

    def __init__(self, dialect: Dialect, uses: Sequence[Use]) -> None:
        self._uses = [(use, dialect.patterns(use.call)) for use in uses]
        self._banned: set[str] = set()
        counts = Counter[str]()
        for use, parts in self._uses:
            counts.update(dict.fromkeys((rule for part in parts for rule in part), use.count))
        outside: set[str] = set()
        for use, parts in self._uses:
            if dialect.access_of(use.call)[0] == "exec":
                rules = {rule for part in parts for rule in part}
                outside |= {rule for rule in rules if _leaves(rule, use.call.cwd)}
                self._banned |= {rule for rule in rules if _is_one_off(rule, counts[rule])}
        self._banned |= outside
        stopped = [
            (use, {rule for part in parts if self._banned.issuperset(part) for rule in part})
            for use, parts in self._uses
        ]
        self.outside = frozenset(id(use) for use, rules in stopped if rules & outside)
        """Uses for which a rule would name a path outside the project."""
        self.one_offs = frozenset(id(use) for use, rules in stopped if rules) - self.outside
        """Uses for which a rule would name a script or a long command that ran once."""

    def ban(self, rules: Iterable[Sequence[str]]) -> None:
        """Give up, for every call that would be allowed by these rules together, the one that is used least."""
        weights = Counter[str]()
        for use, needed in self._needs():
            weights.update(dict.fromkeys(needed, use.count))
        self._banned.update(min(each, key=lambda rule: (weights[rule], rule)) for each in rules)

    def rules_for(self, enough: float) -> list[str]:
        """Return rules, those that allow most first, until they allow enough calls or all that can be allowed."""
        gains = Counter[tuple[str, ...]]()
        for use, needed in self._needs():
            gains[needed] += use.count
        missing = {needed: set(needed) for needed in gains}
        needing: dict[str, list[tuple[str, ...]]] = {}
        for needed in gains:
            for rule in needed:
                needing.setdefault(rule, []).append(needed)
        chosen: list[str] = []
        allowed = 0
        for needed, _ in sorted(gains.items(), key=lambda each: (-each[1] / len(each[0]), each[0])):
            if allowed >= enough:
                break
            for rule in sorted(missing[needed]):
                chosen.append(rule)
                for other in needing[rule]:
                    missing[other].discard(rule)
                    allowed += 0 if missing[other] else gains[other]
        return chosen

    def _needs(self) -> Iterator[tuple[Use, tuple[str, ...]]]:
        for use, parts in self._uses:
            widest = [next((rule for rule in reversed(part) if rule not in self._banned), None) for part in parts]
            rules = {rule for rule in widest if rule is not None}
            if widest and None not in widest:
                yield use, tuple(sorted(rules))


def _is_one_off(rule: str, calls: int) -> bool:
    """Whether a rule for commands holds a script, or a long command that ran once: they will hardly come again."""
    if "\n" in rule or len(rule) > _LONGEST_RULE:
        return True
    is_exact = len(rule) > _LONGEST_EXACT_RULE and not rule.endswith("*)")
    return calls == 1 and (is_exact or _SCRIPT.search(rule) is not None)


def _leaves(rule: str, folder: str) -> bool:
    """Whether a rule for commands names a path outside a folder."""
    folders = folders_of(folder, folder)
    return any(place(path, folder, folders).is_outside for path in _PATH.findall(rule))


def _judge(dialect: Dialect, rules: Mapping[str, Sequence[str]]) -> Judge:
    """Judge by what the file will say: for some tools a list without rules is another thing than no list."""
    written = dialect.write_settings(rules)
    return dialect.judge(dialect.read_settings(_FILE, written.encode(), folder=""))


def _unsafe(judge: Judge, refused: Iterable[Use]) -> list[list[str]]:
    """Return the rules that together allow a refused call, for each that is allowed."""
    verdicts = (judge.judge(use.call) for use in refused)
    return [[rule.text for rule in each.rules] for each in verdicts if each.decision is Decision.ALLOW and each.rules]


def _asking(dialect: Dialect, judge: Judge, seen: Sequence[Use]) -> list[str]:
    """Return rules that ask before what is refused and would run by itself, and before nothing else that was seen."""
    free = [use for use in seen if use.is_refused and _runs_by_itself(judge, use.call)]
    wanted = {narrowest for use in free for narrowest, *_ in filter(None, dialect.patterns(use.call))}
    if not wanted:
        return []
    asking = _judge(dialect, {"ask": sorted(wanted)})
    return sorted(wanted - {rule.text for use in seen if not use.is_refused for rule in asking.matching(use.call)})


def _runs_by_itself(judge: Judge, call: Call) -> bool:
    return judge.judge(call).decision is Decision.NONE and judge.runs_by_itself(call)


def _weighed(judge: Judge, seen: Sequence[Use], asking: Sequence[str], calls: int, choice: _Choice) -> Proposal:
    """Hold the rules against all calls, and leave out those that decide nothing."""
    deciding: dict[str, None] = {}
    asked: list[Use] = []
    allowed = 0
    for use in seen:
        verdict = judge.judge(use.call)
        if verdict.decision is Decision.ALLOW:
            allowed += use.count
            deciding.update(dict.fromkeys(rule.text for rule in verdict.rules))
        elif use.count and not use.is_refused:
            asked.append(use)
    refused = sorted((use for use in seen if use.is_refused), key=lambda use: -use.count)
    return Proposal(
        rules=tuple(sorted(deciding)),
        asking=tuple(asking),
        calls=calls,
        allowed=allowed,
        still_asked=tuple(sorted(asked, key=lambda use: -use.count)),
        refused=tuple(refused),
        still_free=tuple(use for use in refused if _runs_by_itself(judge, use.call)),
        outside=tuple(use for use in asked if use.is_outside or id(use) in choice.outside),
        one_offs=tuple(use for use in asked if id(use) in choice.one_offs),
    )


if TYPE_CHECKING:
    from aix.reading.ledger import Ledger


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
    project: str | None = None
    is_outside: bool = False
    """Whether it names a path outside the workspace."""

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
    outside = {call for (call,) in ledger.sql(_OUTSIDE).rows()}
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
            row["project"],
            row["call_id"] in outside,
        )
        for row in rows
    ]


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
    counts = Counter[tuple[str, str | None, str | None, str, bool, bool]]()
    for each in calls:
        if each.origin != dialect.origin:
            continue
        is_refused = not each.risks.isdisjoint(refused_risks)
        passed = each.outcome in PASSED
        if passed or is_refused:
            counts[each.tool, each.target, each.parameters, each.cwd, is_refused, each.is_outside] += passed
    uses = []
    unruled = dialect.judge(())
    for (tool, target, parameters, cwd, is_refused, is_outside), count in counts.items():
        call = call_of(dialect, tool, target, cwd, parameters)
        needed_none = unruled.runs_by_itself(call)
        needing, free = (0, count) if needed_none else (count, 0)
        uses.append(Use(call, needing, is_refused, free, is_outside))
    return uses
