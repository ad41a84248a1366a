"""The least that would have sufficed: rules that allow what was used, and that ask before what is refused."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aix.permissions.contract import Call, Decision, Dialect, Judge

_FILE = "proposal.json"


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

    @property
    def coverage(self) -> float:
        """The share of calls that would have been allowed."""
        return self.allowed / self.calls if self.calls else 1.0


def propose(dialect: Dialect, uses: Iterable[Use], share: float) -> Proposal:
    """Return the fewest rules, each as wide as is sound, that allow this share of calls and none that is refused."""
    seen = list(uses)
    choice = _Choice(dialect, [use for use in seen if use.count and not use.is_refused])
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
    return _weighed(_judge(dialect, {"allow": rules, "ask": asking}), seen, asking, calls)


class _Choice:
    """Which rule each part of each use would be allowed by; unsafe ones are banned, and narrower ones take over."""

    def __init__(self, dialect: Dialect, uses: Sequence[Use]) -> None:
        self._uses = [(use, dialect.patterns(use.call)) for use in uses]
        self._banned: set[str] = set()

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


def _weighed(judge: Judge, seen: Sequence[Use], asking: Sequence[str], calls: int) -> Proposal:
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
    )
