"""The rules that a ledger knows or a user gives, and which of them are in force where a call was made."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aix.errors import SettingsFileError, UnknownNameError
from aix.importing import readable
from aix.permissions.contract import Dialect, Judge, Rule, dialects
from aix.permissions.paths import home_of

_SCOPES = ("persona", "user", "project", "local", "command_line", "managed")
"""From the weakest to the strongest."""
_HELD_TO_A_FOLDER = {"project", "local"}
_NOTHING = ""

Row = tuple[object, ...]
_LARGEST_FILE = 16 * 2**20
_MOST_PROBLEMS = 20
_HELD_TO_A_PLACE = {"user", "project", "local"}


class RuleSet(msgspec.Struct, frozen=True, dict=True):
    """The rules in force at one place."""

    dialect: Dialect
    rules: tuple[Rule, ...]
    home: str | None = None

    @cached_property
    def judge(self) -> Judge:
        """Judge that holds the rules against calls."""
        return self.dialect.judge(self.rules, self.home)

    @cached_property
    def digest(self) -> str:
        """Digest that changes when a rule, or its place, does."""
        return _digest(self.rules)


class RuleBook(msgspec.Struct, dict=True):
    """Rules by origin."""

    rules: dict[str, list[Rule]] = msgspec.field(default_factory=dict)
    """An origin with an empty list is known to have no rules anywhere."""
    home: str | None = None
    """The home folder that `~` stands for; None where each call's own folder shows it."""
    problems: list[str] = msgspec.field(default_factory=list)
    """Sentences about entries that were skipped in the files that it was read from."""
    _sets: dict[tuple[str, str], RuleSet | None] = msgspec.field(default_factory=dict)
    _by_rules: dict[tuple[Rule, ...], RuleSet] = msgspec.field(default_factory=dict)

    def in_force(self, origin: str | None, cwd: str | None) -> RuleSet | None:
        """Return the rules that hold for calls of that origin made in that folder; None when none are known."""
        place = (origin or _NOTHING, cwd or _NOTHING)
        if place not in self._sets:
            self._sets[place] = self._find(*place)
        return self._sets[place]

    def whole_input_tools(self) -> set[str]:
        """Return the tools whose calls must be given with all their parameters."""
        tools: set[str] = set()
        for origin, rules in self.rules.items():
            dialect = dialects()[origin]
            tools.update(dialect.whole_input_tools)
            alike = {(rule.kind, rule.text): rule for rule in rules}  # of all projects: most say the same
            with suppress(Exception):  # of another distribution: what it breaks must not end an import
                tools.update(dialect.judge(list(alike.values())).whole_input_tools)
        return tools

    def _find(self, origin: str, cwd: str) -> RuleSet | None:
        dialect = dialects().get(origin)
        known = self.rules.get(origin)
        if dialect is None or known is None:
            return None
        rules = tuple(rule for rule in known if _holds(rule, cwd))
        if known and not rules:
            return None
        return self._by_rules.setdefault(rules, RuleSet(dialect, rules, self.home))

    @cached_property
    def digest(self) -> str:
        """Digest that changes when a rule does."""
        known = (f"{origin} {_digest(rules)}" for origin, rules in sorted(self.rules.items()))
        return sha256("\0".join(known).encode()).hexdigest()[:16]


def rule_book(rows: Iterable[Row]) -> RuleBook:
    """Make a book of rows `origin, scope, file, position, kind, rule` of `permission_rules`."""
    book = RuleBook()
    for origin, scope, file, position, kind, text in rows:
        dialect = dialects().get(str(origin))
        if dialect is not None:
            folder = dialect.folder_of(str(scope), str(file))
            place = position if isinstance(position, int) else 0
            rule = Rule(str(kind), str(text), str(scope), str(file), place, folder)
            book.rules.setdefault(str(origin), []).append(rule)
    for name, rules in book.rules.items():
        book.rules[name] = in_order(rules)
    return book


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules from those of the weakest scope to those of the strongest, and as they are written."""
    return sorted(rules, key=lambda rule: (_SCOPES.index(rule.scope), rule.file, rule.kind, rule.position, rule.text))


def in_force_rows(book: RuleBook, keys: Collection[Row]) -> Iterator[Row]:
    """Go through the rows of `rules_in_force` about the rules `origin, scope, file, kind, rule` that are given."""
    for origin, rules in book.rules.items():
        for rule in rules:
            key = (origin, rule.scope, rule.file, rule.kind, rule.text)
            if key in keys:
                with suppress(Exception):  # of another distribution: what it breaks must not end an import
                    yield (*key, _reach(rule) or None, dialects()[origin].is_tool_wide(rule))


def _holds(rule: Rule, cwd: str) -> bool:
    """Whether a rule speaks of calls made in a folder."""
    path, reach = cwd.replace("\\", "/"), _reach(rule)
    if not reach or path == reach or path.startswith(f"{reach}/"):
        return True
    return rule.scope == "user" and home_of(path) is None  # of another user nothing is known here


def _reach(rule: Rule) -> str:
    """Return the folder in which a rule holds, with all below; empty where that is everywhere."""
    if rule.scope in _HELD_TO_A_FOLDER:
        return rule.folder.replace("\\", "/").rstrip("/")
    return (home_of(rule.file) if rule.scope == "user" else None) or _NOTHING


def _digest(rules: Iterable[Rule]) -> str:
    lines = (f"{rule.scope}\0{rule.file}\0{rule.kind}\0{rule.position}\0{rule.text}\0{rule.folder}" for rule in rules)
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_rule_files(
    paths: Iterable[Path], *, folder: str | None = None, home: str | None = None, origin: str | None = None
) -> RuleBook:
    """Return the rules of settings files; each is of the given origin, else of the one that it looks like.

    Paths in the rules start from the folder given, else from the folder that each file's path shows.
    """
    if origin is not None and origin not in dialects():
        raise UnknownNameError("origin", origin, tuple(dialects()))
    book = RuleBook(home=home)
    for path in paths:
        content = _content(path)
        dialect = dialects()[origin] if origin else _dialect_of(path, content)
        book.rules.setdefault(dialect.origin, []).extend(_rules(dialect, path, content, folder, book.problems.append))
    for name, rules in book.rules.items():
        book.rules[name] = in_order(rules)
    if len(book.problems) > _MOST_PROBLEMS:
        book.problems[_MOST_PROBLEMS:] = [f"And {len(book.problems) - _MOST_PROBLEMS} more were skipped."]
    return book


def read_rules_for_all(paths: Iterable[Path], origin: str | None = None) -> RuleBook:
    """Return the rules of settings files as if they were given on the command line: they hold for every call.

    Paths in the rules start from where each call was made.
    """
    book = read_rule_files(paths, folder="", origin=origin)
    for name, rules in book.rules.items():
        given = (replace(rule, scope="command_line") if rule.scope in _HELD_TO_A_PLACE else rule for rule in rules)
        book.rules[name] = in_order(given)
    return book


def _rules(
    dialect: Dialect, path: Path, content: bytes, folder: str | None, report: Callable[[str], object]
) -> list[Rule]:
    try:
        return dialect.read_settings(readable(str(path.absolute())), content, folder, report)
    except ValueError as error:
        raise SettingsFileError(path, str(error)) from error


def _dialect_of(path: Path, content: bytes) -> Dialect:
    for dialect in dialects().values():
        if dialect.reads(str(path.absolute()), content):
            return dialect
    try:
        json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SettingsFileError(path, f"it is no JSON: {error}") from error
    known = ", ".join(dialects())
    problem = f"it looks like the settings of no tool whose rules AIX knows; say whose it is by --origin: {known}"
    raise SettingsFileError(path, problem)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise SettingsFileError(path, error.strerror or str(error)) from error
    if len(content) > _LARGEST_FILE:
        raise SettingsFileError(path, f"it is larger than {_LARGEST_FILE // 2**20} MiB")
    return content
