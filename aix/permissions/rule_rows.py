"""Rows about rules: their matches, verdicts and remarks."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice

import msgspec

from aix.permissions.contract import Call, Decision, Dialect, Rule, Verdict
from aix.permissions.rule_book import Row, RuleBook, RuleSet

_Answer = tuple[tuple[Row, ...], Row]

_MOST_NARROW_RULES = 20
_MOST_RULES, _MOST_CHARACTERS = 2_000, 100_000
"""Of the rules in force at one place that are compared, because each is held against all others."""
_STRONGER = {"allow": ("deny", "ask"), "ask": ("deny",), "deny": ()}


class RuleRows:
    """Matches and verdicts of the rules of a book about calls, as rows."""

    def __init__(self, book: RuleBook) -> None:
        self._book = book

    def about(self, question: Row) -> dict[str, Sequence[Row]]:
        """Return what the rules say about calls `origin, tool, target, cwd, parameters`."""
        origin, tool, target, cwd, parameters = question
        rule_set = self._book.in_force(text_or_none(origin), text_or_none(cwd))
        if rule_set is None:
            return {}
        matches, verdict = _ask(rule_set, str(tool), text_or_none(target), str(cwd or ""), text_or_none(parameters))
        return {"rule_matches": matches, "rule_verdicts": (verdict,)}


def call_of(dialect: Dialect, tool: str, target: str | None, cwd: str, parameters: str | None) -> Call:
    """Return a call of the ledger in the form that rules are held against."""
    given = _object(parameters) if parameters else None
    if given is None:
        given = dialect.input_of(tool, target) if target is not None else {}
    return Call(tool, given, cwd)


def _ask(rule_set: RuleSet, tool: str, target: str | None, cwd: str, parameters: str | None) -> _Answer:
    try:
        return _answers(rule_set, call_of(rule_set.dialect, tool, target, cwd, parameters))
    except Exception as error:
        reason = f"The rules could not be held against this call: {type(error).__name__}."
        return (), _verdict_row(Verdict(Decision.NONE, None, (), reason), rule_set.digest, is_free=False)


def _answers(rule_set: RuleSet, call: Call) -> _Answer:
    verdict = rule_set.judge.judge(call)
    patterns = rule_set.dialect.patterns(call)
    matches = tuple(
        (
            rule_set.dialect.origin,
            rule.scope,
            rule.file,
            rule.kind,
            rule.text,
            rule in verdict.rules,
            _narrow_rules(patterns, rule_set.judge.matched_parts(call, rule)),
            rule_set.digest,
        )
        for rule in rule_set.judge.matching(call)
    )
    return matches, _verdict_row(verdict, rule_set.digest, is_free=rule_set.judge.runs_by_itself(call))


def _verdict_row(verdict: Verdict, digest: str, *, is_free: bool) -> Row:
    rule = verdict.rule
    decided = (rule.scope, rule.file, rule.kind, rule.text) if rule else (None, None, None, None)
    return (str(verdict.decision), *decided, verdict.reason, is_free, digest)


def _narrow_rules(patterns: Sequence[Sequence[str]], parts: Sequence[int] | None) -> str | None:
    """Return the widest of the narrow rules for each part; None when no rule can let one pass, or all are meant."""
    if parts is None:
        parts = (0,) if len(patterns) == 1 else ()
    if not parts or not all(part < len(patterns) and patterns[part] for part in parts):
        return None
    widest = dict.fromkeys(patterns[part][-1] for part in parts)
    return "\n".join(islice(widest, _MOST_NARROW_RULES))


def _object(text: str) -> Mapping[str, object] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def text_or_none(value: object) -> str | None:
    """Return a value of a row that is a text."""
    return value if isinstance(value, str) else None


def remark_rows(book: RuleBook, keys: Collection[Row]) -> Iterator[Row]:
    """Go through the rows of `rule_remarks` about the rules `origin, scope, file, kind, rule` that are given."""
    known: dict[tuple[str, str], tuple[dict[Rule, str], bool]] = {}
    for origin, rules in book.rules.items():
        for rule in rules:
            if (origin, rule.scope, rule.file, rule.kind, rule.text) in keys:
                rule_set = book.in_force(origin, rule.folder)
                with suppress(Exception):  # of another distribution: what it breaks must not end an import
                    if rule_set is not None:
                        place = origin, rule_set.digest
                        if place not in known:
                            known[place] = dict(reversed(rule_set.judge.remarks())), _are_few(rule_set)
                        idle, are_few = known[place]
                        yield from _rows(origin, rule, rule_set, idle.get(rule), are_compared=are_few)


def _are_few(rule_set: RuleSet) -> bool:
    return len(rule_set.rules) <= _MOST_RULES and sum(len(rule.text) for rule in rule_set.rules) <= _MOST_CHARACTERS


def _rows(origin: str, rule: Rule, rule_set: RuleSet, idle: str | None, *, are_compared: bool) -> Iterator[Row]:
    key = (origin, rule.scope, rule.file, rule.kind, rule.text)
    if idle is not None:
        yield (*key, "unreachable", None, None, idle)
        return
    if not are_compared:
        return
    covering = _covering(rule, rule_set)
    shadows = [other for kind in _STRONGER.get(rule.kind, ()) for other in covering if other.kind == kind]
    if shadows:
        shadow = min(shadows, key=lambda other: other.text == rule.text)
        reason = f"The {shadow.kind} rule {shadow.text} decides about all that it matches, and comes first."
        yield (*key, "shadowed", shadow.text, shadow.file, reason)
        return
    twin = _twin(rule, [other for other in covering if other.kind == rule.kind], rule_set)
    if twin:
        yield (*key, "redundant", twin.text, twin.file, f"The {twin.kind} rule {twin.text} matches all that it does.")


def _twin(rule: Rule, covering: list[Rule], rule_set: RuleSet) -> Rule | None:
    """Return the rule that makes another of its kind redundant; of rules that match the same, the first stays."""
    place = covering.index(rule) if rule in covering else 0
    earlier, others = covering[:place], (other for other in covering[place:] if other.text != rule.text)
    # That a rule stands in two files says less than that a wider one is there.
    wider = next((other for other in earlier if other.text != rule.text), None)
    wider = wider or next((other for other in others if rule not in _covering(other, rule_set)), None)
    return wider or (earlier[0] if earlier else None)


def _covering(rule: Rule, rule_set: RuleSet) -> list[Rule]:
    """Return the rules that match all that a rule does, and so itself, in their order."""
    found = [rule_set.judge.matching(call) for call in rule_set.dialect.examples(rule)]
    if not found:
        return []
    further = [set(each) for each in found[1:]]
    return [other for other in found[0] if all(other in each for each in further)]
