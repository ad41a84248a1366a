"""The rules that say which calls are risky, read from a file that people can read too: `risks.toml` and one's own."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import NoReturn

import msgspec

from aix.errors import RiskFileError, nearest_names
from aix.permissions import RISK_FILE
from aix.permissions.contract import dialects
from aix.permissions.globs import GlobError, PathPatterns, Sequences, Words
from aix.permissions.programs import listed

SEVERITIES = ("high", "medium", "low")
_BASES = ("exact", "inferred")
_ACCESSES = ("read", "write")


_COMMAND_KEYS = listed(
    """
    program subcommand wrapper flag flags option argument words piped_into run_later substituted without_arguments
    alone unknown unless_subcommand unless_flag unless_argument unless_risk
    """
)
_KEYS_OF = {
    "command": _COMMAND_KEYS,
    "path": frozenset({"access", "path", "unless_program"}),
    "host": frozenset({"host", "unless_host"}),
    "server": frozenset({"verb", "unless_first"}),
}
_EVERYWHERE = listed("id risk severity basis why source dated off outside unless_path")
_KNOWN = _EVERYWHERE.union(*_KEYS_OF.values())
_TEXTS = frozenset({"id", "risk", "severity", "basis", "why", "source", "access"})
_SWITCHES = frozenset({"off", "outside", "run_later", "without_arguments", "alone"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_REMEDY = "see the first lines of aix/permissions/risks.toml on how a rule is written"


class Option(msgspec.Struct, frozen=True):
    """An option that must have a value."""

    name: str
    value: Words


class RiskRule(msgspec.Struct, frozen=True):
    """One rule: it fits a part of a call when everything that it says holds; what it does not say is None or empty."""

    id: str
    risk: str
    severity: str
    basis: str
    why: str
    kind: str
    """Of which parts it speaks: command, path, host or server."""
    program: Words | None
    subcommand: frozenset[str] | None
    wrapper: frozenset[str] | None
    flags: tuple[tuple[str, ...], ...]
    """Of each group one must be there."""
    options: tuple[Option, ...]
    argument: Words | None
    words: Sequences | None
    piped_into: frozenset[str] | None
    substituted: frozenset[str] | None
    """Programs, of which one stands at the start of what a word is replaced by."""
    access: str | None
    path: PathPatterns | None
    host: Words | None
    verb: frozenset[str] | None
    unless_subcommand: frozenset[str]
    unless_flag: tuple[str, ...]
    unless_argument: Words | None
    unless_path: PathPatterns | None
    unless_program: frozenset[str]
    unless_host: Words | None
    unless_first: frozenset[str]
    unless_risk: frozenset[str]
    is_outside: bool
    is_run_later: bool
    is_without_arguments: bool
    is_alone: bool
    unknown: frozenset[str] | None
    """Kinds of unknown programs and code, of which one must hold."""


class RuleFile(msgspec.Struct, frozen=True):
    """Contents of a file of rules."""

    risks: Mapping[str, str]
    lists: Mapping[str, tuple[str, ...]]
    rules: tuple[RiskRule, ...]
    without: frozenset[str]
    """The ids of rules that are taken away."""


def parse_rules(content: bytes, place: str, before: RuleFile | None = None) -> RuleFile:
    """Return what a file says; risks and lists of the file before it are known to it.

    Raises:
        RiskFileError: It says something that cannot be meant.
    """
    try:
        written = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RiskFileError(place, "this is not a text file in UTF-8", _REMEDY) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RiskFileError(place, f"this is not TOML: {error}", _REMEDY) from error
    reading = _Reading(place, before)
    return reading.read(written)


class _Reading:
    def __init__(self, place: str, before: RuleFile | None) -> None:
        self._place = place
        self._risks: dict[str, str] = dict(before.risks) if before else {}
        self._lists: dict[str, tuple[str, ...]] = dict(before.lists) if before else {}

    def read(self, written: Mapping[str, object]) -> RuleFile:
        for key in written:
            if key not in {"dated", "risks", "lists", "rule"}:
                self._fail(key, f"there is no {key!r}; a file has dated, [risks], [lists] and [[rule]]")
        if "dated" in written and not isinstance(written["dated"], date):
            self._fail("dated", "dated must be a day, such as 2026-11-16")
        self._risks |= {name: self._text("risks", name, value) for name, value in self._table(written, "risks").items()}
        for name, value in self._table(written, "lists").items():
            self._lists[name] = self._texts("lists", name, value)
        entries = written.get("rule", [])
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            self._fail("rule", "rules are written as [[rule]]")
        rules: dict[str, RiskRule] = {}
        without: set[str] = set()
        for number, entry in enumerate(entries, 1):
            name = entry.get("id")
            if not isinstance(name, str) or not name:
                self._fail(f"rule {number}", 'it has no id; write id = "…"')
            if name in rules or name in without:
                self._fail(f"rule {name}", "there are two rules of that id")
            if entry.get("off") is True:
                without.add(name)
            else:
                try:
                    rules[name] = self._rule(f"rule {name}", entry)
                except GlobError as error:
                    self._fail(f"rule {name}", f"{error} is no pattern")
        return RuleFile(self._risks, self._lists, tuple(rules.values()), frozenset(without))

    def _rule(self, name: str, entry: Mapping[str, object]) -> RiskRule:
        kind = self._checked_kind(name, entry)
        risk = self._one_of(name, entry, "risk", tuple(self._risks))
        severity = self._one_of(name, entry, "severity", SEVERITIES)
        basis = self._one_of(name, entry, "basis", _BASES, default="exact")

        def names(key: str) -> frozenset[str] | None:
            return frozenset(self._texts(name, key, entry[key])) if key in entry else None

        def words(key: str) -> Words | None:
            return Words(self._texts(name, key, entry[key])) if key in entry else None

        def paths(key: str) -> PathPatterns | None:
            return PathPatterns(self._texts(name, key, entry[key])) if key in entry else None

        return RiskRule(
            id=str(entry["id"]),
            risk=risk,
            severity=severity,
            basis=basis,
            why=str(entry.get("why", "")),
            kind=kind,
            program=words("program"),
            subcommand=names("subcommand"),
            wrapper=names("wrapper"),
            flags=self._flags(name, entry),
            options=tuple(self._option(name, each) for each in self._texts(name, "option", entry.get("option", []))),
            argument=words("argument"),
            words=Sequences(self._texts(name, "words", entry["words"])) if "words" in entry else None,
            piped_into=names("piped_into"),
            substituted=names("substituted"),
            access=self._one_of(name, entry, "access", _ACCESSES) if "access" in entry else None,
            path=paths("path"),
            host=words("host"),
            verb=names("verb"),
            unless_subcommand=names("unless_subcommand") or frozenset(),
            unless_flag=self._texts(name, "unless_flag", entry.get("unless_flag", [])),
            unless_argument=words("unless_argument"),
            unless_path=paths("unless_path"),
            unless_program=names("unless_program") or frozenset(),
            unless_host=words("unless_host"),
            unless_first=names("unless_first") or frozenset(),
            unless_risk=names("unless_risk") or frozenset(),
            is_outside=entry.get("outside") is True,
            is_run_later=entry.get("run_later") is True,
            is_without_arguments=entry.get("without_arguments") is True,
            is_alone=entry.get("alone") is True,
            unknown=names("unknown"),
        )

    def _checked_kind(self, name: str, entry: Mapping[str, object]) -> str:
        for key, value in entry.items():
            if key not in _KNOWN:
                nearest = nearest_names(key, sorted(_KNOWN), 1)
                self._fail(name, f"there is no {key!r}" + (f"; did you mean {nearest[0]}?" if nearest else ""))
            if key in _TEXTS:
                self._text(name, key, value)
            if key in _SWITCHES and not isinstance(value, bool):
                self._fail(name, f"{key} must be true or false")
        kinds = [kind for kind, keys in _KEYS_OF.items() if not keys.isdisjoint(entry)]
        if not kinds:
            self._fail(name, "it fits everything; say at least a program, wrapper, path, access, host or verb")
        if len(kinds) > 1:
            self._fail(name, f"it speaks of a {' and of a '.join(kinds)} at once; make it two rules")
        return kinds[0]

    def _flags(self, name: str, entry: Mapping[str, object]) -> tuple[tuple[str, ...], ...]:
        groups = entry.get("flags", [])
        if not isinstance(groups, list):
            self._fail(name, "flags must be a list of lists; for one list write flag")
        single = [entry["flag"]] if "flag" in entry else []
        return tuple(self._texts(name, "flag", group) for group in [*single, *groups])

    def _option(self, name: str, text: str) -> Option:
        option, equals, value = text.partition("=")
        if not equals or not value or not option.startswith("-"):
            self._fail(name, f"the option {text!r} must have a value, such as --network=host")
        return Option(option, Words([value]))

    def _one_of(
        self, name: str, entry: Mapping[str, object], key: str, known: tuple[str, ...], default: str | None = None
    ) -> str:
        value = entry.get(key, default)
        if value is None:
            self._fail(name, f"it has no {key}; it is one of {', '.join(known)}")
        if value not in known:
            self._fail(name, f"{key} cannot be {value!r}; it is one of {', '.join(known)}")
        return str(value)

    def _table(self, written: Mapping[str, object], key: str) -> Mapping[str, object]:
        value = written.get(key, {})
        if not isinstance(value, dict):
            self._fail(key, f"{key} is written as [{key}]")
        return value

    def _text(self, name: str, key: str, value: object) -> str:
        if not isinstance(value, str) or not value:
            self._fail(name, f"{key} must be a text")
        return str(value)

    def _texts(self, name: str, key: str, value: object) -> tuple[str, ...]:
        """Return a list of texts, with the lists that it names in their place."""
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list) or not all(isinstance(each, str) and each for each in given):
            self._fail(name, f"{key} must be a list of texts")
        found: list[str] = []
        for each in given:
            if not each.startswith("@"):
                found.append(each)
            elif each[1:] in self._lists:
                found.extend(self._lists[each[1:]])
            else:
                self._fail(name, f"there is no list {each[1:]!r} under [lists]")
        return tuple(found)

    def _fail(self, name: str, problem: str) -> NoReturn:
        raise RiskFileError(self._place, f"{name}: {problem}", _REMEDY)


def verbs_of(tool: str) -> list[str]:
    """Return the words of a tool's name in small letters.

    >>> verbs_of("createIssue_comment")
    ['create', 'issue', 'comment']
    """
    return [word.lower() for word in _WORD.findall(tool)]


def read_own(path: Path) -> bytes:
    """Return the content of the user's own file of rules.

    Raises:
        RiskFileError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise RiskFileError(str(path), error.strerror or str(error), "name a TOML file of risk rules") from error


@cache
def bundled_rules() -> RuleFile:
    """Return the rules that come with AIX; they know which files tools keep for themselves."""
    own_files = tuple(pattern for dialect in dialects().values() for pattern in dialect.own_files)
    known = RuleFile({}, {"own_files": own_files}, (), frozenset())
    return parse_rules(RISK_FILE.read_bytes(), RISK_FILE.name, known)


def joined_rules(own: RuleFile | None) -> tuple[RiskRule, ...]:
    """Return the rules in force: one's own that are new, then those that come with AIX or what takes their place."""
    bundled = bundled_rules()
    if own is None:
        return bundled.rules
    replaced = {rule.id: rule for rule in own.rules}
    kept = [replaced.pop(rule.id, rule) for rule in bundled.rules if rule.id not in own.without]
    return (*(rule for rule in own.rules if rule.id in replaced), *kept)
