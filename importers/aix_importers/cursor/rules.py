"""Permission rules, and the settings of the editor that stand for some."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from aix.importing import Problem, RowBuffer, Rows, Source, readable
from aix_importers.cursor.conversation import ORIGIN
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.keys import SETTINGS_ITEM
from aix_importers.cursor.values import ABSENT, field, fields, fields_if_object, flag, is_filled, is_list, items, text

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


class Rule(NamedTuple):
    """One rule."""

    kind: str
    """One of allow, ask, deny and mode."""
    rule: str
    position: int


def extract_editor_rules(source: Source, values: KeyValues) -> Iterator[Rows | Problem]:
    """Go through the rules in the settings of the editor; they are known to stand there since it was last written."""
    state = field(values.item(SETTINGS_ITEM), "composerState")
    yield from (Problem(source, "unusable_rule", report) for report in _flaws(state))
    seen_at = Path(source.path).stat().st_mtime_ns // 10**6
    yield from rule_rows(source, _editor_rules(state), "user", readable(source.path), seen_at)


def _flaws(state: Raw) -> Iterator[str]:
    """Say what in the settings should be a rule and is not; nothing of the values is shown."""
    settings = fields_if_object(state)
    if settings is None:
        yield "composerState in the settings of the editor is no object."
        return
    for name in (*_LISTS, _MODES):
        listed = settings.get(name, ABSENT)
        if is_filled(listed) and not is_list(listed):
            yield f"{name} is no list."
        unusable = sum(text(item) is None for item in items(listed)) if name != _MODES else 0
        if unusable:
            yield f"{unusable} entries of {name} are no text."


def _editor_rules(state: Raw) -> Iterator[Rule]:
    settings = fields(state)
    for name, (kind, form) in _LISTS.items():
        for position, item in enumerate(items(settings.get(name))):
            if rule := text(item):
                yield Rule(kind, form.format(rule), position)
    for name in _SWITCHES:
        value = flag(settings.get(name, Raw(b"null")))
        if value is not None:
            yield Rule("mode", f"{name}={str(value).lower()}", 0)
    for position, item in enumerate(items(settings.get(_MODES))):
        mode = text(field(item, "id"))
        switches = ((name, flag(field(item, name))) for name in _MODE_SWITCHES)
        yield from (
            Rule("mode", f"{mode}.{name}={str(value).lower()}", position)
            for name, value in switches
            if mode and value is not None
        )


def rule_rows(source: Source, rules: Iterable[Rule], scope: str, file: str, seen_at: int) -> Iterator[Rows]:
    """Go through the rows of rules, each of a kind once."""
    buffer = RowBuffer(source)
    found: dict[tuple[str, str], Rule] = {}
    for rule in rules:
        found.setdefault((rule.kind, rule.rule), rule)
    for rule in found.values():
        buffer.add(
            "permission_rules",
            origin=ORIGIN,
            scope=scope,
            file=file,
            position=rule.position,
            kind=rule.kind,
            rule=rule.rule,
            first_seen_at=seen_at,
            last_seen_at=seen_at,
        )
    yield from buffer.drain()
