"""Remarks on rules, made without any call: a rule never decides, or others decide before it or as well."""

from collections.abc import Collection, Iterator
from contextlib import suppress

from aix.permissions.contract import Rule
from aix.permissions.rule_book import RuleBook, RuleSet

Row = tuple[object, ...]

_MOST_RULES, _MOST_CHARACTERS = 2_000, 100_000
"""Of the rules in force at one place that are compared, because each is held against all others."""
_STRONGER = {"allow": ("deny", "ask"), "ask": ("deny",), "deny": ()}


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
