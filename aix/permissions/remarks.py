"""What can be said of rules without any call: that they never decide, or that others decide before them or as well."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from aix.permissions.contract import Rule
from aix.permissions.rule_book import RuleBook, RuleSet, in_order

Row = tuple[object, ...]

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
    shadow = _covering(rule, rule_set, _STRONGER.get(rule.kind, ()))
    if shadow:
        reason = f"The {shadow.kind} rule {shadow.text} decides about all that it matches, and comes first."
        yield (*key, "shadowed", shadow.text, shadow.file, reason)
        return
    twin = _covering(rule, rule_set, (rule.kind,))
    if twin and (twin.text != rule.text or in_order((rule, twin))[0] == twin):
        yield (*key, "redundant", twin.text, twin.file, f"The {twin.kind} rule {twin.text} matches all that it does.")


def _covering(rule: Rule, rule_set: RuleSet, kinds: Iterable[str]) -> Rule | None:
    """Return another rule of these kinds that matches all that a rule does."""
    examples = rule_set.dialect.examples(rule)
    if not examples:
        return None
    first, *further = (rule_set.judge.matching(call) for call in examples)
    covering = [
        other
        for kind in kinds
        for other in first
        if other.kind == kind and other != rule and all(other in found for found in further)
    ]
    # That a rule stands in two files says less than that a wider one is there.
    return min(covering, key=lambda other: other.text == rule.text, default=None)
