"""Decisions of personas about calls: deny before ask before allow, and a list of what is allowed allows nothing else.

A persona's rules are held against a call as the dialect of the call's origin reads them. Where AIX knows no dialect,
only rules that name a whole tool can match.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

from aix.permissions.contract import Call, Decision, Dialect, Rule, dialects
from aix.permissions.rule_book import Row, RuleSet
from aix.permissions.rule_rows import call_of, text_or_none

Lists = Mapping[str, Sequence[str]]
"""The lists of a persona by kind; one that is missing sets no bound."""
RULE_KINDS = ("allow", "ask", "deny")
_SCOPE = "persona"
_PLACES = ("credential", "read", "write", "host")
_ANY = "*"


def tool_of(rule: str) -> str:
    """Return the tool that a rule names.

    >>> tool_of("Bash(rm *)")
    'Bash'
    """
    return rule.partition("(")[0].strip()


class PersonaVerdicts:
    """Decisions of personas about calls, as rows of `persona_verdicts`."""

    def __init__(self, lists: Mapping[str, Lists]) -> None:
        self._lists = {name: each for name, each in lists.items() if not each.keys().isdisjoint(RULE_KINDS)}
        self._rule_set = cache(self._find_rule_set)

    def whole_input_tools(self) -> set[str]:
        """Return the tools whose calls must be given with all their parameters."""
        tools: set[str] = set()
        for origin, dialect in dialects().items():
            tools.update(dialect.whole_input_tools)
            for persona in self._lists:
                with suppress(Exception):  # of another distribution: what it breaks must not end an import
                    rule_set = self._rule_set(origin, persona)
                    tools.update(rule_set.judge.whole_input_tools if rule_set else ())
        return tools

    def about(self, question: Row) -> dict[str, Sequence[Row]]:
        """Return the verdict about calls `persona, origin, tool, target, cwd, parameters`, where there are rules."""
        persona, origin, tool, target, cwd, parameters = question
        lists = self._lists.get(str(persona))
        if lists is None:
            return {}
        rule_set = self._rule_set(str(origin), str(persona))
        kind, text = None, None
        try:
            if rule_set is None:
                kind, text = _by_name(lists, str(tool))
            else:
                call = call_of(
                    rule_set.dialect, str(tool), text_or_none(target), str(cwd or ""), text_or_none(parameters)
                )
                kind, text = _by_dialect(rule_set, call)
        except Exception as error:
            reason = f"The rules could not be held against this call: {type(error).__name__}."
            return {"persona_verdicts": ((persona, "none", None, None, reason),)}
        decision = kind or ("unlisted" if "allow" in lists else "allow")
        return {"persona_verdicts": ((persona, decision, kind, text, _reason(decision, kind)),)}

    def _find_rule_set(self, origin: str, persona: str) -> RuleSet | None:
        dialect = dialects().get(origin)
        return None if dialect is None else _rule_set(dialect, self._lists[persona])


def gains(lists: Mapping[str, Lists]) -> Iterator[Row]:
    """Go through the rows of `persona_gains`: what a persona permits that another does not, as each origin reads it."""
    for origin, dialect in dialects().items():
        readings = {name: _Reading(dialect, each) for name, each in lists.items()}
        for before, reading in readings.items():
            for after, other in readings.items():
                if before != after:
                    for kind, gained in reading.gained_by(other):
                        yield origin, before, after, kind, gained


class _Reading:
    """The lists of one persona, as one dialect reads them."""

    def __init__(self, dialect: Dialect, lists: Lists) -> None:
        self._dialect = dialect
        self._lists = lists
        self._rule_sets = {kind: _rule_set(dialect, {kind: lists.get(kind, ())}) for kind in RULE_KINDS}

    def gained_by(self, other: "_Reading") -> Iterator[tuple[str, str]]:
        """Give what another persona permits and this one does not, with its kind."""
        ours, theirs = self._lists, other._lists
        for rule in theirs.get("allow", ()):
            if self._covers("deny", rule) or self._covers("ask", rule) or not self._lists_or_covers("allow", rule):
                yield "allow", rule
        for rule in theirs.get("ask", ()):
            is_known = self._lists_or_covers("allow", rule) or self._covers("ask", rule)
            if self._covers("deny", rule) or not is_known:
                yield "ask", rule
        if "allow" in ours and "allow" not in theirs:
            yield "allow", _ANY
        for rule in ours.get("deny", ()):
            if not other._covers("deny", rule) and other._may_permit(rule):
                yield "deny", rule
        for rule in ours.get("ask", ()):
            is_held = other._covers("deny", rule) or other._covers("ask", rule)
            if not is_held and "allow" not in theirs:
                yield "ask", rule
        for kind in _PLACES:
            if kind in ours:
                given = theirs.get(kind)
                yield from ((kind, each) for each in ((_ANY,) if given is None else given) if each not in ours[kind])

    def _lists_or_covers(self, kind: str, rule: str) -> bool:
        return kind not in self._lists or self._covers(kind, rule)

    def _may_permit(self, rule: str) -> bool:
        """Whether a list of what is allowed, if there is one, names the tool of a rule."""
        listed = self._lists.get("allow")
        return listed is None or tool_of(rule) in {tool_of(each) for each in (*listed, *self._lists.get("ask", ()))}

    def _covers(self, kind: str, rule: str) -> bool:
        """Whether a rule of a list matches all that another rule does."""
        listed = self._lists.get(kind, ())
        if rule in listed or tool_of(rule) in listed:
            return True
        with suppress(Exception):  # of another distribution: then the rules differ, as their texts do
            found = self._dialect.examples(_rule(kind, rule, 0))
            judge = self._rule_sets[kind].judge
            return bool(found) and all(judge.matching(call) for call in found)
        return False


def _rule_set(dialect: Dialect, lists: Lists) -> RuleSet:
    rules = [_rule(kind, text, position) for kind in RULE_KINDS for position, text in enumerate(lists.get(kind, ()))]
    return RuleSet(dialect, tuple(rules))


def _rule(kind: str, text: str, position: int) -> Rule:
    return Rule(kind, text.strip(), _SCOPE, "", position, "")


def _by_dialect(rule_set: RuleSet, call: Call) -> tuple[str | None, str | None]:
    """Return the kind and the text of the rule that decides; None where none does."""
    verdict = rule_set.judge.judge(call)
    rule = verdict.rule
    if verdict.decision is Decision.NONE and rule_set.judge.runs_by_itself(call):
        # A tool asks for no rule about what it runs by itself, so none decides; a list that names it allows it.
        rule = next((each for each in rule_set.judge.matching(call) if each.kind == "allow"), None)
    elif verdict.decision is Decision.NONE:
        rule = None
    return (rule.kind, rule.text) if rule and rule.kind in RULE_KINDS else (None, None)


def _by_name(lists: Lists, tool: str) -> tuple[str | None, str | None]:
    return next(((kind, tool) for kind in ("deny", "ask", "allow") if tool in lists.get(kind, ())), (None, None))


def _reason(decision: str, kind: str | None) -> str:
    if decision == "unlisted":
        return "The persona lists what is allowed, and nothing in the list allows all of this call."
    if kind is None:
        return "The persona does not deny it, and has no list of what is allowed."
    return f"A rule of the persona's list {kind} matches the call{'' if kind == 'allow' else ' or a part of it'}."
