"""Rows of the permission rules in settings files."""

from collections.abc import Iterator
from pathlib import Path

from aix.importing import Problem, RowBuffer, Rows, Source, readable
from aix_importers.claude_code.placement import ORIGIN
from aix_importers.claude_code.settings import read_rules, scope_of


def extract_settings(source: Source) -> Iterator[Rows | Problem]:
    """Go through the rules of a settings file; they are known to stand there since it was last written."""
    path = Path(source.path)
    seen_at = path.stat().st_mtime_ns // 10**6
    reports: list[str] = []
    try:
        rules = read_rules(readable(source.path), path.read_bytes(), reports.append)
    except ValueError as error:
        yield Problem(source, "unreadable_settings", str(error))
        return
    for report in reports:
        yield Problem(source, "unusable_rule", report)
    buffer = RowBuffer(source)
    for rule in rules:
        buffer.add(
            "permission_rules",
            origin=ORIGIN,
            scope=scope_of(source.path),
            file=readable(source.path),
            position=rule.position,
            kind=rule.kind,
            rule=rule.rule,
            first_seen_at=seen_at,
            last_seen_at=seen_at,
        )
    yield from buffer.drain()
