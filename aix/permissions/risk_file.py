"""The file of risk rules that AIX brings along, told without reading its rules."""

from functools import cache
from hashlib import sha256
from pathlib import Path

RISK_FILE = Path(__file__).with_name("risks.toml")
VERSION = 2
"""Goes up whenever the same rules give another answer."""


@cache
def risk_file_digest() -> str:
    """Return what changes when the file does, or what it is understood to say."""
    return sha256(b"%d\0%b" % (VERSION, RISK_FILE.read_bytes())).hexdigest()[:16]
