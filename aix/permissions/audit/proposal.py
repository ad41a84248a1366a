"""Minimal settings for the observed calls: rules that allow what was used, and ask before what is refused."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aix.errors import UsageError
from aix.permissions.contract import Call, Decision, Dialect, Judge, dialects
from aix.permissions.paths import folders_of, place
from aix.permissions.programs import plain_name, program, programs_in, subcommand
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
_WHOLE_COMMAND = re.compile(r"\w+[(](?:(?P<words>[^*]+)(?: [*]|:[*])|(?P<program>[\w.+-]+))[)]")
"""A rule for a program, or for a program and its first words, with whatever follows."""
_PATH = re.compile(r"""(?<=[\s("'=])(?:~|/|[.][.]/|[A-Za-z]:[\\/])[^\s"')*]*""")
"""A path in a rule for commands that does not start from the folder of the call."""
_WITHOUT_CONTENT = {
    "chgrp", "chmod", "chown", "cksum", "du", "file", "ls", "md5sum", "mkdir", "readlink", "realpath", "setfacl",
    "sha1sum", "sha256sum", "shasum", "stat", "touch", "tree", "wc",
}  # fmt: skip
"""Programs that name, count, create or guard files, and neither show nor change what is in them."""


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
        """Rules that allow a program with whatever follows, where that can do harm, with the worst that it can do."""
        matches = ((rule, match) for rule in self.rules if (match := _WHOLE_COMMAND.fullmatch(rule)))
        reasons = ((rule, _why_broad((match["words"] or match["program"]).split())) for rule, match in matches)
        return tuple((rule, why) for rule, why in reasons if why)


def _why_broad(words: Sequence[str]) -> str:
    """Say what a command that begins with these words can do; empty where that is nothing in particular."""
    if not words:
        return ""
    name = plain_name(words[0].rpartition("/")[2])
    sub = subcommand(name, words)
    if _can_run_any(name, sub, words):
        return "can run any program"
    if sub is not None or name in programs_in("interpreters") | programs_in("runners"):
        return ""
    known = program(name)
    files = {access for each in (*known.operands, *known.files.values()) for access in each.rstrip("*").split()}
    if name in _WITHOUT_CONTENT:
        files.clear()
    found = ["write any file"] if "write" in files else ["read any file"] if "read" in files else []
    found += ["reach any host"] if known.hosts else []
    return f"can {' and '.join(found)}" if found else ""


def _can_run_any(name: str, sub: str | None, words: Sequence[str]) -> bool:
    """Whether words that follow these can name a program to run."""
    known = program(name)
    if sub is not None:
        inner = known.subcommands.get(sub)
        is_runner = inner is not None and inner.inner_command(words, words.index(sub) + 1) is None
        return is_runner or f"{name}:{sub}" in programs_in("scripted")
    if name in programs_in("wrappers") | programs_in("runners"):
        return known.inner_command(words) is None
    if name in programs_in("interpreters") | programs_in("subcommands"):
        has_scripts = any(each.startswith(f"{name}:") for each in programs_in("scripted"))
        return len(words) == 1 and (name in programs_in("interpreters") or bool(known.subcommands) or has_scripts)
    return name in programs_in("scripted") | programs_in("do_anything") or bool(known.commands)


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
        counts = Counter[str]()
        for use, parts in self._uses:
            counts.update(dict.fromkeys((rule for part in parts for rule in part), use.count))
        self._outside: set[str] = set()
        self._one_offs: set[str] = set()
        for use, parts in self._uses:
            if dialect.access_of(use.call)[0] == "exec":
                rules = {rule for part in parts for rule in part}
                self._outside |= {rule for rule in rules if _leaves(rule, use.call.cwd)}
                self._one_offs |= {rule for rule in rules if _is_one_off(rule, counts[rule])}
        self._banned = self._outside | self._one_offs

    def outside(self) -> frozenset[int]:
        """Return the uses for which a rule that is left would name a path outside the project."""
        return self._stopped_by(self._outside)

    def one_offs(self) -> frozenset[int]:
        """Return the uses for which a rule that is left would name a script or a long command that ran once."""
        return self._stopped_by(self._one_offs) - self.outside()

    def _stopped_by(self, rules: set[str]) -> frozenset[int]:
        """Return the uses with a part for which every rule is banned, one of these among them."""
        return frozenset(
            id(use)
            for use, parts in self._uses
            if any(self._banned.issuperset(part) and not rules.isdisjoint(part) for part in parts)
        )

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
    outside, one_offs = choice.outside(), choice.one_offs()
    return Proposal(
        rules=tuple(sorted(deciding)),
        asking=tuple(asking),
        calls=calls,
        allowed=allowed,
        still_asked=tuple(sorted(asked, key=lambda use: -use.count)),
        refused=tuple(refused),
        still_free=tuple(use for use in refused if _runs_by_itself(judge, use.call)),
        outside=tuple(use for use in asked if use.is_outside or id(use) in outside),
        one_offs=tuple(use for use in asked if id(use) in one_offs),
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
    """Return the calls that a question counts; of that project alone where its whole path is given.

    Settings belong to one project, and its path is also the beginning of the paths of projects below it.
    """
    tools = sorted({tool for dialect in dialects().values() for tool in dialect.whole_input_tools})
    given = dict(ledger.sql(_PARAMETERS, {"tools": tools}).rows())
    outside = {call for (call,) in ledger.sql(_OUTSIDE).rows()}
    rows = ledger.query(CALLS, **parameters).arrow().select(_COLUMNS).to_pylist()
    if (project := parameters.get("project")) is not None:
        rows = [row for row in rows if row["project"] == project] or rows
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
