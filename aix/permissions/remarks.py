"""What can be said of rules without any call: that they never decide, or that others decide before them or as well."""

from collections.abc import Collection, Iterator
from contextlib import suppress

from aix.permissions.contract import Rule
from aix.permissions.rule_book import RuleBook, RuleSet

Row = tuple[object, ...]

_MOST_COMPARED = 1_000
"""Of the rules in force at one place, because each is compared with all others."""
_STRONGER = {"allow": ("deny", "ask"), "ask": ("deny",), "deny": ()}


def remark_rows(book: RuleBook, keys: Collection[Row]) -> Iterator[Row]:
    """Go through the rows of `rule_remarks` about the rules `origin, scope, file, kind, rule` that are given."""
    idle: dict[tuple[str, str], dict[Rule, str]] = {}
    for origin, rules in book.rules.items():
        for rule in rules:
            if (origin, rule.scope, rule.file, rule.kind, rule.text) in keys:
                rule_set = book.in_force(origin, rule.folder)
                with suppress(Exception):  # of another distribution: what it breaks must not end an import
                    if rule_set is not None:
                        place = origin, rule_set.digest
                        if place not in idle:
                            idle[place] = dict(reversed(rule_set.judge.remarks()))
                        yield from _rows(origin, rule, rule_set, idle[place].get(rule))


def _rows(origin: str, rule: Rule, rule_set: RuleSet, idle: str | None) -> Iterator[Row]:
    key = (origin, rule.scope, rule.file, rule.kind, rule.text)
    if idle is not None:
        yield (*key, "unreachable", None, None, idle)
        return
    if len(rule_set.rules) > _MOST_COMPARED:
        return
    shadows = _covering(rule, rule_set, _STRONGER.get(rule.kind, ()))
    if shadows:
        shadow = min(shadows, key=lambda other: other.text == rule.text)
        reason = f"The {shadow.kind} rule {shadow.text} decides about all that it matches, and comes first."
        yield (*key, "shadowed", shadow.text, shadow.file, reason)
        return
    twin = _twin(rule, rule_set)
    if twin:
        yield (*key, "redundant", twin.text, twin.file, f"The {twin.kind} rule {twin.text} matches all that it does.")


def _twin(rule: Rule, rule_set: RuleSet) -> Rule | None:
    """Return a rule of the same kind that makes one redundant; of rules that match the same, the first stays."""
    place, kinds = rule_set.rules.index(rule), (rule.kind,)
    covering = _covering(rule, rule_set, kinds)
    earlier = [other for other in covering if rule_set.rules.index(other) < place]
    # That a rule stands in two files says less than that a wider one is there.
    for other in (*earlier, *covering):
        if other.text != rule.text and (other in earlier or rule not in _covering(other, rule_set, kinds)):
            return other
    return earlier[0] if earlier else None


def _covering(rule: Rule, rule_set: RuleSet, kinds: Collection[str]) -> list[Rule]:
    """Return the other rules of these kinds that match all that a rule does, kind by kind."""
    examples = rule_set.dialect.examples(rule) if kinds else ()
    if not examples:
        return []
    first, *further = (rule_set.judge.matching(call) for call in examples)
    return [
        other
        for kind in kinds
        for other in first
        if other.kind == kind and other != rule and all(other in found for found in further)
    ]
