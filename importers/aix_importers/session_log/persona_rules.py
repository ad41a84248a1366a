"""The lists of tools that a persona, or a program, may use: rules as they are stored and as they are granted."""

from collections.abc import Callable
from typing import NamedTuple

from aix_importers.session_log.references import referred_id

SCOPE = "persona"
KINDS = ("allow", "ask", "deny")
NOTHING_ALLOWED = "tools.allow=[]"
"""Stands for a list of what is allowed that names nothing, which is something else than no list."""


class PersonaRule(NamedTuple):
    """One rule."""

    kind: str
    text: str
    position: int


def persona_rules(value: object, report: Callable[[str], object] = lambda _: None) -> list[PersonaRule] | None:
    """Return the rules of a persona, of its permissions, or of a program's settings; nothing where it has no lists.

    >>> [rule.text for rule in persona_rules({"permissions": {"tools": {"deny": ["@(shell)", "Read(/etc/*)"]}}}) or ()]
    ['shell', 'Read(/etc/*)']
    """
    for name in ("config", "permissions", "tools"):
        inner = value.get(name) if isinstance(value, dict) else None
        value = inner if isinstance(inner, dict) else value
    if not isinstance(value, dict) or not any(isinstance(value.get(kind), list) for kind in KINDS):
        return None
    found = []
    for kind in KINDS:
        entries = value.get(kind)
        for position, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, str) and entry.strip():
                found.append(PersonaRule(kind, referred_id(entry) or entry.strip(), position))
            else:
                report(f"Entry {position} of {kind} is no text.")
    if isinstance(value.get("allow"), list) and not any(rule.kind == "allow" for rule in found):
        found.append(PersonaRule("mode", NOTHING_ALLOWED, 0))
    return found


def granted_lists(rules: list[PersonaRule]) -> dict[str, object]:
    """Return the rules as the lists of `permissions_granted`; without a whitelist there is no `allow`."""
    lists: dict[str, object] = {kind: [rule.text for rule in rules if rule.kind == kind] for kind in KINDS}
    if not lists["allow"] and not any(rule.text == NOTHING_ALLOWED for rule in rules):
        del lists["allow"]
    return lists
