"""The permission rules in files; of all else in them, which may hold secrets, nothing is kept."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from aix.importing import Problem, Rows, Source, readable
from aix.permissions import home_of
from aix_importers.cursor.rules import Rule, rule_rows
from aix_importers.cursor.values import ABSENT, fields_if_object, is_filled, is_list, items, text

_LISTS = {"allow": "allow", "ask": "ask", "deny": "deny"}
_ALLOWLISTS = {"terminalAllowlist": "Shell({})", "mcpAllowlist": "Mcp({})"}
_LARGEST_FILE = 16 * 2**20
# A text is taken as a whole, so that what looks like a comment in it stays.
_TEXT_OR_COMMENT = re.compile(rb'("(?:[^"\\]|\\.)*+")|//[^\n]*+|/\*.*?(?:\*/|\Z)|,(?=\s*+[\]}])', re.DOTALL)


def holds_rules(head: bytes) -> bool:
    """Whether a file has permissions of the command line, or allowlists of the editor."""
    if any(f'"{name}"'.encode() in head for name in _ALLOWLISTS):
        return True
    return b'"permissions"' in head and any(name in head for name in (b'"allow"', b'"deny"'))


def rules_in(data: bytes, report: Callable[[str], object] = lambda _: None) -> list[Rule] | None:
    """Return the rules in the content of a file; nothing where it is no file that could hold some."""
    data = _without_comments(data[:_LARGEST_FILE].removeprefix(b"\xef\xbb\xbf"))
    settings = fields_if_object(data)
    if settings is None:
        return None
    held = settings.get("permissions", ABSENT)
    permissions = fields_if_object(held)
    if permissions is None and bytes(held) != b"null" and settings.keys().isdisjoint(_ALLOWLISTS):
        return None
    permissions = permissions or {}
    lists = [(name, kind, "{}", permissions.get(name)) for name, kind in _LISTS.items()]
    lists += [(name, "allow", form, settings.get(name)) for name, form in _ALLOWLISTS.items()]
    found = []
    for name, kind, form, entries in lists:
        if entries is not None and is_filled(entries) and not is_list(entries):
            report(f"{name} is no list.")
        for position, item in enumerate(items(entries)):
            if rule := text(item):
                found.append(Rule(kind, form.format(rule), position))
            else:
                report(f"Entry {position} of {name} is no text.")
    return found


def file_name(path: str) -> str:
    """Return the last part of a path of any system."""
    return re.split(r"[/\\]", path)[-1]


def scope_of(path: str) -> str:
    """Return whose rules a file holds, by its place.

    >>> scope_of("/srv/lamp/.cursor/cli.json"), scope_of("/home/ada/.cursor/permissions.json")
    ('project', 'user')
    """
    path, name = path.replace("\\", "/"), file_name(path)
    if name == "cli-config.json":
        return "user"
    is_of_a_home = path == f"{home_of(path)}/.cursor/{name}"
    is_of_a_project = name == "cli.json" or ("/.cursor/" in path and not is_of_a_home)
    return "project" if is_of_a_project else "user"


def extract_rules(source: Source) -> Iterator[Rows | Problem]:
    """Go through the rules of a file."""
    path = Path(source.path)
    reports: list[str] = []
    data = path.read_bytes()
    if len(data) > _LARGEST_FILE:
        reports.append(f"The file was read up to its first {_LARGEST_FILE} bytes.")
    rules = rules_in(data, reports.append)
    yield from (Problem(source, "unusable_rule", report) for report in reports)
    if rules is None:
        yield Problem(source, "unreadable_settings", "The file holds no object of permissions.")
        return
    yield from rule_rows(source, rules, scope_of(source.path), readable(source.path), path.stat().st_mtime_ns // 10**6)


def _without_comments(data: bytes) -> bytes:
    return _TEXT_OR_COMMENT.sub(lambda found: found[1] or b"", data) if b"/" in data or b"," in data else data
