"""Where a finding shows: the log of the session and the line that first names the call, and the line of a rule.

Files may be gone, moved or huge: what is not found within the bounds stays unknown.
"""

import re
import stat
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from aix.permissions.audit.findings import Finding, shortened
from aix.reading.ledger import Ledger

_BYTES_PER_FILE = 64 * 2**20
_BYTES_OF_ALL = 256 * 2**20
_BLOCK = 2**20
_LONGEST = 200
_Place = tuple[str | None, str | None]
"""A file and a text in it."""
_RAW_PATHS = """
    select label, raw_path from session_context
    where raw_path is not null and label in (select unnest(cast($labels as varchar[])))
"""


def with_places(ledger: Ledger, findings: Sequence[Finding]) -> list[Finding]:
    """Add files and lines to the evidence of findings, as far as they can be found."""
    labels = sorted({finding.evidence.session_label or "" for finding in findings} - {""})
    logs: dict[str | None, str] = dict(ledger.sql(_RAW_PATHS, {"labels": labels}).rows()) if labels else {}
    texts: dict[str, set[str]] = {}
    for finding in findings:
        for path, text in (_call_in_log(finding, logs), _rule_in_settings(finding)):
            if path and text:
                texts.setdefault(path, set()).add(text)
    lines: dict[_Place, int] = {}
    left = _BYTES_OF_ALL
    for path, sought in texts.items():
        found, read = find_lines(path, sought, min(left, _BYTES_PER_FILE))
        lines |= {(path, text): line for text, line in found.items()}
        left -= read
    return [_placed(finding, logs, lines) for finding in findings]


def find_lines(path: str, texts: Collection[str], limit: int) -> tuple[dict[str, int], int]:
    """Return the line in which each text first stands as a JSON string, and how many bytes were read for that.

    A text that JSON would write with escapes, or that is long, is not looked for.
    """
    wanted = {text.encode(): text for text in texts if len(text) <= _LONGEST}
    if not wanted:
        return {}, 0
    pattern = re.compile(b'"(' + re.escape(_shared_start(wanted)) + rb'[^"\\\n]{0,%d})"' % _LONGEST)
    found: dict[str, int] = {}
    read = 0
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return {}, 0
        with Path(path).open("rb") as file:
            first, tail = 1, b""
            while len(found) < len(wanted) and (block := file.read(min(_BLOCK, limit - read))):
                if not read and b"\0" in block:  # no text: a database
                    return {}, len(block)
                read += len(block)
                data = tail + block
                line, counted = first, 0
                for match in pattern.finditer(data):
                    text = wanted.get(match[1])
                    if text is not None and text not in found:
                        line += data.count(b"\n", counted, match.start())
                        counted = match.start()
                        found[text] = line
                tail = data[-2 * _LONGEST :]  # a text may be cut in two
                first += data.count(b"\n", 0, len(data) - len(tail))
    except (OSError, ValueError):  # a path that holds a NUL is a ValueError
        pass
    return found, read


def _shared_start(words: Collection[bytes]) -> bytes:
    first, last = min(words), max(words)
    same = next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:same]


def _call_in_log(finding: Finding, logs: Mapping[str | None, str]) -> _Place:
    return logs.get(finding.evidence.session_label), finding.evidence.call_id


def _rule_in_settings(finding: Finding) -> _Place:
    rule = finding.details.get("rule")
    return finding.evidence.settings_file, rule if isinstance(rule, str) else None


def _placed(finding: Finding, logs: Mapping[str | None, str], lines: Mapping[_Place, int]) -> Finding:
    call = _call_in_log(finding, logs)
    evidence = msgspec.structs.replace(
        finding.evidence,
        file=None if call[0] is None else shortened(call[0]),
        line=lines.get(call),
        settings_line=lines.get(_rule_in_settings(finding)),
    )
    return msgspec.structs.replace(finding, evidence=evidence)
