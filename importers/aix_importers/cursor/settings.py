"""The permission rules of the editor and in files; of all else in settings, which may hold secrets, nothing is kept."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from aix.importing import Problem, RowBuffer, Rows, Source, readable
from aix.permissions import home_of
from aix_importers.common.row_writer import add_rules
from aix_importers.cursor.records import ORIGIN
from aix_importers.cursor.values import (
    ABSENT,
    field,
    fields_if_object,
    flag,
    is_filled,
    is_list,
    items,
    text,
)

_LISTS = {
    "yoloCommandAllowlist": ("allow", "Shell({})"),
    "yoloCommandDenylist": ("deny", "Shell({})"),
    "mcpAllowedTools": ("allow", "Mcp({})"),
    "webFetchDomainAllowlist": ("allow", "WebFetch({})"),
    "autoApprovedModeTransitions": ("allow", "SwitchMode({})"),
    "autoRejectedModeTransitions": ("deny", "SwitchMode({})"),
}
_SWITCHES = (
    "useYoloMode", "yoloEnableRunEverything", "yoloDotFilesDisabled", "yoloDeleteFileDisabled",
    "yoloOutsideWorkspaceDisabled", "yoloMcpToolsDisabled", "autoAcceptWebSearchTool", "playwrightProtection",
    "mcpAuthBlocking",
)  # fmt: skip
_MODES = "modes4"
_MODE_SWITCHES = ("autoRun", "fullAutoRun", "smartModeAutoRun", "autoFix")
_KINDS = ("allow", "ask", "deny")
_ALLOWLISTS = {"terminalAllowlist": "Shell({})", "mcpAllowlist": "Mcp({})"}
_LARGEST_FILE = 16 * 2**20
# A text is taken as a whole, so that what looks like a comment in it stays.
_TEXT_OR_COMMENT = re.compile(rb'("(?:[^"\\]|\\.)*+")|//[^\n]*+|/\*.*?(?:\*/|\Z)|,(?=\s*+[\]}])', re.DOTALL)


class Rule(NamedTuple):
    """One rule."""

    kind: str
    """One of allow, ask, deny and mode."""
    rule: str
    position: int


def extract_editor_rules(source: Source, settings: bytes | None) -> Iterator[Rows | Problem]:
    """Go through the rules in the settings of the editor; they are known to stand there since it was last written."""
    reports: list[str] = []
    rules = list(_editor_rules(field(settings, "composerState"), reports.append))
    yield from _extracted(source, rules, "user", reports)


def extract_rules(source: Source) -> Iterator[Rows | Problem]:
    """Go through the rules of a file."""
    reports: list[str] = []
    data = Path(source.path).read_bytes()
    if len(data) > _LARGEST_FILE:
        reports.append(f"The file was read up to its first {_LARGEST_FILE} bytes.")
    rules = rules_in(data, reports.append)
    yield from _extracted(source, rules or (), scope_of(source.path), reports)
    if rules is None:
        yield Problem(source, "unreadable_settings", "The file holds no object of permissions.")


def _extracted(source: Source, rules: Iterable[Rule], scope: str, reports: Iterable[str]) -> Iterator[Rows | Problem]:
    """Go through the problems and the rows of rules, each rule of a kind once."""
    yield from (Problem(source, "unusable_rule", report) for report in reports)
    buffer = RowBuffer(source)
    seen_at = Path(source.path).stat().st_mtime_ns // 10**6
    add_rules(buffer, rules, origin=ORIGIN, scope=scope, file=readable(source.path), seen_at=seen_at)
    yield from buffer.drain()


def _editor_rules(state: Raw, report: Callable[[str], object]) -> Iterator[Rule]:
    """Go through the rules in the state of the editor; of entries that are no rules, no value is reported."""
    settings = fields_if_object(state)
    if settings is None:
        report("composerState in the settings of the editor is no object.")
        return
    for name, (kind, form) in _LISTS.items():
        listed = settings.get(name, ABSENT)
        if is_filled(listed) and not is_list(listed):
            report(f"{name} is no list.")
        rules = [text(item) for item in items(listed)]
        if None in rules:
            report(f"{rules.count(None)} entries of {name} are no text.")
        yield from (Rule(kind, form.format(rule), position) for position, rule in enumerate(rules) if rule)
    for name in _SWITCHES:
        value = flag(settings.get(name, ABSENT))
        if value is not None:
            yield Rule("mode", f"{name}={str(value).lower()}", 0)
    modes = settings.get(_MODES, ABSENT)
    if is_filled(modes) and not is_list(modes):
        report(f"{_MODES} is no list.")
    for position, item in enumerate(items(modes)):
        mode = text(field(item, "id"))
        switches = ((name, flag(field(item, name))) for name in _MODE_SWITCHES)
        yield from (
            Rule("mode", f"{mode}.{name}={str(value).lower()}", position)
            for name, value in switches
            if mode and value is not None
        )


def holds_rules(head: bytes) -> bool:
    """Whether a file has permissions of the command line, or allowlists of the editor."""
    if any(f'"{name}"'.encode() in head for name in _ALLOWLISTS):
        return True
    return b'"permissions"' in head and any(name in head for name in (b'"allow"', b'"deny"'))


def rules_in(data: bytes, report: Callable[[str], object] = lambda _: None) -> list[Rule] | None:
    """Return the rules in the content of a file; nothing where it is no file that could hold some."""
    data = data[:_LARGEST_FILE].removeprefix(b"\xef\xbb\xbf")
    if b"/" in data or b"," in data:
        data = _TEXT_OR_COMMENT.sub(lambda found: found[1] or b"", data)
    settings = fields_if_object(data)
    if settings is None:
        return None
    held = settings.get("permissions", ABSENT)
    permissions = fields_if_object(held)
    if permissions is None and bytes(held) != b"null" and settings.keys().isdisjoint(_ALLOWLISTS):
        return None
    permissions = permissions or {}
    lists = [(kind, kind, "{}", permissions.get(kind)) for kind in _KINDS]
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
