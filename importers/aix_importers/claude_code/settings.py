"""The permission rules in settings files; of all else in them, which may hold secrets, nothing is kept."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from aix.permissions import home_of
from aix_importers.common.json_text import ABSENT, fields_if_object, is_list, items, number, text

_BOM = b"\xef\xbb\xbf"
_NULL = b"null"
_LISTS = {"allow": "allow", "ask": "ask", "deny": "deny", "additionalDirectories": "directory"}
RETENTION_SETTING = "cleanupPeriodDays"
_DEFAULT_DAYS = 30
_SWITCHES = ("defaultMode", "disableBypassPermissionsMode")


class Rule(NamedTuple):
    """One rule of a settings file."""

    kind: str
    """One of allow, ask, deny, directory and mode."""
    rule: str
    """As it is written; the switch that forbids a mode as `name=value`."""
    position: int
    """Place in its list, from 0."""


def read_rules(path: str, content: bytes, report: Callable[[str], object] = lambda _: None) -> list[Rule]:
    """Return the rules of a settings file, each of a kind once.

    A single entry that is not a rule is reported in a sentence and skipped.

    Raises:
        ValueError: The file is no settings file.
    """
    settings = fields_if_object(content.removeprefix(_BOM))
    if settings is None:
        raise ValueError(f"{path} holds no JSON object, so its permission rules could not be read.")
    stated = settings.get("permissions", ABSENT)
    if bytes(stated) == _NULL:
        return []
    permissions = fields_if_object(stated)
    if permissions is None:
        raise ValueError(f"`permissions` in {path} is no JSON object, so its rules could not be read.")
    found: dict[tuple[str, str], Rule] = {}
    for rule in _rules(path, permissions, report):
        found.setdefault((rule.kind, rule.rule), rule)
    return list(found.values())


def _rules(path: str, permissions: Mapping[str, Raw], report: Callable[[str], object]) -> Iterator[Rule]:
    for name, kind in _LISTS.items():
        listed = permissions.get(name, ABSENT)
        if bytes(listed) != _NULL and not is_list(listed):
            report(f"`permissions.{name}` in {path} is no list and was skipped.")
        for position, item in enumerate(items(listed)):
            rule = text(item)
            if rule:
                yield Rule(kind, rule, position)
            else:
                report(f"Entry {position} of `permissions.{name}` in {path} is no rule and was skipped.")
    for name in _SWITCHES:
        given = permissions.get(name, ABSENT)
        value = text(given)
        if value:
            yield Rule("mode", value if name == "defaultMode" else f"{name}={value}", 0)
        elif bytes(given) != _NULL:
            report(f"`permissions.{name}` in {path} is no text and was skipped.")


def kept_days(path: Path) -> int | None:
    """Return after how many days transcripts are deleted, by the settings of a user; None when that is unclear."""
    if not path.exists():
        return _DEFAULT_DAYS
    try:
        settings = fields_if_object(path.read_bytes().removeprefix(_BOM)) if path.is_file() else None
    except OSError:
        return None
    if settings is None:
        return None
    days = number(settings[RETENTION_SETTING]) if RETENTION_SETTING in settings else _DEFAULT_DAYS
    return days if days and days > 0 else None


def scope_of(path: str, config_folders: Collection[str] = ()) -> str:
    r"""Return whose settings a file holds: managed, user, project or local.

    The settings of a user lie in one of the folders given, in `.claude` in a home, or in a folder of any other name,
    as the client may be told to use.

    >>> scope_of("/home/ada/.claude/settings.json"), scope_of("C:\\work\\.claude\\settings.json")
    ('user', 'project')
    """
    folder, _, name = path.replace("\\", "/").rpartition("/")
    if name == "managed-settings.json" or folder.endswith("/managed-settings.d"):
        return "managed"
    if name == "settings.local.json":
        return "local"
    owner, _, last = folder.rpartition("/")
    is_given = folder in {each.replace("\\", "/").rstrip("/") for each in config_folders}
    return "user" if is_given or last != ".claude" or owner in ("~", home_of(owner)) else "project"
