"""Rows of `rule_matches` and `rule_verdicts`."""

from collections.abc import Mapping, Sequence
from itertools import islice

import msgspec

from aix.permissions.contract import Call, Decision, Dialect, Verdict
from aix.permissions.rule_book import RuleBook, RuleSet

Row = tuple[object, ...]
_Answer = tuple[tuple[Row, ...], Row]

_MOST_NARROW_RULES = 20


class RuleRows:
    """Matches and verdicts of the rules of a book about calls, as rows."""

    def __init__(self, book: RuleBook) -> None:
        self._book = book

    def about(self, question: Row) -> dict[str, Sequence[Row]]:
        """Return what the rules say about calls `origin, tool, target, cwd, parameters`."""
        origin, tool, target, cwd, parameters = question
        rule_set = self._book.in_force(_text(origin), _text(cwd))
        if rule_set is None:
            return {}
        matches, verdict = _ask(rule_set, str(tool), _text(target), str(cwd or ""), _text(parameters))
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


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
