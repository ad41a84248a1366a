"""Settings files that a user gives, in place of those that imports found."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec.structs import replace

from aix.errors import SettingsFileError, UnknownNameError
from aix.importing import readable
from aix.permissions.contract import Dialect, Rule
from aix.permissions.registry import dialects
from aix.permissions.rule_book import RuleBook, in_order

_LARGEST_FILE = 16 * 2**20
_MOST_PROBLEMS = 20
_HELD_TO_A_PLACE = {"user", "project", "local"}


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
        book.problems[_MOST_PROBLEMS:] = [f"And {len(book.problems) - _MOST_PROBLEMS} more were passed over."]
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
