"""Decisions of personas about calls: deny before ask before allow, and a list of what is allowed allows nothing else.

A persona's rules are held against a call as the dialect of the call's origin reads them. Where AIX knows no dialect,
only rules that name a whole tool can match.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

from msgspec.structs import replace

from aix.permissions.contract import Call, Decision, Dialect, Judge, Rule, dialects
from aix.permissions.rule_book import Row, RuleSet
from aix.permissions.rule_rows import call_of, text_or_none
from aix.permissions.shell import split

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
                kind, text = _by_dialect(rule_set, call, lists)
        except Exception as error:
            reason = f"The rules could not be held against this call: {type(error).__name__}."
            return {"persona_verdicts": ((persona, "none", None, None, reason),)}
        decision = kind or ("unlisted" if "allow" in lists else "allow")
        return {"persona_verdicts": ((persona, decision, kind, text, _reason(decision, kind)),)}

    def _find_rule_set(self, origin: str, persona: str) -> RuleSet | None:
        dialect = dialects().get(origin)
        return None if dialect is None else _rule_set(dialect, self._lists[persona])


def gains(lists: Mapping[str, Lists]) -> Iterator[Row]:
    """Go through the rows of `persona_gains`: what a persona permits that another does not, as each origin reads it.

    A row without an origin compares rules by their text, for origins without a dialect. Where nothing is gained, a row
    says so by having no kind.
    """
    for origin, dialect in (*dialects().items(), (None, None)):
        readings = {name: _Reading(dialect, each) for name, each in lists.items()}
        for before, reading in readings.items():
            for after, other in readings.items():
                if before != after:
                    found: list[tuple[str | None, str | None]] = [*reading.gained_by(other)]
                    yield from ((origin, before, after, *each) for each in found or [(None, None)])


class _Reading:
    """The lists of one persona, as one dialect reads them; without one, rules are their texts."""

    def __init__(self, dialect: Dialect | None, lists: Lists) -> None:
        self._dialect = dialect
        self._lists = lists
        self._covered = cache(self._find_covered)
        self._judge = cache(self._make_judge)

    def gained_by(self, other: "_Reading") -> Iterator[tuple[str, str]]:
        """Give what another persona permits and this one does not, with its kind."""
        ours, theirs = self._lists, other._lists
        for kind in ("allow", "ask"):
            for rule in theirs.get(kind, ()):
                if not other._covers("deny", rule) and not self._permits(kind, rule):
                    yield kind, rule
        if "allow" in ours and "allow" not in theirs:
            yield "allow", _ANY
        for rule in ours.get("deny", ()):
            if not other._covers("deny", rule) and other._may_permit(rule):
                yield "deny", rule
        for rule in ours.get("ask", ()):
            is_held = other._covers("deny", rule) or other._covers("ask", rule)
            if not is_held and other._may_permit(rule) and rule not in theirs.get("allow", ()):
                yield "ask", rule
        for kind in _PLACES:
            if kind in ours:
                given = theirs.get(kind)
                new = (_ANY,) if given is None else given
                yield from ((kind, each) for each in new if not _is_within(kind, each, ours[kind]))

    def _permits(self, kind: str, rule: str) -> bool:
        """Whether it allows all that a rule matches, or, of a rule that asks, allows it or asks as well."""
        if self._covers("deny", rule):
            return False
        if self._covers("ask", rule):
            return kind == "ask"
        return "allow" not in self._lists or self._covers("allow", rule)

    def _may_permit(self, rule: str) -> bool:
        """Whether a list of what is allowed, if there is one, names the tool of a rule."""
        listed = self._lists.get("allow")
        return listed is None or tool_of(rule) in {tool_of(each) for each in (*listed, *self._lists.get("ask", ()))}

    def _covers(self, kind: str, rule: str) -> bool:
        """Whether a rule of a list matches all that another rule does."""
        listed = self._lists.get(kind, ())
        return bool(listed) and (rule in listed or tool_of(rule) in listed or self._covered(kind, rule))

    def _find_covered(self, kind: str, rule: str) -> bool:
        if self._dialect is None:
            return False
        with suppress(Exception):  # of another distribution: then the rules differ, as their texts do
            found = self._dialect.examples(_rule(kind, rule, 0))
            return bool(found) and all(self._judge(self._dialect, kind).matching(call) for call in found)
        return False

    def _make_judge(self, dialect: Dialect, kind: str) -> Judge:
        return _rule_set(dialect, {kind: self._lists[kind]}).judge


def _is_within(kind: str, place: str, listed: Sequence[str]) -> bool:
    """Whether one of the places that are listed is a place, or is above it."""
    if place in listed:
        return True
    if kind == "host":
        return any(each.startswith("*.") and place.removeprefix("*").endswith(each[1:]) for each in listed)
    return kind in ("read", "write") and any(place.startswith(f"{each.rstrip('/')}/") for each in listed)


def _rule_set(dialect: Dialect, lists: Lists) -> RuleSet:
    rules = [_rule(kind, text, position) for kind in RULE_KINDS for position, text in enumerate(lists.get(kind, ()))]
    return RuleSet(dialect, tuple(rules))


def _rule(kind: str, text: str, position: int) -> Rule:
    return Rule(kind, text.strip(), _SCOPE, "", position, "")


def _by_dialect(rule_set: RuleSet, call: Call, lists: Lists) -> tuple[str | None, str | None]:
    """Return the kind and the text of the rule that decides; None where none does."""
    verdict = rule_set.judge.judge(call)
    rule = verdict.rule if verdict.decision is not Decision.NONE else None
    if rule is not None and rule.kind in ("deny", "ask"):
        return rule.kind, rule.text
    listing = _listing(rule_set, call) if "allow" in lists else None
    return ("allow", listing.text) if listing else (None, None)


def _listing(rule_set: RuleSet, call: Call) -> Rule | None:
    """Return the first rule that allows a call, when each command of it is allowed by one.

    The verdict does not say so: a tool needs no rule for what it runs by itself.
    """
    access, command = rule_set.dialect.access_of(call)
    script = split(command) if access == "exec" and command else None
    parts = [call]
    if script and script.is_whole and len(script.simple) > 1:
        of_tool = rule_set.dialect.input_of
        parts = [replace(call, input=of_tool(call.tool, simple.source)) for simple in script.simple]
    is_read = script is None or script.is_whole  # of what cannot be read whole, only a rule for all of the tool is sure
    listed = [rule for rule in rule_set.rules if rule.kind == "allow" and (is_read or rule.text == call.tool)]
    found = [next((rule for rule in rule_set.judge.matching(part) if rule in listed), None) for part in parts]
    return found[0] if all(found) else None


def _by_name(lists: Lists, tool: str) -> tuple[str | None, str | None]:
    return next(((kind, tool) for kind in ("deny", "ask", "allow") if tool in lists.get(kind, ())), (None, None))


def _reason(decision: str, kind: str | None) -> str:
    if decision == "unlisted":
        return "The persona lists what is allowed, and nothing in the list allows all of this call."
    if kind == "allow":
        return "The persona's list of what is allowed names every part of the call."
    if kind is None:
        return "The persona does not deny it, and has no list of what is allowed."
    return f"A rule of the persona's list {kind} matches the call or a part of it."
