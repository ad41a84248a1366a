"""Copies of Claude Code logs with fresh ids, for measuring with texts of real sizes.

    python -m benchmarks.replicated_logs FOLDER TARGET --megabytes 1000

Every copy has sessions, nicknames, records, messages, calls and agents of its own: names of one copy that are equal
stay equal.
"""

import argparse
import re
import sys
from pathlib import Path

_UUID = re.compile(rb"\b([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b")
_API_ID = re.compile(rb"(?<![0-9A-Za-z])((?:msg|(?:srv)?toolu|req)_[0-9A-Za-z]{6})([0-9A-Za-z]{6})")
_AGENT_ID = re.compile(rb"(\"agentId\":\s?\"|agent-|agentId: |<task-id>)(a?)([0-9a-f]{7})(?=[0-9a-f]*\b)")
_NICKNAME = re.compile(rb"(\"(?:slug|agentName)\":\s?\"[^\"]*)\"")
_OTHER_ID = re.compile(
    rb"(\"(?:[a-z][A-Za-z]*U(?:uid|UID)|uuid|id|tool_use_id|[a-z][A-Za-z]*I[dD])\":\s?\"|<task-id>)([^\"<\\]+)(?=[\"<])"
)
"""Ids of another form: a tool that masks what looks like a phone number does so within ids as well."""
_LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def replicate(folder: Path, target: Path, megabytes: int) -> int:
    """Write copies of all transcripts of a folder until they have that size, and return the size in bytes."""
    sources = sorted(path for path in folder.rglob("*.jsonl"))
    written = number = 0
    while written < megabytes * 10**6:
        number += 1
        for source in sources:
            if written >= megabytes * 10**6:
                break
            relative = with_fresh_ids(str(source.relative_to(folder)).encode(), number).decode()
            path = target / "projects" / f"copy-{number}" / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            written += path.write_bytes(with_fresh_ids(source.read_bytes(), number))
    return written


def with_fresh_ids(data: bytes, number: int) -> bytes:
    """Replace all ids by those of a copy."""
    mask = number * 2_654_435_761 % 2**32
    shift = 1 + number % (len(_LETTERS) - 1)
    turned = bytes.maketrans(_LETTERS, _LETTERS[shift:] + _LETTERS[:shift])
    data = _NICKNAME.sub(rb'\1-%d"' % number, data)
    data = _OTHER_ID.sub(lambda found: found[0] if _has_known_form(found) else b"%s-%d" % (found[0], number), data)
    data = _UUID.sub(lambda found: b"%08x%s" % (int(found[1], 16) ^ mask, found[2]), data)
    data = _API_ID.sub(lambda found: b"%s%s" % (found[1], _mixed(found[2], number, turned)), data)
    return _AGENT_ID.sub(lambda found: b"%s%s%07x" % (found[1], found[2], int(found[3], 16) ^ mask % 2**28), data)


def _has_known_form(found: re.Match[bytes]) -> bool:
    return any(form.search(found[0]) for form in (_UUID, _API_ID, _AGENT_ID))


def _mixed(letters: bytes, number: int, turned: bytes) -> bytes:
    """Return other letters; copies whose numbers lie far apart must not meet, so the number is in them as well."""
    first = letters.translate(turned)
    return first[:4] + bytes([_LETTERS[(_LETTERS.index(first[4]) + number // 61) % 62], first[5]])


def main() -> None:
    """Write the copies that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--megabytes", type=int, default=1000)
    arguments = parser.parse_args()
    size = replicate(arguments.folder, arguments.target, arguments.megabytes)
    sys.stdout.write(f"{size:,} bytes\n")


if __name__ == "__main__":
    main()
