"""The permission rules of the command line; of all else in their files, which may hold secrets, nothing is kept."""

from collections.abc import Iterator
from pathlib import Path

from aix.importing import Problem, Rows, Source, readable
from aix_importers.cursor.rules import Rule, rule_rows
from aix_importers.cursor.values import field, fields, items, text

RULE_FILES = ("cli.json", "cli-config.json", "permissions.json")
_LISTS = {"allow": "allow", "ask": "ask", "deny": "deny"}
_LARGEST_FILE = 16 * 2**20


def holds_rules(head: bytes) -> bool:
    """Whether a file has permissions of the command line."""
    return b'"permissions"' in head and any(name in head for name in (b'"allow"', b'"deny"'))


def extract_rules(source: Source) -> Iterator[Rows | Problem]:
    """Go through the rules of a file."""
    path = Path(source.path)
    data = path.read_bytes()[:_LARGEST_FILE].removeprefix(b"\xef\xbb\xbf")
    permissions = field(data, "permissions")
    if not fields(permissions):
        yield Problem(source, "unreadable_settings", "The file holds no object of permissions.")
        return
    rules = [
        Rule(kind, rule, position)
        for name, kind in _LISTS.items()
        for position, item in enumerate(items(field(permissions, name)))
        if (rule := text(item))
    ]
    scope = "project" if path.name == "cli.json" else "user"
    yield from rule_rows(source, rules, scope, readable(source.path), path.stat().st_mtime_ns // 10**6)
